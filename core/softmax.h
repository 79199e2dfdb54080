/* softmax.h -- road 1: full softmax, one row at a time, no blocks: the definition.
 *
 * It is arithmetic of its own: doubles throughout, libm's exponentials, sums over keys in their
 * order. An f32 problem is read as doubles, which hold each product exactly; its scores are rounded
 * to f32 where a score program runs, since that is what the program is given. Plain doubles do for
 * f64 too: the bound (bound.md) counts the roundings of both roads. */
#ifndef TS_SOFTMAX_H
#define TS_SOFTMAX_H

#include "problem.h"
#include "run.h"

/* o: n_q x heads * d_v, lse: n_q x heads (NULL: not asked for); strided views of the problem's
 * dtype. Each result is rounded once. TS_NONFINITE_SCORE and TS_NONFINITE_VALUE name the first in
 * (head, row, key) order, the score before the value of one key; TS_EMPTY_ROW the first row, in
 * (head, row) order, that has neither keys nor a sink, and how many there are. TS_NO_MEMORY,
 * TS_INTERRUPTED, TS_CALLBACK: o and lse are then unspecified, as in every failure. */
ts_status ts_softmax(const ts_problem *problem, bool zero_empty, const ts_run *run, ts_matrix *o,
                     ts_matrix *lse, ts_detail *detail);

/* out: n_q x n_k, of head (from 0): the scores after scale and score function, -inf where not
 * allowed; the weights, 0 there (they sum to less than 1 with a sink). Errors in scores as above.
 */
ts_status ts_softmax_scores(const ts_problem *problem, int64_t head, const ts_run *run,
                            ts_matrix *out, ts_detail *detail);
ts_status ts_softmax_weights(const ts_problem *problem, int64_t head, const ts_run *run,
                             ts_matrix *out, ts_detail *detail);

#endif
