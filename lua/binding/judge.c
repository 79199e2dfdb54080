/* judge.c -- two matrices compared cell by cell against a matrix of bounds. */
#include "../../core/strip.h"
#include "problem.h"

#include <math.h>
#include <string.h>

typedef struct {
    double ratio; /* the worst error ÷ bound; inf where bits had to be equal and are not */
    double ulps;
    int64_t row, col, open; /* where, from 0; cells that have no bound */
} verdict;

static bool same_bits(double a, double b) {
    return (isnan(a) && isnan(b)) || memcmp(&a, &b, sizeof a) == 0;
}

/* Error ÷ bound of one cell. */
static double excess(double a, double b, double bound) {
    if (same_bits(a, b) || a == b) return 0;
    double error = fabs(a - b);
    return isnan(error) || isnan(bound) ? (double)INFINITY : error / bound;
}

static void note(verdict *v, int64_t row, int64_t col, double ratio) {
    if (v->row >= 0 && ratio <= v->ratio) return;
    *v = (verdict){ratio, v->ulps, row, col, v->open};
}

static void judge_cell(verdict *v, const ts_matrix *a, const ts_matrix *b, const ts_matrix *bound,
                       bool exact, int64_t row, int64_t col) {
    double x = ts_matrix_get(a, row, col), y = ts_matrix_get(b, row, col);
    double ulps = a->dtype == b->dtype ? ts_ulps(a->dtype, x, y) : 0;
    if (ulps > v->ulps) v->ulps = ulps;
    if (exact || !bound) {
        note(v, row, col, same_bits(x, y) ? 0 : (double)INFINITY);
        return;
    }
    double limit = ts_matrix_get(bound, row, col);
    if (limit == (double)INFINITY)
        v->open++;
    else
        note(v, row, col, excess(x, y, limit));
}

static void check_shape(lua_State *L, int arg, const ts_matrix *m, int64_t rows, int64_t cols) {
    if (m->rows != rows || m->cols != cols)
        ts_lua_arg_error(L, arg, NULL, "shapes differ: %Ix%I against %Ix%I", I(m->rows), I(m->cols),
                         I(rows), I(cols));
}

/* core.problem.judge(A, B [, bound [, exact]]) -> ratio, i, j, ulps, open: the worst error ÷ bound
 * and its cell (nil, nil without cells), the worst distance in ulps, and how many cells have an
 * infinite bound. Without a bound, and where exact (1 for a row and head; it has a column a head)
 * says so, bits must be equal, and the ratio is inf where they are not. */
int ts_lua_problem_judge(lua_State *L) {
    const ts_matrix *a = ts_lua_check_matrix(L, 1), *b = ts_lua_check_matrix(L, 2);
    const ts_matrix *bound = lua_isnoneornil(L, 3) ? NULL : ts_lua_check_matrix(L, 3);
    const ts_matrix *exact = lua_isnoneornil(L, 4) ? NULL : ts_lua_check_matrix(L, 4);
    check_shape(L, 2, b, a->rows, a->cols);
    if (bound) check_shape(L, 3, bound, a->rows, a->cols);
    const int64_t heads = exact ? exact->cols : 1, width = heads > 0 ? a->cols / heads : 0;
    if (width * heads != a->cols)
        ts_lua_arg_error(L, 4, NULL, "%I columns are none of %I heads", I(a->cols), I(heads));
    if (exact) check_shape(L, 4, exact, a->rows, heads);
    verdict v = {0, 0, -1, -1, 0};
    ts_run run = ts_lua_run(L, 0);
    ts_strips at = ts_strips_of(a, &run);
    while (ts_strips_next(&at))
        for (int64_t r = at.row, c = at.col; c < at.col + at.count; c++)
            judge_cell(&v, a, b, bound, exact && ts_matrix_get(exact, r, c / width) != 0, r, c);
    ts_lua_raise(L, at.status, NULL, NULL);
    lua_pushnumber(L, v.ratio);
    for (int axis = 0; axis < 2; axis++)
        if (v.row < 0)
            lua_pushnil(L);
        else
            lua_pushinteger(L, (axis == 0 ? v.row : v.col) + 1);
    lua_pushnumber(L, v.ulps);
    lua_pushinteger(L, v.open);
    return 5;
}
