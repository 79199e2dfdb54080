/* pty.c -- runs a command on a pseudo-terminal and talks to it, as someone who types would.
 *
 * pty COMMAND [ARGUMENTS]: standard input is a conversation, a line each:
 *   send TEXT    types it; \r \t \e \\ and \xHH stand for what they do in C
 *   want TEXT    waits until the command has printed it, behind what was last waited for
 *   never TEXT   from here on, printing it is a failure
 * At its end the command must exit by itself. Prints all that the command printed (without the
 * terminal's control sequences), and what went wrong; exits with the command's status, or 99. */
#define _GNU_SOURCE

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

enum { ROOM = 1 << 20, PATIENCE = 20 /* seconds for one `want` */, WENT_WRONG = 99 };

static char seen[ROOM];
static size_t length, matched; /* of `seen`; and where the last match ended */
static int in_sequence;        /* inside a control sequence: 0 no, 1 behind ESC, 2 behind ESC [ */
static char never[256];
static int terminal;
static pid_t child;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void fail(const char *what, const char *text) {
    printf("%s\n--- %s: %s\n--- behind: %s\n", seen, what, text, seen + matched);
    kill(child, SIGKILL);
    exit(WENT_WRONG);
}

/* Keeps c, unless it belongs to a control sequence such as ESC [ 3 1 m. */
static void keep(char c) {
    if (in_sequence == 1)
        in_sequence = c == '[' ? 2 : 0;
    else if (in_sequence == 2)
        in_sequence = (c >= '@' && c <= '~') ? 0 : 2;
    else if (c == '\033')
        in_sequence = 1;
    else if (c != '\r' && length + 1 < ROOM)
        seen[length++] = c;
    seen[length] = '\0';
}

/* Reads what the command printed within that time; false when it has closed the terminal. */
static int listen_for(double seconds) {
    struct pollfd output = {.fd = terminal, .events = POLLIN};
    char bytes[4096];
    if (poll(&output, 1, (int)(seconds * 1000)) <= 0) return 1;
    ssize_t got = read(terminal, bytes, sizeof bytes);
    for (ssize_t n = 0; n < got; n++) keep(bytes[n]);
    if (*never && strstr(seen + matched, never)) fail("printed what it never should", never);
    return got > 0 || (got < 0 && errno == EINTR);
}

static void want(const char *text) {
    double deadline = now() + PATIENCE;
    char *at;
    while (!(at = strstr(seen + matched, text))) {
        if (now() > deadline) fail("waited in vain for", text);
        if (!listen_for(0.1) && !strstr(seen + matched, text)) fail("ended without", text);
    }
    matched = (size_t)(at - seen) + strlen(text);
}

/* Replaces the escapes of `text` in place; returns its new length. */
static size_t unescape(char *text) {
    char *to = text;
    for (const char *from = text; *from; from++) {
        if (*from != '\\' || !from[1]) {
            *to++ = *from;
            continue;
        }
        switch (*++from) {
        case 'r':
            *to++ = '\r';
            break;
        case 't':
            *to++ = '\t';
            break;
        case 'e':
            *to++ = '\033';
            break;
        case 'x':
            *to++ = (char)strtol((char[]){from[1], from[2], 0}, NULL, 16);
            from += 2;
            break;
        default:
            *to++ = *from;
        }
    }
    *to = '\0';
    return (size_t)(to - text);
}

static void type_in(char *text) {
    size_t size = unescape(text);
    for (size_t n = 0; n < size; n++)
        if (write(terminal, text + n, 1) != 1) fail("cannot type", text);
}

static void start(char **command) {
    terminal = posix_openpt(O_RDWR | O_NOCTTY);
    if (terminal < 0 || grantpt(terminal) || unlockpt(terminal)) {
        perror("no pseudo-terminal");
        exit(WENT_WRONG);
    }
    struct winsize size = {.ws_row = 24, .ws_col = 100};
    ioctl(terminal, TIOCSWINSZ, &size);
    const char *name = ptsname(terminal);
    child = fork();
    if (child > 0) return;
    if (child < 0) {
        perror("fork");
        exit(WENT_WRONG);
    }
    setsid();
    int slave = open(name, O_RDWR); /* the first terminal of a session controls it */
    for (int stream = 0; stream < 3; stream++) dup2(slave, stream);
    if (slave > 2) close(slave);
    close(terminal);
    signal(SIGINT, SIG_DFL);
    execvp(command[0], command);
    perror(command[0]);
    _exit(WENT_WRONG);
}

static void converse(void) {
    char line[4096];
    while (fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\n")] = '\0';
        if (!strncmp(line, "send ", 5))
            type_in(line + 5);
        else if (!strncmp(line, "want ", 5))
            want(line + 5);
        else if (!strncmp(line, "never ", 6))
            snprintf(never, sizeof never, "%.255s", line + 6);
        else
            fail("no such word", line);
    }
}

int main(int argc, char **argv) {
    if (argc < 2) return WENT_WRONG;
    start(argv + 1);
    converse();
    double deadline = now() + PATIENCE;
    while (listen_for(0.1))
        if (now() > deadline) fail("did not end", "");
    int status;
    waitpid(child, &status, 0);
    printf("%s", seen);
    return WIFEXITED(status) ? WEXITSTATUS(status) : WENT_WRONG;
}
