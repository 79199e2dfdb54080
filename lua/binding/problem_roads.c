/* problem_roads.c -- the roads that answer a problem: full softmax, tiles, summaries. */
#include "problem.h"

#include <string.h>

static bool zero_empty(const ts_lua_problem *p, int of_call) {
    return of_call < 0 ? p->zero_empty : of_call;
}

typedef struct {
    ts_matrix *o, *lse;
} answer;

/* Pushes O and lse, uninitialised. */
static answer new_answer(lua_State *L, const ts_problem *p) {
    answer a;
    a.o = ts_lua_new_matrix(L, p->dtype, p->n_q, p->heads * p->d_v);
    a.lse = ts_lua_new_matrix(L, p->dtype, p->n_q, p->heads);
    return a;
}

/* P:softmax([{empty=}]) -> O, lse */
static int softmax(lua_State *L) {
    static const char *const fields[] = {"empty", NULL};
    ts_lua_problem *p = ts_lua_check_problem(L, 1);
    ts_lua_check_fields(L, 2, fields);
    bool zero = zero_empty(p, ts_lua_empty_field(L, 2));
    answer a = new_answer(L, &p->problem);
    ts_run run = ts_lua_run(L, 0);
    ts_detail detail = {0};
    ts_lua_call call = ts_lua_begin(L, p);
    /* Empty rows come as zeros, and are found by their lse: then all of them can be named. */
    ts_status status = ts_softmax(&p->problem, true, &run, a.o, a.lse, &detail);
    ts_lua_end(L, p, call, status, &detail);
    if (!zero) ts_lua_check_empty(L, a.lse);
    return 2;
}

/* P:attention([tiling]) -> O, lse */
static int attention(lua_State *L) {
    ts_lua_problem *p = ts_lua_check_problem(L, 1);
    ts_lua_tiling tiling;
    ts_lua_read_tiling(L, 2, &p->problem, false, &tiling);
    answer a = new_answer(L, &p->problem);
    ts_run run = ts_lua_run(L, tiling.threads);
    ts_detail detail = {0};
    ts_lua_call call = ts_lua_begin(L, p);
    ts_status status = ts_attention(&p->problem, &tiling.tiling, true, &run, a.o, a.lse, &detail);
    ts_lua_end(L, p, call, status, &detail);
    if (!zero_empty(p, tiling.empty)) ts_lua_check_empty(L, a.lse);
    return 2;
}

typedef ts_status cells(const ts_problem *problem, int64_t head, const ts_run *run, ts_matrix *out,
                        ts_detail *detail);

static int of_cells(lua_State *L, cells *road) {
    ts_lua_problem *p = ts_lua_check_problem(L, 1);
    int64_t head =
        lua_isnoneornil(L, 2) ? 1 : ts_lua_check_range(L, 2, "head", 1, p->problem.heads);
    ts_matrix *out = ts_lua_new_matrix(L, p->problem.dtype, p->problem.n_q, p->problem.n_k);
    ts_run run = ts_lua_run(L, 0);
    ts_detail detail = {0};
    ts_lua_call call = ts_lua_begin(L, p);
    ts_status status = road(&p->problem, head - 1, &run, out, &detail);
    ts_lua_end(L, p, call, status, &detail);
    return 1;
}

/* P:weights([h = 1]), P:scores([h = 1]) -> n_q x n_k */
static int weights(lua_State *L) { return of_cells(L, ts_softmax_weights); }
static int scores(lua_State *L) { return of_cells(L, ts_softmax_scores); }

/* Arguments 2 and 3, a range of the problem's keys first..last; one that ends before it begins is
 * no key. */
static void check_range(lua_State *L, ts_range range, int64_t first, int64_t last) {
    bool is_none = range.last < range.first && range.last == range.first - 1;
    if (range.first < first || range.first > last + is_none)
        ts_lua_arg_error(L, 2, NULL, "key %I is none of the problem's %I..%I", I(range.first),
                         I(first), I(last));
    if (range.last > last)
        ts_lua_arg_error(L, 3, NULL, "key %I is none of the problem's %I..%I", I(range.last),
                         I(first), I(last));
    if (range.last < range.first - 1)
        ts_lua_arg_error(L, 3, NULL, "the last key, %I, is before the first, %I", I(range.last),
                         I(range.first));
}

/* Is argument `arg` what mpi.shard gives behind one rank's keys: all ranks', each a list of lists?
 */
static bool is_all_ranks(lua_State *L, int arg) {
    bool all = lua_istable(L, arg) && luaL_len(L, arg) > 0;
    for (lua_Integer n = 1; all && n <= luaL_len(L, arg); n++) {
        all = lua_geti(L, arg, n) == LUA_TTABLE &&
              (luaL_len(L, -1) == 0 || lua_geti(L, -1, 1) == LUA_TTABLE);
        lua_settop(L, arg);
    }
    return all;
}

/* The arguments of P:summary as a key set; pushes its memory. */
static ts_keyset summary_keys(lua_State *L, const ts_problem *p) {
    int64_t first = p->first_key, last = p->first_key + p->n_k - 1;
    if (ts_lua_is_plain_table(L, 2)) {
        ts_lua_no_more(L, lua_gettop(L) == 3 && is_all_ranks(L, 3) ? 3 : 2, 0);
        return ts_lua_read_keys(L, 2, NULL, 2, first, last);
    }
    ts_range range = {first, last};
    if (!lua_isnoneornil(L, 2) || !lua_isnoneornil(L, 3)) {
        range.first = ts_lua_check_whole(L, 2, "first key");
        range.last = ts_lua_check_whole(L, 3, "last key");
        check_range(L, range, first, last);
    }
    ts_keyset keys = {range.last >= range.first, lua_newuserdatauv(L, sizeof range, 0)};
    keys.ranges[0] = range;
    return keys;
}

/* P:summary([first, last] | {{first, last}, ..}) -> Σ over those keys */
static int summary(lua_State *L) {
    ts_lua_problem *p = ts_lua_check_problem(L, 1);
    ts_keyset from = summary_keys(L, &p->problem), *keys;
    ts_summary *out = ts_lua_new_summary_of(L, 1, from.count, &keys);
    keys->count = from.count;
    memcpy(keys->ranges, from.ranges, (size_t)from.count * sizeof *from.ranges);
    ts_run run = ts_lua_run(L, 0);
    ts_detail detail = {0};
    ts_lua_call call = ts_lua_begin(L, p);
    ts_status status =
        ts_attention_summary(&p->problem, keys->ranges, keys->count, &run, out, &detail);
    ts_lua_end(L, p, call, status, &detail);
    return 1;
}

/* P:bottom() -> ⊥ of every row and head, over no key */
static int bottom(lua_State *L) {
    ts_keyset *keys;
    ts_lua_check_problem(L, 1);
    ts_lua_new_summary_of(L, 1, 0, &keys);
    return 1;
}

const ts_lua_function ts_lua_problem_roads[] = {
    {"bound", ts_lua_problem_bound, 4},
    {"softmax", softmax, 2},
    {"attention", attention, 2},
    {"weights", weights, 2},
    {"scores", scores, 2},
    {"summary", summary, 3},
    {"bottom", bottom, 1},
    {"oracle", ts_lua_problem_oracle, 2},
    {NULL, NULL, 0},
};
