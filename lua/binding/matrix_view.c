/* matrix_view.c -- parts of a matrix: read, written, seen and copied. */
#include "../../core/strip.h"
#include "matrix.h"

#include <limits.h>

/* [m, i, j, x] */
static int set(lua_State *L) {
    ts_matrix *m = ts_lua_check_matrix(L, 1);
    int64_t row = ts_lua_check_index(L, 2, m->rows, "row");
    int64_t col = ts_lua_check_index(L, 3, m->cols, "column");
    ts_matrix_set(m, row, col, ts_lua_check_number(L, 4));
    return 0;
}

static int shape(lua_State *L) {
    const ts_matrix *m = ts_lua_check_matrix(L, 1);
    lua_pushinteger(L, m->rows);
    lua_pushinteger(L, m->cols);
    return 2;
}

static int table_size(int64_t n) { return n > INT_MAX ? INT_MAX : (int)n; }

/* [m] -> [a list of rows] */
static int table(lua_State *L) {
    const ts_matrix *m = ts_lua_check_matrix(L, 1);
    ts_run room;
    const ts_run *run = ts_lua_matrix_run(L, m, &room);
    ts_pace pace = {run, 0};
    lua_createtable(L, table_size(m->rows), 0);
    for (int64_t r = 0; r < m->rows; r++) {
        lua_createtable(L, table_size(m->cols), 0);
        for (int64_t c = 0; c < m->cols; c++) {
            lua_pushnumber(L, ts_matrix_get(m, r, c));
            lua_rawseti(L, -2, c + 1);
            if (ts_pace_stops(&pace, 1, (double)r / (double)m->rows))
                ts_lua_matrix_done(L, run, TS_INTERRUPTED);
        }
        lua_rawseti(L, -2, r + 1);
    }
    ts_lua_matrix_done(L, run, TS_OK);
    return 1;
}

/* ---- views ---- */

static int push_slice(lua_State *L, int64_t row, int64_t col, int64_t rows, int64_t cols) {
    ts_matrix view = ts_matrix_slice(ts_lua_check_matrix(L, 1), row, col, rows, cols);
    ts_lua_new_view(L, 1, &view);
    return 1;
}

static int row(lua_State *L) {
    const ts_matrix *m = ts_lua_check_matrix(L, 1);
    return push_slice(L, ts_lua_check_index(L, 2, m->rows, "row"), 0, 1, m->cols);
}

static int col(lua_State *L) {
    const ts_matrix *m = ts_lua_check_matrix(L, 1);
    return push_slice(L, 0, ts_lua_check_index(L, 2, m->cols, "column"), m->rows, 1);
}

static int transpose(lua_State *L) {
    ts_matrix view = ts_matrix_transposed(ts_lua_check_matrix(L, 1));
    ts_lua_new_view(L, 1, &view);
    return 1;
}

/* An end of a range of an axis of n, as people count; negative ones count from the end. */
static int64_t check_end(lua_State *L, int arg, const char *what, int64_t low, int64_t n) {
    int64_t i = ts_lua_check_whole(L, arg, what);
    int64_t at = ts_lua_place(i, n) + 1;
    if (at < low || at > n)
        ts_lua_arg_error(L, arg, NULL, "%s %I is outside %I..%I", what, I(i), I(low), I(n));
    return at;
}

/* The range first..last at arg and arg + 1 (all of the axis where there is none), of which
 * last = first - 1 is empty; *start from 0. */
static void check_ends(lua_State *L, int arg, const char *what, int64_t n, int64_t *start,
                       int64_t *count) {
    *start = 0;
    *count = n;
    if (lua_isnoneornil(L, arg) && lua_isnoneornil(L, arg + 1)) return;
    int64_t i = ts_lua_check_whole(L, arg, what);
    int64_t first = i == n + 1 ? i : check_end(L, arg, what, 1, n);
    *start = first - 1;
    *count = check_end(L, arg + 1, what, first - 1, n) - *start;
}

/* [m, i1, i2, j1, j2] */
static int slice(lua_State *L) {
    const ts_matrix *m = ts_lua_check_matrix(L, 1);
    int64_t row, col, rows, cols;
    ts_lua_check_whole(L, 2, "row"); /* unlike the columns, the rows must be told */
    check_ends(L, 2, "row", m->rows, &row, &rows);
    check_ends(L, 4, "column", m->cols, &col, &cols);
    return push_slice(L, row, col, rows, cols);
}

/* [m, i] -> [i + 1, row view], or nothing behind the last row: the step of a `for`. */
static int next_row(lua_State *L) {
    const ts_matrix *m = ts_lua_check_matrix(L, 1);
    int64_t i = ts_lua_check_range(L, 2, "row", 0, INT64_MAX);
    if (i >= m->rows) return 0;
    lua_pushinteger(L, i + 1);
    push_slice(L, i, 0, 1, m->cols);
    return 2;
}

static int each(lua_State *L) {
    ts_lua_check_matrix(L, 1);
    lua_pushcfunction(L, next_row);
    lua_pushvalue(L, 1);
    lua_pushinteger(L, 0);
    return 3;
}

/* ---- copies ---- */

static int copy(lua_State *L) {
    const ts_matrix *m = ts_lua_check_matrix(L, 1);
    ts_lua_copy(L, m, ts_lua_new_matrix(L, m->dtype, m->rows, m->cols));
    return 1;
}

/* [m, dtype] */
static int to(lua_State *L) {
    const ts_matrix *m = ts_lua_check_matrix(L, 1);
    ts_dtype dtype = ts_lua_check_dtype_name(L, 2);
    ts_lua_copy(L, m, ts_lua_new_matrix(L, dtype, m->rows, m->cols));
    return 1;
}

/* The element k (from 1) of the list at 2, as an index from 0 of an axis of n. */
static int64_t list_index(lua_State *L, int64_t k, int64_t n) {
    int whole;
    lua_geti(L, 2, k);
    int64_t i = lua_tointegerx(L, -1, &whole), at = ts_lua_place(i, n);
    if (!whole) ts_lua_arg_error(L, 2, NULL, "element %I of the list is no whole number", I(k));
    if (at < 0 || at >= n)
        ts_lua_arg_error(L, 2, NULL, "element %I of the list, %I, is outside 1..%I", I(k), I(i),
                         I(n));
    lua_pop(L, 1);
    return at;
}

/* [m, list, axis] -> [the rows or columns of the list, copied] */
static int take(lua_State *L) {
    const ts_matrix *m = ts_lua_check_matrix(L, 1);
    ts_lua_check_type(L, 2, LUA_TTABLE);
    int axis = ts_lua_opt_axis(L, 3, TS_LUA_ROWS);
    int64_t count = luaL_len(L, 2);
    if (count < 0) count = 0; /* a __len of the user's */
    ts_matrix source = axis == TS_LUA_ROWS ? *m : ts_matrix_transposed(m);
    ts_matrix *out = axis == TS_LUA_ROWS ? ts_lua_new_matrix(L, m->dtype, count, m->cols)
                                         : ts_lua_new_matrix(L, m->dtype, m->rows, count);
    ts_matrix target = axis == TS_LUA_ROWS ? *out : ts_matrix_transposed(out);
    for (int64_t k = 0; k < count; k++) {
        ts_matrix from =
            ts_matrix_slice(&source, list_index(L, k + 1, source.rows), 0, 1, source.cols);
        ts_matrix line = ts_matrix_slice(&target, k, 0, 1, source.cols);
        ts_lua_copy(L, &from, &line);
    }
    return 1;
}

/* ---- writing whole matrices ---- */

/* [m, x] -> [m] */
static int fill(lua_State *L) {
    ts_matrix *m = ts_lua_check_matrix(L, 1);
    ts_lua_fill(L, m, ts_lua_check_number(L, 2));
    lua_settop(L, 1);
    return 1;
}

/* [m, B] -> [m]. Where the two share memory, B is copied first. */
static int assign(lua_State *L) {
    ts_matrix *m = ts_lua_check_matrix(L, 1);
    if (lua_type(L, 2) == LUA_TNUMBER) return fill(L);
    const ts_matrix *source = ts_lua_check_matrix(L, 2);
    ts_matrix from;
    ts_detail detail = {0};
    ts_lua_check_dtype(L, 2, m->dtype, source->dtype);
    if (ts_matrix_broadcast(source, m->rows, m->cols, &from, &detail) != TS_OK)
        ts_lua_arg_error(L, 2, NULL, "shape %Ix%I does not fit %Ix%I", I(source->rows),
                         I(source->cols), I(m->rows), I(m->cols));
    if (ts_matrix_overlap(m, source)) {
        ts_matrix *packed = ts_lua_new_matrix(L, m->dtype, m->rows, m->cols);
        ts_lua_copy(L, &from, packed);
        from = *packed;
    }
    ts_lua_copy(L, &from, m);
    lua_settop(L, 1);
    return 1;
}

static int identical(lua_State *L) {
    const ts_matrix *a = ts_lua_check_matrix(L, 1), *b = ts_lua_check_matrix(L, 2);
    ts_run room;
    const ts_run *run = ts_lua_matrix_run(L, a, &room);
    bool same;
    ts_lua_matrix_done(L, run, ts_matrix_identical(a, b, run, &same));
    lua_pushboolean(L, same);
    return 1;
}

const ts_lua_function ts_lua_matrix_views[] = {{"set", set, 4},       {"shape", shape, 1},
                                               {"table", table, 1},   {"row", row, 2},
                                               {"col", col, 2},       {"t", transpose, 1},
                                               {"slice", slice, 5},   {"each", each, 1},
                                               {"copy", copy, 1},     {"to", to, 2},
                                               {"take", take, 3},     {"fill", fill, 2},
                                               {"assign", assign, 2}, {"identical", identical, 2},
                                               {NULL, NULL, 0}};
