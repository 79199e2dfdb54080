/* guarded.c -- core.guarded: a call that Ctrl-C stops, as lua.c has it for scripts. */
#define _POSIX_C_SOURCE 200809L

#include "binding.h"

#include <signal.h>

/* The innermost guarded call, for the handler: a signal can come at any instruction. */
static lua_State *volatile guarded_main, *volatile guarded_thread;

static void stop(lua_State *L, lua_Debug *ar) {
    (void)ar;
    lua_sethook(L, NULL, 0, 0);
    luaL_error(L, "interrupted!");
}

static void set_hook(int signal_number) {
    static const int all = LUA_MASKCALL | LUA_MASKRET | LUA_MASKLINE | LUA_MASKCOUNT;
    (void)signal_number;
    if (guarded_main) lua_sethook(guarded_main, stop, all, 1);
    if (guarded_thread && guarded_thread != guarded_main) lua_sethook(guarded_thread, stop, all, 1);
}

typedef struct {
    struct sigaction action;
    sigset_t mask;
    lua_State *main, *thread;
} guard;

static void drop_hook(lua_State *L) {
    if (L && lua_gethook(L) == stop) lua_sethook(L, NULL, 0, 0);
}

static void restore(const guard *before) {
    pthread_sigmask(SIG_SETMASK, &before->mask, NULL);
    sigaction(SIGINT, &before->action, NULL);
    drop_hook(guarded_main);
    drop_hook(guarded_thread);
    guarded_main = before->main;
    guarded_thread = before->thread;
}

static void install(lua_State *L, guard *before) {
    struct sigaction ours = {.sa_handler = set_hook, .sa_flags = SA_RESTART};
    sigemptyset(&ours.sa_mask);
    before->main = guarded_main;
    before->thread = guarded_thread;
    lua_rawgeti(L, LUA_REGISTRYINDEX, LUA_RIDX_MAINTHREAD);
    guarded_main = lua_tothread(L, -1);
    lua_pop(L, 1);
    guarded_thread = L;
    sigaction(SIGINT, &ours, &before->action);
    sigset_t interrupt;
    sigemptyset(&interrupt);
    sigaddset(&interrupt, SIGINT);
    pthread_sigmask(SIG_UNBLOCK, &interrupt, &before->mask);
}

/* core.guarded(f, ...) -> what f(...) returns. Meanwhile Ctrl-C raises "interrupted!" in it, as in
 * lua.c's docall; errors pass through (for a traceback: guarded(xpcall, f, debug.traceback)). A
 * to-be-closed value would not do: a coroutine that dies of an error closes nothing. */
int ts_lua_guarded(lua_State *L) {
    luaL_checkany(L, 1);
    guard before;
    install(L, &before);
    int status = lua_pcall(L, lua_gettop(L) - 1, LUA_MULTRET, 0);
    restore(&before);
    return status == LUA_OK ? lua_gettop(L) : lua_error(L);
}
