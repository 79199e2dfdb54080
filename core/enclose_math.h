/* enclose_math.h -- intervals of floats, roundings and all: each holds a number and what the engine
 * may compute for it. */
#ifndef TS_ENCLOSE_MATH_H
#define TS_ENCLOSE_MATH_H

#include "program.h"

#include <math.h>

typedef struct {
    double low, high;
} ts_enclosure;

/* Of the engine's dtype: unit roundoff, absolute error below the normal range. */
typedef struct {
    double u, eta;
    bool narrow; /* f32 */
} ts_rounding;

static const ts_enclosure ts_nowhere = {-INFINITY, INFINITY}; /* nothing is known */

static inline bool ts_is_point(ts_enclosure x) { return x.low == x.high; }
static inline bool ts_is_finite(ts_enclosure x) { return isfinite(x.low) && isfinite(x.high); }

static inline ts_enclosure ts_hull(ts_enclosure a, ts_enclosure b) {
    return (ts_enclosure){a.low < b.low ? a.low : b.low, a.high > b.high ? a.high : b.high};
}

/* A number that is rounded to the dtype when it is read; an integer, rounded where it is large. */
ts_enclosure ts_enclose_number(const ts_rounding *how, double x);
ts_enclosure ts_enclose_integer(const ts_rounding *how, int64_t i);

/* An operation on floats; b: a again where it has one operand. */
ts_enclosure ts_enclose_op(const ts_rounding *how, ts_op op, ts_enclosure a, ts_enclosure b);

#endif
