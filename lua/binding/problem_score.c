/* problem_score.c -- scores that are Lua functions: called in the middle of a call of core, which
 * may not be jumped out of. */
#include "problem.h"

/* ---- called scores ---- */

/* Pushes the user value `which` of the problem at index 1, element `head`. */
static void push_of_head(lua_State *L, int which, int64_t head) {
    lua_getiuservalue(L, 1, which);
    lua_rawgeti(L, -1, head + 1);
    lua_remove(L, -2);
}

/* Replaces *s by what the function at `function` returns for the cell. The reason for TS_CALLBACK
 * stays on the top of the stack: an error, or (no_number) what was returned. */
static ts_status call_cell(ts_lua_problem *p, int function, int64_t h, int64_t i, int64_t j,
                           double *s) {
    lua_State *L = p->runs;
    lua_pushvalue(L, function);
    lua_pushnumber(L, *s);
    lua_pushinteger(L, i);
    lua_pushinteger(L, j);
    lua_pushinteger(L, h);
    p->cell = (ts_detail){.row = i, .key = j, .head = h};
    if (ts_lua_guarded_pcall(L, 4, 1) != LUA_OK) return TS_CALLBACK;
    p->no_number = lua_type(L, -1) != LUA_TNUMBER;
    if (p->no_number) return TS_CALLBACK;
    *s = lua_tonumber(L, -1);
    lua_pop(L, 1);
    return TS_OK;
}

/* ts_score.call: asks the Lua function for the allowed cells. */
ts_status ts_lua_call_score(void *data, int64_t h, int64_t i, int64_t j, int64_t count,
                            const uint64_t *allowed, double *s) {
    const ts_lua_called *called = data;
    ts_lua_problem *p = called->owner;
    push_of_head(p->runs, TS_PROBLEM_RUNS, called->head);
    int function = lua_gettop(p->runs);
    for (int64_t c = 0; c < count; c++) {
        if (allowed && !(allowed[c / 64] >> (c % 64) & 1)) continue;
        ts_status status = call_cell(p, function, h, i, j + c, s + c);
        if (status) return status;
    }
    lua_pop(p->runs, 1);
    return TS_OK;
}

/* ---- around a call ---- */

ts_lua_call ts_lua_begin(lua_State *L, ts_lua_problem *p) {
    ts_lua_call call = {p->runs};
    luaL_checkstack(L, 16, NULL);
    p->runs = L;
    p->no_number = false;
    return call;
}

/* [..., value] -> [..., value, its name]: a string as it is, or as much of it as a line holds. */
static const char *push_name(lua_State *L) {
    enum { SHOWN = 40 };
    size_t length;
    if (lua_type(L, -1) != LUA_TSTRING) return lua_pushfstring(L, "a %s", ts_lua_kind(L, -1));
    const char *text = lua_tolstring(L, -1, &length);
    if (length <= SHOWN) return lua_pushfstring(L, "the string \"%s\"", text);
    size_t shown = SHOWN;
    while (shown > 0 && ts_lua_goes_on(text[shown])) shown--;
    lua_pushlstring(L, text, shown);
    return lua_pushfstring(L, "the string \"%s…\"", lua_tostring(L, -1));
}

/* [..., reason]: an error, which arrives unchanged, or what was returned instead of a number. */
static int raise_callback(lua_State *L, const ts_lua_problem *p) {
    ts_lua_run_done(L);
    if (!p->no_number) return lua_error(L);
    const char *name = push_name(L);
    lua_pushfstring(L, "score of query %I, key %I, head %I is %s, number expected", I(p->cell.row),
                    I(p->cell.key), I(p->cell.head), name);
    return ts_lua_error(L);
}

void ts_lua_end(lua_State *L, ts_lua_problem *p, ts_lua_call call, ts_status status,
                const ts_detail *detail) {
    p->runs = call.outer;
    if (status == TS_CALLBACK) raise_callback(L, p);
    ts_lua_raise(L, status, detail, NULL);
}
