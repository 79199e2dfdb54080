/* problem_make.c -- core.problem.new: a problem from fields that problem.lua has checked. */
#include "problem.h"

#include <string.h>

/* [fields at 1] -> the matrix in that field, which becomes user value `slot` of the problem on the
 * top. */
static ts_matrix own_matrix(lua_State *L, const char *field, int slot) {
    lua_getfield(L, 1, field);
    const ts_matrix *m = ts_lua_test_matrix(L, -1);
    if (!m) luaL_error(L, "field '%s' is no matrix", field);
    lua_setiuservalue(L, -2, slot);
    return *m;
}

/* Moves a field into a user value; says whether there is one. */
static bool own(lua_State *L, const char *field, int slot) {
    bool there = lua_getfield(L, 1, field) != LUA_TNIL;
    lua_setiuservalue(L, -2, slot);
    return there;
}

/* A list of one number a head; says whether there is one. */
static bool read_numbers(lua_State *L, const char *field, int64_t heads, double *out) {
    bool there = lua_getfield(L, 1, field) == LUA_TTABLE;
    for (int64_t h = 0; there && h < heads; h++) {
        lua_rawgeti(L, -1, h + 1);
        out[h] = luaL_checknumber(L, -1);
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
    return there;
}

/* What lies behind the header: arrays of one element a head. */
typedef struct {
    double *scale, *sink;
    const ts_mask **mask;
    const ts_score **score;
    ts_score *scores;
    ts_lua_called *called;
} arrays;

static const size_t bytes_a_head = 2 * sizeof(double) + sizeof(ts_mask *) + sizeof(ts_score *) +
                                   sizeof(ts_score) + sizeof(ts_lua_called);

static arrays place(void *memory, int64_t heads) {
    arrays a;
    a.scale = memory;
    a.sink = a.scale + heads;
    a.mask = (const ts_mask **)(a.sink + heads);
    a.score = (const ts_score **)(a.mask + heads);
    a.scores = (ts_score *)(a.score + heads);
    a.called = (ts_lua_called *)(a.scores + heads);
    return a;
}

/* The problem is on the top of the stack. */
static void read_masks(lua_State *L, ts_problem *problem, arrays *a) {
    if (!own(L, "masks", TS_PROBLEM_MASKS)) return;
    lua_getiuservalue(L, -1, TS_PROBLEM_MASKS);
    for (int64_t h = 0; h < problem->heads; h++) {
        lua_rawgeti(L, -1, h + 1);
        a->mask[h] = ts_lua_test_mask(L, -1);
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
    problem->mask = a->mask;
}

static void read_scores(lua_State *L, ts_lua_problem *p, arrays *a) {
    if (!own(L, "scores", TS_PROBLEM_SCORES)) return;
    own(L, "runs", TS_PROBLEM_RUNS);
    lua_getiuservalue(L, -1, TS_PROBLEM_RUNS);
    luaL_argcheck(L, lua_istable(L, -1), 1, "scores and what runs for them go together");
    for (int64_t h = 0; h < p->problem.heads; h++) {
        lua_rawgeti(L, -1, h + 1);
        a->called[h] = (ts_lua_called){p, h};
        a->scores[h].program = ts_lua_test_program(L, -1);
        if (!a->scores[h].program) {
            a->scores[h].call = ts_lua_call_score;
            a->scores[h].data = &a->called[h];
        }
        a->score[h] = &a->scores[h];
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
    p->problem.score = a->score;
}

/* Q, K and V, and the sizes that follow from them or are given. */
static void read_sizes(lua_State *L, ts_problem *problem) {
    problem->kv_heads = ts_lua_integer_field(L, 1, "kv_heads", 0);
    problem->q = own_matrix(L, "Q", TS_PROBLEM_Q);
    problem->k = own_matrix(L, "K", TS_PROBLEM_K);
    problem->v = own_matrix(L, "V", TS_PROBLEM_V);
    problem->dtype = problem->q.dtype;
    problem->n_q = problem->q.rows;
    problem->n_k = problem->k.rows;
    problem->d = ts_lua_integer_field(L, 1, "d", 0);
    problem->d_v = ts_lua_integer_field(L, 1, "d_v", 0);
    problem->first_key = ts_lua_integer_field(L, 1, "first_key", 1);
}

/* core.problem.new{Q=, K=, V=, d=, d_v=, heads=, kv_heads=, first_key=, two=, zero=, propagate=,
 * scale = list, sink = [list], mask = [as given], masks = [list], scores = [list], runs = [list],
 * given = table}: lists have one element a head. problem.lua has checked them in words; here only
 * what would be unsafe is refused. */
int ts_lua_problem_new(lua_State *L) {
    luaL_checktype(L, 1, LUA_TTABLE);
    lua_settop(L, 1);
    int64_t heads = ts_lua_integer_field(L, 1, "heads", 0);
    luaL_argcheck(L, heads >= 1 && heads <= 1 << 24, 1, "too many heads");
    void *memory;
    size_t payload = (size_t)heads * bytes_a_head;
    ts_lua_problem *p = ts_lua_new_block(L, sizeof *p, payload, TS_PROBLEM_VALUES, &memory);
    memset(p, 0, sizeof *p);
    memset(memory, 0, payload);
    arrays a = place(memory, heads);
    ts_problem *problem = &p->problem;
    problem->heads = heads;
    read_sizes(L, problem);
    problem->base = ts_lua_boolean_field(L, 1, "two") ? TS_BASE_2 : TS_BASE_E;
    problem->propagate = ts_lua_boolean_field(L, 1, "propagate");
    p->zero_empty = ts_lua_boolean_field(L, 1, "zero");
    read_numbers(L, "scale", heads, a.scale);
    problem->scale = a.scale;
    if (read_numbers(L, "sink", heads, a.sink)) problem->sink = a.sink;
    own(L, "mask", TS_PROBLEM_MASK);
    own(L, "given", TS_PROBLEM_GIVEN);
    read_masks(L, problem, &a);
    read_scores(L, p, &a);
    ts_detail detail = {0};
    ts_lua_raise(L, ts_problem_check(problem, &detail), &detail, "problem");
    luaL_setmetatable(L, TS_PROBLEM);
    return 1;
}
