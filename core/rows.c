/* rows.c -- summaries of consecutive rows in work space. */
#include "rows.h"

#include "summary.h"

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
    for (int64_t r = 0; r < count; r++) ts_number_set(loops->dtype, rows->max, r, -INFINITY);
    memset(rows->norm, 0, (size_t)count * size);
    if (rows->stride > 0) memset(rows->value, 0, (size_t)(count * rows->stride) * size);
}

/* ---- the end of a row ---- */

enum { COLUMNS = 64 };

/* A number of either dtype, and some of them. */
typedef union {
    float f32;
    double f64;
} number;
typedef union {
    float f32[COLUMNS];
    double f64[COLUMNS];
} numbers;

static number number_of(const ts_loops *loops, double x) {
    return loops->dtype == TS_F32 ? (number){.f32 = (float)x} : (number){.f64 = x};
}

/* z / ℓ of (m, ℓ, z) ⋆ (sink, 1, 0) for a row of any width, some columns at a time through a
 * buffer: the row stays as it is, and o may have any stride. *max, *norm: the merged ones. */
static void finish_with_sink(const ts_loops *loops, double unit, double sink, const ts_rows *row,
                             int64_t d_v, void *o, int64_t step, double *max, double *norm) {
    const size_t size = ts_dtype_size(loops->dtype);
    static const numbers zeros;
    number other_max = number_of(loops, sink), other_norm = number_of(loops, 1);
    const ts_rows other = {&other_max, &other_norm, (void *)&zeros, COLUMNS};
    int64_t c = 0;
    do {
        const int64_t columns = ts_least(d_v - c, COLUMNS);
        number m = number_of(loops, ts_number_get(loops->dtype, row->max, 0));
        number l = number_of(loops, ts_number_get(loops->dtype, row->norm, 0));
        numbers z;
        if (columns > 0) memcpy(&z, ts_at(loops, row->value, c), (size_t)columns * size);
        const ts_rows part = {&m, &l, &z, COLUMNS};
        loops->merge(1, columns, unit, &part, &other, &part);
        *max = ts_number_get(loops->dtype, &m, 0), *norm = ts_number_get(loops->dtype, &l, 0);
        if (*max > -INFINITY || isnan(*max))
            loops->divide(columns, &z, *norm, ts_at(loops, o, c * step), step);
        c += columns;
    } while (c < d_v);
}

static double row_lse(ts_base base, double max, double norm) {
    if (max == -INFINITY) return -INFINITY;
    double lse = max * (base == TS_BASE_2 ? 0x1.62e42fefa39efp-1 : 1) + log(norm) + 0.0;
    return isnan(lse) ? (double)NAN : lse;
}

bool ts_rows_finish(const ts_loops *loops, ts_base base, const double *sink, const ts_rows *row,
                    int64_t d_v, void *o, int64_t step, double *lse) {
    double m = ts_number_get(loops->dtype, row->max, 0),
           l = ts_number_get(loops->dtype, row->norm, 0);
    if (sink)
        finish_with_sink(loops, ts_base_unit(base), *sink, row, d_v, o, step, &m, &l);
    else if (m != -INFINITY)
        loops->divide(d_v, row->value, l, o, step);
    if (lse) *lse = row_lse(base, m, l);
    return m != -INFINITY;
}
