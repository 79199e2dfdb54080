/* problem.h -- what is asked: queries, keys, values, scale, mask, score and heads; all views of the
 * caller's memory. */
#ifndef TS_PROBLEM_H
#define TS_PROBLEM_H

#include "mask.h"
#include "matrix.h"

typedef enum { TS_BASE_E, TS_BASE_2 } ts_base;

/* A function of (s, i, j, h): a program or, where that is NULL, a call, made on the calling thread
 * only, which replaces s[0 .. count - 1], the scores of query i and keys j, j + 1, .., and returns
 * TS_OK or TS_CALLBACK. allowed: a bit for each key; the others are not to be asked for. */
typedef struct {
    const ts_program *program;
    ts_status (*call)(void *data, int64_t h, int64_t i, int64_t j, int64_t count,
                      const uint64_t *allowed, double *s);
    void *data;
} ts_score;

/* q: n_q x heads * d, k: n_k x kv_heads * d, v: n_k x kv_heads * d_v; d and d_v are the widths of
 * one head. Query head g (from 0) uses key head g * kv_heads / heads. Row r of k and v, from 0, is
 * key first_key + r. */
typedef struct {
    ts_dtype dtype;
    ts_base base;
    int64_t n_q, n_k, d, d_v, heads, kv_heads, first_key;
    ts_matrix q, k, v;
    const double *scale;          /* one a head */
    const double *sink;           /* one a head, or NULL */
    const ts_mask *const *mask;   /* one a head (equal pointers share their work), or NULL */
    const ts_score *const *score; /* one a head, or NULL */
    bool propagate;               /* nonfinite = "propagate" */
} ts_problem;

/* Checks every shape (TS_SHAPE, TS_TOO_LARGE), every dtype (TS_DTYPE), that each scale is finite
 * and that the dtype can hold each sink (TS_NONFINITE_SCORE with row and key 0). An entry of mask
 * may be NULL: all keys; a sink of -inf is none. */
ts_status ts_problem_check(const ts_problem *problem, ts_detail *detail);

static inline int64_t ts_problem_kv_head(const ts_problem *p, int64_t head) {
    return head * p->kv_heads / p->heads;
}

/* Of head `head` (from 0); NULL: none. */
static inline const ts_mask *ts_problem_mask(const ts_problem *p, int64_t head) {
    return p->mask ? p->mask[head] : NULL;
}
static inline const ts_score *ts_problem_score(const ts_problem *p, int64_t head) {
    return p->score ? p->score[head] : NULL;
}

/* Whether the score of one of heads head .. head + heads - 1 (from 0) is called. */
bool ts_problem_calls(const ts_problem *problem, int64_t head, int64_t heads);

/* Bytes of scratch for any of its masks, and for any of its score programs. */
size_t ts_problem_mask_scratch(const ts_problem *problem);
size_t ts_problem_score_scratch(const ts_problem *problem);

/* Head h of q (n_q x d), and the key head it uses of k (n_k x d) and v (n_k x d_v), as views. */
ts_matrix ts_problem_q(const ts_problem *problem, int64_t head);
ts_matrix ts_problem_k(const ts_problem *problem, int64_t head);
ts_matrix ts_problem_v(const ts_problem *problem, int64_t head);

#endif
