/* strip.h -- a stretch of a matrix's row, held as doubles: what elementwise work and reductions run
 * on, whatever the dtype and the strides. */
#ifndef TS_STRIP_H
#define TS_STRIP_H

#include "matrix.h"
#include "run.h"

#include <string.h>

enum {
    TS_STRIP = 256,       /* numbers a strip: 2 KiB, so that a few lie in the first cache */
    TS_STRIP_PACE = 32768 /* numbers between two polls: less than a millisecond */
};

/* Counts the numbers that went by, and polls now and then. */
typedef struct {
    const ts_run *run; /* NULL: nobody asks */
    int64_t since;
} ts_pace;

/* `count` numbers more went by, `done` of the call: is it to stop? */
static inline bool ts_pace_stops(ts_pace *pace, int64_t count, double done) {
    pace->since += count;
    if (pace->since < TS_STRIP_PACE) return false;
    pace->since = 0;
    return pace->run && pace->run->poll && pace->run->poll(pace->run->poll_data, done);
}

/* How much of a row from col on makes the next strip. */
static inline int64_t ts_strip_length(int64_t cols, int64_t col) {
    return cols - col < TS_STRIP ? cols - col : TS_STRIP;
}

/* A walk over all strips of a shape, row by row:
 *     ts_strips at = ts_strips_of(m, run);
 *     while (ts_strips_next(&at)) .. at.row, at.col, at.count ..
 *     return at.status; */
typedef struct {
    int64_t rows, cols;
    int64_t row, col, count; /* the strip under way */
    ts_pace pace;
    ts_status status; /* TS_INTERRUPTED where the run said stop */
} ts_strips;

static inline ts_strips ts_strips_of(const ts_matrix *m, const ts_run *run) {
    return (ts_strips){.rows = m->rows, .cols = m->cols, .pace = {run, 0}};
}

static inline bool ts_strips_next(ts_strips *at) {
    at->col += at->count;
    if (at->count > 0 && at->col == at->cols) {
        at->row++;
        at->col = 0;
    }
    if (at->row >= at->rows || at->cols == 0) return false;
    if (ts_pace_stops(&at->pace, at->count, (double)at->row / (double)at->rows))
        at->status = TS_INTERRUPTED;
    at->count = ts_strip_length(at->cols, at->col);
    return at->status == TS_OK;
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
