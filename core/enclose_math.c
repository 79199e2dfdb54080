/* enclose_math.c -- operations on intervals of floats, roundings and all. */
#include "enclose_math.h"

#include "arith.h"

#include <float.h>

static ts_enclosure sorted(double a, double b) {
    return a < b ? (ts_enclosure){a, b} : (ts_enclosure){b, a};
}

/* x after an operation within `ulps` units of u, and the two roundings of computing it here. */
static ts_enclosure widened(const ts_rounding *how, ts_enclosure x, double ulps) {
    double part = ulps * how->u + 0x1p-52;
    return (ts_enclosure){x.low - part * fabs(x.low) - how->eta,
                          x.high + part * fabs(x.high) + how->eta};
}

/* One rounding, unless the result is a single number that the dtype holds. */
static ts_enclosure rounded(const ts_rounding *how, ts_enclosure x, bool exact) {
    if (exact && ts_is_point(x) && (!how->narrow || (double)(float)x.low == x.low)) return x;
    return widened(how, x, 1);
}

ts_enclosure ts_enclose_number(const ts_rounding *how, double x) {
    if (isnan(x)) return ts_nowhere;
    return how->narrow ? ts_hull((ts_enclosure){x, x}, (ts_enclosure){(float)x, (float)x})
                       : (ts_enclosure){x, x};
}

ts_enclosure ts_enclose_integer(const ts_rounding *how, int64_t i) {
    ts_enclosure x = ts_enclose_number(how, (double)i);
    return i > -((int64_t)1 << 53) && i < (int64_t)1 << 53 ? x : widened(how, x, 1);
}

/* What is computed beyond f32's range is infinite there, and nothing is known of what is made of
 * that. (Doubles go beyond theirs here as well as in the engine.) */
static ts_enclosure in_range(const ts_rounding *how, ts_enclosure x) {
    return how->narrow && !(x.low >= -FLT_MAX && x.high <= FLT_MAX) ? ts_nowhere : x;
}

/* Above it what an fma leaves of a product is a number, unless that is 0. */
#define SMALL 1e-290

static bool is_exact_sum(double a, double b) { return a + b - a == b && a + b - b == a; }

static ts_enclosure sum(const ts_rounding *how, ts_enclosure a, ts_enclosure b) {
    ts_enclosure x = {a.low + b.low, a.high + b.high};
    return rounded(how, x, ts_is_point(a) && ts_is_point(b) && is_exact_sum(a.low, b.low));
}

static ts_enclosure negated(ts_enclosure a) { return (ts_enclosure){-a.high, -a.low}; }

static ts_enclosure product(const ts_rounding *how, ts_enclosure a, ts_enclosure b) {
    ts_enclosure x =
        ts_hull(sorted(a.low * b.low, a.low * b.high), sorted(a.high * b.low, a.high * b.high));
    bool exact = ts_is_point(a) && ts_is_point(b) && fma(a.low, b.low, -x.low) == 0 &&
                 (a.low == 0 || b.low == 0 || fabs(x.low) > SMALL);
    return rounded(how, x, exact);
}

static ts_enclosure quotient(const ts_rounding *how, ts_enclosure a, ts_enclosure b) {
    if (b.low <= 0 && b.high >= 0) return ts_nowhere;
    ts_enclosure x =
        ts_hull(sorted(a.low / b.low, a.low / b.high), sorted(a.high / b.low, a.high / b.high));
    bool exact = ts_is_point(a) && ts_is_point(b) && fma(x.low, b.low, -a.low) == 0 &&
                 (a.low == 0 || fabs(a.low) > SMALL);
    return rounded(how, x, exact);
}

static ts_enclosure absolute(ts_enclosure a) {
    if (a.low >= 0) return a;
    if (a.high <= 0) return negated(a);
    return (ts_enclosure){0, a.high > -a.low ? a.high : -a.low};
}

/* Lua's a % b adds b where C's has another sign than b, and that alone may be rounded. */
static bool is_exact_modulo(double a, double b, bool floored) {
    double c = fmod(a, b);
    return !floored || c == 0 || (c < 0) == (b < 0) || is_exact_sum(c, b);
}

/* a % b, C's (truncated) or Lua's (floored). Where a stays between two multiples of b it moves
 * along with a; else all that is known is the range. */
static ts_enclosure modulo(const ts_rounding *how, ts_enclosure a, ts_enclosure b, bool floored) {
    if (!ts_is_point(b) || b.low == 0) return ts_nowhere;
    double m = fabs(b.low);
    double first = floored ? floor(a.low / b.low) : trunc(a.low / b.low);
    double last = floored ? floor(a.high / b.low) : trunc(a.high / b.low);
    ts_enclosure x = floored ? sorted(ts_fmod(a.low, b.low), ts_fmod(a.high, b.low))
                             : sorted(fmod(a.low, m), fmod(a.high, m));
    if (first == last && x.high - x.low <= (a.high - a.low) * (1 + 0x1p-40))
        return rounded(how, x, ts_is_point(a) && is_exact_modulo(a.low, b.low, floored));
    return floored ? sorted(0, b.low) : (ts_enclosure){-m, m};
}

static ts_enclosure power(const ts_rounding *how, ts_enclosure a, ts_enclosure b) {
    if (!ts_is_point(b)) return ts_nowhere;
    double n = b.low;
    bool whole = n == floor(n) && fabs(n) < 0x1p53, even = whole && fmod(n, 2) == 0;
    if (n < 0 && a.low <= 0 && a.high >= 0) return ts_nowhere;
    if (a.low < 0 && !whole) return ts_nowhere;
    if (n == 2 && ts_is_point(a)) return product(how, a, a);
    if (even) a = absolute(a);
    return widened(how, sorted(pow(a.low, n), pow(a.high, n)), 8);
}

/* A rising function that the engine computes within 3.5 ulp, which are at most 7u. */
static ts_enclosure rising(const ts_rounding *how, double f(double), ts_enclosure a) {
    return widened(how, (ts_enclosure){f(a.low), f(a.high)}, 8);
}

/* sin and cos move no faster than their argument. */
static ts_enclosure wave(const ts_rounding *how, double f(double), ts_enclosure a) {
    double half = (a.high - a.low) / 2, at = f(a.low + half);
    ts_enclosure x = widened(how, (ts_enclosure){at - half, at + half}, 8);
    return (ts_enclosure){x.low < -1 ? -1 - 8 * how->u : x.low,
                          x.high > 1 ? 1 + 8 * how->u : x.high};
}

static ts_enclosure tangent(const ts_rounding *how, ts_enclosure a) {
    ts_enclosure slope = wave(how, cos, a); /* no pole where the cosine keeps away from 0 */
    if (a.high - a.low > 1 || (slope.low < 1e-3 && slope.high > -1e-3)) return ts_nowhere;
    return rising(how, tan, a);
}

static ts_enclosure of_floats(const ts_rounding *how, ts_op op, ts_enclosure a, ts_enclosure b) {
    switch (op) {
    case TS_OP_fadd:
        return sum(how, a, b);
    case TS_OP_fsub:
        return sum(how, a, negated(b));
    case TS_OP_fmul:
        return product(how, a, b);
    case TS_OP_fdiv:
        return quotient(how, a, b);
    case TS_OP_fneg:
        return negated(a);
    case TS_OP_ffloordiv:
        a = quotient(how, a, b);
        return (ts_enclosure){floor(a.low), floor(a.high)};
    case TS_OP_fmod:
        return modulo(how, a, b, true);
    case TS_OP_fcmod:
        return modulo(how, a, b, false);
    case TS_OP_fpow:
        return power(how, a, b);
    case TS_OP_fabs:
        return absolute(a);
    case TS_OP_ffloor:
        return (ts_enclosure){floor(a.low), floor(a.high)};
    case TS_OP_fceil:
        return (ts_enclosure){ceil(a.low), ceil(a.high)};
    case TS_OP_fsqrt:
        return a.low < 0 ? ts_nowhere : rising(how, sqrt, a);
    case TS_OP_fexp:
        return rising(how, exp, a);
    case TS_OP_flog:
        return a.low <= 0 ? ts_nowhere : rising(how, log, a);
    case TS_OP_flog2:
        return a.low <= 0 ? ts_nowhere : rising(how, log2, a);
    case TS_OP_flog10:
        return a.low <= 0 ? ts_nowhere : rising(how, log10, a);
    case TS_OP_fsin:
        return wave(how, sin, a);
    case TS_OP_fcos:
        return wave(how, cos, a);
    case TS_OP_ftan:
        return tangent(how, a);
    case TS_OP_ftanh:
        return rising(how, tanh, a);
    default:
        return ts_nowhere;
    }
}

ts_enclosure ts_enclose_op(const ts_rounding *how, ts_op op, ts_enclosure a, ts_enclosure b) {
    if (!ts_is_finite(a) || !ts_is_finite(b)) return ts_nowhere;
    return in_range(how, of_floats(how, op, a, b));
}
