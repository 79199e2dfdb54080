/* softmax_scores.c -- road 1's scores: of keys that the mask allows, c<q, k_j>, then the score
 * function. */
#include "softmax_rows.h"

#include <math.h>
#include <string.h>

enum { STRIP = TS_SOFTMAX_STRIP };

/* A bit for each key that rows row .. row + rows - 1 may use. */
static void read_mask(const ts_problem *p, int64_t head, int64_t row, int64_t rows,
                      ts_softmax_rows *w) {
    const ts_mask *mask = ts_problem_mask(p, head);
    int64_t words = ts_softmax_words(p);
    if (mask && p->n_k > 0) {
        ts_range i = {row + 1, row + rows}, j = {p->first_key, p->first_key + p->n_k - 1};
        ts_mask_tile(mask, head + 1, i, j, w->bits, words, w->scratch);
        return;
    }
    memset(w->bits, 0xff, (size_t)(rows * words) * sizeof *w->bits);
    for (int64_t r = 0; p->n_k % STRIP && r < rows; r++)
        w->bits[(r + 1) * words - 1] = ((uint64_t)1 << p->n_k % STRIP) - 1;
}

/* Applies the score function to the strip of keys at `key`. Each of its operations rounds once in
 * the problem's dtype, which its argument and result have. */
static ts_status apply_score(const ts_problem *p, int64_t head, int64_t row, int64_t key,
                             int64_t count, uint64_t allowed, double *s, void *scratch) {
    const ts_score *score = ts_problem_score(p, head);
    int64_t j = p->first_key + key;
    float narrow[STRIP];
    if (!score) return TS_OK;
    if (!score->program) {
        ts_status status = score->call(score->data, head + 1, row + 1, j, count, &allowed, s);
        for (int64_t n = 0; p->dtype == TS_F32 && n < count; n++) s[n] = (float)s[n];
        return status;
    }
    if (p->dtype == TS_F64) {
        ts_program_score_f64(score->program, head + 1, row + 1, j, count, s, scratch);
        return TS_OK;
    }
    for (int64_t n = 0; n < count; n++) narrow[n] = (float)s[n];
    ts_program_score_f32(score->program, head + 1, row + 1, j, count, narrow, scratch);
    for (int64_t n = 0; n < count; n++) s[n] = narrow[n];
    return TS_OK;
}

/* What counts as infinite is what the dtype cannot hold. */
static double clamp(ts_dtype dtype, double s) {
    return dtype == TS_F32 && !isfinite((float)s) ? (double)(float)s : s + 0.0;
}

/* Writes the scores of keys key .. key + count - 1 for one row: c<q, k_j>, summed in the order of
 * the columns, then the score function, then the mask, which selects. */
static ts_status score_strip(const ts_problem *p, int64_t head, int64_t row, int64_t key,
                             int64_t count, uint64_t allowed, const double *q, const double *k,
                             double *s, void *scratch) {
    double sum[STRIP] = {0};
    for (int64_t r = 0; r < p->d; r++)
        for (int n = 0; n < STRIP; n++) sum[n] += q[r] * k[r * STRIP + n];
    ts_status status = apply_score(p, head, row, key, count, allowed, sum, scratch);
    for (int64_t n = 0; n < count; n++)
        s[n] = allowed >> n & 1 ? clamp(p->dtype, sum[n]) : -(double)INFINITY;
    return status;
}

/* Keys key .. key + count - 1, transposed, and zeros up to a strip. */
static void read_keys(const ts_matrix *k, int64_t key, int64_t count, double *strip) {
    for (int64_t n = 0; n < STRIP; n++)
        for (int64_t c = 0; c < k->cols; c++)
            strip[c * STRIP + n] = n < count ? ts_matrix_get(k, key + n, c) : 0;
}

bool ts_softmax_leaves(const ts_problem *p, int64_t key, int64_t rows, int64_t width, double from,
                       ts_outcome *f) {
    int64_t strips = ((int64_t)1 << 22) / (rows * STRIP * (width + 1)) + 1;
    if (key / STRIP % strips != strips - 1) return false;
    return ts_items_pause(f, from + (double)key / (double)p->n_k / 2);
}

ts_status ts_softmax_read_scores(const ts_problem *p, int64_t head, int64_t row, int64_t rows,
                                 ts_softmax_rows *w, ts_outcome *f) {
    ts_matrix q = ts_problem_q(p, head), k = ts_problem_k(p, head);
    int64_t words = ts_softmax_words(p);
    ts_status status = TS_OK;
    for (int64_t r = 0; r < rows; r++)
        for (int64_t c = 0; c < p->d; c++)
            w->q[r * p->d + c] = p->scale[head] * ts_matrix_get(&q, row + r, c);
    read_mask(p, head, row, rows, w);
    for (int64_t key = 0; !status && key < p->n_k; key += STRIP) {
        if (ts_softmax_leaves(p, key, rows, p->d, 0, f)) return TS_INTERRUPTED;
        int64_t count = ts_least(p->n_k - key, STRIP);
        const uint64_t *allowed = w->bits + key / STRIP;
        uint64_t any = 0;
        for (int64_t r = 0; r < rows; r++) any |= allowed[r * words];
        if (any) read_keys(&k, key, count, w->strip);
        for (int64_t r = 0; !status && r < rows; r++) {
            double *s = w->s + r * p->n_k + key;
            if (allowed[r * words])
                status = score_strip(p, head, row + r, key, count, allowed[r * words],
                                     w->q + r * p->d, w->strip, s, w->scratch);
            else
                for (int64_t n = 0; n < count; n++) s[n] = -(double)INFINITY;
        }
    }
    return status;
}
