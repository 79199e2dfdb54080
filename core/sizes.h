/* sizes.h -- arithmetic of sizes and counts, which are not negative. */
#ifndef TS_SIZES_H
#define TS_SIZES_H

#include <stddef.h>
#include <stdint.h>

static inline int64_t ts_least(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t ts_most(int64_t a, int64_t b) { return a > b ? a : b; }
static inline size_t ts_most_bytes(size_t a, size_t b) { return a > b ? a : b; }

/* a / b, rounded up: how many pieces of size b cover a. Never wraps. */
static inline int64_t ts_quotient_up(int64_t a, int64_t b) { return a / b + (a % b != 0); }

/* The next multiple of `step`; the last one that there is where n is beyond it: more than memory
 * can hold in any case. */
static inline int64_t ts_round_up(int64_t n, int64_t step) {
    return ts_least(ts_quotient_up(n, step), INT64_MAX / step) * step;
}

#endif
