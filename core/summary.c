/* summary.c -- (m, ℓ, z) of every query row and head: ⊥, ⋆, output and lse. */
#include "summary.h"

#include "rows.h"

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

/* ---- the end of all rows ---- */

ts_status ts_summary_output(const ts_summary *s, const double *sink, bool zero_empty, ts_matrix *o,
                            ts_detail *detail) {
    const ts_loops *loops = loops_of(s->dtype);
    const ts_rows rows = rows_of(s);
    detail->count = 0;
    for (int64_t h = 0; h < s->heads; h++)
        for (int64_t q = 0; q < s->n_q; q++) {
            const ts_rows row = ts_rows_from(loops, &rows, q * s->heads + h);
            void *out = ts_at(loops, o->data, q * o->row_stride + h * s->d_v * o->col_stride);
            if (ts_rows_finish(loops, s->base, sink ? sink + h : NULL, &row, s->d_v, out,
                               o->col_stride, NULL))
                continue;
            for (int64_t c = 0; c < s->d_v; c++) ts_matrix_set(o, q, h * s->d_v + c, 0);
            if (detail->count++ == 0) detail->row = q + 1, detail->head = h + 1;
        }
    return detail->count > 0 && !zero_empty ? TS_EMPTY_ROW : TS_OK;
}

void ts_summary_lse(const ts_summary *s, const double *sink, ts_matrix *lse) {
    const ts_loops *loops = loops_of(s->dtype);
    const ts_rows rows = rows_of(s);
    for (int64_t q = 0; q < s->n_q; q++)
        for (int64_t h = 0; h < s->heads; h++) {
            const ts_rows row = ts_rows_from(loops, &rows, q * s->heads + h);
            double x;
            ts_rows_finish(loops, s->base, sink ? sink + h : NULL, &row, 0, NULL, 1, &x);
            ts_matrix_set(lse, q, h, x);
        }
}
