/* tiling.c -- a tiling as people write it, read into the engine's. */
#include "tiling.h"

#include "../../core/kernel/poly.h"

#include <string.h>

/* Everything is in userdata on the Lua stack, so that an error at any point leaks nothing. */
void *ts_lua_hold(lua_State *L, int64_t count, size_t size) {
    luaL_checkstack(L, 8, NULL);
    if (count < 0 || (uint64_t)count > (uint64_t)PTRDIFF_MAX / size) {
        ts_detail detail = {.bytes = UINT64_MAX};
        ts_lua_raise(L, TS_TOO_LARGE, &detail, "attention");
    }
    void *memory;
    ts_lua_new_block(L, 0, (size_t)count * size + 1, 0, &memory);
    return memory;
}

int64_t ts_lua_whole_at(lua_State *L, int arg, const char *field, int table, int64_t n) {
    lua_rawgeti(L, table, n);
    int whole;
    int64_t value = lua_tointegerx(L, -1, &whole);
    if (!whole)
        ts_lua_arg_error(L, arg, NULL, "field '%s': entry %I is %s, a whole number expected", field,
                         I(n), lua_isstring(L, -1) ? lua_tostring(L, -1) : ts_lua_kind(L, -1));
    lua_pop(L, 1);
    return value;
}

bool ts_lua_is_option(lua_State *L, const char *name) {
    return lua_type(L, -1) == LUA_TSTRING && strcmp(lua_tostring(L, -1), name) == 0;
}

void ts_lua_invalid_option(lua_State *L, int arg, const char *field, const char *expected) {
    if (lua_type(L, -1) == LUA_TSTRING)
        ts_lua_arg_error(L, arg, NULL, "field '%s': %s expected, got '%s'", field, expected,
                         lua_tostring(L, -1));
    ts_lua_arg_error(L, arg, NULL, "field '%s': %s expected, got %s", field, expected,
                     ts_lua_kind(L, -1));
}

/* 0: not given. */
static int64_t positive_field(lua_State *L, int arg, const char *field) {
    int64_t value = ts_lua_integer_field(L, arg, field, 0);
    lua_getfield(L, arg, field);
    if (value < 1 && !lua_isnil(L, -1))
        ts_lua_arg_error(L, arg, NULL, "field '%s': %I is less than 1", field, I(value));
    lua_pop(L, 1);
    return value;
}

int ts_lua_empty_field(lua_State *L, int arg) {
    static const char *const choices[] = {"error", "zero", NULL};
    return ts_lua_choice_field(L, arg, "empty", -1, choices);
}

/* ---- chance ---- */

int64_t ts_lua_draw(ts_lua_chance *c, int64_t bound) {
    uint32_t counter[4] = {(uint32_t)c->drawn, (uint32_t)(c->drawn >> 32), 0x7469u, 0x6c65u};
    uint32_t key[2] = {(uint32_t)c->seed, (uint32_t)(c->seed >> 32)}, out[4];
    c->drawn++;
    ts_random_philox(counter, key, out);
    uint64_t x = (uint64_t)out[1] << 32 | out[0];
    return (int64_t)((__uint128_t)x * (uint64_t)bound >> 64);
}

static const char *const fields[] = {"q",      "k",       "order", "merge", "split", "exp",
                                     "degree", "threads", "empty", "seed",  NULL};

static void read_sizes(lua_State *L, int arg, bool partial, ts_lua_tiling *out) {
    static const char *const exps[] = {"sleef", "poly", NULL}; /* in the order of ts_exp */
    ts_tiling *t = &out->tiling;
    t->q = positive_field(L, arg, "q");
    t->exp = (ts_exp)ts_lua_choice_field(L, arg, "exp", TS_EXP_SLEEF, exps);
    const int64_t degree = positive_field(L, arg, "degree");
    if (degree > TS_POLY_DEGREE)
        ts_lua_arg_error(L, arg, NULL, "field 'degree': 1 to %d expected, got %I", TS_POLY_DEGREE,
                         I(degree));
    if (degree > 0 && t->exp != TS_EXP_POLY)
        ts_lua_arg_error(L, arg, NULL, "field 'degree': exp = \"poly\" expected with it");
    t->degree = (int)degree;
    int64_t threads = positive_field(L, arg, "threads");
    out->threads = threads > 1 << 16 ? 1 << 16 : (int)threads;
    out->empty = ts_lua_empty_field(L, arg);
    t->schedule.parts = positive_field(L, arg, "split");
    if (t->schedule.parts > 0) t->schedule.merge = TS_MERGE_SPLIT;
    if (lua_getfield(L, arg, "k") == LUA_TTABLE)
        ts_lua_read_blocks(L, arg, &t->schedule, partial);
    else
        t->schedule.k = positive_field(L, arg, "k");
}

void ts_lua_read_tiling(lua_State *L, int arg, const ts_problem *p, bool partial,
                        ts_lua_tiling *out) {
    memset(out, 0, sizeof *out);
    ts_tiling *t = &out->tiling;
    out->empty = -1;
    t->schedule.first = p->first_key;
    t->schedule.last = p->first_key + p->n_k - 1;
    if (lua_isnoneornil(L, arg)) {
        ts_tiling_defaults(p, t);
        return;
    }
    ts_lua_check_fields(L, arg, fields);
    read_sizes(L, arg, partial, out);
    bool merged = lua_getfield(L, arg, "merge") != LUA_TNIL;
    int merge = lua_gettop(L);
    if (merged && t->schedule.parts > 0)
        ts_lua_arg_error(L, arg, NULL, "fields 'split' and 'merge' exclude each other");
    ts_tiling_defaults(p, t);
    ts_lua_chance order = {(uint64_t)ts_lua_integer_field(L, arg, "seed", 1), 0};
    ts_lua_chance bracketing = {order.seed, (uint64_t)1 << 32};
    ts_lua_read_order(L, arg, p, t, &order);
    if (merged) {
        lua_pushvalue(L, merge);
        ts_lua_read_merge(L, arg, &t->schedule, &bracketing);
    }
}
