/* interval_math.c -- what each operation makes of intervals.
 *
 * Rounding to nearest is monotone, so that computing with the corners of double intervals bounds
 * what is computed in between. The functions of libm are not proved monotone: their corners are
 * moved out by a few units in the last place. */
#include "interval_math.h"

#include "arith.h"
#include "sizes.h"

static double fleast(double a, double b) { return a < b ? a : b; }
static double fmost(double a, double b) { return a > b ? a : b; }

/* ---- integers ---- */

static ts_interval bound_iadd(ts_interval a, ts_interval b) {
    int64_t low, high;
    if (__builtin_add_overflow(a.low.i, b.low.i, &low)) return ts_any_int();
    if (__builtin_add_overflow(a.high.i, b.high.i, &high)) return ts_any_int();
    return ts_ints(low, high);
}
static ts_interval bound_isub(ts_interval a, ts_interval b) {
    int64_t low, high;
    if (__builtin_sub_overflow(a.low.i, b.high.i, &low)) return ts_any_int();
    if (__builtin_sub_overflow(a.high.i, b.low.i, &high)) return ts_any_int();
    return ts_ints(low, high);
}
static ts_interval bound_ineg(ts_interval a) { return bound_isub(ts_ints(0, 0), a); }

static ts_interval bound_imul(ts_interval a, ts_interval b) {
    int64_t ll, lh, hl, hh;
    if (__builtin_mul_overflow(a.low.i, b.low.i, &ll) ||
        __builtin_mul_overflow(a.low.i, b.high.i, &lh) ||
        __builtin_mul_overflow(a.high.i, b.low.i, &hl) ||
        __builtin_mul_overflow(a.high.i, b.high.i, &hh))
        return ts_any_int();
    return ts_ints(ts_least(ts_least(ll, lh), ts_least(hl, hh)),
                   ts_most(ts_most(ll, lh), ts_most(hl, hh)));
}

static bool holds(ts_interval a, int64_t x) { return a.low.i <= x && x <= a.high.i; }

/* The largest magnitude in a; false where it is minint's. */
static bool magnitude(ts_interval a, int64_t *size) {
    if (a.low.i == INT64_MIN) return false;
    *size = ts_most(ts_iabs(a.low.i), ts_iabs(a.high.i));
    return true;
}

static ts_interval bound_idiv(ts_interval a, ts_interval b) {
    int64_t size;
    if (!magnitude(a, &size)) return ts_any_int();
    if (holds(b, 0)) return ts_ints(-size, size);
    int64_t ll = ts_idiv(a.low.i, b.low.i), lh = ts_idiv(a.low.i, b.high.i);
    int64_t hl = ts_idiv(a.high.i, b.low.i), hh = ts_idiv(a.high.i, b.high.i);
    return ts_ints(ts_least(ts_least(ll, lh), ts_least(hl, hh)),
                   ts_most(ts_most(ll, lh), ts_most(hl, hh)));
}

static ts_interval bound_imod(ts_interval a, ts_interval b) {
    if (b.low.i == b.high.i && b.low.i > 0 &&
        ts_idiv(a.low.i, b.low.i) == ts_idiv(a.high.i, b.low.i))
        return ts_ints(ts_imod(a.low.i, b.low.i), ts_imod(a.high.i, b.low.i));
    if (b.low.i >= 0) {
        int64_t high = b.high.i > 0 ? b.high.i - 1 : 0;
        return ts_ints(0, a.low.i >= 0 ? ts_least(high, a.high.i) : high);
    }
    return ts_ints(b.low.i + 1, b.high.i > 0 ? b.high.i - 1 : 0);
}

static ts_interval bound_icmod(ts_interval a, ts_interval b) {
    int64_t size;
    if (!magnitude(b, &size)) return ts_any_int();
    size = size > 0 ? size - 1 : 0;
    return ts_ints(a.low.i < 0 ? ts_most(a.low.i, -size) : 0,
                   a.high.i > 0 ? ts_least(a.high.i, size) : 0);
}

static ts_interval bound_iabs(ts_interval a) {
    if (a.low.i == INT64_MIN) return ts_any_int();
    if (a.low.i >= 0) return a;
    if (a.high.i <= 0) return ts_ints(-a.high.i, -a.low.i);
    return ts_ints(0, ts_most(-a.low.i, a.high.i));
}
static ts_interval bound_imin(ts_interval a, ts_interval b) {
    return ts_ints(ts_least(a.low.i, b.low.i), ts_least(a.high.i, b.high.i));
}
static ts_interval bound_imax(ts_interval a, ts_interval b) {
    return ts_ints(ts_most(a.low.i, b.low.i), ts_most(a.high.i, b.high.i));
}

/* The least 2^n - 1 that is not below x >= 0. */
static int64_t filled(int64_t x) {
    for (int n = 1; n < 64; n *= 2) x |= x >> n;
    return x;
}

static ts_interval bound_iand(ts_interval a, ts_interval b) {
    if (a.low.i >= 0 && b.low.i >= 0) return ts_ints(0, ts_least(a.high.i, b.high.i));
    if (a.low.i >= 0) return ts_ints(0, a.high.i);
    if (b.low.i >= 0) return ts_ints(0, b.high.i);
    return ts_any_int();
}
static ts_interval bound_ior(ts_interval a, ts_interval b) {
    if (a.low.i < 0 || b.low.i < 0) return ts_any_int();
    return ts_ints(ts_most(a.low.i, b.low.i), filled(a.high.i | b.high.i));
}
static ts_interval bound_ixor(ts_interval a, ts_interval b) {
    if (a.low.i < 0 || b.low.i < 0) return ts_any_int();
    return ts_ints(0, filled(a.high.i | b.high.i));
}
static ts_interval bound_inot(ts_interval a) { return ts_ints(~a.high.i, ~a.low.i); }

static ts_interval shifted(ts_interval a, int64_t left) {
    int64_t low = ts_ishl(a.low.i, left), high = ts_ishl(a.high.i, left);
    if (left >= 64 || left <= -64) return ts_ints(0, 0);
    if (left < 0) return a.low.i >= 0 ? ts_ints(low, high) : ts_any_int();
    bool kept = low >> left == a.low.i && high >> left == a.high.i;
    return kept ? ts_ints(low, high) : ts_any_int();
}
static ts_interval bound_ishl(ts_interval a, ts_interval b) {
    return b.low.i == b.high.i ? shifted(a, b.low.i) : ts_any_int();
}
static ts_interval bound_ishr(ts_interval a, ts_interval b) {
    if (b.low.i == b.high.i) return shifted(a, ts_ineg(b.low.i));
    return a.low.i >= 0 && b.low.i >= 0 ? ts_ints(0, a.high.i) : ts_any_int();
}

static ts_interval bound_ifrom(ts_interval a) {
    if (!ts_in_range(a.low.f) || !ts_in_range(a.high.f)) return ts_any_int();
    int64_t low = (int64_t)ceil(a.low.f), high = (int64_t)floor(a.high.f);
    if (a.whole && !a.nan) return ts_ints(low, high);
    return ts_ints(ts_least(low, 0), ts_most(high, 0));
}

/* ---- floats ---- */

static bool infinite(ts_interval a) { return a.low.f == -INFINITY || a.high.f == INFINITY; }
static bool fholds(ts_interval a, double x) { return a.low.f <= x && x <= a.high.f; }

static ts_interval bound_fadd(ts_interval a, ts_interval b) {
    double low = a.low.f + b.low.f, high = a.high.f + b.high.f;
    bool opposed = (a.high.f == INFINITY && b.low.f == -INFINITY) ||
                   (a.low.f == -INFINITY && b.high.f == INFINITY);
    ts_interval sum = ts_floats(isnan(low) ? -INFINITY : low, isnan(high) ? INFINITY : high,
                                a.nan || b.nan || opposed);
    sum.whole = a.whole && b.whole;
    return sum;
}
static ts_interval bound_fneg(ts_interval a) {
    ts_interval r = ts_floats(-a.high.f, -a.low.f, a.nan);
    r.whole = a.whole;
    return r;
}
static ts_interval bound_fsub(ts_interval a, ts_interval b) { return bound_fadd(a, bound_fneg(b)); }

/* The hull of the four corners; a NaN corner is one of 0 * inf or inf / inf, whose neighbours lie
 * between 0 and the other corners. */
static ts_interval hull(double ll, double lh, double hl, double hh, bool nan) {
    double corner[4] = {ll, lh, hl, hh}, low = INFINITY, high = -INFINITY;
    for (int k = 0; k < 4; k++) {
        double x = isnan(corner[k]) ? 0 : corner[k];
        low = fleast(low, x), high = fmost(high, x);
    }
    return ts_floats(low, high, nan);
}

static ts_interval bound_fmul(ts_interval a, ts_interval b) {
    bool undefined = (fholds(a, 0) && infinite(b)) || (fholds(b, 0) && infinite(a));
    ts_interval r = hull(a.low.f * b.low.f, a.low.f * b.high.f, a.high.f * b.low.f,
                         a.high.f * b.high.f, a.nan || b.nan || undefined);
    r.whole = a.whole && b.whole;
    return r;
}

static ts_interval bound_fdiv(ts_interval a, ts_interval b) {
    if (fholds(b, 0)) return ts_any_float();
    return hull(a.low.f / b.low.f, a.low.f / b.high.f, a.high.f / b.low.f, a.high.f / b.high.f,
                a.nan || b.nan || (infinite(a) && infinite(b)));
}

static ts_interval bound_ffloor(ts_interval a) {
    ts_interval r = ts_floats(floor(a.low.f), floor(a.high.f), a.nan);
    r.whole = true;
    return r;
}
static ts_interval bound_fceil(ts_interval a) {
    ts_interval r = ts_floats(ceil(a.low.f), ceil(a.high.f), a.nan);
    r.whole = true;
    return r;
}
static ts_interval bound_ffloordiv(ts_interval a, ts_interval b) {
    return bound_ffloor(bound_fdiv(a, b));
}

/* A remainder has the sign of b, and is at most |b|: adding b to a tiny negative one rounds to b.
 */
static ts_interval bound_fmod(ts_interval a, ts_interval b) {
    bool nan = a.nan || b.nan || infinite(a) || fholds(b, 0);
    double high = fmost(b.high.f, 0), low = fleast(b.low.f, 0);
    if (b.low.f > 0 && a.low.f >= 0) high = fleast(high, a.high.f);
    ts_interval r = ts_floats(low, high, nan);
    r.whole = a.whole && b.whole;
    return r;
}
static ts_interval bound_fcmod(ts_interval a, ts_interval b) {
    bool nan = a.nan || b.nan || infinite(a) || fholds(b, 0);
    double size = fmost(fabs(b.low.f), fabs(b.high.f));
    ts_interval r = ts_floats(a.low.f < 0 ? fmost(a.low.f, -size) : 0,
                              a.high.f > 0 ? fleast(a.high.f, size) : 0, nan);
    r.whole = a.whole && b.whole;
    return r;
}

static ts_interval bound_fabs(ts_interval a) {
    ts_interval r = ts_floats(0, fmost(-a.low.f, a.high.f), a.nan);
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

static ts_interval rising(double (*f)(double), ts_interval a, bool nan) {
    double low = f(a.low.f), high = f(a.high.f);
    if (isnan(low) || isnan(high)) return ts_any_float();
    return ts_floats(below(low), above(high), nan);
}

static ts_interval bound_fsqrt(ts_interval a) {
    if (a.high.f < 0) return ts_any_float();
    return ts_floats(a.low.f > 0 ? sqrt(a.low.f) : 0, sqrt(a.high.f), a.nan || a.low.f < 0);
}
static ts_interval bound_fexp(ts_interval a) {
    ts_interval r = rising(exp, a, a.nan);
    r.low.f = fmost(r.low.f, 0);
    return r;
}
static ts_interval logarithm(double (*f)(double), ts_interval a) {
    if (a.high.f < 0) return ts_any_float();
    bool nan = a.nan || a.low.f < 0;
    a.low.f = fmost(a.low.f, 0);
    return rising(f, a, nan);
}
static ts_interval bound_flog(ts_interval a) { return logarithm(log, a); }
static ts_interval bound_flog2(ts_interval a) { return logarithm(log2, a); }
static ts_interval bound_flog10(ts_interval a) { return logarithm(log10, a); }
static ts_interval bound_ftanh(ts_interval a) { return rising(tanh, a, a.nan); }
static ts_interval bound_fsin(ts_interval a) { return ts_floats(-1, 1, a.nan || infinite(a)); }
static ts_interval bound_fcos(ts_interval a) { return bound_fsin(a); }
static ts_interval bound_ftan(ts_interval a) {
    return ts_floats(-INFINITY, INFINITY, a.nan || infinite(a));
}

/* x^2 is x * x; else, for x >= 0 that cannot be -0 under a negative power, pow is monotone in each
 * of x and y. */
static ts_interval bound_fpow(ts_interval a, ts_interval b) {
    if (b.low.f == 2 && b.high.f == 2 && !b.nan) {
        ts_interval size = bound_fabs(a);
        return ts_floats(size.low.f * size.low.f, size.high.f * size.high.f, a.nan);
    }
    if (!(a.low.f > 0) && !(a.low.f == 0 && b.low.f >= 0)) return ts_any_float();
    ts_interval r = hull(pow(a.low.f, b.low.f), pow(a.low.f, b.high.f), pow(a.high.f, b.low.f),
                         pow(a.high.f, b.high.f), a.nan || b.nan);
    return ts_floats(fmost(below(r.low.f), 0), above(r.high.f), r.nan);
}

static ts_interval bound_ffrom(ts_interval a) {
    ts_interval r = ts_floats((double)a.low.i, (double)a.high.i, false);
    r.whole = true;
    return r;
}

/* ---- comparisons ---- */

static ts_interval bound_fits(ts_interval a) {
    bool inside = ts_in_range(a.low.f) && ts_in_range(a.high.f);
    bool outside = a.high.f < -0x1p63 || a.low.f >= 0x1p63;
    return ts_bools(inside && a.whole && !a.nan, !outside);
}

static ts_interval bound_ieq(ts_interval a, ts_interval b) {
    bool same = a.low.i == a.high.i && b.low.i == b.high.i && a.low.i == b.low.i;
    return ts_bools(same, a.low.i <= b.high.i && b.low.i <= a.high.i);
}
static ts_interval bound_ilt(ts_interval a, ts_interval b) {
    return ts_bools(a.high.i < b.low.i, a.low.i < b.high.i);
}
static ts_interval bound_ile(ts_interval a, ts_interval b) {
    return ts_bools(a.high.i <= b.low.i, a.low.i <= b.high.i);
}
static ts_interval bound_iult(ts_interval a, ts_interval b) {
    bool split = (a.low.i < 0) != (a.high.i < 0) || (b.low.i < 0) != (b.high.i < 0);
    if (split) return ts_any_bool();
    return ts_bools(ts_iult(a.high.i, b.low.i), ts_iult(a.low.i, b.high.i));
}

static ts_interval bound_feq(ts_interval a, ts_interval b) {
    bool same = a.low.f == a.high.f && b.low.f == b.high.f && a.low.f == b.low.f;
    return ts_bools(same && !a.nan && !b.nan, a.low.f <= b.high.f && b.low.f <= a.high.f);
}
static ts_interval bound_flt(ts_interval a, ts_interval b) {
    return ts_bools(a.high.f < b.low.f && !a.nan && !b.nan, a.low.f < b.high.f);
}
static ts_interval bound_fle(ts_interval a, ts_interval b) {
    return ts_bools(a.high.f <= b.low.f && !a.nan && !b.nan, a.low.f <= b.high.f);
}
static ts_interval bound_ifeq(ts_interval a, ts_interval b) {
    bool same = a.low.i == a.high.i && b.low.f == b.high.f && ts_ifeq(a.low.i, b.low.f);
    return ts_bools(same && !b.nan, ts_ifle(a.low.i, b.high.f) && ts_file(b.low.f, a.high.i));
}
static ts_interval bound_iflt(ts_interval a, ts_interval b) {
    return ts_bools(ts_iflt(a.high.i, b.low.f) && !b.nan, ts_iflt(a.low.i, b.high.f));
}
static ts_interval bound_ifle(ts_interval a, ts_interval b) {
    return ts_bools(ts_ifle(a.high.i, b.low.f) && !b.nan, ts_ifle(a.low.i, b.high.f));
}
static ts_interval bound_filt(ts_interval a, ts_interval b) {
    return ts_bools(ts_filt(a.high.f, b.low.i) && !a.nan, ts_filt(a.low.f, b.high.i));
}
static ts_interval bound_file(ts_interval a, ts_interval b) {
    return ts_bools(ts_file(a.high.f, b.low.i) && !a.nan, ts_file(a.low.f, b.high.i));
}

/* ---- booleans ---- */

static ts_interval bound_bxor(ts_interval a, ts_interval b) {
    if (a.low.b != a.high.b || b.low.b != b.high.b) return ts_any_bool();
    return ts_bools(a.low.b != b.low.b, a.low.b != b.low.b);
}

static ts_interval bound_iselect(ts_interval c, ts_interval a, ts_interval b) {
    if (c.low.b == c.high.b) return c.low.b ? a : b;
    return ts_ints(ts_least(a.low.i, b.low.i), ts_most(a.high.i, b.high.i));
}
static ts_interval bound_fselect(ts_interval c, ts_interval a, ts_interval b) {
    if (c.low.b == c.high.b) return c.low.b ? a : b;
    ts_interval r = ts_floats(fleast(a.low.f, b.low.f), fmost(a.high.f, b.high.f), a.nan || b.nan);
    r.whole = a.whole && b.whole;
    return r;
}
static ts_interval bound_bselect(ts_interval c, ts_interval a, ts_interval b) {
    if (c.low.b == c.high.b) return c.low.b ? a : b;
    return ts_bools(a.low.b && b.low.b, a.high.b || b.high.b);
}

/* ---- by operation ---- */

#define bound_band(a, b) ts_any_bool() /* the caller's */
#define bound_bor(a, b) ts_any_bool()
#define bound_bnot(a) ts_any_bool()
#define OPERAND(k) intervals[node->operand[k]]
#define WITH_1(f) f(OPERAND(0))
#define WITH_2(f) f(OPERAND(0), OPERAND(1))
#define WITH_3(f) f(OPERAND(0), OPERAND(1), OPERAND(2))

ts_interval ts_interval_of(const ts_node *node, const ts_interval *intervals) {
    switch ((ts_op)node->op) {
#define X(name, result, arity, operands)                                                           \
    case TS_OP_##name:                                                                             \
        return WITH_##arity(bound_##name);
        TS_ARITH(X)
#undef X
    default:
        return ts_any_int();
    }
}
