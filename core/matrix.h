/* matrix.h -- a 2-D strided view of f64 or f32 numbers in the caller's memory. */
#ifndef TS_MATRIX_H
#define TS_MATRIX_H

#include "run.h"
#include "status.h"

#include <stdbool.h>
#include <stddef.h>

typedef enum { TS_F32, TS_F64 } ts_dtype;

/* Element (r, c), from 0, lies r * row_stride + c * col_stride elements behind data. Packed:
 * col_stride = 1 and row_stride = cols. Strides may be any number, 0 too. */
typedef struct {
    ts_dtype dtype;
    int64_t rows, cols;
    int64_t row_stride, col_stride;
    void *data;
} ts_matrix;

static inline size_t ts_dtype_size(ts_dtype dtype) { return dtype == TS_F32 ? 4 : 8; }

/* Number `at` of an array of that dtype, as a double; setting rounds once. Not checked. */
static inline double ts_number_get(ts_dtype dtype, const void *numbers, int64_t at) {
    return dtype == TS_F32 ? (double)((const float *)numbers)[at] : ((const double *)numbers)[at];
}
static inline void ts_number_set(ts_dtype dtype, void *numbers, int64_t at, double x) {
    if (dtype == TS_F32)
        ((float *)numbers)[at] = (float)x;
    else
        ((double *)numbers)[at] = x;
}

/* The bytes that a packed rows x cols matrix takes, in *bytes. TS_TOO_LARGE where they do not fit
 * int64_t, or an axis is negative; want is then the shape. */
ts_status ts_matrix_size(ts_dtype dtype, int64_t rows, int64_t cols, size_t *bytes,
                         ts_detail *detail);

/* Views: they share data, and nothing is copied. Rows and columns count from 0. */
ts_matrix ts_matrix_packed(ts_dtype dtype, int64_t rows, int64_t cols, void *data);
ts_matrix ts_matrix_slice(const ts_matrix *m, int64_t row, int64_t col, int64_t rows, int64_t cols);
ts_matrix ts_matrix_transposed(const ts_matrix *m);
ts_matrix ts_matrix_unrolled(const ts_matrix *m); /* all of a packed one, as one row */

/* *out = m seen as rows x cols: an axis of length 1 repeats, by a stride of 0. TS_SHAPE (want rows
 * x cols, got m's) where it cannot. */
ts_status ts_matrix_broadcast(const ts_matrix *m, int64_t rows, int64_t cols, ts_matrix *out,
                              ts_detail *detail);

bool ts_matrix_is_packed(const ts_matrix *m);
/* Whether the two may share an element: their first and last bytes bracket common memory. */
bool ts_matrix_overlap(const ts_matrix *a, const ts_matrix *b);

/* Element (row, col), in the same way. */
static inline double ts_matrix_get(const ts_matrix *m, int64_t row, int64_t col) {
    return ts_number_get(m->dtype, m->data, row * m->row_stride + col * m->col_stride);
}
static inline void ts_matrix_set(ts_matrix *m, int64_t row, int64_t col, double x) {
    ts_number_set(m->dtype, m->data, row * m->row_stride + col * m->col_stride, x);
}

/* Copies the elements of `from` to `to`, of the same shape, which shares no element with it; bits
 * stay as they are between equal dtypes, and f64 is rounded once to f32. run: NULL, or who may stop
 * it (TS_INTERRUPTED). */
ts_status ts_matrix_copy(const ts_matrix *from, ts_matrix *to, const ts_run *run);
ts_status ts_matrix_fill(ts_matrix *m, double x, const ts_run *run);

/* Whether a and b have the same shape, dtype and values (-0 equals 0, NaN nothing); the same bits.
 * run: NULL, or who may stop it (TS_INTERRUPTED, and *out is untouched). */
ts_status ts_matrix_equal(const ts_matrix *a, const ts_matrix *b, const ts_run *run, bool *out);
ts_status ts_matrix_identical(const ts_matrix *a, const ts_matrix *b, const ts_run *run, bool *out);

/* How far two numbers of a dtype are apart: how many numbers of that dtype lie between them, plus
 * one. 0 for equal ones and for two NaNs; +inf for NaN against a number, and for an infinity
 * against anything else. */
double ts_ulps(ts_dtype dtype, double a, double b);

/* *ulps: the largest ts_ulps over all cells of a and b, of one shape and dtype; the first cell that
 * has it in *row, *col, from 0 (-1, -1 where there are no cells). run as of ts_matrix_equal. */
ts_status ts_matrix_ulps(const ts_matrix *a, const ts_matrix *b, const ts_run *run, int64_t *row,
                         int64_t *col, double *ulps);

#endif
