/* summary_identity.c -- whose summary it is: which ones may be merged. */
#include "hash.h"
#include "summary.h"

#include <math.h>

static void hash_numbers(const double *list, int64_t count, uint64_t out[2]) {
    double none = NAN;
    ts_matrix row = {TS_F64, 1, list ? count : 1, 1, 1, (void *)(list ? list : &none)};
    ts_lua_hash(&row, out);
}

ts_lua_identity ts_lua_identity_of(const ts_problem *p) {
    ts_lua_identity id = {.bound = true, .keyed = true, .kv_heads = p->kv_heads, .d = p->d};
    ts_lua_hash(&p->q, id.queries);
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
