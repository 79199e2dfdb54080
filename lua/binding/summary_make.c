/* summary_make.c -- summaries by hand, from matrices. */
#include "summary.h"

#include <math.h>
#include <string.h>

static void store(ts_dtype dtype, void *numbers, int64_t at, double x) {
    ts_number_set(dtype, numbers, at, isnan(x) ? (double)NAN : x + 0.0); /* no -0, and one NaN */
}

/* What a summary is made of: max, norm and value, or (norm NULL) lse and output. */
typedef struct {
    const ts_matrix *max, *norm, *value;
    bool saved; /* NaN, which `nonfinite = "propagate"` lets through, stays what it was */
} parts;

static void refuse_part(lua_State *L, const char *what, double x, int64_t row, int64_t head) {
    char number[32];
    lua_number2str(number, sizeof number, x);
    ts_lua_arg_error(L, 1, "summary", "%s of row %I, head %I is %s", what, I(row + 1), I(head + 1),
                     isnan(x) ? "nan" : number);
}

static void fill_row(lua_State *L, ts_lua_summary *s, const parts *from, int64_t row,
                     int64_t head) {
    const ts_summary *out = &s->summary;
    double max = ts_matrix_get(from->max, row, head);
    if ((isnan(max) && !from->saved) || max == INFINITY)
        refuse_part(L, from->norm ? "max" : "lse", max, row, head);
    if (max == -INFINITY) return; /* ⊥ already */
    double norm = from->norm ? ts_matrix_get(from->norm, row, head) : 1;
    if (isnan(norm) ? !from->saved : norm <= 0 || isinf(norm))
        refuse_part(L, "norm", norm, row, head);
    int64_t at = row * out->heads + head;
    /* (lse, output) is (m, ℓ, z) with ℓ = 1: m ln(base) = lse. */
    if (!from->norm && out->base == TS_BASE_2) max /= log(2);
    store(out->dtype, out->max, at, max);
    store(out->dtype, out->norm, at, norm);
    for (int64_t c = 0; c < out->d_v; c++)
        store(out->dtype, out->value, at * out->d_v + c,
              ts_matrix_get(from->value, row, head * out->d_v + c));
}

static const ts_matrix *matrix_field(lua_State *L, const char *field) {
    lua_getfield(L, 1, field);
    const ts_matrix *m = ts_lua_test_matrix(L, -1);
    lua_pop(L, 1); /* the table at 1 holds it */
    return m;
}

/* The matrices of the table at 1, and the shape of a summary that they make. */
static parts read_parts(lua_State *L, ts_summary *like) {
    parts from = {matrix_field(L, "max"), matrix_field(L, "norm"), matrix_field(L, "value"), false};
    const ts_matrix *max = from.max, *norm = from.norm, *value = from.value;
    luaL_argcheck(L, max && value, 1, "matrices expected");
    const int64_t rows = max->rows, heads = max->cols;
    bool fit = value->rows == rows && (heads == 0 || value->cols % heads == 0);
    if (norm) fit = fit && norm->rows == rows && norm->cols == heads;
    luaL_argcheck(L, fit, 1, "shapes do not fit");
    *like = (ts_summary){.dtype = max->dtype,
                         .base = ts_lua_boolean_field(L, 1, "two") ? TS_BASE_2 : TS_BASE_E,
                         .n_q = rows,
                         .heads = heads,
                         .d_v = heads ? value->cols / heads : 0};
    return from;
}

/* Pushes the bottom of the problem at `index`, which must have that shape. */
static ts_lua_summary *push_of_problem(lua_State *L, int index, const ts_summary *like,
                                       int64_t ranges) {
    ts_keyset *unused;
    ts_lua_new_summary_of(L, index, ranges, &unused);
    ts_lua_summary *s = lua_touserdata(L, -1);
    const bool fits = s->summary.n_q == like->n_q && s->summary.heads == like->heads &&
                      s->summary.d_v == like->d_v;
    luaL_argcheck(L, fits, 1, "shapes do not fit the problem");
    return s;
}

/* Pushes the bottom of the owner (a table of core.summary.owner) at `index`. */
static ts_lua_summary *push_of_owner(lua_State *L, int index, const ts_summary *like,
                                     int64_t ranges) {
    const double *sink = ts_lua_owner_sink(L, index, like->heads);
    ts_lua_summary *s = ts_lua_new_summary(L, like, sink, ranges);
    ts_lua_adopt(L, index);
    return s;
}

/* core.summary.new{max=, norm=, value=, two=, keys=, problem= | owner=}: shapes and dtypes are
 * checked by summary.lua; without norm, max is an lse and value an output. */
int ts_lua_summary_new(lua_State *L) {
    enum { KEYS = 2, PROBLEM, OWNER };
    luaL_checktype(L, 1, LUA_TTABLE);
    lua_settop(L, 1);
    ts_summary like;
    parts from = read_parts(L, &like);
    const bool keyed = lua_getfield(L, 1, "keys") == LUA_TTABLE;
    lua_getfield(L, 1, "problem");
    from.saved = lua_getfield(L, 1, "owner") == LUA_TTABLE;
    ts_keyset keys = {0, NULL};
    if (keyed) keys = ts_lua_read_keys(L, 1, "summary", KEYS, 1, INT64_MAX - 1);
    ts_lua_summary *s;
    if (ts_lua_test_problem(L, PROBLEM)) {
        s = push_of_problem(L, PROBLEM, &like, keys.count);
    } else if (from.saved) {
        s = push_of_owner(L, OWNER, &like, keys.count);
    } else {
        s = ts_lua_new_summary(L, &like, NULL, keys.count);
        s->owner.keyed = keyed;
    }
    s->keys.count = keys.count;
    if (keys.count) memcpy(s->keys.ranges, keys.ranges, (size_t)keys.count * sizeof *keys.ranges);
    for (int64_t row = 0; row < like.n_q; row++)
        for (int64_t head = 0; head < like.heads; head++) fill_row(L, s, &from, row, head);
    return 1;
}
