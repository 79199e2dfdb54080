/* rows.c -- summaries of consecutive rows in work space. */
#include "rows.h"

#include <math.h>
#include <string.h>

ts_rows ts_rows_take(const ts_loops *loops, int64_t rows, int64_t stride, ts_arena *arena) {
    size_t size = ts_dtype_size(loops->dtype);
    ts_rows out = {.stride = stride};
    out.max = ts_arena_take(arena, rows, size);
    out.norm = ts_arena_take(arena, rows, size);
    out.value = ts_arena_take_grid(arena, rows, stride, size);
    return out;
}

ts_rows ts_rows_from(const ts_loops *loops, const ts_rows *rows, int64_t r) {
    return (ts_rows){ts_at(loops, rows->max, r), ts_at(loops, rows->norm, r),
                     ts_at(loops, rows->value, r * rows->stride), rows->stride};
}

void ts_rows_bottom(const ts_loops *loops, const ts_rows *rows, int64_t count) {
    size_t size = ts_dtype_size(loops->dtype);
    for (int64_t r = 0; r < count; r++)
        if (loops->dtype == TS_F32)
            ((float *)rows->max)[r] = -INFINITY;
        else
            ((double *)rows->max)[r] = -INFINITY;
    memset(rows->norm, 0, (size_t)count * size);
    if (rows->stride > 0) memset(rows->value, 0, (size_t)(count * rows->stride) * size);
}
