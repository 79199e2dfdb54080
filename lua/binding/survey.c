/* survey.c -- what a captured Lua table holds behind its integer keys, seen in one pass. */
#include "program.h"

#include <math.h>

typedef struct {
    int64_t first, last, count;     /* of integer keys */
    bool fractional;                /* there are float keys too */
    int64_t ints, floats, booleans; /* how many values are */
    int64_t trues;                  /* of the booleans */
    int64_t least, greatest;        /* of the integers */
    double low, high;               /* of the floats that are no NaN */
    bool nan;
} survey;

static void note_value(lua_State *L, survey *s) {
    int type = lua_type(L, -1);
    if (type == LUA_TBOOLEAN) s->booleans++, s->trues += lua_toboolean(L, -1);
    if (type != LUA_TNUMBER) return;
    if (lua_isinteger(L, -1)) {
        int64_t x = lua_tointeger(L, -1);
        s->ints++;
        if (x < s->least) s->least = x;
        if (x > s->greatest) s->greatest = x;
    } else {
        double x = lua_tonumber(L, -1);
        s->floats++;
        s->nan |= x != x;
        if (x < s->low) s->low = x;
        if (x > s->high) s->high = x;
    }
}

/* The value on top of the stack, behind key k. */
static void note_entry(lua_State *L, survey *s, int64_t k) {
    s->count++;
    if (k < s->first) s->first = k;
    if (k > s->last) s->last = k;
    note_value(L, s);
}

/* Of integer keys those in first .. last. By what the table holds, not by the range, which may be
 * wider than can be walked. */
static void note_all(lua_State *L, survey *s, int64_t first, int64_t last) {
    for (lua_pushnil(L); lua_next(L, 1); lua_pop(L, 1)) {
        if (lua_isinteger(L, -2)) {
            const int64_t k = lua_tointeger(L, -2);
            if (first <= k && k <= last) note_entry(L, s, k);
        } else if (lua_type(L, -2) == LUA_TNUMBER) {
            s->fractional = true;
        }
    }
}

static void set_integer(lua_State *L, const char *field, int64_t x) {
    lua_pushinteger(L, (lua_Integer)x);
    lua_setfield(L, -2, field);
}

static void set_number(lua_State *L, const char *field, double x) {
    lua_pushnumber(L, x);
    lua_setfield(L, -2, field);
}

/* The type that all values have, with its bounds (of booleans where all are the same); none where
 * there are several. */
static void set_only(lua_State *L, const survey *s) {
    const char *only = s->ints == s->count       ? "integer"
                       : s->floats == s->count   ? "float"
                       : s->booleans == s->count ? "boolean"
                                                 : NULL;
    if (!only || s->count == 0) return;
    lua_pushstring(L, only);
    lua_setfield(L, -2, "only");
    if (s->ints) set_integer(L, "lo", s->least), set_integer(L, "hi", s->greatest);
    if (s->floats) set_number(L, "lo", s->low), set_number(L, "hi", s->high);
    if (s->booleans && (s->trues == 0 || s->trues == s->count)) {
        lua_pushboolean(L, s->trues > 0);
        lua_setfield(L, -2, "lo");
    }
}

/* [t [, first, last]] -> [{first, last, count, fractional, is_dense, only, lo, hi, nan}]: of t's
 * integer keys, or of those in a range; no metamethod is asked. */
int ts_lua_survey(lua_State *L) {
    survey s = {.first = INT64_MAX,
                .last = INT64_MIN,
                .least = INT64_MAX,
                .greatest = INT64_MIN,
                .low = INFINITY,
                .high = -INFINITY};
    luaL_checktype(L, 1, LUA_TTABLE);
    note_all(L, &s, luaL_optinteger(L, 2, INT64_MIN), luaL_optinteger(L, 3, INT64_MAX));
    lua_createtable(L, 0, 9);
    set_integer(L, "first", s.first), set_integer(L, "last", s.last);
    set_integer(L, "count", s.count);
    lua_pushboolean(L, s.fractional), lua_setfield(L, -2, "fractional");
    lua_pushboolean(L, s.nan), lua_setfield(L, -2, "nan");
    lua_pushboolean(L,
                    s.count > 0 && (uint64_t)s.last - (uint64_t)s.first == (uint64_t)s.count - 1);
    lua_setfield(L, -2, "is_dense");
    set_only(L, &s);
    return 1;
}
