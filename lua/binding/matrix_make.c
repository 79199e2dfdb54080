/* matrix_make.c -- the functions that make a matrix of something else than matrices. */
#include "../../core/strip.h"
#include "matrix.h"

#include <stdatomic.h>

static const char *const plain_fields[] = {"dtype", NULL};
static const char *const random_fields[] = {"dtype", "seed", NULL};

static int64_t check_axis(lua_State *L, int arg, const char *what) {
    return ts_lua_check_range(L, arg, what, 0, INT64_MAX);
}

static ts_dtype check_plain(lua_State *L, int arg) {
    ts_lua_check_fields(L, arg, plain_fields);
    return ts_lua_dtype_field(L, arg, "dtype", TS_F64);
}

/* [rows, cols, options]: pushes a matrix of that shape and of the number x. */
static int make_filled(lua_State *L, int options, double x) {
    int64_t rows = check_axis(L, 1, "rows"), cols = check_axis(L, 2, "cols");
    ts_dtype dtype = check_plain(L, options);
    ts_lua_fill(L, ts_lua_new_matrix(L, dtype, rows, cols), x);
    return 1;
}

static int zeros(lua_State *L) { return make_filled(L, 3, 0); }
static int ones(lua_State *L) { return make_filled(L, 3, 1); }

/* [n, options] */
static int eye(lua_State *L) {
    int64_t n = check_axis(L, 1, "n");
    ts_dtype dtype = check_plain(L, 2);
    ts_matrix *m = ts_lua_new_matrix(L, dtype, n, n);
    ts_lua_fill(L, m, 0);
    for (int64_t i = 0; i < n; i++) ts_matrix_set(m, i, i, 1);
    return 1;
}

/* [a, b, n, options]: n numbers at equal distances, the first a, the last b. */
static int linspace(lua_State *L) {
    double a = ts_lua_check_number(L, 1), b = ts_lua_check_number(L, 2);
    int64_t n = check_axis(L, 3, "n");
    ts_dtype dtype = check_plain(L, 4);
    ts_matrix *m = ts_lua_new_matrix(L, dtype, 1, n);
    ts_run room;
    const ts_run *run = ts_lua_matrix_run(L, m, &room);
    ts_strips at = ts_strips_of(m, run);
    while (ts_strips_next(&at))
        for (int64_t k = at.col; k < at.col + at.count; k++)
            ts_matrix_set(m, 0, k, k == 0 ? a : a + (b - a) * (double)k / (double)(n - 1));
    ts_lua_matrix_done(L, run, at.status);
    if (n > 1) ts_matrix_set(m, 0, n - 1, b);
    return 1;
}

/* Draws without a seed are counted, over all states of the process: the n-th uses seed n. */
static _Atomic int64_t draws;

/* [] -> [integer]: the seed of a draw without one. */
static int next_seed(lua_State *L) {
    lua_pushinteger(L, atomic_fetch_add(&draws, 1) + 1);
    return 1;
}

/* [rows, cols, options] */
static int draw(lua_State *L, ts_status (*fill)(ts_matrix *m, uint64_t seed, const ts_run *run)) {
    int64_t rows = check_axis(L, 1, "rows"), cols = check_axis(L, 2, "cols");
    ts_lua_check_fields(L, 3, random_fields);
    ts_dtype dtype = ts_lua_dtype_field(L, 3, "dtype", TS_F64);
    bool seeded = lua_istable(L, 3) && lua_getfield(L, 3, "seed") != LUA_TNIL;
    int64_t seed = seeded ? ts_lua_integer_field(L, 3, "seed", 0) : 0;
    ts_matrix *m = ts_lua_new_matrix(L, dtype, rows, cols);
    if (!seeded) seed = atomic_fetch_add(&draws, 1) + 1;
    ts_run room;
    const ts_run *run = ts_lua_matrix_run(L, m, &room);
    ts_lua_matrix_done(L, run, fill(m, (uint64_t)seed, run));
    return 1;
}

static int uniform(lua_State *L) { return draw(L, ts_random_uniform); }
static int normal(lua_State *L) { return draw(L, ts_random_normal); }

/* ---- ts.matrix in its three forms ---- */

/* [rows, cols, f, options] */
static int from_function(lua_State *L) {
    int64_t rows = check_axis(L, 1, "rows"), cols = check_axis(L, 2, "cols");
    ts_dtype dtype = check_plain(L, 4);
    ts_matrix *m = ts_lua_new_matrix(L, dtype, rows, cols);
    for (int64_t cell = 0; cell < rows * cols; cell++) {
        int64_t r = cell / cols, c = cell % cols;
        lua_pushvalue(L, 3);
        lua_pushinteger(L, r + 1);
        lua_pushinteger(L, c + 1);
        lua_call(L, 2, 1);
        if (lua_type(L, -1) != LUA_TNUMBER)
            ts_lua_arg_error(L, 3, NULL, "the function must return a number, not %s, for (%I, %I)",
                             ts_lua_kind(L, -1), I(r + 1), I(c + 1));
        ts_matrix_set(m, r, c, lua_tonumber(L, -1));
        lua_pop(L, 1);
    }
    return 1;
}

/* Reads the list on the top of the stack, and pops it, into row r of m. */
static void read_row(lua_State *L, ts_matrix *m, int64_t r) {
    if (!lua_istable(L, -1))
        ts_lua_arg_error(L, 1, NULL, "row %I must be a table, not %s", I(r + 1),
                         ts_lua_kind(L, -1));
    int64_t length = luaL_len(L, -1);
    if (length != m->cols)
        ts_lua_arg_error(L, 1, NULL, "row %I has %I number%s, row 1 has %I", I(r + 1), I(length),
                         ts_lua_plural(length), I(m->cols));
    for (int64_t c = 0; c < m->cols; c++) {
        if (lua_geti(L, -1, c + 1) != LUA_TNUMBER)
            ts_lua_arg_error(L, 1, NULL, "number expected at (%I, %I), got %s", I(r + 1), I(c + 1),
                             ts_lua_kind(L, -1));
        ts_matrix_set(m, r, c, lua_tonumber(L, -1));
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
}

/* [table, options]: a list of lists of numbers, or of numbers: one row. */
static int from_table(lua_State *L) {
    ts_lua_no_more(L, 2, 0);
    ts_dtype dtype = check_plain(L, 2);
    int64_t rows = luaL_len(L, 1), cols = 0;
    bool one_row = rows > 0 && lua_geti(L, 1, 1) != LUA_TTABLE;
    if (one_row) {
        cols = rows;
        rows = 1;
    } else if (rows > 0) {
        cols = luaL_len(L, -1);
    }
    ts_matrix *m = ts_lua_new_matrix(L, dtype, rows, cols);
    for (int64_t r = 0; r < rows; r++) {
        if (one_row)
            lua_pushvalue(L, 1);
        else
            lua_geti(L, 1, r + 1);
        read_row(L, m, r);
    }
    return 1;
}

/* [table, options], or [rows, cols, (x | f), options] */
static int matrix(lua_State *L) {
    if (ts_lua_is_plain_table(L, 1)) return from_table(L);
    if (lua_isfunction(L, 3)) return from_function(L);
    if (lua_isnoneornil(L, 3)) return make_filled(L, 4, 0);
    if (ts_lua_is_plain_table(L, 3)) {
        ts_lua_no_more(L, 3, 0);
        return make_filled(L, 3, 0);
    }
    return make_filled(L, 4, ts_lua_check_number(L, 3));
}

const ts_lua_function ts_lua_matrix_makers[] = {
    {"matrix", matrix, 4}, {"zeros", zeros, 3},         {"ones", ones, 3},
    {"eye", eye, 2},       {"linspace", linspace, 4},   {"rand", uniform, 3},
    {"randn", normal, 3},  {"next_seed", next_seed, 0}, {NULL, NULL, 0}};
