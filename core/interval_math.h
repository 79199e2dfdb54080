/* interval_math.h -- what each operation makes of intervals.
 *
 * Rounding to nearest is monotone, so that computing with the corners of double intervals bounds
 * what is computed in between. The functions of libm are not proved monotone: their corners are
 * moved out by a few units in the last place. */
#ifndef TS_INTERVAL_MATH_H
#define TS_INTERVAL_MATH_H

#include "arith.h"
#include "interval.h"

typedef ts_interval range; /* short here, where every line has it */

static range ints(int64_t low, int64_t high) {
    return (range){.low.i = low, .high.i = high, .whole = true};
}
static range any_int(void) { return ints(INT64_MIN, INT64_MAX); }

static range floats(double low, double high, bool nan) {
    return (range){.low.f = low, .high.f = high, .nan = nan};
}
static range any_float(void) { return floats(-INFINITY, INFINITY, true); }

static range bools(bool low, bool high) {
    range r = {.nan = false};
    r.low.b = low, r.high.b = high;
    return r;
}
static range undecided(void) { return bools(false, true); }

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }
static double fleast(double a, double b) { return a < b ? a : b; }
static double fmost(double a, double b) { return a > b ? a : b; }

/* ---- integers ---- */

static range bound_iadd(range a, range b) {
    int64_t low, high;
    if (__builtin_add_overflow(a.low.i, b.low.i, &low)) return any_int();
    if (__builtin_add_overflow(a.high.i, b.high.i, &high)) return any_int();
    return ints(low, high);
}
static range bound_isub(range a, range b) {
    int64_t low, high;
    if (__builtin_sub_overflow(a.low.i, b.high.i, &low)) return any_int();
    if (__builtin_sub_overflow(a.high.i, b.low.i, &high)) return any_int();
    return ints(low, high);
}
static range bound_ineg(range a) { return bound_isub(ints(0, 0), a); }

static range bound_imul(range a, range b) {
    int64_t ll, lh, hl, hh;
    if (__builtin_mul_overflow(a.low.i, b.low.i, &ll) ||
        __builtin_mul_overflow(a.low.i, b.high.i, &lh) ||
        __builtin_mul_overflow(a.high.i, b.low.i, &hl) ||
        __builtin_mul_overflow(a.high.i, b.high.i, &hh))
        return any_int();
    return ints(least(least(ll, lh), least(hl, hh)), most(most(ll, lh), most(hl, hh)));
}

static bool holds(range a, int64_t x) { return a.low.i <= x && x <= a.high.i; }

/* The largest magnitude in a; false where it is minint's. */
static bool magnitude(range a, int64_t *size) {
    if (a.low.i == INT64_MIN) return false;
    *size = most(ts_iabs(a.low.i), ts_iabs(a.high.i));
    return true;
}

static range bound_idiv(range a, range b) {
    int64_t size;
    if (!magnitude(a, &size)) return any_int();
    if (holds(b, 0)) return ints(-size, size);
    int64_t ll = ts_idiv(a.low.i, b.low.i), lh = ts_idiv(a.low.i, b.high.i);
    int64_t hl = ts_idiv(a.high.i, b.low.i), hh = ts_idiv(a.high.i, b.high.i);
    return ints(least(least(ll, lh), least(hl, hh)), most(most(ll, lh), most(hl, hh)));
}

static range bound_imod(range a, range b) {
    if (b.low.i == b.high.i && b.low.i > 0 &&
        ts_idiv(a.low.i, b.low.i) == ts_idiv(a.high.i, b.low.i))
        return ints(ts_imod(a.low.i, b.low.i), ts_imod(a.high.i, b.low.i));
    if (b.low.i >= 0) {
        int64_t high = b.high.i > 0 ? b.high.i - 1 : 0;
        return ints(0, a.low.i >= 0 ? least(high, a.high.i) : high);
    }
    return ints(b.low.i + 1, b.high.i > 0 ? b.high.i - 1 : 0);
}

static range bound_icmod(range a, range b) {
    int64_t size;
    if (!magnitude(b, &size)) return any_int();
    size = size > 0 ? size - 1 : 0;
    return ints(a.low.i < 0 ? most(a.low.i, -size) : 0, a.high.i > 0 ? least(a.high.i, size) : 0);
}

static range bound_iabs(range a) {
    if (a.low.i == INT64_MIN) return any_int();
    if (a.low.i >= 0) return a;
    if (a.high.i <= 0) return ints(-a.high.i, -a.low.i);
    return ints(0, most(-a.low.i, a.high.i));
}
static range bound_imin(range a, range b) {
    return ints(least(a.low.i, b.low.i), least(a.high.i, b.high.i));
}
static range bound_imax(range a, range b) {
    return ints(most(a.low.i, b.low.i), most(a.high.i, b.high.i));
}

/* The least 2^n - 1 that is not below x >= 0. */
static int64_t filled(int64_t x) {
    for (int n = 1; n < 64; n *= 2) x |= x >> n;
    return x;
}

static range bound_iand(range a, range b) {
    if (a.low.i >= 0 && b.low.i >= 0) return ints(0, least(a.high.i, b.high.i));
    if (a.low.i >= 0) return ints(0, a.high.i);
    if (b.low.i >= 0) return ints(0, b.high.i);
    return any_int();
}
static range bound_ior(range a, range b) {
    if (a.low.i < 0 || b.low.i < 0) return any_int();
    return ints(most(a.low.i, b.low.i), filled(a.high.i | b.high.i));
}
static range bound_ixor(range a, range b) {
    if (a.low.i < 0 || b.low.i < 0) return any_int();
    return ints(0, filled(a.high.i | b.high.i));
}
static range bound_inot(range a) { return ints(~a.high.i, ~a.low.i); }

static range shifted(range a, int64_t left) {
    int64_t low = ts_ishl(a.low.i, left), high = ts_ishl(a.high.i, left);
    if (left >= 64 || left <= -64) return ints(0, 0);
    if (left < 0) return a.low.i >= 0 ? ints(low, high) : any_int();
    bool kept = low >> left == a.low.i && high >> left == a.high.i;
    return kept ? ints(low, high) : any_int();
}
static range bound_ishl(range a, range b) {
    return b.low.i == b.high.i ? shifted(a, b.low.i) : any_int();
}
static range bound_ishr(range a, range b) {
    if (b.low.i == b.high.i) return shifted(a, ts_ineg(b.low.i));
    return a.low.i >= 0 && b.low.i >= 0 ? ints(0, a.high.i) : any_int();
}

static range bound_ifrom(range a) {
    if (!ts_in_range(a.low.f) || !ts_in_range(a.high.f)) return any_int();
    int64_t low = (int64_t)ceil(a.low.f), high = (int64_t)floor(a.high.f);
    if (a.whole && !a.nan) return ints(low, high);
    return ints(least(low, 0), most(high, 0));
}

/* ---- floats ---- */

static bool infinite(range a) { return a.low.f == -INFINITY || a.high.f == INFINITY; }
static bool fholds(range a, double x) { return a.low.f <= x && x <= a.high.f; }

static range bound_fadd(range a, range b) {
    double low = a.low.f + b.low.f, high = a.high.f + b.high.f;
    bool opposed = (a.high.f == INFINITY && b.low.f == -INFINITY) ||
                   (a.low.f == -INFINITY && b.high.f == INFINITY);
    range sum = floats(isnan(low) ? -INFINITY : low, isnan(high) ? INFINITY : high,
                       a.nan || b.nan || opposed);
    sum.whole = a.whole && b.whole;
    return sum;
}
static range bound_fneg(range a) {
    range r = floats(-a.high.f, -a.low.f, a.nan);
    r.whole = a.whole;
    return r;
}
static range bound_fsub(range a, range b) { return bound_fadd(a, bound_fneg(b)); }

/* The hull of the four corners; a NaN corner is one of 0 * inf or inf / inf, whose neighbours lie
 * between 0 and the other corners. */
static range hull(double ll, double lh, double hl, double hh, bool nan) {
    double corner[4] = {ll, lh, hl, hh}, low = INFINITY, high = -INFINITY;
    for (int k = 0; k < 4; k++) {
        double x = isnan(corner[k]) ? 0 : corner[k];
        low = fleast(low, x), high = fmost(high, x);
    }
    return floats(low, high, nan);
}

static range bound_fmul(range a, range b) {
    bool undefined = (fholds(a, 0) && infinite(b)) || (fholds(b, 0) && infinite(a));
    range r = hull(a.low.f * b.low.f, a.low.f * b.high.f, a.high.f * b.low.f, a.high.f * b.high.f,
                   a.nan || b.nan || undefined);
    r.whole = a.whole && b.whole;
    return r;
}

static range bound_fdiv(range a, range b) {
    if (fholds(b, 0)) return any_float();
    return hull(a.low.f / b.low.f, a.low.f / b.high.f, a.high.f / b.low.f, a.high.f / b.high.f,
                a.nan || b.nan || (infinite(a) && infinite(b)));
}

static range bound_ffloor(range a) {
    range r = floats(floor(a.low.f), floor(a.high.f), a.nan);
    r.whole = true;
    return r;
}
static range bound_fceil(range a) {
    range r = floats(ceil(a.low.f), ceil(a.high.f), a.nan);
    r.whole = true;
    return r;
}
static range bound_ffloordiv(range a, range b) { return bound_ffloor(bound_fdiv(a, b)); }

/* A remainder has the sign of b, and is at most |b|: adding b to a tiny negative one rounds to b.
 */
static range bound_fmod(range a, range b) {
    bool nan = a.nan || b.nan || infinite(a) || fholds(b, 0);
    double high = fmost(b.high.f, 0), low = fleast(b.low.f, 0);
    if (b.low.f > 0 && a.low.f >= 0) high = fleast(high, a.high.f);
    range r = floats(low, high, nan);
    r.whole = a.whole && b.whole;
    return r;
}
static range bound_fcmod(range a, range b) {
    bool nan = a.nan || b.nan || infinite(a) || fholds(b, 0);
    double size = fmost(fabs(b.low.f), fabs(b.high.f));
    range r = floats(a.low.f < 0 ? fmost(a.low.f, -size) : 0,
                     a.high.f > 0 ? fleast(a.high.f, size) : 0, nan);
    r.whole = a.whole && b.whole;
    return r;
}

static range bound_fabs(range a) {
    range r = floats(0, fmost(-a.low.f, a.high.f), a.nan);
    if (a.low.f >= 0) r.low.f = a.low.f;
    if (a.high.f <= 0) r.low.f = -a.high.f;
    r.whole = a.whole;
    return r;
}

/* x moved out by 4 units in the last place: the errors of libm (glibc's are below 2) at both ends.
 */
static double below(double x) {
    for (int k = 0; k < 4; k++) x = nextafter(x, -INFINITY);
    return x;
}
static double above(double x) {
    for (int k = 0; k < 4; k++) x = nextafter(x, INFINITY);
    return x;
}

static range rising(double (*f)(double), range a, bool nan) {
    double low = f(a.low.f), high = f(a.high.f);
    if (isnan(low) || isnan(high)) return any_float();
    return floats(below(low), above(high), nan);
}

static range bound_fsqrt(range a) {
    if (a.high.f < 0) return any_float();
    return floats(a.low.f > 0 ? sqrt(a.low.f) : 0, sqrt(a.high.f), a.nan || a.low.f < 0);
}
static range bound_fexp(range a) {
    range r = rising(exp, a, a.nan);
    r.low.f = fmost(r.low.f, 0);
    return r;
}
static range logarithm(double (*f)(double), range a) {
    if (a.high.f < 0) return any_float();
    bool nan = a.nan || a.low.f < 0;
    a.low.f = fmost(a.low.f, 0);
    return rising(f, a, nan);
}
static range bound_flog(range a) { return logarithm(log, a); }
static range bound_flog2(range a) { return logarithm(log2, a); }
static range bound_flog10(range a) { return logarithm(log10, a); }
static range bound_ftanh(range a) { return rising(tanh, a, a.nan); }
static range bound_fsin(range a) { return floats(-1, 1, a.nan || infinite(a)); }
static range bound_fcos(range a) { return bound_fsin(a); }
static range bound_ftan(range a) { return floats(-INFINITY, INFINITY, a.nan || infinite(a)); }

/* x^2 is x * x; else, for x >= 0 that cannot be -0 under a negative power, pow is monotone in each
 * of x and y. */
static range bound_fpow(range a, range b) {
    if (b.low.f == 2 && b.high.f == 2 && !b.nan) {
        range size = bound_fabs(a);
        return floats(size.low.f * size.low.f, size.high.f * size.high.f, a.nan);
    }
    if (!(a.low.f > 0) && !(a.low.f == 0 && b.low.f >= 0)) return any_float();
    range r = hull(pow(a.low.f, b.low.f), pow(a.low.f, b.high.f), pow(a.high.f, b.low.f),
                   pow(a.high.f, b.high.f), a.nan || b.nan);
    return floats(fmost(below(r.low.f), 0), above(r.high.f), r.nan);
}

static range bound_ffrom(range a) {
    range r = floats((double)a.low.i, (double)a.high.i, false);
    r.whole = true;
    return r;
}

/* ---- comparisons ---- */

static range bound_fits(range a) {
    bool inside = ts_in_range(a.low.f) && ts_in_range(a.high.f);
    bool outside = a.high.f < -0x1p63 || a.low.f >= 0x1p63;
    return bools(inside && a.whole && !a.nan, !outside);
}

static range bound_ieq(range a, range b) {
    bool same = a.low.i == a.high.i && b.low.i == b.high.i && a.low.i == b.low.i;
    return bools(same, a.low.i <= b.high.i && b.low.i <= a.high.i);
}
static range bound_ilt(range a, range b) { return bools(a.high.i < b.low.i, a.low.i < b.high.i); }
static range bound_ile(range a, range b) { return bools(a.high.i <= b.low.i, a.low.i <= b.high.i); }
static range bound_iult(range a, range b) {
    bool split = (a.low.i < 0) != (a.high.i < 0) || (b.low.i < 0) != (b.high.i < 0);
    if (split) return undecided();
    return bools(ts_iult(a.high.i, b.low.i), ts_iult(a.low.i, b.high.i));
}

static range bound_feq(range a, range b) {
    bool same = a.low.f == a.high.f && b.low.f == b.high.f && a.low.f == b.low.f;
    return bools(same && !a.nan && !b.nan, a.low.f <= b.high.f && b.low.f <= a.high.f);
}
static range bound_flt(range a, range b) {
    return bools(a.high.f < b.low.f && !a.nan && !b.nan, a.low.f < b.high.f);
}
static range bound_fle(range a, range b) {
    return bools(a.high.f <= b.low.f && !a.nan && !b.nan, a.low.f <= b.high.f);
}
static range bound_ifeq(range a, range b) {
    bool same = a.low.i == a.high.i && b.low.f == b.high.f && ts_ifeq(a.low.i, b.low.f);
    return bools(same && !b.nan, ts_ifle(a.low.i, b.high.f) && ts_file(b.low.f, a.high.i));
}
static range bound_iflt(range a, range b) {
    return bools(ts_iflt(a.high.i, b.low.f) && !b.nan, ts_iflt(a.low.i, b.high.f));
}
static range bound_ifle(range a, range b) {
    return bools(ts_ifle(a.high.i, b.low.f) && !b.nan, ts_ifle(a.low.i, b.high.f));
}
static range bound_filt(range a, range b) {
    return bools(ts_filt(a.high.f, b.low.i) && !a.nan, ts_filt(a.low.f, b.high.i));
}
static range bound_file(range a, range b) {
    return bools(ts_file(a.high.f, b.low.i) && !a.nan, ts_file(a.low.f, b.high.i));
}

/* ---- booleans ---- */

static range bound_bxor(range a, range b) {
    if (a.low.b != a.high.b || b.low.b != b.high.b) return undecided();
    return bools(a.low.b != b.low.b, a.low.b != b.low.b);
}

static range bound_iselect(range c, range a, range b) {
    if (c.low.b == c.high.b) return c.low.b ? a : b;
    return ints(least(a.low.i, b.low.i), most(a.high.i, b.high.i));
}
static range bound_fselect(range c, range a, range b) {
    if (c.low.b == c.high.b) return c.low.b ? a : b;
    range r = floats(fleast(a.low.f, b.low.f), fmost(a.high.f, b.high.f), a.nan || b.nan);
    r.whole = a.whole && b.whole;
    return r;
}
static range bound_bselect(range c, range a, range b) {
    if (c.low.b == c.high.b) return c.low.b ? a : b;
    return bools(a.low.b && b.low.b, a.high.b || b.high.b);
}

#endif
