/* tiling_blocks.c -- the field `k` of a tiling where it is a list: last keys, or sets of keys. */
#include "tiling.h"

#include <string.h>

/* k = {last keys}: block b ends at entry b, and begins behind the one before. */
static void read_last_keys(lua_State *L, int arg, ts_schedule *s, int k) {
    ts_range *ranges = ts_lua_hold(L, s->blocks, sizeof *ranges);
    int64_t *starts = ts_lua_hold(L, s->blocks + 1, sizeof *starts);
    int64_t before = s->first - 1;
    starts[0] = 0;
    for (int64_t b = 0; b < s->blocks; b++) {
        int64_t last = ts_lua_whole_at(L, arg, "k", k, b + 1);
        if (last <= before)
            ts_lua_arg_error(L, arg, NULL, "field 'k': block %I ends at key %I, block %I at key %I",
                             I(b + 1), I(last), I(b), I(before));
        ranges[b] = (ts_range){before + 1, last};
        starts[b + 1] = b + 1;
        before = last;
    }
    s->ranges = ranges;
    s->starts = starts;
}

/* How many ranges the key set on the top of the stack has: {first, last}, or a list of them. */
static int64_t count_ranges(lua_State *L, int arg, int64_t block) {
    if (!lua_istable(L, -1))
        ts_lua_arg_error(L, arg, NULL, "field 'k': block %I is no set of keys, {{first, last}, ..}",
                         I(block));
    bool one = lua_rawgeti(L, -1, 1) == LUA_TNUMBER;
    lua_pop(L, 1);
    return one ? 1 : (int64_t)lua_rawlen(L, -1);
}

/* Writes the ranges of the key set on the top of the stack, sorted; empty ones are left out. (A
 * finalizer may have changed the set since its ranges were counted: there is `room` for those.) */
static int64_t read_key_set(lua_State *L, int arg, const ts_schedule *s, int64_t room,
                            ts_range *out) {
    if (lua_rawgeti(L, -1, 1) == LUA_TNUMBER) { /* {first, last}: as {{first, last}} */
        lua_pop(L, 1);
        lua_createtable(L, 1, 0);
        lua_pushvalue(L, -2);
        lua_rawseti(L, -2, 1);
    } else {
        lua_pop(L, 1);
        lua_pushvalue(L, -1);
    }
    ts_keyset keys = ts_lua_read_keys(L, arg, NULL, -1, s->first, s->last);
    if (keys.count > room) ts_lua_arg_error(L, arg, NULL, "field 'k': these are no blocks");
    memcpy(out, keys.ranges, (size_t)keys.count * sizeof *out);
    lua_pop(L, 2);
    return keys.count;
}

/* k = {key sets} */
static void read_key_sets(lua_State *L, int arg, ts_schedule *s, int k) {
    int64_t count = 0;
    for (int64_t b = 1; b <= s->blocks; b++) {
        lua_rawgeti(L, k, b);
        count += count_ranges(L, arg, b);
        lua_pop(L, 1);
    }
    ts_range *ranges = ts_lua_hold(L, count, sizeof *ranges);
    int64_t *starts = ts_lua_hold(L, s->blocks + 1, sizeof *starts);
    starts[0] = 0;
    for (int64_t b = 1; b <= s->blocks; b++) {
        lua_rawgeti(L, k, b);
        starts[b] =
            starts[b - 1] + read_key_set(L, arg, s, count - starts[b - 1], ranges + starts[b - 1]);
        lua_pop(L, 1);
    }
    s->ranges = ranges;
    s->starts = starts;
}

/* Every key of the problem in one block (partial: at most one), and no other. */
static void check_keys(lua_State *L, int arg, const ts_schedule *s, bool partial) {
    ts_detail detail = {0};
    ts_schedule blocks = *s;
    blocks.order = TS_ORDER_FORWARD;
    blocks.merge = TS_MERGE_ONLINE;
    blocks.parts = 1;
    void *scratch = ts_lua_hold(L, (int64_t)ts_schedule_scratch(&blocks), 1);
    switch (ts_schedule_check(&blocks, scratch, &detail)) {
    case TS_OK:
        break;
    case TS_OVERLAP:
        ts_lua_arg_error(L, arg, NULL, "field 'k': key %I is in two blocks", I(detail.key));
        break;
    case TS_KEY_UNKNOWN:
        ts_lua_arg_error(L, arg, NULL, "field 'k': the problem has no key %I", I(detail.key));
        break;
    case TS_KEY_MISSING:
        if (partial) break;
        ts_lua_arg_error(L, arg, NULL, "field 'k': key %I is in no block", I(detail.key));
        break;
    default:
        ts_lua_arg_error(L, arg, NULL, "field 'k': these are no blocks");
    }
    lua_pop(L, 1);
}

/* The list of blocks on the top of the stack, which stays. */
void ts_lua_read_blocks(lua_State *L, int arg, ts_schedule *s, bool partial) {
    int k = lua_gettop(L);
    s->blocks = (int64_t)lua_rawlen(L, k);
    if (s->blocks > INT32_MAX / 2) ts_lua_arg_error(L, arg, NULL, "field 'k': too many blocks");
    bool sets = lua_rawgeti(L, k, 1) == LUA_TTABLE;
    lua_pop(L, 1);
    if (sets)
        read_key_sets(L, arg, s, k);
    else
        read_last_keys(L, arg, s, k);
    check_keys(L, arg, s, partial);
}

void ts_lua_push_block(lua_State *L, const ts_schedule *s, int64_t b) {
    int64_t count;
    ts_range one;
    const ts_range *ranges = ts_schedule_block(s, b, &one, &count);
    lua_newtable(L);
    for (int64_t r = 0; r < count; r++) {
        if (count > 1) lua_newtable(L);
        lua_pushinteger(L, ranges[r].first);
        lua_rawseti(L, -2, 1);
        lua_pushinteger(L, ranges[r].last);
        lua_rawseti(L, -2, 2);
        if (count > 1) lua_rawseti(L, -2, r + 1);
    }
}
