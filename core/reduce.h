/* reduce.h -- many numbers made one: sums, extremes and norms of a matrix, of its rows or columns.
 */
#ifndef TS_REDUCE_H
#define TS_REDUCE_H

#include "matrix.h"
#include "run.h"

/* Numbers are taken row by row, from left to right, so that a view and its copy give the same bits.
 * All work is in double and rounded once at the end. */
typedef enum {
    TS_SUM,       /* compensated (Neumaier 1974): good to about one rounding; 0 of nothing */
    TS_MEAN,      /* that, divided by how many there are; NaN of nothing */
    TS_MAX,       /* NaN where there is one, as NumPy has it; of nothing, NaN */
    TS_MIN,       /* likewise */
    TS_ARGMAX,    /* where the first largest one stands, from 1; the first NaN counts as largest */
    TS_LOGSUMEXP, /* -inf of nothing or -inf alone; any NaN: NaN; else any +inf: +inf */
    TS_NORM       /* root of the sum of squares, whatever their size; 0 of nothing */
} ts_reduction;

/* In all of them, run is NULL, or who may stop it (TS_INTERRUPTED). */

/* Of all elements, in *out. ARGMAX numbers them row by row. */
ts_status ts_reduce_all(ts_reduction kind, const ts_matrix *m, double *out, const ts_run *run);

/* Of each row: out is m->rows x 1, of any dtype, and shares no element with m. For columns give
 * both transposed. */
ts_status ts_reduce_rows(ts_reduction kind, const ts_matrix *m, ts_matrix *out, const ts_run *run);

/* Each row x of m made exp(x - max) / sum, in out (of m's shape; it may be m itself). A row of
 * -inf alone becomes zeros; one with NaN or +inf, NaN. */
ts_status ts_reduce_softmax(const ts_matrix *m, ts_matrix *out, const ts_run *run);

#endif
