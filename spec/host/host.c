/* host.c -- a small Lua host, for what lua5.4 cannot do to a module: memory that fails when told,
 * signals at a given moment, and several states.
 *
 *   host FILE.lua [arguments]
 *
 * The script finds a table `host`:
 *   host.limit(n)         the n-th request for more memory from now on fails, and all behind it;
 *                         nil lifts this; returns how many were left, 0 where one was refused
 *   host.most(bytes)      requests fail that would make the state hold more; nil lifts this
 *   host.used()           bytes that Lua and the module hold
 *   host.peak()           the most they held since this was last asked
 *   host.signal(seconds)  SIGINT after so long, once; 0 calls it off
 *   host.alarm(seconds)   ends the process with SIGALRM unless it is called again in time; 0: never
 *   host.state(source)    runs source in a fresh state while this one lives, closes it, and returns
 *                         what it returned (a string), or nil and the error; an error, too, where
 *                         the closed state leaves memory behind
 *   host.states(n, source)  the same in n states at once, each on a thread of its own: the list of
 *                         what they returned
 *   host.open()           a handle of a fresh state that stays open, for
 *   host.call(h, source)  and host.close(h)
 *   host.paused()         the longest time in seconds, since this was last asked, in which a thread
 *                         that only sleeps did not get to run: the whole process stood still
 *   host.threads()        what omp_get_max_threads says
 *   host.inside(f)        calls f on the first thread of a parallel region of the host's own
 *   host.fork(f)          calls f in a forked process: its exit status, or nil and "hangs" after 5
 *                         seconds
 */
#define _GNU_SOURCE

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>
#include <omp.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* What one state holds, the most it held and may hold, and how many requests are left before they
 * fail (negative: no limit). */
typedef struct {
    size_t used, peak, most;
    long long left;
} memory;

static void *resize(void *data, void *block, size_t old_size, size_t new_size) {
    memory *m = data;
    if (block == NULL) old_size = 0; /* Lua tells the kind of object here */
    if (new_size > old_size && m->left >= 0) {
        if (m->left <= 1) {
            m->left = 0;
            return NULL;
        }
        m->left--;
    }
    if (new_size > old_size && new_size - old_size > m->most - m->used) return NULL;
    if (new_size == 0) {
        free(block);
        m->used -= old_size;
        return NULL;
    }
    void *moved = realloc(block, new_size);
    if (moved != NULL) m->used += new_size - old_size;
    if (m->used > m->peak) m->peak = m->used;
    return moved;
}

static memory *memory_of(lua_State *L) {
    void *data;
    lua_getallocf(L, &data);
    return data;
}

static int limit(lua_State *L) {
    memory *m = memory_of(L);
    long long next = luaL_optinteger(L, 1, -1);
    lua_pushinteger(L, m->left);
    m->left = next;
    return 1;
}

static int used(lua_State *L) {
    lua_pushinteger(L, (lua_Integer)memory_of(L)->used);
    return 1;
}

static int most(lua_State *L) {
    memory *m = memory_of(L);
    lua_Integer bytes = luaL_optinteger(L, 1, 0);
    m->most = bytes > 0 && (size_t)bytes > m->used ? (size_t)bytes : bytes > 0 ? m->used : SIZE_MAX;
    return 0;
}

static int peak(lua_State *L) {
    memory *m = memory_of(L);
    lua_pushinteger(L, (lua_Integer)m->peak);
    m->peak = m->used;
    return 1;
}

/* To the process, as a terminal does it: any of its threads may be the one that takes it. */
static int send_signal(lua_State *L) {
    static timer_t timer;
    static bool made;
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGINT};
    if (!made && timer_create(CLOCK_MONOTONIC, &event, &timer) != 0)
        return luaL_error(L, "no timer");
    made = true;
    double seconds = luaL_checknumber(L, 1);
    struct itimerspec when = {.it_value = {(time_t)seconds, 0}};
    when.it_value.tv_nsec = (long)((seconds - (double)when.it_value.tv_sec) * 1e9);
    timer_settime(timer, 0, &when, NULL);
    return 0;
}

static int set_alarm(lua_State *L) {
    alarm((unsigned)luaL_checkinteger(L, 1));
    return 0;
}

enum { TICK = 2000000 }; /* nanoseconds, as the next two */
static atomic_llong last_tick, longest_pause;

static long long nanoseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

/* How much longer than a tick the last one has taken so far. */
static long long pause_of_tick(void) { return nanoseconds() - last_tick - TICK; }

static void *tick(void *unused) {
    for (const struct timespec length = {0, TICK};;) {
        last_tick = nanoseconds();
        nanosleep(&length, NULL);
        if (pause_of_tick() > longest_pause) longest_pause = pause_of_tick();
    }
    return unused;
}

/* The first time, starts the thread, which takes no signals. */
static int paused(lua_State *L) {
    if (last_tick == 0) {
        sigset_t all, before;
        pthread_t thread;
        last_tick = nanoseconds();
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before);
        if (pthread_create(&thread, NULL, tick, NULL) != 0) return luaL_error(L, "no thread");
        pthread_sigmask(SIG_SETMASK, &before, NULL);
    }
    long long now = pause_of_tick(), longest = atomic_exchange(&longest_pause, 0);
    lua_pushnumber(L, 1e-9 * (double)(longest > now ? longest : now > 0 ? now : 0));
    return 1;
}

static int threads(lua_State *L) {
    lua_pushinteger(L, omp_get_max_threads());
    return 1;
}

static int inside(lua_State *L) {
    luaL_checktype(L, 1, LUA_TFUNCTION);
    int status = LUA_OK;
#pragma omp parallel num_threads(2)
#pragma omp master
    status = lua_pcall(L, 0, 0, 0);
    return status == LUA_OK ? 0 : lua_error(L);
}

static int fork_and_call(lua_State *L) {
    luaL_checktype(L, 1, LUA_TFUNCTION);
    pid_t child = fork();
    if (child == 0) {
        alarm(5);
        _exit(lua_pcall(L, 0, 0, 0) == LUA_OK ? 0 : 1);
    }
    int status;
    if (child < 0 || waitpid(child, &status, 0) != child) return luaL_error(L, "fork failed");
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM) {
        lua_pushnil(L);
        lua_pushliteral(L, "hangs");
        return 2;
    }
    lua_pushinteger(L, WIFEXITED(status) ? WEXITSTATUS(status) : -1);
    return 1;
}

static int open_state(lua_State *L), call_state(lua_State *L), close_state(lua_State *L),
    use_state(lua_State *L), use_states(lua_State *L);

static const luaL_Reg functions[] = {
    {"limit", limit},     {"most", most},          {"used", used},
    {"peak", peak},       {"signal", send_signal}, {"alarm", set_alarm},
    {"threads", threads}, {"fork", fork_and_call}, {"inside", inside},
    {"state", use_state}, {"states", use_states},  {"open", open_state},
    {"call", call_state}, {"close", close_state},  {"paused", paused},
    {NULL, NULL},
};

/* A fresh state with the standard libraries and `host`; NULL where memory fails. */
static lua_State *new_state(memory *m) {
    *m = (memory){.left = -1, .most = SIZE_MAX};
    lua_State *L = lua_newstate(resize, m);
    if (L == NULL) return NULL;
    luaL_openlibs(L);
    luaL_newlib(L, functions);
    lua_setglobal(L, "host");
    return L;
}

typedef struct {
    memory memory;
    lua_State *state;
} guest;

static guest *check_guest(lua_State *L) {
    guest *g = luaL_checkudata(L, 1, "host.guest");
    luaL_argcheck(L, g->state != NULL, 1, "closed");
    return g;
}

static int open_state(lua_State *L) {
    guest *g = lua_newuserdatauv(L, sizeof *g, 0);
    g->state = NULL;
    luaL_setmetatable(L, "host.guest");
    g->state = new_state(&g->memory);
    if (g->state == NULL) return luaL_error(L, "no state");
    return 1;
}

static int call_state(lua_State *L) {
    guest *g = check_guest(L);
    const char *source = luaL_checkstring(L, 2);
    bool ok = luaL_loadstring(g->state, source) == LUA_OK && lua_pcall(g->state, 0, 1, 0) == LUA_OK;
    if (!ok) lua_pushnil(L);
    lua_pushstring(L, luaL_tolstring(g->state, -1, NULL));
    lua_settop(g->state, 0);
    return ok ? 1 : 2;
}

static int close_state(lua_State *L) {
    guest *g = check_guest(L);
    lua_close(g->state);
    g->state = NULL;
    if (g->memory.used != 0)
        return luaL_error(L, "a closed state left %d bytes", (int)g->memory.used);
    return 0;
}

static int use_state(lua_State *L) {
    lua_settop(L, 1);
    open_state(L);
    lua_insert(L, 1);
    int results = call_state(L);
    close_state(L);
    return results;
}

/* One of several states that run at once. */
typedef struct {
    const char *source;
    memory memory;
    pthread_t thread;
    char said[200]; /* what it returned, or the error */
} runner;

static void *run_state(void *data) {
    runner *r = data;
    lua_State *L = new_state(&r->memory);
    if (L == NULL) return NULL;
    if (luaL_loadstring(L, r->source) == LUA_OK) lua_pcall(L, 0, 1, 0);
    strncpy(r->said, luaL_tolstring(L, -1, NULL), sizeof r->said - 1);
    lua_close(L);
    return NULL;
}

static int use_states(lua_State *L) {
    lua_Integer count = luaL_checkinteger(L, 1);
    luaL_argcheck(L, count >= 1 && count <= 64, 1, "1 to 64");
    runner *r = lua_newuserdatauv(L, (size_t)count * sizeof *r, 0);
    memset(r, 0, (size_t)count * sizeof *r);
    lua_Integer started = 0;
    for (; started < count; started++) {
        r[started].source = luaL_checkstring(L, 2);
        if (pthread_create(&r[started].thread, NULL, run_state, &r[started]) != 0) break;
    }
    lua_newtable(L);
    for (lua_Integer n = 0; n < started; n++) {
        pthread_join(r[n].thread, NULL);
        lua_pushstring(L, r[n].memory.used == 0 ? r[n].said : "bytes left behind");
        lua_rawseti(L, -2, n + 1);
    }
    return 1;
}

static int run_script(lua_State *L) {
    char **argv = lua_touserdata(L, 1);
    luaL_newmetatable(L, "host.guest");
    lua_newtable(L);
    for (int n = 0; argv[n + 1] != NULL; n++) {
        lua_pushstring(L, argv[n + 1]);
        lua_rawseti(L, -2, n);
    }
    lua_setglobal(L, "arg");
    if (luaL_loadfile(L, argv[1]) != LUA_OK) return lua_error(L);
    lua_call(L, 0, 0);
    return 0;
}

static int with_traceback(lua_State *L) {
    luaL_traceback(L, L, luaL_tolstring(L, 1, NULL), 1);
    return 1;
}

int main(int argc, char **argv) {
    memory m;
    lua_State *L = argc > 1 ? new_state(&m) : NULL;
    if (L == NULL) {
        fprintf(stderr, "usage: host FILE.lua [arguments]\n");
        return 2;
    }
    lua_pushcfunction(L, with_traceback);
    lua_pushcfunction(L, run_script);
    lua_pushlightuserdata(L, argv);
    bool ok = lua_pcall(L, 1, 0, 1) == LUA_OK;
    m.left = -1;
    if (!ok) fprintf(stderr, "host: %s\n", lua_tostring(L, -1));
    lua_close(L);
    if (m.used != 0) {
        fprintf(stderr, "host: %zu bytes left behind\n", m.used);
        ok = false;
    }
    return ok ? 0 : 1;
}
