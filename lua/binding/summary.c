/* summary.c -- the summary userdata: Σ of all rows and heads, the keys it covers, and whose it is.
 */
#include "problem.h"

#include <math.h>
#include <string.h>

/* Whose summaries these are: two with equal identities may be merged. `score` is user value 1: the
 * functions, one a head, or nil. Matrices can change, so the bits of Q are hashed when a summary is
 * made. */
typedef struct {
    bool bound; /* to a problem */
    bool keyed; /* keys are known */
    int64_t kv_heads, d;
    uint64_t queries[2], scale[2], sink[2];
} identity;

typedef struct {
    ts_summary summary;
    ts_keyset keys;
    identity owner;
    const double *sink; /* one a head, or NULL; added by output and lse alone */
    bool zero_empty;
} lua_summary;

enum { SCORE = 1, VALUES = 1 };

static lua_summary *test_summary(lua_State *L, int index) {
    return luaL_testudata(L, index, TS_SUMMARY);
}

static lua_summary *check_summary(lua_State *L, int arg) {
    lua_summary *s = test_summary(L, arg);
    if (!s) ts_lua_type_error(L, arg, NULL, "summary");
    return s;
}

/* ---- identity ---- */

/* Two streams of 64 x 64 -> 128 bit products, folded (after wyhash): not against an adversary, but
 * two different problems agree in 128 bits by chance only. */
typedef struct {
    uint64_t a, b;
} hash;

static uint64_t fold(uint64_t x, uint64_t y) {
    __uint128_t product = (__uint128_t)x * y;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static void mix(hash *h, uint64_t word) {
    h->a = fold(h->a ^ word, 0x9E3779B97F4A7C15u) + word;
    h->b = fold(h->b + word, 0xD6E8FEB86659FD93u) ^ (word << 32 | word >> 32);
}

static uint64_t bits_of(const ts_matrix *m, int64_t row, int64_t col) {
    int64_t at = row * m->row_stride + col * m->col_stride;
    uint64_t word = 0;
    size_t size = ts_dtype_size(m->dtype);
    memcpy(&word, (const char *)m->data + at * (int64_t)size, size);
    return word;
}

static void hash_matrix(const ts_matrix *m, uint64_t out[2]) {
    hash h = {0x243F6A8885A308D3u, 0x13198A2E03707344u};
    mix(&h, (uint64_t)m->rows);
    mix(&h, (uint64_t)m->cols);
    for (int64_t r = 0; r < m->rows; r++)
        for (int64_t c = 0; c < m->cols; c++) mix(&h, bits_of(m, r, c));
    mix(&h, 1);
    out[0] = h.a;
    out[1] = h.b;
}

static void hash_numbers(const double *list, int64_t count, uint64_t out[2]) {
    double none = NAN;
    ts_matrix row = {TS_F64, 1, list ? count : 1, 1, 1, (void *)(list ? list : &none)};
    hash_matrix(&row, out);
}

static identity identity_of(const ts_problem *p) {
    identity id = {.bound = true, .keyed = true, .kv_heads = p->kv_heads, .d = p->d};
    hash_matrix(&p->q, id.queries);
    hash_numbers(p->scale, p->heads, id.scale);
    hash_numbers(p->sink, p->heads, id.sink);
    return id;
}

static bool same_hash(const uint64_t a[2], const uint64_t b[2]) {
    return a[0] == b[0] && a[1] == b[1];
}

/* The same functions, head by head? The lists are user values of the userdata at a and b. */
static bool same_scores(lua_State *L, int a, int b, int64_t heads) {
    int type_a = lua_getiuservalue(L, a, SCORE), type_b = lua_getiuservalue(L, b, SCORE);
    bool same = type_a == type_b;
    for (int64_t h = 1; same && type_a == LUA_TTABLE && h <= heads; h++) {
        lua_rawgeti(L, -2, h);
        lua_rawgeti(L, -2, h);
        same = lua_rawequal(L, -1, -2);
        lua_pop(L, 2);
    }
    lua_pop(L, 2);
    return same;
}

/* NULL where the summaries at a and b may be merged; else why not. */
static const char *difference(lua_State *L, int a, int b) {
    const lua_summary *s = lua_touserdata(L, a), *t = lua_touserdata(L, b);
    const ts_summary *x = &s->summary, *y = &t->summary;
    const identity *p = &s->owner, *q = &t->owner;
    if (p->bound != q->bound) return "one of them belongs to none";
    if (p->keyed != q->keyed) return "one of them names no keys";
    if (x->dtype != y->dtype) return "they differ in dtype";
    if (x->n_q != y->n_q) return "they differ in the number of queries";
    if (x->heads != y->heads || p->kv_heads != q->kv_heads) return "they differ in heads";
    if (x->d_v != y->d_v) return "they differ in the width of values";
    if (x->base != y->base) return "they differ in base";
    if (!same_hash(p->queries, q->queries) || p->d != q->d) return "they differ in queries";
    if (!same_hash(p->scale, q->scale)) return "they differ in scale";
    if (!same_hash(p->sink, q->sink)) return "they differ in sink";
    if (!same_scores(L, a, b, x->heads)) return "they differ in score";
    return NULL;
}

/* ---- making one ---- */

/* Pushes a summary of the shape of *like, all ⊥, with no key and room for `ranges` ranges. */
static lua_summary *new_summary(lua_State *L, const ts_summary *like, const double *sink,
                                int64_t ranges) {
    size_t numbers;
    ts_detail detail = {0};
    ts_status status = ts_summary_size(like->dtype, like->n_q, like->heads, like->d_v, &numbers);
    ts_lua_raise(L, status, &detail, NULL);
    numbers = (numbers + 63) / 64 * 64;
    size_t sinks = sink ? (size_t)like->heads * sizeof *sink : 0;
    void *memory;
    lua_summary *s = ts_lua_new_block(
        L, sizeof *s, numbers + sinks + (size_t)ranges * sizeof(ts_range), VALUES, &memory);
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
    lua_summary *s = new_summary(L, &like, problem->sink, ranges);
    s->owner = identity_of(problem);
    s->zero_empty = p->zero_empty;
    lua_getiuservalue(L, index, TS_PROBLEM_SCORES);
    lua_setiuservalue(L, -2, SCORE);
    *keys = &s->keys;
    return &s->summary;
}

/* ---- keys ---- */

/* The whole number `name` of the range at the top of the stack. */
static int64_t range_end(lua_State *L, int arg, int which) {
    lua_rawgeti(L, -1, which);
    int whole;
    int64_t key = lua_tointegerx(L, -1, &whole);
    if (!whole) ts_lua_arg_error(L, arg, NULL, "keys are a list of {first, last}, whole numbers");
    lua_pop(L, 1);
    return key;
}

static ts_range read_range(lua_State *L, int arg, int64_t low, int64_t high) {
    if (!lua_istable(L, -1)) ts_lua_arg_error(L, arg, NULL, "keys are a list of {first, last}");
    ts_range range = {range_end(L, arg, 1), range_end(L, arg, 2)};
    if (range.last < range.first - 1)
        ts_lua_arg_error(L, arg, NULL, "keys {%I, %I} end before they begin",
                         (LUAI_UACINT)range.first, (LUAI_UACINT)range.last);
    if (range.last >= range.first && (range.first < low || range.last > high))
        ts_lua_arg_error(L, arg, NULL, "keys {%I, %I} are outside %I..%I", (LUAI_UACINT)range.first,
                         (LUAI_UACINT)range.last, (LUAI_UACINT)low, (LUAI_UACINT)high);
    return range;
}

ts_keyset ts_lua_read_keys(lua_State *L, int arg, int index, int64_t low, int64_t high) {
    index = lua_absindex(L, index);
    luaL_checkstack(L, 6, NULL);
    int64_t count = (int64_t)lua_rawlen(L, index);
    ts_range *ranges = lua_newuserdatauv(L, (size_t)(2 * count + 1) * sizeof *ranges, 0);
    for (int64_t r = 0; r < count; r++) {
        lua_rawgeti(L, index, r + 1);
        ranges[r] = read_range(L, arg, low, high);
        lua_pop(L, 1);
    }
    ts_keyset keys = {0, ranges + count};
    ts_detail detail = {0};
    if (ts_keyset_make(ranges, count, &keys, &detail) != TS_OK)
        ts_lua_arg_error(L, arg, NULL, "key %I is named twice", (LUAI_UACINT)detail.key);
    return keys;
}

/* Pushes "key 5", or "keys 5..8, 10, ...": what a and b share. */
static void push_shared(lua_State *L, const ts_keyset *a, const ts_keyset *b) {
    enum { SHOWN = 4 };
    luaL_Buffer text;
    int found = 0;
    bool one = true;
    luaL_buffinit(L, &text);
    for (int64_t i = 0, j = 0; i < a->count && j < b->count;) {
        ts_range x = a->ranges[i], y = b->ranges[j];
        ts_range both = {x.first > y.first ? x.first : y.first, x.last < y.last ? x.last : y.last};
        if (x.last < y.last)
            i++;
        else
            j++;
        if (both.first > both.last) continue;
        one = one && found == 0 && both.first == both.last;
        if (found > 0) luaL_addstring(&text, ", ");
        if (found++ == SHOWN) {
            luaL_addstring(&text, "...");
            break;
        }
        lua_pushfstring(L, both.first == both.last ? "%I" : "%I..%I", (LUAI_UACINT)both.first,
                        (LUAI_UACINT)both.last);
        luaL_addvalue(&text);
    }
    luaL_pushresult(&text);
    lua_pushstring(L, one ? "key " : "keys ");
    lua_insert(L, -2);
    lua_concat(L, 2);
    lua_pushstring(L, one ? " is" : " are");
    lua_concat(L, 2);
}

/* ---- by hand ---- */

static double element(const ts_matrix *m, int64_t row, int64_t col) {
    int64_t at = row * m->row_stride + col * m->col_stride;
    return m->dtype == TS_F32 ? ((const float *)m->data)[at] : ((const double *)m->data)[at];
}

static void store(ts_dtype dtype, void *numbers, int64_t at, double x) {
    x = isnan(x) ? (double)NAN : x + 0.0; /* no -0, and one NaN */
    if (dtype == TS_F32)
        ((float *)numbers)[at] = (float)x;
    else
        ((double *)numbers)[at] = x;
}

/* What a summary is made of: max, norm and value, or (norm NULL) lse and output. */
typedef struct {
    const ts_matrix *max, *norm, *value;
} parts;

static void refuse_part(lua_State *L, const char *what, double x, int64_t row, int64_t head) {
    char number[32];
    lua_number2str(number, sizeof number, x);
    ts_lua_arg_error(L, 1, "summary", "%s of row %I, head %I is %s", what, (LUAI_UACINT)row + 1,
                     (LUAI_UACINT)head + 1, isnan(x) ? "nan" : number);
}

static void fill_row(lua_State *L, lua_summary *s, const parts *from, int64_t row, int64_t head) {
    const ts_summary *out = &s->summary;
    double max = element(from->max, row, head);
    if (isnan(max) || max == INFINITY) refuse_part(L, from->norm ? "max" : "lse", max, row, head);
    if (max == -INFINITY) return; /* ⊥ already */
    double norm = from->norm ? element(from->norm, row, head) : 1;
    if (!(norm > 0) || isinf(norm)) refuse_part(L, "norm", norm, row, head);
    int64_t at = row * out->heads + head;
    /* (lse, output) is (m, ℓ, z) with ℓ = 1: m ln(base) = lse. */
    if (!from->norm && out->base == TS_BASE_2) max /= log(2);
    store(out->dtype, out->max, at, max);
    store(out->dtype, out->norm, at, norm);
    for (int64_t c = 0; c < out->d_v; c++)
        store(out->dtype, out->value, at * out->d_v + c,
              element(from->value, row, head * out->d_v + c));
}

static const ts_matrix *matrix_field(lua_State *L, const char *field) {
    lua_getfield(L, 1, field);
    const ts_matrix *m = ts_lua_test_matrix(L, -1);
    lua_pop(L, 1); /* the table at 1 holds it */
    return m;
}

/* core.summary.new{max=, norm=, value=, two=, keys=, problem=}: shapes and dtypes are checked by
 * summary.lua; without norm, max is an lse and value an output. */
static int summary_new(lua_State *L) {
    luaL_checktype(L, 1, LUA_TTABLE);
    lua_settop(L, 1);
    parts from = {matrix_field(L, "max"), matrix_field(L, "norm"), matrix_field(L, "value")};
    luaL_argcheck(L, from.max && from.value, 1, "matrices expected");
    int64_t heads = from.max->cols;
    luaL_argcheck(
        L, from.value->rows == from.max->rows && (heads == 0 || from.value->cols % heads == 0), 1,
        "shapes do not fit");
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
    int owner = lua_gettop(L);
    lua_summary *s;
    if (ts_lua_test_problem(L, owner)) {
        ts_keyset *unused;
        ts_lua_new_summary_of(L, owner, keys.count, &unused);
        s = lua_touserdata(L, -1);
    } else {
        s = new_summary(L, &like, NULL, keys.count);
        s->owner.keyed = keyed;
    }
    s->keys.count = keys.count;
    if (keys.count) memcpy(s->keys.ranges, keys.ranges, (size_t)keys.count * sizeof *keys.ranges);
    for (int64_t row = 0; row < like.n_q; row++)
        for (int64_t head = 0; head < heads; head++) fill_row(L, s, &from, row, head);
    return 1;
}

/* ---- ⋆ and == ---- */

/* S * T */
static int merge(lua_State *L) {
    const lua_summary *s = test_summary(L, 1), *t = test_summary(L, 2);
    lua_settop(L, 2);
    if (!s || !t) return ts_lua_type_error(L, s ? 2 : 1, "*", "summary");
    const char *differs = difference(L, 1, 2);
    if (differs) {
        lua_pushfstring(L, "summaries are of different problems: %s", differs);
        return ts_lua_error(L);
    }
    lua_summary *both = new_summary(L, &s->summary, s->sink, s->keys.count + t->keys.count);
    both->owner = s->owner;
    both->zero_empty = s->zero_empty && t->zero_empty;
    lua_getiuservalue(L, 1, SCORE);
    lua_setiuservalue(L, -2, SCORE);
    ts_detail detail = {0};
    if (ts_keyset_union(&s->keys, &t->keys, &both->keys, &detail) != TS_OK) {
        push_shared(L, &s->keys, &t->keys);
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
    const lua_summary *s = test_summary(L, 1), *t = test_summary(L, 2);
    lua_pushboolean(L, s && t && !difference(L, 1, 2) && ts_keyset_equal(&s->keys, &t->keys) &&
                           same_numbers(&s->summary, &t->summary));
    return 1;
}

/* ---- asking ---- */

/* S:output([{empty=}]) -> n_q x heads * d_v */
static int output(lua_State *L) {
    static const char *const fields[] = {"empty", NULL};
    const lua_summary *s = check_summary(L, 1);
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
    const lua_summary *s = check_summary(L, 1);
    ts_matrix *m = ts_lua_new_matrix(L, s->summary.dtype, s->summary.n_q, s->summary.heads);
    ts_summary_lse(&s->summary, s->sink, m);
    return 1;
}

static double number_at(ts_dtype dtype, const void *numbers, int64_t at) {
    return dtype == TS_F32 ? ((const float *)numbers)[at] : ((const double *)numbers)[at];
}

static bool is_bottom(const ts_summary *s, int64_t at) {
    return number_at(s->dtype, s->max, at) == -INFINITY;
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
    const ts_summary *s = &check_summary(L, 1)->summary;
    int64_t i = ts_lua_check_range(L, 2, 1, s->n_q);
    int64_t h = lua_isnoneornil(L, 3) ? 1 : ts_lua_check_range(L, 3, 1, s->heads);
    int64_t at = (i - 1) * s->heads + h - 1;
    if (is_bottom(s, at)) {
        lua_pushnil(L);
        return 1;
    }
    lua_pushnumber(L, number_at(s->dtype, s->max, at));
    lua_pushnumber(L, number_at(s->dtype, s->norm, at));
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
    const ts_keyset *set = &check_summary(L, 1)->keys;
    lua_newtable(L);
    for (int64_t r = 0; r < set->count; r++) {
        push_pair(L, set->ranges[r].first, set->ranges[r].last);
        lua_rawseti(L, -2, r + 1);
    }
    return 1;
}

/* S:bottoms() -> list of {i, h}, row by row */
static int bottoms(lua_State *L) {
    const ts_summary *s = &check_summary(L, 1)->summary;
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

static bool push_field(lua_State *L, const ts_summary *s, const char *name) {
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

/* S.name: a method, a field, or what `methods` says to a name it lacks (upvalue 1). */
static int index_summary(lua_State *L) {
    const lua_summary *s = lua_touserdata(L, 1);
    lua_pushvalue(L, 2);
    if (lua_rawget(L, lua_upvalueindex(1)) != LUA_TNIL) return 1;
    if (lua_type(L, 2) == LUA_TSTRING && push_field(L, &s->summary, lua_tostring(L, 2))) return 1;
    lua_pushvalue(L, 2);
    lua_gettable(L, lua_upvalueindex(1));
    return 1;
}

/* "summary of 10 rows, 2 heads, d_v = 4, f64, keys 1..5, 9" */
static int summary_tostring(lua_State *L) {
    const lua_summary *s = check_summary(L, 1);
    luaL_Buffer text;
    luaL_buffinit(L, &text);
    lua_pushfstring(L, "summary of %I row%s, %I head%s, d_v = %I, %s", (LUAI_UACINT)s->summary.n_q,
                    s->summary.n_q == 1 ? "" : "s", (LUAI_UACINT)s->summary.heads,
                    s->summary.heads == 1 ? "" : "s", (LUAI_UACINT)s->summary.d_v,
                    s->summary.dtype == TS_F32 ? "f32" : "f64");
    luaL_addvalue(&text);
    if (s->owner.keyed) luaL_addstring(&text, s->keys.count ? ", keys " : ", no keys");
    for (int64_t r = 0; r < s->keys.count; r++) {
        ts_range range = s->keys.ranges[r];
        if (r > 0) luaL_addstring(&text, ", ");
        if (r == 8) {
            luaL_addstring(&text, "...");
            break;
        }
        lua_pushfstring(L, range.first == range.last ? "%I" : "%I..%I", (LUAI_UACINT)range.first,
                        (LUAI_UACINT)range.last);
        luaL_addvalue(&text);
    }
    luaL_pushresult(&text);
    return 1;
}

static const luaL_Reg methods[] = {
    {"output", output}, {"lse", lse},         {"row", row},
    {"keys", keys},     {"bottoms", bottoms}, {NULL, NULL},
};

static const luaL_Reg metamethods[] = {
    {"__mul", merge}, {"__eq", equal}, {"__tostring", summary_tostring}, {NULL, NULL}};

static const luaL_Reg functions[] = {{"new", summary_new}, {NULL, NULL}};

int ts_lua_open_summary(lua_State *L) {
    luaL_newlib(L, functions);
    luaL_newlib(L, methods);
    luaL_newmetatable(L, TS_SUMMARY);
    luaL_setfuncs(L, metamethods, 0);
    lua_pushvalue(L, -2);
    lua_pushcclosure(L, index_summary, 1);
    lua_setfield(L, -2, "__index");
    lua_pushboolean(L, 0);
    lua_setfield(L, -2, "__metatable");
    lua_pop(L, 1);
    lua_setfield(L, -2, "methods");
    return 1;
}
