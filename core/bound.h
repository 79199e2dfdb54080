/* bound.h -- how far a computed row may lie from the exact one: derived from the problem and the
 * schedule. */
#ifndef TS_BOUND_H
#define TS_BOUND_H

#include "attention.h"

/* One row and head of a problem under a tiling (NULL: the softmax road). Doubles; o of d_v numbers
 * each. */
typedef struct {
    bool bounded;     /* false: no bound (DESIGN section 7); the numbers are then +inf */
    bool exact;       /* every road must give the same bits */
    double max, lse;  /* |m̂ - m|, |lsê - lse| */
    double *output;   /* (a) the theorem: |ô - o|, one a column */
    double *expected; /* (b) the expected error, one a column */
} ts_bound;

/* row, head from 0. scratch: ts_bound_scratch bytes. */
size_t ts_bound_scratch(const ts_problem *problem);
ts_status ts_bound_row(const ts_problem *problem, const ts_tiling *tiling, int64_t row,
                       int64_t head, ts_bound *out, void *scratch, ts_detail *detail);

#endif
