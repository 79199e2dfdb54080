/* matrix.h -- a 2-D strided view of f64 or f32 numbers in the caller's memory. */
#ifndef TS_MATRIX_H
#define TS_MATRIX_H

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

#endif
