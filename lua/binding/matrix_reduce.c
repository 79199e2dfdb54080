/* matrix_reduce.c -- sums, extremes and norms: of all of a matrix, or along an axis. */
#include "matrix.h"

enum { ALL = -1 };

/* Raises where one of the results would be the extreme of nothing. */
static void check_not_empty(lua_State *L, const ts_matrix *m, int axis) {
    bool results = axis == ALL || (axis == TS_LUA_ROWS ? m->rows : m->cols) > 0;
    bool empty = axis == ALL           ? m->rows == 0 || m->cols == 0
                 : axis == TS_LUA_ROWS ? m->cols == 0
                                       : m->rows == 0;
    if (results && empty)
        ts_lua_arg_error(L, 1, NULL, "a %Ix%I matrix has no such element", I(m->rows), I(m->cols));
}

/* Pushes the results along an axis: "rows" gives one a row, "cols" one a column. */
static int along(lua_State *L, ts_reduction kind, const ts_matrix *m, int axis, ts_dtype dtype) {
    bool by_rows = axis == TS_LUA_ROWS;
    ts_matrix out = *ts_lua_new_matrix(L, dtype, by_rows ? m->rows : 1, by_rows ? 1 : m->cols);
    ts_matrix lines = by_rows ? *m : ts_matrix_transposed(m);
    if (!by_rows) out = ts_matrix_transposed(&out);
    ts_run room;
    const ts_run *run = ts_lua_matrix_run(L, m, &room);
    ts_lua_matrix_done(L, run, ts_reduce_rows(kind, &lines, &out, run));
    return 1;
}

static double of_all(lua_State *L, ts_reduction kind, const ts_matrix *m) {
    double result;
    ts_run room;
    const ts_run *run = ts_lua_matrix_run(L, m, &room);
    ts_lua_matrix_done(L, run, ts_reduce_all(kind, m, &result, run));
    return result;
}

/* [m, axis] */
static int reduce(lua_State *L, ts_reduction kind) {
    const ts_matrix *m = ts_lua_check_matrix(L, 1);
    int axis = ts_lua_opt_axis(L, 2, ALL);
    if (kind == TS_MAX || kind == TS_MIN) check_not_empty(L, m, axis);
    if (axis != ALL) return along(L, kind, m, axis, m->dtype);
    lua_pushnumber(L, of_all(L, kind, m));
    return 1;
}

static int sum(lua_State *L) { return reduce(L, TS_SUM); }
static int mean(lua_State *L) { return reduce(L, TS_MEAN); }
static int max(lua_State *L) { return reduce(L, TS_MAX); }
static int min(lua_State *L) { return reduce(L, TS_MIN); }
static int logsumexp(lua_State *L) { return reduce(L, TS_LOGSUMEXP); }
static int norm(lua_State *L) { return reduce(L, TS_NORM); }

/* [m, axis] -> [i, j], or a matrix of the places, in f64: an f32 counts to 2^24 only. */
static int argmax(lua_State *L) {
    const ts_matrix *m = ts_lua_check_matrix(L, 1);
    int axis = ts_lua_opt_axis(L, 2, ALL);
    check_not_empty(L, m, axis);
    if (axis != ALL) return along(L, TS_ARGMAX, m, axis, TS_F64);
    int64_t at = (int64_t)of_all(L, TS_ARGMAX, m) - 1;
    lua_pushinteger(L, at / m->cols + 1);
    lua_pushinteger(L, at % m->cols + 1);
    return 2;
}

/* [m, axis] */
static int softmax(lua_State *L) {
    ts_matrix m = *ts_lua_check_matrix(L, 1);
    int axis = ts_lua_opt_axis(L, 2, TS_LUA_ROWS);
    ts_matrix out = *ts_lua_new_matrix(L, m.dtype, m.rows, m.cols);
    if (axis == TS_LUA_COLS) {
        m = ts_matrix_transposed(&m);
        out = ts_matrix_transposed(&out);
    }
    ts_run room;
    const ts_run *run = ts_lua_matrix_run(L, &m, &room);
    ts_lua_matrix_done(L, run, ts_reduce_softmax(&m, &out, run));
    return 1;
}

const ts_lua_function ts_lua_matrix_reductions[] = {
    {"sum", sum, 2},   {"mean", mean, 2},       {"max", max, 2},
    {"min", min, 2},   {"argmax", argmax, 2},   {"logsumexp", logsumexp, 2},
    {"norm", norm, 2}, {"softmax", softmax, 2}, {NULL, NULL, 0}};
