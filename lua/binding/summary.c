/* summary.c -- the summary userdata: made, merged, compared and asked. */
#include "summary.h"

#include <math.h>
#include <string.h>

static ts_lua_summary *test_summary(lua_State *L, int index) {
    return luaL_testudata(L, index, TS_SUMMARY);
}

ts_lua_summary *ts_lua_check_summary(lua_State *L, int arg) {
    ts_lua_summary *s = test_summary(L, arg);
    if (!s) ts_lua_type_error(L, arg, NULL, "summary");
    return s;
}

/* ---- making one ---- */

ts_lua_summary *ts_lua_new_summary(lua_State *L, const ts_summary *like, const double *sink,
                                   int64_t ranges) {
    size_t numbers;
    ts_detail detail = {0};
    ts_status status = ts_summary_size(like->dtype, like->n_q, like->heads, like->d_v, &numbers);
    ts_lua_raise(L, status, &detail, NULL);
    numbers = (numbers + 63) / 64 * 64;
    size_t sinks = sink ? (size_t)like->heads * sizeof *sink : 0;
    void *memory;
    ts_lua_summary *s =
        ts_lua_new_block(L, sizeof *s, numbers + sinks + (size_t)ranges * sizeof(ts_range),
                         TS_SUMMARY_VALUES, &memory);
    memset(s, 0, sizeof *s);
    s->summary = *like;
    ts_summary_place(&s->summary, memory);
    ts_summary_bottom(&s->summary);
    s->keys.ranges = (ts_range *)((char *)memory + numbers);
    if (sink)
        s->sink = memcpy((char *)memory + numbers + (size_t)ranges * sizeof(ts_range), sink, sinks);
    luaL_setmetatable(L, TS_SUMMARY);
    return s;
}

ts_summary *ts_lua_new_summary_of(lua_State *L, int index, int64_t ranges, ts_keyset **keys) {
    const ts_lua_problem *p = lua_touserdata(L, index);
    const ts_problem *problem = &p->problem;
    index = lua_absindex(L, index);
    ts_summary like = {.dtype = problem->dtype,
                       .base = problem->base,
                       .n_q = problem->n_q,
                       .heads = problem->heads,
                       .d_v = problem->d_v};
    ts_lua_summary *s = ts_lua_new_summary(L, &like, problem->sink, ranges);
    s->owner = ts_lua_identity_of(problem);
    s->zero_empty = p->zero_empty;
    lua_getiuservalue(L, index, TS_PROBLEM_SCORES);
    lua_setiuservalue(L, -2, TS_SUMMARY_SCORE);
    *keys = &s->keys;
    return &s->summary;
}

/* ---- ⋆ and == ---- */

/* S * T */
static int merge(lua_State *L) {
    const ts_lua_summary *s = test_summary(L, 1), *t = test_summary(L, 2);
    lua_settop(L, 2);
    if (!s || !t) return ts_lua_type_error(L, s ? 2 : 1, "*", "summary");
    const char *differs = ts_lua_difference(L, 1, 2);
    if (differs) {
        lua_pushfstring(L, "summaries are of different problems: %s", differs);
        return ts_lua_error(L);
    }
    ts_lua_summary *both =
        ts_lua_new_summary(L, &s->summary, s->sink, s->keys.count + t->keys.count);
    both->owner = s->owner;
    both->zero_empty = s->zero_empty && t->zero_empty;
    lua_getiuservalue(L, 1, TS_SUMMARY_SCORE);
    lua_setiuservalue(L, -2, TS_SUMMARY_SCORE);
    ts_detail detail = {0};
    if (ts_keyset_union(&s->keys, &t->keys, &both->keys, &detail) != TS_OK) {
        ts_lua_push_shared(L, &s->keys, &t->keys);
        lua_pushfstring(L, "%s in both summaries", lua_tostring(L, -1));
        return ts_lua_error(L);
    }
    ts_summary_merge(&s->summary, &t->summary, &both->summary);
    return 1;
}

static bool same_numbers(const ts_summary *a, const ts_summary *b) {
    size_t rows = (size_t)(a->n_q * a->heads) * ts_dtype_size(a->dtype);
    return memcmp(a->max, b->max, rows) == 0 && memcmp(a->norm, b->norm, rows) == 0 &&
           memcmp(a->value, b->value, rows * (size_t)a->d_v) == 0;
}

/* S == T: the same problem, the same keys, the same bits. Anything else is false. */
static int equal(lua_State *L) {
    const ts_lua_summary *s = test_summary(L, 1), *t = test_summary(L, 2);
    lua_pushboolean(L, s && t && !ts_lua_difference(L, 1, 2) &&
                           ts_keyset_equal(&s->keys, &t->keys) &&
                           same_numbers(&s->summary, &t->summary));
    return 1;
}

/* ---- asking ---- */

/* S:output([{empty=}]) -> n_q x heads * d_v */
static int output(lua_State *L) {
    static const char *const fields[] = {"empty", NULL};
    const ts_lua_summary *s = ts_lua_check_summary(L, 1);
    ts_lua_check_fields(L, 2, fields);
    int empty = ts_lua_empty_field(L, 2);
    const ts_summary *summary = &s->summary;
    if (!(empty < 0 ? s->zero_empty : empty)) {
        ts_matrix *lse = ts_lua_new_matrix(L, summary->dtype, summary->n_q, summary->heads);
        ts_summary_lse(summary, s->sink, lse);
        ts_lua_check_empty(L, lse);
    }
    ts_detail detail = {0};
    ts_matrix *o =
        ts_lua_new_matrix(L, summary->dtype, summary->n_q, summary->heads * summary->d_v);
    ts_lua_raise(L, ts_summary_output(summary, s->sink, true, o, &detail), &detail, NULL);
    return 1;
}

/* S:lse() -> n_q x heads */
static int lse(lua_State *L) {
    const ts_lua_summary *s = ts_lua_check_summary(L, 1);
    ts_matrix *m = ts_lua_new_matrix(L, s->summary.dtype, s->summary.n_q, s->summary.heads);
    ts_summary_lse(&s->summary, s->sink, m);
    return 1;
}

static bool is_bottom(const ts_summary *s, int64_t at) {
    return ts_number_get(s->dtype, s->max, at) == -INFINITY;
}

/* Pushes a packed copy of rows x cols numbers. */
static void push_copy(lua_State *L, ts_dtype dtype, int64_t rows, int64_t cols,
                      const void *numbers) {
    ts_matrix *m = ts_lua_new_matrix(L, dtype, rows, cols);
    size_t bytes = (size_t)(rows * cols) * ts_dtype_size(dtype);
    if (bytes) memcpy(m->data, numbers, bytes);
}

/* S:row(i [, h = 1]) -> m, ℓ, z (1 x d_v); nil for ⊥ */
static int row(lua_State *L) {
    const ts_summary *s = &ts_lua_check_summary(L, 1)->summary;
    int64_t i = ts_lua_check_range(L, 2, "row", 1, s->n_q);
    int64_t h = lua_isnoneornil(L, 3) ? 1 : ts_lua_check_range(L, 3, "head", 1, s->heads);
    int64_t at = (i - 1) * s->heads + h - 1;
    if (is_bottom(s, at)) {
        lua_pushnil(L);
        return 1;
    }
    lua_pushnumber(L, ts_number_get(s->dtype, s->max, at));
    lua_pushnumber(L, ts_number_get(s->dtype, s->norm, at));
    push_copy(L, s->dtype, 1, s->d_v,
              (const char *)s->value + (size_t)(at * s->d_v) * ts_dtype_size(s->dtype));
    return 3;
}

/* Pushes {a, b}. */
static void push_pair(lua_State *L, int64_t a, int64_t b) {
    lua_createtable(L, 2, 0);
    lua_pushinteger(L, a);
    lua_rawseti(L, -2, 1);
    lua_pushinteger(L, b);
    lua_rawseti(L, -2, 2);
}

/* S:keys() -> list of {first, last} */
static int keys(lua_State *L) {
    const ts_keyset *set = &ts_lua_check_summary(L, 1)->keys;
    lua_newtable(L);
    for (int64_t r = 0; r < set->count; r++) {
        push_pair(L, set->ranges[r].first, set->ranges[r].last);
        lua_rawseti(L, -2, r + 1);
    }
    return 1;
}

/* S:bottoms() -> list of {i, h}, row by row */
static int bottoms(lua_State *L) {
    const ts_summary *s = &ts_lua_check_summary(L, 1)->summary;
    int64_t count = 0;
    lua_newtable(L);
    for (int64_t i = 0; i < s->n_q; i++)
        for (int64_t h = 0; h < s->heads; h++) {
            if (!is_bottom(s, i * s->heads + h)) continue;
            push_pair(L, i + 1, h + 1);
            lua_rawseti(L, -2, ++count);
        }
    return 1;
}

static bool push_field(lua_State *L, const char *name) {
    const ts_summary *s = &ts_lua_check_summary(L, 1)->summary;
    if (strcmp(name, "max") == 0)
        push_copy(L, s->dtype, s->n_q, s->heads, s->max);
    else if (strcmp(name, "norm") == 0)
        push_copy(L, s->dtype, s->n_q, s->heads, s->norm);
    else if (strcmp(name, "value") == 0)
        push_copy(L, s->dtype, s->n_q, s->heads * s->d_v, s->value);
    else if (strcmp(name, "n_q") == 0)
        lua_pushinteger(L, s->n_q);
    else if (strcmp(name, "heads") == 0)
        lua_pushinteger(L, s->heads);
    else if (strcmp(name, "d_v") == 0)
        lua_pushinteger(L, s->d_v);
    else if (strcmp(name, "dtype") == 0)
        lua_pushstring(L, s->dtype == TS_F32 ? "f32" : "f64");
    else if (strcmp(name, "base") == 0)
        lua_pushnumber(L, s->base == TS_BASE_2 ? 2 : exp(1));
    else
        return false;
    return true;
}

static int get_field(lua_State *L) { return ts_lua_index(L, push_field); }

/* "summary of 10 rows, 2 heads, d_v = 4, f64, keys 1..5, 9" */
static int to_string(lua_State *L) {
    const ts_lua_summary *s = ts_lua_check_summary(L, 1);
    lua_pushfstring(L, "summary of %I row%s, %I head%s, d_v = %I, %s", I(s->summary.n_q),
                    ts_lua_plural(s->summary.n_q), I(s->summary.heads),
                    ts_lua_plural(s->summary.heads), I(s->summary.d_v),
                    s->summary.dtype == TS_F32 ? "f32" : "f64");
    lua_pushstring(L, !s->owner.keyed ? "" : s->keys.count ? ", keys " : ", no keys");
    ts_lua_push_keys(L, &s->keys, 8);
    lua_concat(L, 3);
    return 1;
}

static const ts_lua_function methods[] = {
    {"output", output, 2}, {"lse", lse, 1},         {"row", row, 3},
    {"keys", keys, 1},     {"bottoms", bottoms, 1}, {NULL, NULL, 0},
};

static int refuse_field(lua_State *L) {
    return luaL_error(L, "a summary has no fields to set: summaries are computed, and merged");
}

static const luaL_Reg metamethods[] = {
    {"__index", get_field},       {"__mul", merge}, {"__eq", equal}, {"__tostring", to_string},
    {"__newindex", refuse_field}, {NULL, NULL}};

static const luaL_Reg functions[] = {
    {"new", ts_lua_summary_new}, {"owner", ts_lua_summary_owner}, {NULL, NULL}};

int ts_lua_open_summary(lua_State *L) {
    static const ts_lua_function *const all[] = {methods, NULL};
    static const luaL_Reg *const parts[] = {metamethods, NULL};
    luaL_newlib(L, functions);
    ts_lua_push_lib(L, all);
    ts_lua_set_kind(L, TS_SUMMARY, parts, "summaries merge by '*', as in S * T");
    return 1;
}
