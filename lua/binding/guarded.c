/* guarded.c -- core.guarded: a call that Ctrl-C stops, as lua.c has it for scripts. */
#define _POSIX_C_SOURCE 200809L

#include "binding.h"

#include <signal.h>

/* The innermost guarded call, for the handler: a signal can come at any instruction. */
static lua_State *volatile guarded_main, *volatile guarded_thread;
/* Has it raised already; and was it asked once more, as what it raised was caught? */
static volatile sig_atomic_t has_raised, insists;

void ts_lua_interrupt_raised(lua_State *L) {
    has_raised = 1;
    if (!insists) lua_sethook(L, NULL, 0, 0);
}

static void stop(lua_State *L, lua_Debug *ar) {
    (void)ar;
    ts_lua_interrupt_raised(L);
    luaL_error(L, "interrupted!");
}

static void hook(lua_State *L) {
    static const int all = LUA_MASKCALL | LUA_MASKRET | LUA_MASKLINE | LUA_MASKCOUNT;
    lua_sethook(L, stop, all, 1);
}

static void drop_hook(lua_State *L) {
    if (L && lua_gethook(L) == stop) lua_sethook(L, NULL, 0, 0);
}

static void interrupt(int signal_number) {
    (void)signal_number;
    if (has_raised) insists = 1;
    if (guarded_main) hook(guarded_main);
    if (guarded_thread && guarded_thread != guarded_main) hook(guarded_thread);
}

typedef struct {
    struct sigaction action;
    sigset_t mask;
    lua_State *main, *thread;
    sig_atomic_t has_raised, insists;
} guard;

static void restore(const guard *before) {
    pthread_sigmask(SIG_SETMASK, &before->mask, NULL);
    sigaction(SIGINT, &before->action, NULL);
    drop_hook(guarded_main);
    drop_hook(guarded_thread);
    guarded_main = before->main;
    guarded_thread = before->thread;
    has_raised = before->has_raised;
    insists = before->insists;
}

static void install(lua_State *L, guard *before) {
    struct sigaction ours = {.sa_handler = interrupt, .sa_flags = SA_RESTART};
    sigemptyset(&ours.sa_mask);
    before->main = guarded_main;
    before->thread = guarded_thread;
    lua_rawgeti(L, LUA_REGISTRYINDEX, LUA_RIDX_MAINTHREAD);
    guarded_main = lua_tothread(L, -1);
    lua_pop(L, 1);
    guarded_thread = L;
    before->has_raised = has_raised;
    before->insists = insists;
    has_raised = insists = 0;
    sigaction(SIGINT, &ours, &before->action);
    sigset_t interrupt;
    sigemptyset(&interrupt);
    sigaddset(&interrupt, SIGINT);
    pthread_sigmask(SIG_UNBLOCK, &interrupt, &before->mask);
}

/* core.guarded(f, ...) -> what f(...) returns. Meanwhile Ctrl-C raises "interrupted!" in it, as in
 * lua.c's docall; errors pass through (for a traceback: guarded(xpcall, f, debug.traceback)). Where
 * f catches that and goes on, the next Ctrl-C raises at every instruction until f is left. A
 * to-be-closed value would not do: a coroutine that dies of an error closes nothing. */
int ts_lua_guarded(lua_State *L) {
    luaL_checkany(L, 1);
    guard before;
    install(L, &before);
    int status = lua_pcall(L, lua_gettop(L) - 1, LUA_MULTRET, 0);
    restore(&before);
    return status == LUA_OK ? lua_gettop(L) : lua_error(L);
}

/* [..., value] -> false, value: as coroutine.resume tells an error. */
static int push_failure(lua_State *L) {
    lua_pushboolean(L, false);
    lua_insert(L, -2);
    return 2;
}

/* What the thread returned, yielded or raised, as coroutine.resume has it. */
static int hand_over(lua_State *L, lua_State *thread, int status, int results) {
    if (status != LUA_OK && status != LUA_YIELD) {
        lua_xmove(thread, L, 1);
        return push_failure(L);
    }
    if (!lua_checkstack(L, results + 1)) {
        lua_pop(thread, results);
        lua_pushliteral(L, "too many results to resume");
        return push_failure(L);
    }
    lua_pushboolean(L, true);
    lua_xmove(thread, L, results);
    return 1 + results;
}

/* Ctrl-C reaches the thread instead of the one that runs it: a hook is one thread's alone. In C, as
 * between two instructions of Lua an error could leave the handler with a thread that is no more.
 * Returns the one that runs it, for leave. */
static lua_State *enter(lua_State *thread) {
    lua_State *outer = guarded_thread;
    if (outer) guarded_thread = thread;
    return outer;
}

static void leave(lua_State *thread, lua_State *outer) {
    guarded_thread = outer;
    drop_hook(thread);
    if (outer && lua_gethook(guarded_main) == stop) hook(outer);
}

static lua_State *check_thread(lua_State *L) {
    lua_State *thread = lua_tothread(L, 1);
    if (!thread) ts_lua_type_error(L, 1, NULL, "coroutine");
    return thread;
}

/* core.resume(thread, ...): coroutine.resume, with Ctrl-C for the thread. */
int ts_lua_resume(lua_State *L) {
    lua_State *thread = check_thread(L);
    int arguments = lua_gettop(L) - 1, results = 0;
    if (!lua_checkstack(thread, arguments)) {
        lua_pushliteral(L, "too many arguments to resume");
        return push_failure(L);
    }
    lua_xmove(L, thread, arguments);
    lua_State *outer = enter(thread);
    int status = lua_resume(thread, L, arguments, &results);
    leave(thread, outer);
    return hand_over(L, thread, status, results);
}

/* Does the thread run, or wait for one that it has resumed? */
static bool is_active(lua_State *thread) {
    lua_Debug ar;
    return lua_status(thread) == LUA_OK && lua_getstack(thread, 0, &ar);
}

/* From Lua 5.4.6 on only the thread that closes it tells how deep the calls in C are: without that,
 * closing within closing ends in a crash, not in an error. */
static int close_thread(lua_State *L, lua_State *thread) {
#if LUA_VERSION_RELEASE_NUM >= 50406
    return lua_closethread(thread, L);
#else
    (void)L;
    return lua_resetthread(thread);
#endif
}

/* core.close(thread): coroutine.close, with Ctrl-C for what the thread has to close. */
int ts_lua_close(lua_State *L) {
    lua_State *thread = check_thread(L);
    if (is_active(thread))
        return luaL_error(L, "cannot close a %s coroutine", thread == L ? "running" : "normal");
    lua_State *outer = enter(thread);
    int status = close_thread(L, thread);
    leave(thread, outer);
    if (status != LUA_OK) {
        lua_xmove(thread, L, 1);
        return push_failure(L);
    }
    lua_pushboolean(L, true);
    return 1;
}
