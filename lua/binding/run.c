/* run.c -- how a call from Lua is run: work space, Ctrl-C, and a bar on the terminal when it takes
 * long. */
#define _POSIX_C_SOURCE 200809L

#include "binding.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { ALIGN = 64, KEPT_AT_MOST = 8 << 20, KEPT_AT_LEAST = 32 << 10 };

/* What one Lua state keeps between calls; a userdata in the registry. The work space is a stack in
 * a userdata (user value 1): blocks that do not fit, or are not freed in turn, are Lua's
 * allocator's. */
typedef struct {
    lua_State *main;
    lua_Alloc allocate;
    void *allocate_data;
    lua_Hook hook; /* the main thread's, when the running call began */
    char *space;
    size_t size, used, wanted; /* wanted: what the calls so far would have liked */
    double began, shown;       /* seconds; shown = 0: there is no bar */
} run_state;

static char state_key;

double ts_lua_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* ---- work space ---- */

static size_t rounded(size_t size) { return (size + ALIGN - 1) / ALIGN * ALIGN; }

static bool is_kept(const run_state *run, const void *block) {
    return (const char *)block >= run->space && (const char *)block < run->space + run->size;
}

static void *take(run_state *run, size_t size) {
    if (size > run->size - run->used || rounded(size) > run->size - run->used) {
        if (size < KEPT_AT_MOST && run->used + rounded(size) > run->wanted)
            run->wanted = run->used + rounded(size);
        return run->allocate(run->allocate_data, NULL, 0, size);
    }
    void *block = run->space + run->used;
    run->used += rounded(size);
    return block;
}

static void give_back(run_state *run, void *block, size_t size) {
    if (block == NULL) return;
    if (!is_kept(run, block)) {
        run->allocate(run->allocate_data, block, size, 0);
        return;
    }
    /* The top block pops; one further down waits until a deeper one does. */
    size_t at = (size_t)((char *)block - run->space);
    if (at + rounded(size) == run->used || at == 0) run->used = at;
}

static void *resize(void *data, void *block, size_t old_size, size_t new_size) {
    run_state *run = data;
    if (new_size == 0) {
        give_back(run, block, old_size);
        return NULL;
    }
    if (block == NULL) return take(run, new_size);
    if (!is_kept(run, block)) return run->allocate(run->allocate_data, block, old_size, new_size);
    void *moved = take(run, new_size);
    if (moved == NULL) return NULL;
    memcpy(moved, block, old_size < new_size ? old_size : new_size);
    give_back(run, block, old_size);
    return moved;
}

/* ---- the bar ---- */

enum { BAR = 30 };

static void show_bar(run_state *run, double done, double now) {
    char bar[BAR + 1];
    int filled = (int)(done * BAR);
    for (int i = 0; i < BAR; i++) bar[i] = i < filled ? '#' : '.';
    bar[BAR] = '\0';
    double left = done > 0 ? (now - run->began) * (1 - done) / done : 0;
    fprintf(stderr, "\r[%s] %3.0f %%, %.0f s left \033[K", bar, 100 * done, left);
    fflush(stderr);
    run->shown = now;
}

static void clear_bar(run_state *run) {
    if (run->shown == 0) return;
    fputs("\r\033[K", stderr);
    fflush(stderr);
    run->shown = 0;
}

static bool poll(void *data, double done) {
    run_state *run = data;
    if (lua_gethook(run->main) != run->hook) return true;
    double now = ts_lua_seconds();
    if (now - run->began > 1 && now - run->shown > 0.1 && done >= 0 && done <= 1 &&
        isatty(STDERR_FILENO))
        show_bar(run, done, now);
    return false;
}

/* ---- a call ---- */

static run_state *state_of(lua_State *L) {
    lua_rawgetp(L, LUA_REGISTRYINDEX, &state_key);
    run_state *run = lua_touserdata(L, -1);
    lua_pop(L, 1);
    if (run) return run;
    luaL_checkstack(L, 3, NULL);
    run = lua_newuserdatauv(L, sizeof *run, 1);
    memset(run, 0, sizeof *run);
    run->allocate = lua_getallocf(L, &run->allocate_data);
    run->wanted = KEPT_AT_LEAST;
    lua_rawgeti(L, LUA_REGISTRYINDEX, LUA_RIDX_MAINTHREAD);
    run->main = lua_tothread(L, -1);
    lua_pop(L, 1);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &state_key);
    return run;
}

/* Gives the state a work space of the size that earlier calls would have liked. */
static void grow(lua_State *L, run_state *run) {
    size_t size = run->wanted < KEPT_AT_MOST ? run->wanted : KEPT_AT_MOST;
    luaL_checkstack(L, 3, NULL);
    lua_rawgetp(L, LUA_REGISTRYINDEX, &state_key);
    char *block = lua_newuserdatauv(L, size + ALIGN, 0);
    lua_setiuservalue(L, -2, 1);
    lua_pop(L, 1);
    run->space = block + (ALIGN - (uintptr_t)block % ALIGN) % ALIGN;
    run->size = size;
}

/* Has debug.sethook set the thread's hook? It keeps them in a table of the registry. */
static bool has_hook_of_lua(lua_State *L, lua_State *thread) {
    bool has = false;
    if (lua_getfield(L, LUA_REGISTRYINDEX, "_HOOKKEY") == LUA_TTABLE) {
        lua_pushthread(thread);
        lua_xmove(thread, L, 1);
        has = lua_rawget(L, -2) != LUA_TNIL;
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
    return has;
}

void ts_lua_check_interrupt(lua_State *L) {
    static const int all = LUA_MASKCALL | LUA_MASKRET | LUA_MASKLINE | LUA_MASKCOUNT;
    luaL_checkstack(L, 4, NULL);
    lua_rawgeti(L, LUA_REGISTRYINDEX, LUA_RIDX_MAINTHREAD);
    lua_State *main = lua_tothread(L, -1);
    lua_pop(L, 1);
    if (lua_gethookmask(main) != all || lua_gethookcount(main) != 1) return;
    if (has_hook_of_lua(L, main)) return;
    if (L == main) ts_lua_interrupt_raised(main);
    lua_pushliteral(L, "interrupted!");
    ts_lua_error(L);
}

ts_run ts_lua_run(lua_State *L, int threads) {
    ts_lua_check_interrupt(L);
    run_state *run = state_of(L);
    if (run->used == 0 && run->wanted > run->size) grow(L, run);
    clear_bar(run);
    run->hook = lua_gethook(run->main);
    run->began = ts_lua_seconds();
    return (ts_run){.allocator = {resize, run}, .threads = threads, .poll = poll, .poll_data = run};
}

void ts_lua_run_done(lua_State *L) { clear_bar(state_of(L)); }

/* core.trim(): gives the kept work space back to the collector. */
int ts_lua_trim(lua_State *L) {
    run_state *run = state_of(L);
    if (run->used != 0) return 0; /* a call further out is using it */
    lua_rawgetp(L, LUA_REGISTRYINDEX, &state_key);
    lua_pushnil(L);
    lua_setiuservalue(L, -2, 1);
    run->space = NULL;
    run->size = 0;
    run->wanted = KEPT_AT_LEAST;
    return 0;
}

int ts_lua_guarded_pcall(lua_State *L, int arguments, int results) {
    run_state *run = state_of(L), before = *run;
    int status = lua_pcall(L, arguments, results, 0);
    /* The call may have run others, and may have set a hook of its own; had it been interrupted on
     * the main thread, that hook would have raised. */
    run->began = before.began;
    run->hook = lua_gethook(run->main) == before.hook || L != run->main ? before.hook
                                                                        : lua_gethook(run->main);
    return status;
}
