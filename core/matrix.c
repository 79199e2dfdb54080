/* matrix.c -- views, copies and comparisons of 2-D strided matrices. */
#include "matrix.h"

#include "strip.h"

#include <math.h>
#include <string.h>

/* ---- sizes ---- */

ts_status ts_matrix_size(ts_dtype dtype, int64_t rows, int64_t cols, size_t *bytes,
                         ts_detail *detail) {
    int64_t count = 0, size = 0;
    if (rows < 0 || cols < 0 || __builtin_mul_overflow(rows, cols, &count) ||
        __builtin_mul_overflow(count, (int64_t)ts_dtype_size(dtype), &size) ||
        (uint64_t)size > PTRDIFF_MAX) {
        if (detail) {
            detail->want[0] = rows;
            detail->want[1] = cols;
        }
        return TS_TOO_LARGE;
    }
    *bytes = (size_t)size;
    return TS_OK;
}

/* ---- views ---- */

/* The address of an element; data itself for a matrix without elements, whose data may be NULL. */
static void *address(const ts_matrix *m, int64_t row, int64_t col) {
    if (m->rows == 0 || m->cols == 0) return m->data;
    int64_t offset = row * m->row_stride + col * m->col_stride;
    return (char *)m->data + offset * (int64_t)ts_dtype_size(m->dtype);
}

ts_matrix ts_matrix_packed(ts_dtype dtype, int64_t rows, int64_t cols, void *data) {
    return (ts_matrix){dtype, rows, cols, cols, 1, data};
}

ts_matrix ts_matrix_slice(const ts_matrix *m, int64_t row, int64_t col, int64_t rows,
                          int64_t cols) {
    ts_matrix view = *m;
    view.rows = rows;
    view.cols = cols;
    view.data = rows > 0 && cols > 0 ? address(m, row, col) : m->data;
    return view;
}

ts_matrix ts_matrix_transposed(const ts_matrix *m) {
    return (ts_matrix){m->dtype, m->cols, m->rows, m->col_stride, m->row_stride, m->data};
}

ts_matrix ts_matrix_unrolled(const ts_matrix *m) {
    return ts_matrix_packed(m->dtype, 1, m->rows * m->cols, m->data);
}

ts_status ts_matrix_broadcast(const ts_matrix *m, int64_t rows, int64_t cols, ts_matrix *out,
                              ts_detail *detail) {
    if ((m->rows != rows && m->rows != 1) || (m->cols != cols && m->cols != 1)) {
        detail->want[0] = rows;
        detail->want[1] = cols;
        detail->got[0] = m->rows;
        detail->got[1] = m->cols;
        return TS_SHAPE;
    }
    *out = (ts_matrix){m->dtype,
                       rows,
                       cols,
                       m->rows == rows ? m->row_stride : 0,
                       m->cols == cols ? m->col_stride : 0,
                       m->data};
    return TS_OK;
}

bool ts_matrix_is_packed(const ts_matrix *m) {
    return (m->col_stride == 1 || m->cols <= 1) && (m->row_stride == m->cols || m->rows <= 1);
}

/* The first byte of m's elements, and the one behind the last. */
static void extent(const ts_matrix *m, uintptr_t *first, uintptr_t *end) {
    int64_t low = 0, high = 0;
    int64_t reach[2] = {(m->rows - 1) * m->row_stride, (m->cols - 1) * m->col_stride};
    for (int axis = 0; axis < 2; axis++) *(reach[axis] < 0 ? &low : &high) += reach[axis];
    int64_t size = (int64_t)ts_dtype_size(m->dtype);
    *first = (uintptr_t)m->data + (uintptr_t)(low * size);
    *end = (uintptr_t)m->data + (uintptr_t)((high + 1) * size);
}

bool ts_matrix_overlap(const ts_matrix *a, const ts_matrix *b) {
    if (a->rows == 0 || a->cols == 0 || b->rows == 0 || b->cols == 0) return false;
    uintptr_t a_first, a_end, b_first, b_end;
    extent(a, &a_first, &a_end);
    extent(b, &b_first, &b_end);
    return a_first < b_end && b_first < a_end;
}

/* ---- elements ---- */

/* Copies `count` elements of a row from (row, col) on. */
static void copy_stretch(const ts_matrix *from, ts_matrix *to, int64_t row, int64_t col,
                         int64_t count) {
    const int64_t s = from->col_stride, t = to->col_stride;
    const void *source = address(from, row, col);
    void *target = address(to, row, col);
    if (from->dtype == to->dtype && s == 1 && t == 1)
        memcpy(target, source, (size_t)count * ts_dtype_size(to->dtype));
    else if (from->dtype == TS_F32 && to->dtype == TS_F32)
        for (int64_t i = 0; i < count; i++)
            ((float *)target)[i * t] = ((const float *)source)[i * s];
    else if (from->dtype == TS_F32)
        for (int64_t i = 0; i < count; i++)
            ((double *)target)[i * t] = ((const float *)source)[i * s];
    else if (to->dtype == TS_F32)
        for (int64_t i = 0; i < count; i++)
            ((float *)target)[i * t] = (float)((const double *)source)[i * s];
    else
        for (int64_t i = 0; i < count; i++)
            ((double *)target)[i * t] = ((const double *)source)[i * s];
}

ts_status ts_matrix_copy(const ts_matrix *from, ts_matrix *to, const ts_run *run) {
    ts_matrix row_from, row_to;
    if (to->cols == 0) return TS_OK; /* however many rows there are */
    if (ts_matrix_is_packed(from) && ts_matrix_is_packed(to)) {
        row_from = ts_matrix_unrolled(from);
        row_to = ts_matrix_unrolled(to);
        from = &row_from;
        to = &row_to;
    }
    /* Rows are best whole; squares keep the cache lines of a transposed side in use. */
    bool by_rows = from->col_stride <= 1 && to->col_stride == 1;
    int64_t tile_rows = by_rows ? 1 : 32, tile_cols = by_rows ? TS_STRIP_PACE : 32;
    ts_pace pace = {run, 0};
    for (int64_t r0 = 0; r0 < to->rows; r0 += tile_rows)
        for (int64_t c = 0; c < to->cols; c += tile_cols) {
            int64_t count = to->cols - c < tile_cols ? to->cols - c : tile_cols;
            int64_t end = to->rows - r0 < tile_rows ? to->rows : r0 + tile_rows;
            for (int64_t r = r0; r < end; r++) copy_stretch(from, to, r, c, count);
            if (ts_pace_stops(&pace, count * (end - r0), (double)r0 / (double)to->rows))
                return TS_INTERRUPTED;
        }
    return TS_OK;
}

ts_status ts_matrix_fill(ts_matrix *m, double x, const ts_run *run) {
    ts_matrix all = {TS_F64, m->rows, m->cols, 0, 0, &x};
    return ts_matrix_copy(&all, m, run);
}

/* ---- comparisons ---- */

static bool same_shape(const ts_matrix *a, const ts_matrix *b) {
    return a->dtype == b->dtype && a->rows == b->rows && a->cols == b->cols;
}

ts_status ts_matrix_equal(const ts_matrix *a, const ts_matrix *b, const ts_run *run, bool *out) {
    double room_a[TS_STRIP], room_b[TS_STRIP];
    ts_strips at = ts_strips_of(a, run);
    bool equal = same_shape(a, b);
    while (equal && ts_strips_next(&at)) {
        const double *x = ts_strip_load(a, at.row, at.col, at.count, room_a);
        const double *y = ts_strip_load(b, at.row, at.col, at.count, room_b);
        for (int64_t i = 0; i < at.count; i++) equal &= x[i] == y[i];
    }
    if (at.status == TS_OK) *out = equal;
    return at.status;
}

ts_status ts_matrix_identical(const ts_matrix *a, const ts_matrix *b, const ts_run *run,
                              bool *out) {
    bool whole = a->col_stride == 1 && b->col_stride == 1, same = same_shape(a, b);
    ts_pace pace = {run, 0};
    for (int64_t r = 0; same && r < a->rows && a->cols > 0; r++)
        for (int64_t c = 0, count; same && c < a->cols; c += count) {
            count = !whole ? 1 : a->cols - c < TS_STRIP_PACE ? a->cols - c : TS_STRIP_PACE;
            size_t bytes = (size_t)count * ts_dtype_size(a->dtype);
            same = memcmp(address(a, r, c), address(b, r, c), bytes) == 0;
            if (ts_pace_stops(&pace, count, (double)r / (double)a->rows)) return TS_INTERRUPTED;
        }
    *out = same;
    return TS_OK;
}

/* The place of x among the numbers of its dtype in ascending order; -0 and 0 share place 0. */
static int64_t place(ts_dtype dtype, double x) {
    int64_t bits = 0;
    if (dtype == TS_F32) {
        int32_t narrow = 0;
        float y = (float)x;
        memcpy(&narrow, &y, sizeof y);
        bits = narrow < 0 ? INT32_MIN - (int64_t)narrow : narrow;
    } else {
        memcpy(&bits, &x, sizeof x);
        if (bits < 0) bits = INT64_MIN - bits;
    }
    return bits;
}

double ts_ulps(ts_dtype dtype, double a, double b) {
    if (a == b || (isnan(a) && isnan(b))) return 0;
    if (!isfinite(a) || !isfinite(b)) return INFINITY;
    int64_t p = place(dtype, a), q = place(dtype, b);
    return p < q ? (double)((uint64_t)q - (uint64_t)p) : (double)((uint64_t)p - (uint64_t)q);
}

ts_status ts_matrix_ulps(const ts_matrix *a, const ts_matrix *b, const ts_run *run, int64_t *row,
                         int64_t *col, double *ulps) {
    double room_a[TS_STRIP], room_b[TS_STRIP], worst = -1;
    ts_strips at = ts_strips_of(a, run);
    *row = *col = -1;
    while (ts_strips_next(&at)) {
        const double *x = ts_strip_load(a, at.row, at.col, at.count, room_a);
        const double *y = ts_strip_load(b, at.row, at.col, at.count, room_b);
        for (int64_t i = 0; i < at.count; i++) {
            double distance = ts_ulps(a->dtype, x[i], y[i]);
            if (distance <= worst) continue;
            worst = distance;
            *row = at.row;
            *col = at.col + i;
        }
    }
    *ulps = worst < 0 ? 0 : worst;
    return at.status;
}
