/* rows.h -- summaries of consecutive rows in work space, as the kernels read them. */
#ifndef TS_ROWS_H
#define TS_ROWS_H

#include "arena.h"
#include "kernel/kernel.h"

/* Room for `rows` summaries; all of them ⊥; rows r and on of others. */
ts_rows ts_rows_take(const ts_loops *loops, int64_t rows, int64_t stride, ts_arena *arena);
void ts_rows_bottom(const ts_loops *loops, const ts_rows *rows, int64_t count);
ts_rows ts_rows_from(const ts_loops *loops, const ts_rows *rows, int64_t r);

#endif
