/* softmax_rows.h -- road 1's work on a few rows of one head, which share what they read. */
#ifndef TS_SOFTMAX_ROWS_H
#define TS_SOFTMAX_ROWS_H

#include "items.h"
#include "problem.h"
#include "sizes.h"

enum { TS_SOFTMAX_STRIP = 64 }; /* keys read at once, and to a word of mask bits */

/* One thread's work space. */
typedef struct {
    double *q;      /* rows x d, the scale folded in */
    double *s;      /* rows x n_k: scores, then weights; -inf where not allowed */
    double *strip;  /* of K, d x STRIP, or of V, STRIP x d_v: doubles */
    double *z;      /* rows x d_v */
    uint64_t *bits; /* rows x words: what the mask allows */
    uint64_t *poor; /* words: keys whose values are not all finite */
    void *scratch;  /* the mask's or the score program's */
} ts_softmax_rows;

/* Words of a row of bits. */
static inline int64_t ts_softmax_words(const ts_problem *p) {
    return ts_quotient_up(p->n_k, TS_SOFTMAX_STRIP);
}

/* Reads what the mask allows `rows` rows, from `row` on, into bits, and their scores into s.
 * TS_INTERRUPTED: leave the item. */
ts_status ts_softmax_read_scores(const ts_problem *problem, int64_t head, int64_t row, int64_t rows,
                                 ts_softmax_rows *work, ts_outcome *outcome);

/* Before the strip at `key`, every few million multiply-adds of `width` numbers a key: whether to
 * leave the item, of which `from` and then half is done. */
bool ts_softmax_leaves(const ts_problem *problem, int64_t key, int64_t rows, int64_t width,
                       double from, ts_outcome *outcome);

#endif
