/* bound.c -- the derived bounds of rows, as matrices. */
#include "problem.h"

/* [table on the top] gains a new f64 matrix under `name`. */
static ts_matrix *add(lua_State *L, const char *name, int64_t rows, int64_t cols) {
    ts_matrix *m = ts_lua_new_matrix(L, TS_F64, rows, cols);
    lua_setfield(L, -2, name);
    return m;
}

/* P:bound([tiling [, rows [, partial]]]) -> {output=, expected=, max=, lse=,
 * bounded=, exact=}, f64 matrices of one row a row asked for; without tiling (or false): of the
 * softmax road. partial: the tiling's blocks need not hold every key, and only those they hold
 * count. */
int ts_lua_problem_bound(lua_State *L) {
    ts_lua_problem *p = ts_lua_check_problem(L, 1);
    const ts_problem *problem = &p->problem;
    const ts_tiling *tiling = NULL;
    ts_lua_tiling read;
    int64_t count;
    bool partial = lua_toboolean(L, 4);
    lua_settop(L, 3);
    const int64_t *rows = ts_lua_read_rows(L, 3, problem->n_q, &count);
    if (!lua_toboolean(L, 2)) {
        read.threads = 0;
    } else {
        ts_lua_read_tiling(L, 2, problem, partial, &read);
        tiling = &read.tiling;
    }
    lua_createtable(L, 0, 6);
    ts_bounds out;
    out.output = add(L, "output", count, problem->heads * problem->d_v);
    out.expected = add(L, "expected", count, problem->heads * problem->d_v);
    out.max = add(L, "max", count, problem->heads);
    out.lse = add(L, "lse", count, problem->heads);
    out.bounded = add(L, "bounded", count, problem->heads);
    out.exact = add(L, "exact", count, problem->heads);
    ts_run run = ts_lua_run(L, read.threads);
    ts_detail detail = {0};
    ts_lua_raise(L, ts_bound_rows(problem, tiling, rows, count, &run, &out, &detail), &detail,
                 NULL);
    return 1;
}
