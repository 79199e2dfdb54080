/* sample.h -- problems in memory of their own, for the C tests of the fused road. */
#ifndef TS_SAMPLE_H
#define TS_SAMPLE_H

#include "../../core/kernel/kernel.h"
#include "../../core/tessera.h"
#include "check.h"

#include <stdlib.h>

static const char *const sample_isas[] = {"sse2", "avx2", "avx512", "neon"};
enum { SAMPLE_ISAS = 4, SAMPLE_HEADS = 8, GUARD = 3 };

static uint32_t sample_state = 1;
static inline uint32_t sample_bits(void) {
    static uint64_t x = 0;
    x = x * 6364136223846793005u + 1442695040888963407u + sample_state;
    return (uint32_t)(x >> 32);
}
static inline int64_t sample_draw(int64_t below) {
    return (int64_t)(sample_bits() % (uint64_t)below);
}
static inline double sample_normal(void) { /* near enough */
    double sum = -6;
    for (int i = 0; i < 12; i++) sum += sample_bits() * 0x1p-32;
    return sum;
}

static inline double sample_get(const ts_matrix *m, int64_t r, int64_t c) {
    const int64_t at = r * m->row_stride + c * m->col_stride;
    return m->dtype == TS_F32 ? ((float *)m->data)[at] : ((double *)m->data)[at];
}
static inline void sample_set(ts_matrix *m, int64_t r, int64_t c, double x) {
    const int64_t at = r * m->row_stride + c * m->col_stride;
    if (m->dtype == TS_F32)
        ((float *)m->data)[at] = (float)x;
    else
        ((double *)m->data)[at] = x;
}

/* rows x cols of NaN, amid GUARD columns and rows of NaN on every side. Never freed: a test ends
 * soon. */
static inline ts_matrix sample_matrix(ts_dtype dtype, int64_t rows, int64_t cols) {
    const int64_t stride = cols + 2 * GUARD;
    const size_t count = (size_t)(stride * (rows + 2 * GUARD)), size = ts_dtype_size(dtype);
    ts_matrix m = {dtype, rows + 2 * GUARD, stride, stride, 1, malloc(count * size + 1)};
    for (int64_t r = 0; r < m.rows; r++)
        for (int64_t c = 0; c < stride; c++) sample_set(&m, r, c, NAN);
    m.data = (char *)m.data + (size_t)(GUARD * stride + GUARD) * size;
    m.rows = rows, m.cols = cols;
    return m;
}

/* Whether nothing was written around a matrix made by sample_matrix. */
static inline bool sample_guarded(const ts_matrix *m) {
    for (int64_t r = -GUARD; r < m->rows + GUARD; r++)
        for (int64_t c = -GUARD; c < m->cols + GUARD; c++)
            if ((r < 0 || r >= m->rows || c < 0 || c >= m->cols) && !isnan(sample_get(m, r, c)))
                return false;
    return true;
}

static inline bool sample_same_bits(const ts_matrix *a, const ts_matrix *b) {
    if (a->rows != b->rows || a->cols != b->cols) return false;
    for (int64_t r = 0; r < a->rows; r++)
        for (int64_t c = 0; c < a->cols; c++) {
            double x = sample_get(a, r, c), y = sample_get(b, r, c);
            if (memcmp(&x, &y, sizeof x) != 0) return false;
        }
    return true;
}

/* A problem, its matrices, and its mask as bits: row (h - 1) n_q + i - 1. */
typedef struct {
    ts_problem problem;
    double scale[SAMPLE_HEADS], sink[SAMPLE_HEADS];
    const ts_mask *masks[SAMPLE_HEADS];
    ts_mask mask;
    ts_program program;
    ts_node nodes[4];
    ts_table table;
    uint64_t *bits;
} sample;

/* n_q, n_k, d, d_v, heads and kv_heads of s->problem are set; Q, K and V are NaN, scale 1, base 2.
 */
static inline void sample_make(sample *s, ts_dtype dtype) {
    ts_problem *p = &s->problem;
    p->dtype = dtype, p->base = TS_BASE_2, p->first_key = 1, p->scale = s->scale;
    p->sink = NULL, p->mask = NULL, p->score = NULL, p->propagate = false;
    for (int h = 0; h < SAMPLE_HEADS; h++) s->scale[h] = 1;
    p->q = sample_matrix(dtype, p->n_q, p->heads * p->d);
    p->k = sample_matrix(dtype, p->n_k, p->kv_heads * p->d);
    p->v = sample_matrix(dtype, p->n_k, p->kv_heads * p->d_v);
}

static inline void sample_fill(ts_matrix *m, double (*number)(void)) {
    for (int64_t r = 0; r < m->rows; r++)
        for (int64_t c = 0; c < m->cols; c++) sample_set(m, r, c, number());
}

/* A mask in which every cell is closed; one for each head, or one for all. */
static inline void sample_mask(sample *s, bool by_head) {
    ts_problem *p = &s->problem;
    const int64_t heads = by_head ? p->heads : 1, words = (p->n_k + 63) / 64;
    s->bits = calloc((size_t)(heads * p->n_q * words) + 1, sizeof *s->bits);
    s->table = (ts_table){.kind = TS_TABLE_BITS, .rows = p->n_q, .cols = p->n_k, .heads = heads};
    s->table.words = words, s->table.bits = s->bits;
    memset(s->nodes, 0, sizeof s->nodes);
    s->nodes[0] = (ts_node){.op = TS_OP_i, .type = TS_INT};
    s->nodes[1] = (ts_node){.op = TS_OP_j, .type = TS_INT};
    s->nodes[2] = (ts_node){.op = by_head ? TS_OP_h : TS_OP_iconst, .type = TS_INT};
    if (!by_head) s->nodes[2].constant.i = 1;
    s->nodes[3] = (ts_node){.op = TS_OP_bits, .type = TS_BOOL, .operand = {0, 1, 2}};
    s->program = (ts_program){.count = 4, .table_count = 1, .nodes = s->nodes, .tables = &s->table};
    s->mask = (ts_mask){p->n_q, p->n_k, by_head ? p->heads : 0, &s->program};
    for (int h = 0; h < SAMPLE_HEADS; h++) s->masks[h] = &s->mask;
    p->mask = s->masks;
}

static inline uint64_t *sample_word(const sample *s, int64_t h, int64_t i, int64_t j) {
    const int64_t row = (s->mask.heads ? h : 0) * s->problem.n_q + i;
    return &s->bits[row * s->table.words + j / 64];
}
static inline void sample_open(sample *s, int64_t h, int64_t i, int64_t j) { /* from 0 */
    *sample_word(s, h, i, j) |= (uint64_t)1 << (j % 64);
}
static inline bool sample_allowed(const sample *s, int64_t h, int64_t i, int64_t j) {
    return !s->problem.mask || (*sample_word(s, h, i, j) >> (j % 64) & 1);
}

/* Plain malloc, counted, and failing from some call on. */
static int64_t sample_blocks, sample_fail_at = -1;
static inline void *sample_resize(void *data, void *block, size_t old_size, size_t new_size) {
    (void)data, (void)old_size;
    if (new_size == 0) {
        sample_blocks -= block != NULL;
        free(block);
        return NULL;
    }
    if (sample_fail_at == 0) return NULL;
    sample_fail_at -= sample_fail_at > 0;
    void *memory = realloc(block, new_size);
    sample_blocks += block == NULL && memory != NULL;
    return memory;
}
static inline ts_run sample_run(int threads) {
    return (ts_run){{sample_resize, NULL}, threads, NULL, NULL};
}

#endif
