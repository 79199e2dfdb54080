/* status.c -- words for what a call of core came to. */
#include "problem.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

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

static const char *empty_text(lua_State *L, const ts_detail *d) {
    const char *others =
        d->count > 1 ? lua_pushfstring(L, " and %I more have", I(d->count - 1)) : " has";
    return lua_pushfstring(L, "row %I of head %I%s no allowed key (use empty = \"zero\")",
                           I(d->row), I(d->head), others);
}

/* The sentence, without position or function; what it pushes holds it. */
static const char *sentence(lua_State *L, ts_status status, const ts_detail *d) {
    switch (status) {
    case TS_OK:
        return "no error";
    case TS_NO_MEMORY:
        return d->bytes
                   ? lua_pushfstring(L, "not enough memory (%s needed)", bytes_text(L, d->bytes))
                   : "not enough memory";
    case TS_TOO_LARGE:
        return d->bytes ? lua_pushfstring(L, "too large (%s)", bytes_text(L, d->bytes))
                        : "too large";
    case TS_SHAPE:
        return lua_pushfstring(L, "shape is %Ix%I, %Ix%I expected", I(d->got[0]), I(d->got[1]),
                               I(d->want[0]), I(d->want[1]));
    case TS_DTYPE:
        return "operands are of two dtypes, f32 and f64";
    case TS_OVERLAP:
        return lua_pushfstring(L, "key %I is in both summaries", I(d->key));
    case TS_NONFINITE_SCORE:
        return lua_pushfstring(
            L, "score of query %I, key %I, head %I is %s (use nonfinite = \"propagate\")",
            I(d->row), I(d->key), I(d->head), number_text(L, d->value));
    case TS_NONFINITE_VALUE:
        return lua_pushfstring(
            L, "value of key %I, column %I, head %I is %s, and query %I may use it", I(d->key),
            I(d->column), I(d->head), number_text(L, d->value), I(d->row));
    case TS_EMPTY_ROW:
        return empty_text(L, d);
    case TS_INTERRUPTED:
        return "interrupted!";
    case TS_CALLBACK:
        return "a callback failed";
    case TS_BLOCK_MISSING:
        return lua_pushfstring(L, "block %I is left out", I(d->key));
    case TS_BLOCK_TWICE:
        return lua_pushfstring(L, "block %I is used twice", I(d->key));
    case TS_KEY_MISSING:
        return lua_pushfstring(L, "key %I is in no block", I(d->key));
    case TS_KEY_UNKNOWN:
        return lua_pushfstring(L, "the problem has no key %I", I(d->key));
    case TS_MALFORMED:
        return lua_pushfstring(L, "malformed at position %I", I(d->key));
    case TS_NO_ISA:
        return "this CPU lacks the instruction set asked for";
    }
    return "unknown status";
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
    const char *text = sentence(L, status, detail ? detail : &nothing);
    if (names_function(status))
        lua_pushfstring(L, "%s: %s", name ? name : ts_lua_running(L, NULL), text);
    else
        lua_pushstring(L, text);
    ts_lua_error(L);
}

/* ---- rows without keys ---- */

static bool is_empty(const ts_matrix *m, int64_t row, int64_t head) {
    return ts_matrix_get(m, row, head) == -INFINITY;
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
