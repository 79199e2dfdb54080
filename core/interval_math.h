/* interval_math.h -- what each operation makes of intervals. */
#ifndef TS_INTERVAL_MATH_H
#define TS_INTERVAL_MATH_H

#include "interval.h"

#include <math.h>

static inline ts_interval ts_ints(int64_t low, int64_t high) {
    return (ts_interval){.low.i = low, .high.i = high, .whole = true};
}
static inline ts_interval ts_floats(double low, double high, bool nan) {
    return (ts_interval){.low.f = low, .high.f = high, .nan = nan};
}
static inline ts_interval ts_bools(bool low, bool high) {
    return (ts_interval){.low.b = low, .high.b = high};
}
/* Nothing is known. */
static inline ts_interval ts_any_int(void) { return ts_ints(INT64_MIN, INT64_MAX); }
static inline ts_interval ts_any_float(void) { return ts_floats(-INFINITY, INFINITY, true); }
static inline ts_interval ts_any_bool(void) { return ts_bools(false, true); }

/* All that the node, an operation of TS_ARITH but band, bor and bnot, can give; its operands'
 * intervals are among `intervals`. */
ts_interval ts_interval_of(const ts_node *node, const ts_interval *intervals);

#endif
