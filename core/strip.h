/* strip.h -- a stretch of a matrix's row, held as doubles: what elementwise work and reductions run
 * on, whatever the dtype and the strides. */
#ifndef TS_STRIP_H
#define TS_STRIP_H

#include "matrix.h"

#include <string.h>

enum { TS_STRIP = 256 }; /* numbers a strip: 2 KiB, so that a few lie in the first cache */

/* How much of a row from col on makes the next strip. */
static inline int64_t ts_strip_length(int64_t cols, int64_t col) {
    return cols - col < TS_STRIP ? cols - col : TS_STRIP;
}

/* Elements (row, col) .. (row, col + count - 1) of m: where they lie as doubles in a row already,
 * their own place, else a copy in `room`. */
static inline const double *ts_strip_load(const ts_matrix *m, int64_t row, int64_t col,
                                          int64_t count, double *room) {
    const int64_t offset = row * m->row_stride + col * m->col_stride, step = m->col_stride;
    if (m->dtype == TS_F64) {
        const double *from = (const double *)m->data + offset;
        if (step == 1) return from;
        for (int64_t i = 0; i < count; i++) room[i] = from[i * step];
    } else {
        const float *from = (const float *)m->data + offset;
        if (step == 1)
            for (int64_t i = 0; i < count; i++) room[i] = from[i];
        else
            for (int64_t i = 0; i < count; i++) room[i] = from[i * step];
    }
    return room;
}

/* Writes x to elements (row, col) .. of m, rounding once to its dtype. */
static inline void ts_strip_store(ts_matrix *m, int64_t row, int64_t col, int64_t count,
                                  const double *x) {
    const int64_t offset = row * m->row_stride + col * m->col_stride, step = m->col_stride;
    if (m->dtype == TS_F64 && step == 1)
        memcpy((double *)m->data + offset, x, (size_t)count * sizeof *x);
    else if (m->dtype == TS_F64)
        for (int64_t i = 0; i < count; i++) ((double *)m->data + offset)[i * step] = x[i];
    else
        for (int64_t i = 0; i < count; i++) ((float *)m->data + offset)[i * step] = (float)x[i];
}

#endif
