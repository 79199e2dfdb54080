/* terminal.c -- what is known of the terminal: whether there is one, its size, and waiting for it.
 */
#define _POSIX_C_SOURCE 200809L
#define _DEFAULT_SOURCE

#include "binding.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/select.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

static const char *const stream_names[] = {"stdin", "stdout", "stderr", NULL}; /* by number */

/* core.isatty([stream = "stdout"]) -> boolean */
int ts_lua_isatty(lua_State *L) {
    lua_pushboolean(L, isatty(luaL_checkoption(L, 1, "stdout", stream_names)));
    return 1;
}

/* The size of the terminal that the argument names; zeros where it is none. */
static struct winsize size_of(lua_State *L) {
    struct winsize size = {0};
    int stream = luaL_checkoption(L, 1, "stdout", stream_names);
    if (!isatty(stream) || ioctl(stream, TIOCGWINSZ, &size) != 0) return (struct winsize){0};
    return size;
}

static int push_length(lua_State *L, int length) {
    if (length > 0)
        lua_pushinteger(L, length);
    else
        lua_pushnil(L);
    return 1;
}

/* core.width([stream = "stdout"]) -> columns of the terminal, or nil where it is none. */
int ts_lua_width(lua_State *L) { return push_length(L, size_of(L).ws_col); }

/* core.height([stream = "stdout"]) -> lines of the terminal, or nil where it is none. */
int ts_lua_height(lua_State *L) { return push_length(L, size_of(L).ws_row); }

/* core.next_descriptor() -> the number that the next file to be opened will have: POSIX promises
 * the lowest that is free. */
int ts_lua_next_descriptor(lua_State *L) {
    int descriptor = dup(STDIN_FILENO);
    if (descriptor >= 0) close(descriptor);
    lua_pushinteger(L, descriptor);
    return 1;
}

/* core.close_terminal(descriptor): closes it where it is a terminal; its stream must not be used
 * any more. */
int ts_lua_close_terminal(lua_State *L) {
    int descriptor = (int)luaL_checkinteger(L, 1);
    if (descriptor > STDERR_FILENO && isatty(descriptor)) close(descriptor);
    return 0;
}

static volatile sig_atomic_t interrupted;

static void note(int signal_number) {
    (void)signal_number;
    interrupted = 1;
}

/* The terminal drops what was typed when Ctrl-C comes, and so what core.wait had found to be there:
 * the read behind it would then block. A prompt switches that off, and core.wait does it instead.
 */
static void set_flush(bool on) {
    struct termios settings;
    if (tcgetattr(STDIN_FILENO, &settings) != 0) return;
    settings.c_lflag =
        on ? settings.c_lflag & ~(tcflag_t)NOFLSH : settings.c_lflag | (tcflag_t)NOFLSH;
    tcsetattr(STDIN_FILENO, TCSANOW, &settings);
}

/* core.hold_interrupts(on): while on, SIGINT reaches this thread in core.wait and core.guarded
 * alone. Elsewhere it waits: neither a prompt's code nor readline's has to bear one anywhere. */
int ts_lua_hold_interrupts(lua_State *L) {
    bool on = lua_toboolean(L, 1);
    sigset_t interrupt;
    sigemptyset(&interrupt);
    sigaddset(&interrupt, SIGINT);
    pthread_sigmask(on ? SIG_BLOCK : SIG_UNBLOCK, &interrupt, NULL);
    set_flush(!on);
    return 0;
}

/* Waits for standard input, and lets SIGINT come only meanwhile; > 0 when there is something to
 * read. */
static int wait_for_input(double seconds) {
    struct timespec limit = {.tv_sec = (time_t)seconds,
                             .tv_nsec = (long)((seconds - (double)(time_t)seconds) * 1e9)};
    fd_set input;
    sigset_t open;
    FD_ZERO(&input);
    FD_SET(STDIN_FILENO, &input);
    pthread_sigmask(SIG_SETMASK, NULL, &open);
    sigdelset(&open, SIGINT);
    return pselect(STDIN_FILENO + 1, &input, NULL, NULL, seconds < 0 ? NULL : &limit, &open);
}

/* core.wait([seconds]) -> "ready" | "timeout" | "interrupted": waits until standard input can be
 * read, or SIGINT comes. The handler is there only meanwhile, and without SA_RESTART. */
int ts_lua_wait(lua_State *L) {
    double seconds = luaL_optnumber(L, 1, -1);
    struct sigaction ours = {.sa_handler = note}, before;
    sigemptyset(&ours.sa_mask);
    interrupted = 0;
    sigaction(SIGINT, &ours, &before);
    int ready = wait_for_input(seconds < 1e6 ? seconds : -1);
    sigaction(SIGINT, &before, NULL);
    if (interrupted) tcflush(STDIN_FILENO, TCIFLUSH);
    lua_pushstring(L, interrupted ? "interrupted" : ready > 0 ? "ready" : "timeout");
    return 1;
}
