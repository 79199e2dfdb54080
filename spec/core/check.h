/* check.h -- what a C test needs: checks that count, and say where and by how much they failed.
 *
 * A test is a program: checks in main (or in functions that it calls), then `return check_done();`,
 * which prints `N passed, N failed` and is 1 if any failed. Every check evaluates its arguments
 * once. */
#ifndef TS_CHECK_H
#define TS_CHECK_H

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static int check_passed, check_failed;

/* Counts, and tells a failure's place; the caller prints the rest of the line. */
static inline bool check_count(bool ok, const char *file, int line) {
    if (ok) {
        check_passed++;
    } else {
        check_failed++;
        printf("%s:%d: ", file, line);
    }
    return ok;
}

static inline void check_true(bool ok, const char *text, const char *file, int line) {
    if (!check_count(ok, file, line)) printf("not true: %s\n", text);
}

static inline void check_int(int64_t got, int64_t want, const char *text, const char *file,
                             int line) {
    if (!check_count(got == want, file, line))
        printf("%s is %" PRId64 ", not %" PRId64 "\n", text, got, want);
}

/* How many steps from one f64 number to the next lie between a and b; none between -0 and 0. A NaN
 * is infinitely far from everything. */
static inline double check_ulps(double a, double b) {
    if (isnan(a) || isnan(b)) return INFINITY;
    int64_t x, y;
    memcpy(&x, &a, sizeof x);
    memcpy(&y, &b, sizeof y);
    if (x < 0) x = INT64_MIN - x;
    if (y < 0) y = INT64_MIN - y;
    return (double)(x > y ? (uint64_t)x - (uint64_t)y : (uint64_t)y - (uint64_t)x);
}

/* The same in f32. */
static inline double check_ulps32(float a, float b) {
    if (isnan(a) || isnan(b)) return INFINITY;
    int32_t x, y;
    memcpy(&x, &a, sizeof x);
    memcpy(&y, &b, sizeof y);
    if (x < 0) x = INT32_MIN - x;
    if (y < 0) y = INT32_MIN - y;
    return fabs((double)x - (double)y);
}

/* The same number: -0 equals 0, and NaN nothing. */
static inline void check_number(double got, double want, const char *text, const char *file,
                                int line) {
    if (!check_count(got == want, file, line))
        printf("%s is %.17g, not %.17g (%g ulps)\n", text, got, want, check_ulps(got, want));
}

/* The same bits: 0 differs from -0, and a NaN equals itself. */
static inline void check_bits(double got, double want, const char *text, const char *file,
                              int line) {
    if (!check_count(memcmp(&got, &want, sizeof got) == 0, file, line))
        printf("%s has the bits of %a, not of %a\n", text, got, want);
}

/* |got - want| <= bound, which must be finite: an infinite one would let everything pass.
 * Infinities are near themselves only, and NaN near nothing. */
static inline void check_near(double got, double want, double bound, const char *text,
                              const char *file, int line) {
    bool ok = isfinite(bound) && (got == want || fabs(got - want) <= bound);
    if (!check_count(ok, file, line))
        printf("%s is %.17g, not %.17g: %g apart (%g ulps), bound %g\n", text, got, want,
               fabs(got - want), check_ulps(got, want), bound);
}

#define CHECK(condition) check_true((condition), #condition, __FILE__, __LINE__)
#define CHECK_INT(got, want) check_int((got), (want), #got, __FILE__, __LINE__)
#define CHECK_NUMBER(got, want) check_number((got), (want), #got, __FILE__, __LINE__)
#define CHECK_BITS(got, want) check_bits((got), (want), #got, __FILE__, __LINE__)
#define CHECK_NEAR(got, want, bound) check_near((got), (want), (bound), #got, __FILE__, __LINE__)

static inline int check_done(void) {
    printf("%d passed, %d failed\n", check_passed, check_failed);
    return check_failed > 0 || check_passed == 0;
}

#endif
