/* terminal.c -- what is known of the terminal: whether there is one, how wide, and waiting for it.
 */
#define _POSIX_C_SOURCE 200809L
#define _DEFAULT_SOURCE

#include "binding.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

static const char *const stream_names[] = {"stdin", "stdout", "stderr", NULL}; /* by number */

/* core.isatty([stream = "stdout"]) -> boolean */
int ts_lua_isatty(lua_State *L) {
    lua_pushboolean(L, isatty(luaL_checkoption(L, 1, "stdout", stream_names)));
    return 1;
}

/* core.width([stream = "stdout"]) -> columns of the terminal, or nil where it is none. */
int ts_lua_width(lua_State *L) {
    struct winsize size;
    int stream = luaL_checkoption(L, 1, "stdout", stream_names);
    if (!isatty(stream) || ioctl(stream, TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
        lua_pushnil(L);
    else
        lua_pushinteger(L, size.ws_col);
    return 1;
}

static volatile sig_atomic_t interrupted;

static void note(int signal_number) {
    (void)signal_number;
    interrupted = 1;
}

/* core.wait([seconds]) -> "ready" | "timeout" | "interrupted": waits until standard input can be
 * read, or SIGINT comes. The handler is there only meanwhile, and without SA_RESTART. */
int ts_lua_wait(lua_State *L) {
    double seconds = luaL_optnumber(L, 1, -1);
    int milliseconds = seconds < 0 || !(seconds < 1e6) ? -1 : (int)(seconds * 1000);
    struct sigaction ours = {.sa_handler = note}, before;
    sigemptyset(&ours.sa_mask);
    interrupted = 0;
    sigaction(SIGINT, &ours, &before);
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    int ready = poll(&input, 1, milliseconds);
    sigaction(SIGINT, &before, NULL);
    lua_pushstring(L, interrupted ? "interrupted" : ready > 0 ? "ready" : "timeout");
    return 1;
}
