/* mask_compose.c -- what several layers of a mask reach: its powers as a boolean matrix. */
#include "mask.h"

#include <string.h>

/* out = a b, square boolean matrices of n rows: row i of out is the union of the rows of b that row
 * i of a names. */
static ts_status boolean_product(const uint64_t *a, const uint64_t *b, uint64_t *out, int64_t n,
                                 int64_t words, const ts_run *run) {
    memset(out, 0, (size_t)(n * words) * sizeof *out);
    for (int64_t i = 0; i < n; i++) {
        for (int64_t w = 0; w < words; w++)
            for (uint64_t bits = a[i * words + w]; bits; bits &= bits - 1) {
                const uint64_t *row = b + (w * 64 + __builtin_ctzll(bits)) * words;
                for (int64_t x = 0; x < words; x++) out[i * words + x] |= row[x];
            }
        if (run->poll(run->poll_data, (double)i / (double)n)) return TS_INTERRUPTED;
    }
    return TS_OK;
}

/* A power under way: the bits of one head, and room for a product. */
typedef struct {
    int64_t n, words;
    uint64_t *product;
    const ts_run *run;
} powers;

/* x = a b; x may be a or b. */
static ts_status multiply(const powers *p, const uint64_t *a, const uint64_t *b, uint64_t *x) {
    ts_status status = boolean_product(a, b, p->product, p->n, p->words, p->run);
    memcpy(x, p->product, (size_t)(p->n * p->words) * sizeof *x);
    return status;
}

/* reached = square to the power of `layers`, by squaring, which is what becomes of `square`. */
static ts_status raise_to(const powers *p, uint64_t *square, int64_t layers, uint64_t *reached) {
    bool any = false;
    for (; layers > 0; layers /= 2) {
        ts_status status = TS_OK;
        if (layers % 2 && any)
            status = multiply(p, reached, square, reached);
        else if (layers % 2)
            memcpy(reached, square, (size_t)(p->n * p->words) * sizeof *reached);
        any = any || layers % 2;
        if (status == TS_OK && layers > 1) status = multiply(p, square, square, square);
        if (status != TS_OK) return status;
    }
    return TS_OK;
}

/* [m, n] -> [mask]: what n layers reach; dense bits */
int ts_lua_mask_compose(lua_State *L) {
    const ts_lua_mask *m = (const ts_lua_mask *)ts_lua_check_mask(L, 1);
    int64_t layers = ts_lua_check_range(L, 2, "n", 1, INT64_MAX), n = m->mask.rows;
    if (n != m->mask.cols)
        return ts_lua_arg_error(L, 1, "compose", "a %Ix%I mask is not square", I(n),
                                I(m->mask.cols));
    lua_settop(L, 1);
    if (layers == 1) return 1;
    const int64_t heads = ts_lua_heads_of(&m->mask);
    const ts_table *squares = ts_lua_push_mask_bits(L, 1);
    ts_table *result = ts_lua_new_bits(L, n, n, heads); /* at 3 */
    ts_table *room = ts_lua_new_bits(L, n, n, 1);
    ts_run run = ts_lua_run(L, 0);
    const powers p = {n, result->words, (uint64_t *)room->bits, &run};
    ts_status status = TS_OK;
    for (int64_t h = 0; h < heads && status == TS_OK; h++)
        status = raise_to(&p, (uint64_t *)squares->bits + h * n * p.words, layers,
                          (uint64_t *)result->bits + h * n * p.words);
    ts_lua_raise(L, status, NULL, NULL);
    lua_settop(L, 3);
    ts_lua_index_bits(result);
    ts_lua_push_bits_program(L, 3);
    ts_lua_push_mask(L, n, n, m->mask.heads, m->called);
    lua_getiuservalue(L, 1, 2);
    lua_setiuservalue(L, -2, 2);
    return 1;
}
