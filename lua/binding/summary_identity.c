/* summary_identity.c -- whose summary it is: which ones may be merged. */
#include "summary.h"

#include <math.h>
#include <string.h>

/* Two streams of 64 x 64 -> 128 bit products, folded (after wyhash), each in lanes that do not wait
 * for one another. Not against an adversary; but two different problems agree in 128 bits by chance
 * only. */
enum { LANES = 4, STRIP = LANES * sizeof(uint64_t), CHUNK = 64 };

typedef struct {
    uint64_t a[LANES], b[LANES];
} hash;

static inline uint64_t fold(uint64_t x, uint64_t y) {
    __uint128_t product = (__uint128_t)x * y;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static inline void mix(hash *h, int lane, uint64_t word) {
    h->a[lane] = fold(h->a[lane] ^ word, 0x9E3779B97F4A7C15u) + word;
    h->b[lane] = fold(h->b[lane] + word, 0xD6E8FEB86659FD93u) ^ word;
}

static inline void mix_strip(hash *h, const char *bytes) {
    uint64_t words[LANES];
    memcpy(words, bytes, sizeof words);
    for (int lane = 0; lane < LANES; lane++) mix(h, lane, words[lane]);
}

/* The last strip is filled up with zeros: lengths are hashed, too. */
static void mix_bytes(hash *h, const char *bytes, size_t count) {
    size_t at = 0;
    hash state = *h;
    for (; at + STRIP <= count; at += STRIP) mix_strip(&state, bytes + at);
    if (at < count) {
        char rest[STRIP] = {0};
        memcpy(rest, bytes + at, count - at);
        mix_strip(&state, rest);
    }
    *h = state;
}

/* A row whose numbers do not lie side by side, by way of chunks: whole strips, but for the last. */
static void mix_strided(hash *h, const char *row, int64_t cols, int64_t step, size_t size) {
    char chunk[CHUNK * sizeof(double)];
    for (int64_t c = 0; c < cols; c += CHUNK) {
        int64_t count = cols - c < CHUNK ? cols - c : CHUNK;
        for (int64_t e = 0; e < count; e++)
            memcpy(chunk + (size_t)e * size, row + (c + e) * step, size);
        mix_bytes(h, chunk, (size_t)count * size);
    }
}

static void hash_matrix(const ts_matrix *m, uint64_t out[2]) {
    const size_t size = ts_dtype_size(m->dtype);
    hash h = {{(uint64_t)m->rows, (uint64_t)m->cols, 1, 2}, {(uint64_t)m->cols, 3, 4, 5}};
    for (int64_t r = 0; r < m->rows; r++) {
        const char *row = (const char *)m->data + r * m->row_stride * (int64_t)size;
        if (m->col_stride == 1)
            mix_bytes(&h, row, (size_t)m->cols * size);
        else
            mix_strided(&h, row, m->cols, m->col_stride * (int64_t)size, size);
    }
    for (int lane = 1; lane < LANES; lane++) {
        mix(&h, 0, h.a[lane]);
        mix(&h, 0, h.b[lane]);
    }
    mix(&h, 0, 1);
    out[0] = h.a[0];
    out[1] = h.b[0];
}

static void hash_numbers(const double *list, int64_t count, uint64_t out[2]) {
    double none = NAN;
    ts_matrix row = {TS_F64, 1, list ? count : 1, 1, 1, (void *)(list ? list : &none)};
    hash_matrix(&row, out);
}

ts_lua_identity ts_lua_identity_of(const ts_problem *p) {
    ts_lua_identity id = {.bound = true, .keyed = true, .kv_heads = p->kv_heads, .d = p->d};
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
    int type_a = lua_getiuservalue(L, a, TS_SUMMARY_SCORE),
        type_b = lua_getiuservalue(L, b, TS_SUMMARY_SCORE);
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

const char *ts_lua_difference(lua_State *L, int a, int b) {
    const ts_lua_summary *s = lua_touserdata(L, a), *t = lua_touserdata(L, b);
    const ts_summary *x = &s->summary, *y = &t->summary;
    const ts_lua_identity *p = &s->owner, *q = &t->owner;
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
