/* trial.h -- a random problem for C tests: sizes, heads, strides, masks, scores, sinks and tilings
 * drawn from a seed. */
#ifndef TS_TRIAL_H
#define TS_TRIAL_H

#include "../../core/tessera.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TRIAL_HEADS = 4, TRIAL_NODES = 16 };

typedef struct {
    uint64_t state;
    ts_problem p;
    ts_tiling tiling;
    double scale[TRIAL_HEADS], sink[TRIAL_HEADS];
    ts_mask mask;
    const ts_mask *masks[TRIAL_HEADS];
    ts_program mask_program, score_program;
    ts_table table;
    ts_node mask_nodes[TRIAL_NODES], score_nodes[TRIAL_NODES];
    ts_score score;
    const ts_score *scores[TRIAL_HEADS];
    int32_t *listed, *word;
    void *memory[16];
    int blocks_of_memory;
} trial;

static inline int64_t trial_draw(trial *t, int64_t below) {
    t->state += 0x9e3779b97f4a7c15u;
    uint64_t x = t->state;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return (int64_t)((x ^ x >> 31) >> 1) % below;
}

/* Nearly normal: a sum of uniform numbers. */
static inline double trial_normal(trial *t) {
    double sum = 0;
    for (int n = 0; n < 12; n++) sum += (double)trial_draw(t, 1 << 20) / (1 << 20);
    return sum - 6;
}

static inline void *trial_take(trial *t, size_t bytes) {
    return t->memory[t->blocks_of_memory++] = calloc(1, bytes ? bytes : 1);
}

static inline void trial_free(trial *t) {
    while (t->blocks_of_memory > 0) free(t->memory[--t->blocks_of_memory]);
}

static inline void trial_set(ts_matrix *m, int64_t at, double x) {
    if (m->dtype == TS_F32)
        ((float *)m->data)[at] = (float)x;
    else
        ((double *)m->data)[at] = x;
}

static inline double trial_get(const ts_matrix *m, int64_t row, int64_t col) {
    int64_t at = row * m->row_stride + col * m->col_stride;
    return m->dtype == TS_F32 ? (double)((float *)m->data)[at] : ((double *)m->data)[at];
}

/* A packed matrix, or its transpose's transpose: the columns run fastest, or the rows. */
static inline ts_matrix trial_matrix(trial *t, int64_t rows, int64_t cols) {
    ts_matrix m = {t->p.dtype, rows, cols, cols, 1, NULL};
    if (trial_draw(t, 3) == 0) m.row_stride = 1, m.col_stride = rows;
    m.data = trial_take(t, (size_t)(rows * cols) * 8);
    return m;
}

/* integers: small ones, so that the rows may be exact; else normal numbers of some size. */
static inline ts_matrix trial_numbers(trial *t, int64_t rows, int64_t cols, bool integers) {
    ts_matrix m = trial_matrix(t, rows, cols);
    double size = ldexp(1, (int)trial_draw(t, 6) - 3);
    for (int64_t n = 0; n < rows * cols; n++)
        trial_set(&m, n, integers ? (double)trial_draw(t, 5) - 2 : size * trial_normal(t));
    return m;
}

static inline int32_t trial_node(ts_program *program, ts_node *nodes, ts_op op, int32_t a,
                                 int32_t b, int32_t c, double constant) {
    ts_node node = {(uint8_t)op, (uint8_t)ts_op_kinds[op].result, {a, b, c}, -1, {0}};
    if (op == TS_OP_fconst) node.constant.f = constant;
    if (op == TS_OP_iconst) node.constant.i = (int64_t)constant;
    if (op == TS_OP_bits) node.table = 0;
    program->nodes = nodes;
    nodes[program->count] = node;
    return (int32_t)program->count++;
}

/* Random bits of some density, with a row in eight empty. */
static inline void trial_mask(trial *t) {
    ts_problem *p = &t->p;
    int64_t cols = p->first_key + p->n_k - 1, words = (cols + 63) / 64;
    bool by_head = trial_draw(t, 2);
    int64_t heads = by_head ? p->heads : 1, density = 1 + trial_draw(t, 8);
    uint64_t *bits = trial_take(t, (size_t)(heads * p->n_q * words + 1) * 8);
    for (int64_t r = 0; r < heads * p->n_q; r++)
        for (int64_t c = 0, empty = trial_draw(t, 8) == 0; c < cols && !empty; c++)
            if (trial_draw(t, 8) < density) bits[r * words + c / 64] |= (uint64_t)1 << c % 64;
    t->table = (ts_table){.kind = TS_TABLE_BITS,
                          .rows = p->n_q,
                          .cols = cols,
                          .heads = heads,
                          .words = words,
                          .bits = bits};
    ts_program *program = &t->mask_program;
    *program = (ts_program){.table_count = 1, .tables = &t->table};
    int32_t i = trial_node(program, t->mask_nodes, TS_OP_i, -1, -1, -1, 0);
    int32_t j = trial_node(program, t->mask_nodes, TS_OP_j, -1, -1, -1, 0);
    int32_t h = by_head ? trial_node(program, t->mask_nodes, TS_OP_h, -1, -1, -1, 0)
                        : trial_node(program, t->mask_nodes, TS_OP_iconst, -1, -1, -1, 1);
    trial_node(program, t->mask_nodes, TS_OP_bits, i, j, h, 0);
    t->mask = (ts_mask){p->n_q, cols, by_head ? p->heads : 0, program};
    for (int64_t n = 0; n < p->heads; n++) t->masks[n] = &t->mask;
    p->mask = t->masks;
}

/* s + slope * (j - i), or cap * tanh(s / cap). integers: the first, of slope 1. */
static inline void trial_score(trial *t, bool integers) {
    ts_program *program = &t->score_program;
    ts_node *n = t->score_nodes;
    *program = (ts_program){0};
    int32_t s = trial_node(program, n, TS_OP_s, -1, -1, -1, 0);
    if (integers || trial_draw(t, 2)) {
        int32_t i = trial_node(program, n, TS_OP_i, -1, -1, -1, 0);
        int32_t j = trial_node(program, n, TS_OP_j, -1, -1, -1, 0);
        int32_t far = trial_node(program, n, TS_OP_isub, j, i, -1, 0);
        int32_t real = trial_node(program, n, TS_OP_ffrom, far, -1, -1, 0);
        int32_t slope = trial_node(program, n, TS_OP_fconst, -1, -1, -1, integers ? 1 : 0.3);
        trial_node(program, n, TS_OP_fadd, s,
                   trial_node(program, n, TS_OP_fmul, real, slope, -1, 0), -1, 0);
    } else {
        int32_t cap = trial_node(program, n, TS_OP_fconst, -1, -1, -1, 5);
        int32_t part = trial_node(program, n, TS_OP_fdiv, s, cap, -1, 0);
        int32_t bent = trial_node(program, n, TS_OP_ftanh, part, -1, -1, 0);
        trial_node(program, n, TS_OP_fmul, bent, cap, -1, 0);
    }
    t->score = (ts_score){.program = program};
    for (int64_t h = 0; h < t->p.heads; h++) t->scores[h] = &t->score;
    t->p.score = t->scores;
}

static inline void trial_shuffle(trial *t, int32_t *list, int64_t count) {
    for (int64_t n = 0; n < count; n++) {
        int64_t other = trial_draw(t, n + 1);
        list[n] = list[other];
        list[other] = (int32_t)n + 1;
    }
}

/* A random bracketing of a random order, deeper side first. */
static inline void trial_word(trial *t, int64_t blocks) {
    int64_t length = 0, height = 0, pushed = 0;
    int32_t *order = trial_take(t, (size_t)blocks * 4);
    t->word = trial_take(t, (size_t)blocks * 8);
    trial_shuffle(t, order, blocks);
    while (pushed < blocks || height > 1) {
        if (height < 2 || (pushed < blocks && trial_draw(t, 2)))
            t->word[length++] = order[pushed++], height++;
        else
            t->word[length++] = 0, height--;
    }
    void *scratch = malloc(ts_schedule_scratch(&t->tiling.schedule));
    ts_schedule_deepen(t->word, blocks, scratch);
    free(scratch);
}

static inline void trial_tiling(trial *t, int64_t k) {
    ts_schedule *s = &t->tiling.schedule;
    t->tiling = (ts_tiling){.q = 1 + trial_draw(t, 2 * t->p.n_q + 1)};
    if (trial_draw(t, 4) == 0) t->tiling.exp = TS_EXP_POLY;
    s->k = k;
    ts_tiling_defaults(&t->p, &t->tiling);
    s->order = (ts_order_kind)trial_draw(t, 4);
    s->merge = s->blocks > 0 ? (ts_merge_kind)trial_draw(t, 5) : TS_MERGE_ONLINE;
    s->parts = s->merge == TS_MERGE_SPLIT ? 1 + trial_draw(t, s->blocks) : 1;
    if (s->order == TS_ORDER_LISTED) {
        s->order_rows = 1 + trial_draw(t, 3);
        t->listed = trial_take(t, (size_t)(s->order_rows * s->blocks) * 4);
        for (int64_t row = 0; row < s->order_rows; row++)
            trial_shuffle(t, t->listed + row * s->blocks, s->blocks);
        s->listed = t->listed;
    }
    if (s->merge == TS_MERGE_WORD) trial_word(t, s->blocks), s->word = t->word;
}

/* integers: base 2, scale 1, small whole numbers. */
static inline void trial_make(trial *t, uint64_t seed, ts_dtype dtype, bool integers) {
    memset(t, 0, sizeof *t);
    t->state = seed * 77777;
    ts_problem *p = &t->p;
    p->dtype = dtype;
    p->base = integers || trial_draw(t, 4) == 0 ? TS_BASE_2 : TS_BASE_E;
    p->kv_heads = 1 + trial_draw(t, 2);
    p->heads = p->kv_heads * (1 + trial_draw(t, 2));
    p->n_q = 1 + trial_draw(t, 12), p->n_k = trial_draw(t, 40);
    p->d = trial_draw(t, integers ? 5 : 20), p->d_v = 1 + trial_draw(t, 20);
    p->first_key = trial_draw(t, 3) ? 1 : 1 + trial_draw(t, 50);
    p->q = trial_numbers(t, p->n_q, p->heads * p->d, integers);
    p->k = trial_numbers(t, p->n_k, p->kv_heads * p->d, integers);
    p->v = trial_numbers(t, p->n_k, p->kv_heads * p->d_v, integers);
    p->scale = t->scale;
    p->sink = trial_draw(t, 4) == 0 ? t->sink : NULL;
    for (int64_t h = 0; h < p->heads; h++) {
        t->scale[h] = integers ? 1 : trial_draw(t, 3) ? 1 / sqrt((double)p->d + 1) : -0.7;
        t->sink[h] = integers ? (double)trial_draw(t, 7) - 3 : trial_normal(t);
    }
    if (trial_draw(t, 2)) trial_mask(t);
    if (trial_draw(t, 3) == 0) trial_score(t, integers);
    trial_tiling(t, 1 + trial_draw(t, p->n_k + 2));
}

static inline void *trial_resize(void *data, void *block, size_t old_size, size_t new_size) {
    (void)data, (void)old_size;
    if (new_size > 0) return realloc(block, new_size);
    free(block);
    return NULL;
}

#endif
