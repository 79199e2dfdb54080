/* summary.c -- (m, ℓ, z) of every query row and head: ⊥, ⋆, output and lse. */
#include "summary.h"

#include "rows.h"

#include <math.h>
#include <string.h>

static const ts_loops *loops_of(ts_dtype dtype) { return ts_kernel_get()->loops[dtype]; }

static int64_t padded(int64_t numbers, size_t size) {
    return ts_round_up(numbers, 64 / (int64_t)size);
}

ts_status ts_summary_size(ts_dtype dtype, int64_t n_q, int64_t heads, int64_t d_v, size_t *bytes) {
    const size_t size = ts_dtype_size(dtype);
    int64_t rows, values, all;
    if (__builtin_mul_overflow(n_q, heads, &rows) || __builtin_mul_overflow(rows, d_v, &values) ||
        __builtin_add_overflow(values, 2 * 64 + 64, &all) ||
        __builtin_add_overflow(all, rows, &all) || __builtin_add_overflow(all, rows, &all) ||
        all > PTRDIFF_MAX / 8)
        return TS_TOO_LARGE;
    *bytes = (size_t)(2 * padded(rows, size) + padded(values, size)) * size;
    return TS_OK;
}

void ts_summary_place(ts_summary *summary, void *memory) {
    const size_t size = ts_dtype_size(summary->dtype);
    const size_t step = (size_t)padded(summary->n_q * summary->heads, size) * size;
    summary->max = memory;
    summary->norm = (char *)memory + step;
    summary->value = (char *)memory + 2 * step;
}

static ts_rows rows_of(const ts_summary *s) { return (ts_rows){s->max, s->norm, s->value, s->d_v}; }

void ts_summary_bottom(ts_summary *summary) {
    const ts_rows rows = rows_of(summary);
    ts_rows_bottom(loops_of(summary->dtype), &rows, summary->n_q * summary->heads);
}

void ts_summary_merge(const ts_summary *a, const ts_summary *b, ts_summary *out) {
    const ts_rows x = rows_of(a), y = rows_of(b), z = rows_of(out);
    loops_of(a->dtype)->merge(a->n_q * a->heads, a->d_v, ts_base_unit(a->base), &x, &y, &z);
}

/* ---- the end of a row ---- */

static double number_at(const ts_loops *loops, const void *x) {
    return loops->dtype == TS_F32 ? *(const float *)x : *(const double *)x;
}
static void set_number(const ts_loops *loops, void *x, double number) {
    if (loops->dtype == TS_F32)
        *(float *)x = (float)number;
    else
        *(double *)x = number;
}

/* (m, ℓ, z) ⋆ (sink, 1, 0) in place, for at most 64 columns of z. */
static void merge_sink(const ts_loops *loops, double unit, double sink, int64_t columns,
                       const ts_rows *row) {
    static const double zeros[64];
    double max, norm;
    set_number(loops, &max, sink);
    set_number(loops, &norm, 1);
    const ts_rows other = {&max, &norm, (void *)zeros, 64};
    loops->merge(1, columns, unit, row, &other, row);
}

static double row_lse(ts_base base, double max, double norm) {
    if (max == -INFINITY) return -INFINITY;
    double lse = max * (base == TS_BASE_2 ? 0x1.62e42fefa39efp-1 : 1) + log(norm) + 0.0;
    return isnan(lse) ? (double)NAN : lse;
}

/* The same for a row of any width, 64 columns at a time through a buffer: the summary stays as it
 * is, and o may have any stride. */
static void finish_with_sink(const ts_loops *loops, double unit, double sink, const ts_rows *row,
                             int64_t d_v, void *o, int64_t step, double *max, double *norm) {
    const size_t size = ts_dtype_size(loops->dtype);
    int64_t c = 0;
    do {
        const int64_t columns = d_v - c < 64 ? d_v - c : 64;
        double m, l, z[64];
        memcpy(&m, row->max, size);
        memcpy(&l, row->norm, size);
        if (columns > 0) memcpy(z, ts_at(loops, row->value, c), (size_t)columns * size);
        const ts_rows part = {&m, &l, z, 64};
        merge_sink(loops, unit, sink, columns, &part);
        *max = number_at(loops, &m), *norm = number_at(loops, &l);
        if (*max > -INFINITY || isnan(*max))
            loops->divide(columns, z, *norm, ts_at(loops, o, c * step), step);
        c += columns;
    } while (c < d_v);
}

bool ts_summary_finish(const ts_loops *loops, ts_base base, const double *sink, const void *max,
                       const void *norm, const void *value, int64_t d_v, void *o, int64_t step,
                       double *lse) {
    double m = number_at(loops, max), l = number_at(loops, norm);
    const ts_rows row = {(void *)max, (void *)norm, (void *)value, d_v};
    if (sink)
        finish_with_sink(loops, ts_base_unit(base), *sink, &row, d_v, o, step, &m, &l);
    else if (m != -INFINITY)
        loops->divide(d_v, value, l, o, step);
    if (lse) *lse = row_lse(base, m, l);
    return m != -INFINITY;
}

/* ---- all rows ---- */

static void *element(const ts_loops *loops, const ts_matrix *m, int64_t row, int64_t column) {
    return ts_at(loops, m->data, row * m->row_stride + column * m->col_stride);
}

ts_status ts_summary_output(const ts_summary *s, const double *sink, bool zero_empty, ts_matrix *o,
                            ts_detail *detail) {
    const ts_loops *loops = loops_of(s->dtype);
    detail->count = 0;
    for (int64_t h = 0; h < s->heads; h++)
        for (int64_t q = 0; q < s->n_q; q++) {
            const int64_t r = q * s->heads + h;
            void *out = element(loops, o, q, h * s->d_v);
            if (ts_summary_finish(loops, s->base, sink ? sink + h : NULL, ts_at(loops, s->max, r),
                                  ts_at(loops, s->norm, r), ts_at(loops, s->value, r * s->d_v),
                                  s->d_v, out, o->col_stride, NULL))
                continue;
            for (int64_t c = 0; c < s->d_v; c++)
                set_number(loops, ts_at(loops, out, c * o->col_stride), 0);
            if (detail->count++ == 0) detail->row = q + 1, detail->head = h + 1;
        }
    return detail->count > 0 && !zero_empty ? TS_EMPTY_ROW : TS_OK;
}

void ts_summary_lse(const ts_summary *s, const double *sink, ts_matrix *lse) {
    const ts_loops *loops = loops_of(s->dtype);
    for (int64_t q = 0; q < s->n_q; q++)
        for (int64_t h = 0; h < s->heads; h++) {
            const int64_t r = q * s->heads + h;
            double x;
            ts_summary_finish(loops, s->base, sink ? sink + h : NULL, ts_at(loops, s->max, r),
                              ts_at(loops, s->norm, r), NULL, 0, NULL, 1, &x);
            set_number(loops, element(loops, lse, q, h), x);
        }
}
