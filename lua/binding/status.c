/* status.c -- words for what went wrong, blamed on the line of the user who called. */
#include "problem.h"

#include <math.h>
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
        lua_getinfo(L, "Sln", &ar);
        /* Metamethods in C are ours, too. */
        if (is_ours(L, ar.source) || strcmp(ar.namewhat, "metamethod") == 0) continue;
        if (ar.currentline < 1) break;
        lua_pushfstring(L, "%s:%d: ", ar.short_src, ar.currentline);
        return;
    }
    lua_pushliteral(L, "");
}

int ts_lua_error(lua_State *L) {
    ts_lua_where(L);
    lua_insert(L, -2);
    lua_concat(L, 2);
    return lua_error(L);
}

static char names_key; /* registry field: our C function -> its name, ":name" for a method */

void ts_lua_name_functions(lua_State *L, bool are_methods) {
    if (lua_rawgetp(L, LUA_REGISTRYINDEX, &names_key) == LUA_TNIL) {
        lua_pop(L, 1);
        lua_newtable(L);
        lua_pushvalue(L, -1);
        lua_rawsetp(L, LUA_REGISTRYINDEX, &names_key);
    }
    lua_pushnil(L);
    while (lua_next(L, -3)) {
        if (lua_iscfunction(L, -1) && lua_type(L, -2) == LUA_TSTRING) {
            lua_pushfstring(L, are_methods ? ":%s" : "%s", lua_tostring(L, -2));
            lua_rawset(L, -4); /* names[function] = name; the key stays */
        } else {
            lua_pop(L, 1);
        }
    }
    lua_pop(L, 1);
}

/* The name of the running function; a method's arguments are counted without self. Called through
 * pcall a function has no name in the eyes of Lua, but still has ours. */
static const char *running(lua_State *L, int *arg) {
    lua_Debug ar;
    if (!lua_getstack(L, 0, &ar)) return "?";
    lua_getinfo(L, "fn", &ar);
    lua_rawgetp(L, LUA_REGISTRYINDEX, &names_key);
    lua_insert(L, -2);
    const char *ours = lua_istable(L, -2) && lua_rawget(L, -2) ? lua_tostring(L, -1) : NULL;
    lua_pop(L, 2); /* the registry's table holds the name */
    const char *name = ours ? ours + (*ours == ':') : ar.name ? ar.name : "?";
    bool is_method = ours ? *ours == ':' : ar.name && strcmp(ar.namewhat, "method") == 0;
    if (is_method && arg) --*arg;
    return name;
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
    return ts_lua_error(L);
}

const char *ts_lua_kind(lua_State *L, int index) {
    static const char ours[] = "tessera.";
    if (!lua_isuserdata(L, index) || luaL_getmetafield(L, index, "__name") == LUA_TNIL)
        return luaL_typename(L, index);
    const char *name = lua_tostring(L, -1);
    lua_pop(L, 1); /* the metatable holds it */
    bool is_ours = name && strncmp(name, ours, sizeof ours - 1) == 0;
    return is_ours ? name + sizeof ours - 1 : luaL_typename(L, index);
}

int ts_lua_type_error(lua_State *L, int arg, const char *name, const char *expected) {
    return ts_lua_arg_error(L, arg, name, "%s expected, got %s", expected, ts_lua_kind(L, arg));
}

/* core.fail(message): error() with the position of the user's line. */
int ts_lua_fail(lua_State *L) {
    luaL_checkstring(L, 1);
    lua_settop(L, 1);
    return ts_lua_error(L);
}

/* core.fail_arg(n, fname, message) */
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
    return ts_lua_error(L);
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
    ts_lua_error(L);
}

/* ---- rows without keys ---- */

static bool is_empty(const ts_matrix *m, int64_t row, int64_t head) {
    int64_t at = row * m->row_stride + head * m->col_stride;
    return (m->dtype == TS_F32 ? ((const float *)m->data)[at] : ((const double *)m->data)[at]) ==
           -INFINITY;
}

/* Pushes the list of the empty rows of `head`, "2, 7"; returns how many there are. */
static int64_t push_empty_rows(lua_State *L, const ts_matrix *m, int64_t head) {
    enum { SHOWN = 8 };
    luaL_Buffer text;
    int64_t found = 0;
    luaL_buffinit(L, &text);
    for (int64_t row = 0; row < m->rows; row++) {
        if (!is_empty(m, row, head) || ++found > SHOWN) continue;
        if (found > 1) luaL_addstring(&text, ", ");
        lua_pushfstring(L, "%I", I(row + 1));
        luaL_addvalue(&text);
    }
    if (found > SHOWN) {
        lua_pushfstring(L, " and %I more", I(found - SHOWN));
        luaL_addvalue(&text);
    }
    luaL_pushresult(&text);
    return found;
}

void ts_lua_check_empty(lua_State *L, const ts_matrix *m) {
    int64_t head = 0, rows = 0, others = 0;
    for (; head < m->cols && rows == 0; head++)
        for (int64_t row = 0; row < m->rows; row++) rows += is_empty(m, row, head);
    if (rows == 0) return;
    for (int64_t other = head; other < m->cols; other++) {
        bool some = false;
        for (int64_t row = 0; row < m->rows; row++) some = some || is_empty(m, row, other);
        others += some;
    }
    push_empty_rows(L, m, head - 1);
    lua_pushfstring(L, "row%s %s of head %I %s no allowed key", rows > 1 ? "s" : "",
                    lua_tostring(L, -1), I(head), rows > 1 ? "have" : "has");
    if (others > 0)
        lua_pushfstring(L, "%s, as have rows of %I other head%s", lua_tostring(L, -1), I(others),
                        others > 1 ? "s" : "");
    lua_pushfstring(L, "%s (use empty = \"zero\")", lua_tostring(L, -1));
    ts_lua_error(L);
}
