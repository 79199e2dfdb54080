/* bound.h -- how far a computed row may lie from the exact one: derived from the problem and the
 * schedule. bound.md has the theorem and its proof. */
#ifndef TS_BOUND_H
#define TS_BOUND_H

#include "run.h"
#include "tiling.h"

/* One row and head of a problem, under a tiling or (NULL) on the softmax road. Every figure is an
 * absolute error; o has d_v numbers in each. A row without keys and sink is ⊥ on every road: its
 * figures are 0. */
typedef struct {
    bool bounded;     /* false: no bound (bound.md says when); the figures are then +inf */
    bool exact;       /* every road, order and bracketing must give the same bits (not of lse) */
    double max, lse;  /* |m̂ - m|, |lsê - lse| */
    double *output;   /* (a) the theorem: |ô - o|, one a column; caller's, d_v of them */
    double *expected; /* (b) the expected error, one a column; caller's, d_v of them */
} ts_bound;

/* Bytes of scratch for ts_bound_row; SIZE_MAX where they are more than there can be. */
size_t ts_bound_scratch(const ts_problem *problem, const ts_tiling *tiling);

/* row, head from 0. The tiling is one whose defaults are filled in (ts_tiling_defaults). Only
 * the keys that its schedule's blocks hold count, so that the blocks of a summary may be bounded
 * too. Without a tiling it is the softmax road's bound. Reads the problem and calls nothing back.
 */
void ts_bound_row(const ts_problem *problem, const ts_tiling *tiling, int64_t row, int64_t head,
                  ts_bound *out, void *scratch);

/* The same for rows rows[0 .. count - 1] (from 0; NULL: all n_q, and count is not looked at) of all
 * heads, into f64 matrices of one row each: a NULL one is not asked for. */
typedef struct {
    ts_matrix *output, *expected;           /* count x heads * d_v */
    ts_matrix *max, *lse, *bounded, *exact; /* count x heads; the last two 0 or 1 */
} ts_bounds;
ts_status ts_bound_rows(const ts_problem *problem, const ts_tiling *tiling, const int64_t *rows,
                        int64_t count, const ts_run *run, ts_bounds *out, ts_detail *detail);

#endif
