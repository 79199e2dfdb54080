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

/* core.summary.new{max=, norm=, value=, two=, keys=, problem= | owner=}: shapes and dtypes are
 * checked by summary.lua; without norm, max is an lse and value an output. */
int ts_lua_summary_new(lua_State *L) {
    luaL_checktype(L, 1, LUA_TTABLE);
    lua_settop(L, 1);
    parts from = {matrix_field(L, "max"), matrix_field(L, "norm"), matrix_field(L, "value"), false};
    luaL_argcheck(L, from.max && from.value, 1, "matrices expected");
    int64_t heads = from.max->cols;
    luaL_argcheck(
        L,
        from.value->rows == from.max->rows && (heads == 0 || from.value->cols % heads == 0) &&
            (!from.norm || (from.norm->rows == from.max->rows && from.norm->cols == heads)),
        1, "shapes do not fit");
    lua_getfield(L, 1, "two");
    ts_summary like = {.dtype = from.max->dtype,
                       .base = lua_toboolean(L, -1) ? TS_BASE_2 : TS_BASE_E,
                       .n_q = from.max->rows,
                       .heads = heads,
                       .d_v = heads ? from.value->cols / heads : 0};
    ts_keyset keys = {0, NULL};
    lua_settop(L, 1);
    bool keyed = lua_getfield(L, 1, "keys") == LUA_TTABLE;
    if (keyed) keys = ts_lua_read_keys(L, 1, 2, 1, INT64_MAX - 1);
    lua_getfield(L, 1, "problem");
    int problem = lua_gettop(L);
    from.saved = lua_getfield(L, 1, "owner") == LUA_TTABLE;
    int owner = lua_gettop(L);
    ts_lua_summary *s;
    if (ts_lua_test_problem(L, problem)) {
        ts_keyset *unused;
        ts_lua_new_summary_of(L, problem, keys.count, &unused);
        s = lua_touserdata(L, -1);
        luaL_argcheck(L,
                      s->summary.n_q == like.n_q && s->summary.heads == like.heads &&
                          s->summary.d_v == like.d_v,
                      1, "shapes do not fit the problem");
    } else if (from.saved) {
        const double *sink = ts_lua_owner_sink(L, owner, heads);
        s = ts_lua_new_summary(L, &like, sink, keys.count);
        ts_lua_adopt(L, owner);
    } else {
        s = ts_lua_new_summary(L, &like, NULL, keys.count);
        s->owner.keyed = keyed;
    }
    s->keys.count = keys.count;
    if (keys.count) memcpy(s->keys.ranges, keys.ranges, (size_t)keys.count * sizeof *keys.ranges);
    for (int64_t row = 0; row < like.n_q; row++)
        for (int64_t head = 0; head < heads; head++) fill_row(L, s, &from, row, head);
    return 1;
}
