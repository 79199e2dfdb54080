/* elementwise.c -- strips of cells through a function of one number, or of two. */
#include "elementwise.h"

#include "strip.h"

#include <math.h>

static void negate(const double *x, double *y, int64_t n) {
    for (int64_t i = 0; i < n; i++) y[i] = -x[i];
}

static void magnitude(const double *x, double *y, int64_t n) {
    for (int64_t i = 0; i < n; i++) y[i] = fabs(x[i]);
}

static void root(const double *x, double *y, int64_t n) {
    for (int64_t i = 0; i < n; i++) y[i] = sqrt(x[i]);
}

static double (*libm(ts_unary function))(double) {
    switch (function) {
    case TS_EXP:
        return exp;
    case TS_LOG:
        return log;
    case TS_TANH:
        return tanh;
    case TS_SIN:
        return sin;
    case TS_COS:
        return cos;
    default:
        return NULL;
    }
}

static void unary_strip(ts_unary function, const double *x, double *y, int64_t n) {
    switch (function) {
    case TS_NEG:
        negate(x, y, n);
        return;
    case TS_ABS:
        magnitude(x, y, n);
        return;
    case TS_SQRT:
        root(x, y, n);
        return;
    default:
        break;
    }
    double (*f)(double) = libm(function);
    for (int64_t i = 0; i < n; i++) y[i] = f(x[i]);
}

double ts_unary_of(ts_unary function, double x) {
    double y;
    unary_strip(function, &x, &y, 1);
    return y;
}

ts_status ts_elementwise_unary(ts_unary function, const ts_matrix *a, ts_matrix *out,
                               const ts_run *run) {
    double room[TS_STRIP], result[TS_STRIP];
    ts_matrix from = *a, to = *out;
    if (ts_matrix_is_packed(a) && ts_matrix_is_packed(out)) {
        from = ts_matrix_unrolled(a);
        to = ts_matrix_unrolled(out);
    }
    ts_strips at = ts_strips_of(&to, run);
    while (ts_strips_next(&at)) {
        const double *x = ts_strip_load(&from, at.row, at.col, at.count, room);
        unary_strip(function, x, result, at.count);
        ts_strip_store(&to, at.row, at.col, at.count, result);
    }
    return at.status;
}

static void binary_strip(ts_binary operation, const double *restrict x, const double *restrict y,
                         double *restrict z, int64_t n) {
    switch (operation) {
    case TS_ADD:
        for (int64_t i = 0; i < n; i++) z[i] = x[i] + y[i];
        return;
    case TS_SUB:
        for (int64_t i = 0; i < n; i++) z[i] = x[i] - y[i];
        return;
    case TS_MUL:
        for (int64_t i = 0; i < n; i++) z[i] = x[i] * y[i];
        return;
    case TS_DIV:
        for (int64_t i = 0; i < n; i++) z[i] = x[i] / y[i];
        return;
    }
}

ts_status ts_elementwise_binary(ts_binary operation, const ts_matrix *a, const ts_matrix *b,
                                ts_matrix *out, const ts_run *run) {
    double room_a[TS_STRIP], room_b[TS_STRIP], result[TS_STRIP];
    ts_matrix wide_a, wide_b;
    ts_detail detail;
    if (ts_matrix_broadcast(a, out->rows, out->cols, &wide_a, &detail) != TS_OK ||
        ts_matrix_broadcast(b, out->rows, out->cols, &wide_b, &detail) != TS_OK)
        return TS_SHAPE;
    ts_strips at = ts_strips_of(out, run);
    while (ts_strips_next(&at)) {
        const double *x = ts_strip_load(&wide_a, at.row, at.col, at.count, room_a);
        const double *y = ts_strip_load(&wide_b, at.row, at.col, at.count, room_b);
        binary_strip(operation, x, y, result, at.count);
        ts_strip_store(out, at.row, at.col, at.count, result);
    }
    return at.status;
}

/* An axis of length 1 repeats to the other's; else the two are equal. */
static bool common(int64_t a, int64_t b, int64_t *length) {
    *length = a == 1 ? b : a;
    return a == b || a == 1 || b == 1;
}

ts_status ts_elementwise_shape(const ts_matrix *a, const ts_matrix *b, int64_t *rows, int64_t *cols,
                               ts_detail *detail) {
    if (common(a->rows, b->rows, rows) && common(a->cols, b->cols, cols)) return TS_OK;
    detail->want[0] = a->rows;
    detail->want[1] = a->cols;
    detail->got[0] = b->rows;
    detail->got[1] = b->cols;
    return TS_SHAPE;
}
