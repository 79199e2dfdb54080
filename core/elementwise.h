/* elementwise.h -- a function of one number, or of two, applied to every cell. */
#ifndef TS_ELEMENTWISE_H
#define TS_ELEMENTWISE_H

#include "matrix.h"
#include "run.h"

typedef enum { TS_ADD, TS_SUB, TS_MUL, TS_DIV } ts_binary;
typedef enum { TS_NEG, TS_ABS, TS_SQRT, TS_EXP, TS_LOG, TS_TANH, TS_SIN, TS_COS } ts_unary;

/* The function itself; exp, log, tanh, sin and cos are libm's. */
double ts_unary_of(ts_unary function, double x);

/* Computed in double and rounded once to out's dtype: for an f32 that is the same as f32
 * arithmetic, as a double has more than twice its digits. out has the shape of a; a and b
 * may repeat to it; any strides; out shares no element with them. run: NULL, or who may stop it
 * (TS_INTERRUPTED). */
ts_status ts_elementwise_unary(ts_unary function, const ts_matrix *a, ts_matrix *out,
                               const ts_run *run);
ts_status ts_elementwise_binary(ts_binary operation, const ts_matrix *a, const ts_matrix *b,
                                ts_matrix *out, const ts_run *run);

/* The shape of `a operation b` in *rows and *cols: an axis of length 1 repeats. TS_SHAPE (want a's,
 * got b's). */
ts_status ts_elementwise_shape(const ts_matrix *a, const ts_matrix *b, int64_t *rows, int64_t *cols,
                               ts_detail *detail);

#endif
