/* rows.h -- summaries of consecutive rows in work space, as the kernels read them. */
#ifndef TS_ROWS_H
#define TS_ROWS_H

#include "arena.h"
#include "kernel/kernel.h"
#include "problem.h"

/* Room for `rows` summaries; all of them ⊥; rows r and on of others. */
ts_rows ts_rows_take(const ts_loops *loops, int64_t rows, int64_t stride, ts_arena *arena);
void ts_rows_bottom(const ts_loops *loops, const ts_rows *rows, int64_t count);
ts_rows ts_rows_from(const ts_loops *loops, const ts_rows *rows, int64_t r);

/* The end of one row: z / ℓ of (m, ℓ, z) ⋆ (sink, 1, 0) into d_v numbers of o, `step` apart, and
 * its lse into *lse (NULL: not asked for); sink NULL: none. False for ⊥, whose lse is -inf, and o
 * untouched. */
bool ts_rows_finish(const ts_loops *loops, ts_base base, const double *sink, const ts_rows *row,
                    int64_t d_v, void *o, int64_t step, double *lse);

#endif
