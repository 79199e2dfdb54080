/* keys.c -- key sets, read from lists of {first, last} and told in words. */
#include "summary.h"

/* The first (1) or last (2) key of the range at the top of the stack. */
static int64_t range_end(lua_State *L, int arg, const char *fname, int which) {
    lua_rawgeti(L, -1, which);
    int whole;
    int64_t key = lua_tointegerx(L, -1, &whole);
    if (!whole) ts_lua_arg_error(L, arg, fname, "keys are a list of {first, last}, whole numbers");
    lua_pop(L, 1);
    return key;
}

static ts_range read_range(lua_State *L, int arg, const char *fname, int64_t low, int64_t high) {
    if (!lua_istable(L, -1)) ts_lua_arg_error(L, arg, fname, "keys are a list of {first, last}");
    ts_range range = {range_end(L, arg, fname, 1), range_end(L, arg, fname, 2)};
    if (range.last < range.first - 1)
        ts_lua_arg_error(L, arg, fname, "keys {%I, %I} end before they begin", I(range.first),
                         I(range.last));
    if (range.last >= range.first && (range.first < low || range.last > high))
        ts_lua_arg_error(L, arg, fname, "keys {%I, %I} are outside %I..%I", I(range.first),
                         I(range.last), I(low), I(high));
    return range;
}

ts_keyset ts_lua_read_keys(lua_State *L, int arg, const char *fname, int index, int64_t low,
                           int64_t high) {
    index = lua_absindex(L, index);
    luaL_checkstack(L, 6, NULL);
    int64_t count = (int64_t)lua_rawlen(L, index);
    ts_range *ranges = lua_newuserdatauv(L, (size_t)(2 * count + 1) * sizeof *ranges, 0);
    for (int64_t r = 0; r < count; r++) {
        lua_rawgeti(L, index, r + 1);
        ranges[r] = read_range(L, arg, fname, low, high);
        lua_pop(L, 1);
    }
    ts_keyset keys = {0, ranges + count};
    ts_detail detail = {0};
    if (ts_keyset_make(ranges, count, &keys, &detail) != TS_OK)
        ts_lua_arg_error(L, arg, fname, "key %I is named twice", I(detail.key));
    return keys;
}

void ts_lua_push_keys(lua_State *L, const ts_keyset *keys, int64_t shown) {
    luaL_Buffer text;
    luaL_buffinit(L, &text);
    for (int64_t r = 0; r < keys->count && r < shown; r++) {
        ts_range range = keys->ranges[r];
        if (r > 0) luaL_addstring(&text, ", ");
        lua_pushfstring(L, range.first == range.last ? "%I" : "%I..%I", I(range.first),
                        I(range.last));
        luaL_addvalue(&text);
    }
    if (keys->count > shown) luaL_addstring(&text, ", ...");
    luaL_pushresult(&text);
}

enum { SHARED = 5 };

/* The first SHARED ranges, at most, of keys that are in both. */
static int64_t intersect(const ts_keyset *a, const ts_keyset *b, ts_range out[SHARED]) {
    int64_t found = 0;
    for (int64_t i = 0, j = 0; found < SHARED && i < a->count && j < b->count;) {
        ts_range x = a->ranges[i], y = b->ranges[j];
        ts_range both = {x.first > y.first ? x.first : y.first, x.last < y.last ? x.last : y.last};
        if (both.first <= both.last) out[found++] = both;
        if (x.last < y.last)
            i++;
        else
            j++;
    }
    return found;
}

void ts_lua_push_shared(lua_State *L, const ts_keyset *a, const ts_keyset *b) {
    ts_range ranges[SHARED];
    ts_keyset both = {intersect(a, b, ranges), ranges};
    bool one = both.count == 1 && ranges[0].first == ranges[0].last;
    ts_lua_push_keys(L, &both, SHARED - 1);
    lua_pushfstring(L, one ? "key %s is" : "keys %s are", lua_tostring(L, -1));
    lua_remove(L, -2);
}
