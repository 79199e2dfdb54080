/* tiling_plan.c -- what a tiling comes to, for those who explain or check it. */
#include "tiling.h"

/* Appends to the word (a list at `list`, of *length entries) the word of one part. */
static void append_part(lua_State *L, int list, const ts_schedule *s, int64_t part, int64_t tile,
                        int64_t tiles, const int32_t *all, int32_t *room, void *scratch,
                        int64_t *length) {
    int64_t depth;
    int64_t entries = ts_schedule_word(s, part, tile, tiles, all, s->blocks, room, &depth, scratch);
    for (int64_t e = 0; e < entries; e++) {
        lua_pushinteger(L, room[e]);
        lua_rawseti(L, list, ++*length);
    }
}

/* [..., plan] -> the same, with the whole word of a query tile: block numbers, and 0 for ⋆. */
static void set_word(lua_State *L, const ts_schedule *s, int64_t tile, int64_t tiles) {
    const int plan = lua_gettop(L);
    int32_t *all = ts_lua_hold(L, s->blocks, sizeof *all);
    int32_t *room = ts_lua_hold(L, 2 * s->blocks + 1, sizeof *room);
    int32_t *parts = ts_lua_hold(L, 2 * s->parts + 1, sizeof *parts);
    void *scratch = ts_lua_hold(L, (int64_t)ts_schedule_scratch(s), 1);
    for (int64_t b = 0; b < s->blocks; b++) all[b] = (int32_t)(b + 1);
    lua_newtable(L);
    int list = lua_gettop(L);
    int64_t depth, length = 0;
    int64_t entries = s->blocks > 0 ? ts_schedule_parts_word(s, parts, &depth) : 0;
    for (int64_t e = 0; e < entries; e++) {
        if (parts[e] > 0) {
            append_part(L, list, s, parts[e] - 1, tile, tiles, all, room, scratch, &length);
            continue;
        }
        lua_pushinteger(L, 0);
        lua_rawseti(L, list, ++length);
    }
    lua_setfield(L, plan, "word");
    lua_settop(L, plan);
}

static int64_t memory_of(lua_State *L, const ts_problem *p, const ts_lua_tiling *t) {
    size_t bytes;
    ts_detail detail = {0};
    const ts_run run = {.threads = t->threads};
    ts_lua_raise(L, ts_attention_memory(p, &t->tiling, &run, &bytes), &detail, "attention");
    return (int64_t)bytes;
}

/* Pushes the blocks, each a list of {first, last}. */
static void push_blocks(lua_State *L, const ts_schedule *s) {
    lua_createtable(L, (int)s->blocks, 0);
    for (int64_t b = 1; b <= s->blocks; b++) {
        ts_lua_push_block(L, s, b);
        const bool one = lua_rawgeti(L, -1, 1) == LUA_TNUMBER; /* {first, last} itself */
        lua_pop(L, 1);
        if (one) {
            lua_createtable(L, 1, 0);
            lua_insert(L, -2);
            lua_rawseti(L, -2, 1);
        }
        lua_rawseti(L, -2, b);
    }
}

static void set_integer(lua_State *L, const char *name, int64_t value) {
    lua_pushinteger(L, value);
    lua_setfield(L, -2, name);
}

/* core.problem.plan(P, tiling [, tile = 1]) -> {q = rows a tile, tiles = how many, parts =, threads
 * =, exp =, memory = bytes of work space, blocks = {{{first, last}, ..}, ..}, word = {block
 * numbers, 0 for ⋆}}: the word as the engine runs it for that tile, were no block empty. */
int ts_lua_problem_plan(lua_State *L) {
    const ts_problem *p = &ts_lua_check_problem(L, 1)->problem;
    lua_settop(L, 3);
    ts_lua_tiling read;
    ts_lua_read_tiling(L, 2, p, false, &read);
    const ts_schedule *s = &read.tiling.schedule;
    const int64_t q = read.tiling.q, tiles = p->n_q > 0 ? (p->n_q - 1) / q + 1 : 0;
    const int64_t tile =
        lua_isnil(L, 3) ? 1 : ts_lua_check_range(L, 3, "tile", 1, tiles > 0 ? tiles : 1);
    lua_createtable(L, 0, 8);
    set_integer(L, "q", q);
    set_integer(L, "tiles", tiles);
    set_integer(L, "parts", s->parts);
    set_integer(L, "threads", read.threads);
    set_integer(L, "memory", memory_of(L, p, &read));
    lua_pushstring(L, read.tiling.exp == TS_EXP_POLY ? "poly" : "sleef");
    lua_setfield(L, -2, "exp");
    push_blocks(L, s);
    lua_setfield(L, -2, "blocks");
    set_word(L, s, tile - 1, tiles);
    return 1;
}
