/* status.c -- words for what went wrong, blamed on the line of the user who called. */
#include "binding.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- whose fault it is ---- */

static char home_key; /* its address names the registry field: "@…/tessera/", where our Lua lies */

/* core.home(prefix): sources that begin so are ours, and never blamed. */
int ts_lua_home(lua_State *L) {
    luaL_checkstring(L, 1);
    lua_settop(L, 1);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &home_key);
    return 0;
}

static bool is_ours(lua_State *L, const char *source) {
    size_t length = 0;
    lua_rawgetp(L, LUA_REGISTRYINDEX, &home_key);
    const char *home = lua_tolstring(L, -1, &length);
    bool ours = home && strncmp(source, home, length) == 0;
    lua_pop(L, 1);
    return ours;
}

void ts_lua_where(lua_State *L) {
    lua_Debug ar;
    for (int level = 1; lua_getstack(L, level, &ar); level++) {
        lua_getinfo(L, "Sl", &ar);
        if (is_ours(L, ar.source)) continue;
        if (ar.currentline < 1) break;
        lua_pushfstring(L, "%s:%d: ", ar.short_src, ar.currentline);
        return;
    }
    lua_pushliteral(L, "");
}

/* [..., message] -> raises it, behind the position of the user's line. */
static int raise(lua_State *L) {
    ts_lua_where(L);
    lua_insert(L, -2);
    lua_concat(L, 2);
    return lua_error(L);
}

/* The name of the running function; a method's arguments are counted without self. */
static const char *running(lua_State *L, int *arg) {
    lua_Debug ar;
    if (!lua_getstack(L, 0, &ar)) return "?";
    lua_getinfo(L, "n", &ar);
    if (ar.name && arg && strcmp(ar.namewhat, "method") == 0) --*arg;
    return ar.name ? ar.name : "?";
}

int ts_lua_arg_error(lua_State *L, int arg, const char *name, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    const char *message = lua_pushvfstring(L, format, arguments);
    va_end(arguments);
    if (!name) name = running(L, &arg);
    if (arg == 0)
        lua_pushfstring(L, "calling '%s' on bad self (%s)", name, message);
    else
        lua_pushfstring(L, "bad argument #%d to '%s' (%s)", arg, name, message);
    return raise(L);
}

int ts_lua_type_error(lua_State *L, int arg, const char *name, const char *expected) {
    const char *got = luaL_typename(L, arg);
    if (luaL_getmetafield(L, arg, "__name") == LUA_TSTRING) got = lua_tostring(L, -1);
    if (lua_isnone(L, arg)) got = "no value";
    return ts_lua_arg_error(L, arg, name, "%s expected, got %s", expected, got);
}

/* core.raise_at_user(message): error() with the position of the user's line. */
int ts_lua_fail(lua_State *L) {
    luaL_checkstring(L, 1);
    lua_settop(L, 1);
    return raise(L);
}

/* core.arg_error(n, fname, message) */
int ts_lua_fail_arg(lua_State *L) {
    return ts_lua_arg_error(L, (int)luaL_checkinteger(L, 1), luaL_checkstring(L, 2), "%s",
                            luaL_checkstring(L, 3));
}

/* ---- words for a status ---- */

static const char *number_text(lua_State *L, double x) {
    if (x != x) return "nan"; /* %g prints the sign of a NaN */
    char text[32];
    snprintf(text, sizeof text, "%.14g", x);
    return lua_pushstring(L, text);
}

static const char *bytes_text(lua_State *L, uint64_t bytes) {
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    char text[48];
    double size = (double)bytes;
    int unit = 0;
    for (; size >= 1024 && unit < 6; unit++) size /= 1024;
    snprintf(text, sizeof text, unit ? "%.1f %s" : "%.0f %s", size, units[unit]);
    return lua_pushstring(L, text);
}

#define I(x) ((LUAI_UACINT)(x))

/* Pushes the sentence, without position or function. */
static void describe(lua_State *L, ts_status status, const ts_detail *d) {
    switch (status) {
    case TS_OK:
        lua_pushliteral(L, "no error");
        break;
    case TS_NO_MEMORY:
        if (d->bytes)
            lua_pushfstring(L, "not enough memory (%s needed)", bytes_text(L, d->bytes));
        else
            lua_pushliteral(L, "not enough memory");
        break;
    case TS_TOO_LARGE:
        if (d->bytes)
            lua_pushfstring(L, "too large (%s)", bytes_text(L, d->bytes));
        else
            lua_pushliteral(L, "too large");
        break;
    case TS_SHAPE:
        lua_pushfstring(L, "shape is %Ix%I, %Ix%I expected", I(d->got[0]), I(d->got[1]),
                        I(d->want[0]), I(d->want[1]));
        break;
    case TS_DTYPE:
        lua_pushliteral(L, "operands are of two dtypes, f32 and f64");
        break;
    case TS_OVERLAP:
        lua_pushfstring(L, "key %I is in both summaries", I(d->key));
        break;
    case TS_NONFINITE_SCORE:
        lua_pushfstring(L, "score of query %I, key %I, head %I is %s", I(d->row), I(d->key),
                        I(d->head), number_text(L, d->value));
        break;
    case TS_NONFINITE_VALUE:
        lua_pushfstring(L, "value of key %I, column %I, head %I is %s, and query %I may use it",
                        I(d->key), I(d->column), I(d->head), number_text(L, d->value), I(d->row));
        break;
    case TS_EMPTY_ROW:
        if (d->count > 1)
            lua_pushfstring(L,
                            "row %I of head %I and %I more have no allowed key "
                            "(use empty = \"zero\")",
                            I(d->row), I(d->head), I(d->count - 1));
        else
            lua_pushfstring(L, "row %I of head %I has no allowed key (use empty = \"zero\")",
                            I(d->row), I(d->head));
        break;
    case TS_INTERRUPTED:
        lua_pushliteral(L, "interrupted!");
        break;
    case TS_CALLBACK:
        lua_pushliteral(L, "a callback failed");
        break;
    case TS_BLOCK_MISSING:
        lua_pushfstring(L, "block %I is left out", I(d->key));
        break;
    case TS_BLOCK_TWICE:
        lua_pushfstring(L, "block %I is used twice", I(d->key));
        break;
    case TS_KEY_MISSING:
        lua_pushfstring(L, "key %I is in no block", I(d->key));
        break;
    case TS_KEY_UNKNOWN:
        lua_pushfstring(L, "the problem has no key %I", I(d->key));
        break;
    case TS_MALFORMED:
        lua_pushfstring(L, "malformed at position %I", I(d->key));
        break;
    case TS_NO_ISA:
        lua_pushliteral(L, "this CPU lacks the instruction set asked for");
        break;
    }
}

/* Is it about an argument's contents, so that the function is worth naming? */
static bool names_function(ts_status status) {
    return status == TS_SHAPE || status == TS_DTYPE || status == TS_TOO_LARGE;
}

/* On the main thread the pending hook raises by itself as soon as Lua runs; elsewhere it never
 * fires, so we do. */
static int raise_interrupted(lua_State *L) {
    lua_rawgeti(L, LUA_REGISTRYINDEX, LUA_RIDX_MAINTHREAD);
    bool on_main = lua_tothread(L, -1) == L;
    lua_pop(L, 1);
    luaL_checkstack(L, 2, NULL);
    if (on_main && luaL_loadstring(L, "return") == LUA_OK) lua_call(L, 0, 0);
    lua_pushliteral(L, "interrupted!");
    return raise(L);
}

void ts_lua_raise(lua_State *L, ts_status status, const ts_detail *detail, const char *name) {
    ts_lua_run_done(L);
    if (status == TS_OK) return;
    luaL_checkstack(L, 8, NULL);
    if (status == TS_INTERRUPTED) raise_interrupted(L);
    static const ts_detail nothing;
    describe(L, status, detail ? detail : &nothing);
    if (names_function(status)) {
        const char *function = name ? name : running(L, NULL);
        lua_pushfstring(L, "%s: %s", function, lua_tostring(L, -1));
    }
    raise(L);
}
