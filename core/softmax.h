/* softmax.h -- road 1: full softmax, one row at a time, no blocks: the definition. */
#ifndef TS_SOFTMAX_H
#define TS_SOFTMAX_H

#include "problem.h"
#include "run.h"

/* o: n_q x heads * d_v, lse: n_q x heads (NULL: not asked for). Sums in double, exponentials are
 * libm's; each result is rounded once. Non-finite allowed scores and values, and empty rows, as
 * DESIGN's rules say: the first in (head, row, key) order is named. */
ts_status ts_softmax(const ts_problem *problem, bool zero_empty, const ts_run *run, ts_matrix *o,
                     ts_matrix *lse, ts_detail *detail);
/* out: n_q x n_k, of head (from 0): the scores after scale and score function, -inf where not
 * allowed; the weights, 0 there. */
ts_status ts_softmax_scores(const ts_problem *problem, int64_t head, const ts_run *run,
                            ts_matrix *out, ts_detail *detail);
ts_status ts_softmax_weights(const ts_problem *problem, int64_t head, const ts_run *run,
                             ts_matrix *out, ts_detail *detail);

#endif
