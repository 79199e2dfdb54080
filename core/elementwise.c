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

void ts_elementwise_unary(ts_unary function, const ts_matrix *a, ts_matrix *out) {
    double room[TS_STRIP], result[TS_STRIP];
    for (int64_t r = 0; r < out->rows; r++)
        for (int64_t c = 0; c < out->cols; c += TS_STRIP) {
            int64_t n = ts_strip_length(out->cols, c);
            unary_strip(function, ts_strip_load(a, r, c, n, room), result, n);
            ts_strip_store(out, r, c, n, result);
        }
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

void ts_elementwise_binary(ts_binary operation, const ts_matrix *a, const ts_matrix *b,
                           ts_matrix *out) {
    double room_a[TS_STRIP], room_b[TS_STRIP], result[TS_STRIP];
    ts_matrix wide_a, wide_b;
    ts_detail detail;
    if (ts_matrix_broadcast(a, out->rows, out->cols, &wide_a, &detail) != TS_OK ||
        ts_matrix_broadcast(b, out->rows, out->cols, &wide_b, &detail) != TS_OK)
        return;
    for (int64_t r = 0; r < out->rows; r++)
        for (int64_t c = 0; c < out->cols; c += TS_STRIP) {
            int64_t n = ts_strip_length(out->cols, c);
            const double *x = ts_strip_load(&wide_a, r, c, n, room_a);
            const double *y = ts_strip_load(&wide_b, r, c, n, room_b);
            binary_strip(operation, x, y, result, n);
            ts_strip_store(out, r, c, n, result);
        }
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
