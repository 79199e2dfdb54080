/* tiling_order.c -- the field `order` of a tiling: which block stands at which position. */
#include "tiling.h"

void ts_lua_check_each_once(lua_State *L, int arg, const char *field, const char *thing,
                            const int32_t *list, int64_t count, int64_t n) {
    uint8_t *used = ts_lua_hold(L, n + 1, 1);
    for (int64_t b = 0; b <= n; b++) used[b] = 0;
    for (int64_t e = 0; e < count; e++) {
        if (list[e] < 1 || list[e] > n)
            ts_lua_arg_error(L, arg, NULL, "field '%s': there is no %s %d, only %I", field, thing,
                             (int)list[e], I(n));
        if (used[list[e]]++)
            ts_lua_arg_error(L, arg, NULL, "field '%s': %s %d is used twice", field, thing,
                             (int)list[e]);
    }
    for (int64_t b = 1; b <= n; b++)
        if (!used[b])
            ts_lua_arg_error(L, arg, NULL, "field '%s': %s %I is left out", field, thing, I(b));
    lua_pop(L, 1);
}

/* The permutation on the top of the stack, which stays, into `row`. */
static void read_permutation(lua_State *L, int arg, int64_t blocks, int32_t *row) {
    int table = lua_gettop(L);
    if (!lua_istable(L, table))
        ts_lua_arg_error(L, arg, NULL, "field 'order': a permutation expected, got %s",
                         ts_lua_kind(L, table));
    int64_t count = (int64_t)lua_rawlen(L, table);
    if (count > blocks)
        ts_lua_arg_error(L, arg, NULL, "field 'order': a list of %I for %I block%s", I(count),
                         I(blocks), ts_lua_plural(blocks));
    for (int64_t n = 0; n < count; n++)
        row[n] = ts_lua_narrow(ts_lua_whole_at(L, arg, "order", table, n + 1));
    ts_lua_check_each_once(L, arg, "order", "block", row, count, blocks);
}

/* order = function(blocks, q_tile): asked once for each tile of queries. It is on the top. */
static void ask_order(lua_State *L, int arg, const ts_problem *p, ts_tiling *t) {
    ts_schedule *s = &t->schedule;
    int function = lua_gettop(L);
    int64_t tiles = p->n_q > 0 ? (p->n_q - 1) / t->q + 1 : 0, entries;
    if (tiles == 0) return;
    if (__builtin_mul_overflow(tiles, s->blocks, &entries)) entries = -1;
    int32_t *rows = ts_lua_hold(L, entries, sizeof *rows);
    lua_createtable(L, (int)s->blocks, 0);
    int blocks = lua_gettop(L);
    for (int64_t b = 1; b <= s->blocks; b++) {
        ts_lua_push_block(L, s, b);
        lua_rawseti(L, blocks, b);
    }
    for (int64_t tile = 0; tile < tiles; tile++) {
        int64_t last = (tile + 1) * t->q;
        lua_pushvalue(L, function);
        lua_pushvalue(L, blocks);
        lua_createtable(L, 2, 0);
        lua_pushinteger(L, tile * t->q + 1);
        lua_rawseti(L, -2, 1);
        lua_pushinteger(L, last < p->n_q ? last : p->n_q);
        lua_rawseti(L, -2, 2);
        lua_call(L, 2, 1);
        read_permutation(L, arg, s->blocks, rows + tile * s->blocks);
        lua_pop(L, 1);
    }
    s->order = TS_ORDER_LISTED;
    s->listed = rows;
    s->order_rows = tiles;
}

static int32_t *listed_once(lua_State *L, ts_schedule *s) {
    int32_t *row = ts_lua_hold(L, s->blocks, sizeof *row);
    s->order = TS_ORDER_LISTED;
    s->listed = row;
    s->order_rows = 1;
    return row;
}

static void shuffle(lua_State *L, ts_schedule *s, ts_lua_chance *c) {
    int32_t *row = listed_once(L, s);
    for (int64_t b = 0; b < s->blocks; b++) row[b] = (int32_t)(b + 1);
    for (int64_t b = s->blocks - 1; b > 0; b--) {
        int64_t other = ts_lua_draw(c, b + 1);
        int32_t kept = row[b];
        row[b] = row[other];
        row[other] = kept;
    }
}

/* The middle block, then the ones beside it in turn: 3 4 2 5 1. */
static void outward(lua_State *L, ts_schedule *s) {
    int32_t *row = listed_once(L, s);
    int64_t middle = (s->blocks + 1) / 2;
    for (int64_t n = 0; n < s->blocks; n++)
        row[n] = (int32_t)(n % 2 ? middle + (n + 1) / 2 : middle - n / 2);
}

void ts_lua_read_order(lua_State *L, int arg, const ts_problem *p, ts_tiling *t, ts_lua_chance *c) {
    ts_schedule *s = &t->schedule;
    if (lua_getfield(L, arg, "order") == LUA_TNIL || ts_lua_is_option(L, "forward"))
        s->order = TS_ORDER_FORWARD;
    else if (ts_lua_is_option(L, "backward"))
        s->order = TS_ORDER_BACKWARD;
    else if (ts_lua_is_option(L, "diagonal"))
        s->order = TS_ORDER_DIAGONAL;
    else if (ts_lua_is_option(L, "shuffle"))
        shuffle(L, s, c);
    else if (ts_lua_is_option(L, "outward"))
        outward(L, s);
    else if (lua_isfunction(L, -1))
        ask_order(L, arg, p, t);
    else if (lua_istable(L, -1)) {
        int32_t *row = listed_once(L, s);
        lua_pushvalue(L, -2);
        read_permutation(L, arg, s->blocks, row);
    } else
        ts_lua_invalid_option(L, arg, "order",
                              "\"forward\", \"backward\", \"diagonal\", \"outward\", "
                              "\"shuffle\", a list or a function");
}
