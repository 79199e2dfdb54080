/* module.c -- the door: `require "tessera.core"`. */
#include "../../core/kernel/peak.h"
#include "../../core/threads.h"
#include "binding.h"

#include <mpfr.h>
#include <sleef.h>
#include <stdlib.h>

/* core.clock() -> seconds of wall time from some start; os.clock adds up all threads. */
static int clock_seconds(lua_State *L) {
    lua_pushnumber(L, ts_lua_seconds());
    return 1;
}

/* core.threads([n]) -> how many threads calls take; sets it first. 0: back to the default. */
static int threads(lua_State *L) {
    if (!lua_isnoneornil(L, 1)) ts_threads_set((int)ts_lua_check_range(L, 1, "n", 0, 1 << 16));
    lua_pushinteger(L, ts_threads_default());
    return 1;
}

/* core.isa() -> the instruction set in use, and those that there are. */
static int isa(lua_State *L) {
    lua_pushstring(L, ts_kernel_name(ts_kernel_get()));
    lua_pushstring(L, ts_kernel_available());
    return 2;
}

/* core.peak(dtype, threads, seconds) -> operations a second, two a multiply-add: for the bench. */
static int peak(lua_State *L) {
    static const char *const dtypes[] = {"f32", "f64", NULL};
    const ts_dtype dtype = luaL_checkoption(L, 1, NULL, dtypes) == 0 ? TS_F32 : TS_F64;
    const int threads = (int)ts_lua_check_range(L, 2, "threads", 1, 1 << 10);
    const double seconds = luaL_checknumber(L, 3);
    lua_pushnumber(L, ts_kernel_peak(ts_kernel_get(), dtype, ts_threads_team(threads, threads),
                                     seconds < 10 ? seconds : 10));
    return 1;
}

/* core.bandwidth(m, threads, seconds) -> bytes a second that the packed matrix m is read with. */
static int bandwidth(lua_State *L) {
    const ts_matrix *m = ts_lua_check_matrix(L, 1);
    const int threads = (int)ts_lua_check_range(L, 2, "threads", 1, 1 << 10);
    const double seconds = luaL_checknumber(L, 3);
    luaL_argcheck(L, ts_matrix_is_packed(m) && m->rows > 0 && m->cols > 0, 1,
                  "packed matrix with elements expected");
    const int64_t bytes = m->rows * m->cols * (int64_t)ts_dtype_size(m->dtype);
    lua_pushnumber(L, ts_kernel_bandwidth(ts_kernel_get(), m->data, bytes,
                                          ts_threads_team(threads, threads),
                                          seconds < 10 ? seconds : 10));
    return 1;
}

/* core.kind(x) -> "matrix", "mask", "layer" and so on for what is ours; else type(x). */
static int kind(lua_State *L) {
    luaL_checkany(L, 1);
    lua_pushstring(L, ts_lua_kind(L, 1));
    return 1;
}

/* core.versions() -> {sleef =, mpfr =, compiler =} of what this was built with and runs on. */
static int versions(lua_State *L) {
    lua_newtable(L);
    lua_pushfstring(L, "%d.%d.%d", SLEEF_VERSION_MAJOR, SLEEF_VERSION_MINOR,
                    SLEEF_VERSION_PATCHLEVEL);
    lua_setfield(L, -2, "sleef");
    lua_pushstring(L, mpfr_get_version());
    lua_setfield(L, -2, "mpfr");
    lua_pushliteral(L, __VERSION__);
    lua_setfield(L, -2, "compiler");
    return 1;
}

static void select_kernel(lua_State *L) {
    const char *name = getenv("TESSERA_ISA");
    if (ts_kernel_select(name) != TS_OK)
        luaL_error(L, "TESSERA_ISA is '%s', but this machine has %s", name ? name : "",
                   ts_kernel_available());
}

/* core.poll(): raises "interrupted!" where Ctrl-C came in a coroutine. */
static int poll(lua_State *L) {
    ts_lua_check_interrupt(L);
    return 0;
}

static const luaL_Reg functions[] = {
    {"options", ts_lua_options},
    {"guarded", ts_lua_guarded},
    {"resume", ts_lua_resume},
    {"close", ts_lua_close},
    {"hold_interrupts", ts_lua_hold_interrupts},
    {"kind", kind},
    {"clock", clock_seconds},
    {"threads", threads},
    {"trim", ts_lua_trim},
    {"isa", isa},
    {"peak", peak},
    {"bandwidth", bandwidth},
    {"versions", versions},
    {"isatty", ts_lua_isatty},
    {"width", ts_lua_width},
    {"height", ts_lua_height},
    {"wait", ts_lua_wait},
    {"next_descriptor", ts_lua_next_descriptor},
    {"close_terminal", ts_lua_close_terminal},
    {"poll", poll},
    {"open_file", ts_lua_open_file},
    {"create_beside", ts_lua_create_beside},
    {"sync", ts_lua_sync},
    {"home", ts_lua_home},
    {"advise", ts_lua_advise},
    {"fail", ts_lua_fail},
    {"fail_arg", ts_lua_fail_arg},
    {"no_more", ts_lua_refuse_more},
    {NULL, NULL},
};

static const struct {
    const char *name, *type;
    lua_CFunction open;
} parts[] = {
    {"matrix", TS_MATRIX, ts_lua_open_matrix},    {"program", TS_PROGRAM, ts_lua_open_program},
    {"mask", TS_MASK, ts_lua_open_mask},          {"summary", TS_SUMMARY, ts_lua_open_summary},
    {"problem", TS_PROBLEM, ts_lua_open_problem},
};

__attribute__((visibility("default"))) int luaopen_tessera_core(lua_State *L) {
    luaL_checkversion(L);
    select_kernel(L);
    luaL_newlib(L, functions);
    ts_lua_name_functions(L, false);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        parts[i].open(L);
        luaL_getmetatable(L, parts[i].type);
        ts_lua_name_functions(L, false);
        lua_pop(L, 1);
        ts_lua_name_functions(L, false);
        lua_getfield(L, -1, "methods");
        ts_lua_name_functions(L, true);
        lua_pop(L, 1);
        lua_setfield(L, -2, parts[i].name);
    }
    return 1;
}
