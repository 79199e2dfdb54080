/* enclose.c -- score programs in interval arithmetic: each node's interval holds its exact value
 * and what the engine may compute, for every score in the interval it began with. */
#include "enclose.h"

#include "arith.h"
#include "table.h"

#include <float.h>
#include <math.h>

typedef struct {
    double low, high;
} interval;

/* Where a program is run. Of floats `range` is known; of integers and booleans, which depend on the
 * score only through questions about floats, the value, unless such a question is open. */
typedef struct {
    const ts_program *program;
    ts_value *value;
    interval *range;
    bool *open;
    double u, eta; /* of the dtype: unit roundoff, absolute error below the normal range */
    bool narrow;
} state;

size_t ts_enclose_scratch(const ts_program *program) {
    return (size_t)program->count * (sizeof(ts_value) + sizeof(interval) + sizeof(bool));
}

static const interval nowhere = {-INFINITY, INFINITY};

static bool is_point(interval x) { return x.low == x.high; }
static bool is_finite(interval x) { return isfinite(x.low) && isfinite(x.high); }
static interval sorted(double a, double b) { return a < b ? (interval){a, b} : (interval){b, a}; }

static interval hull(interval a, interval b) {
    return (interval){a.low < b.low ? a.low : b.low, a.high > b.high ? a.high : b.high};
}

/* x after an operation within `ulps` units of u, and the two roundings of computing it here. */
static interval widened(const state *w, interval x, double ulps) {
    double part = ulps * w->u + 0x1p-52;
    return (interval){x.low - part * fabs(x.low) - w->eta, x.high + part * fabs(x.high) + w->eta};
}

/* One rounding, unless the result is a single number that the dtype holds. */
static interval rounded(const state *w, interval x, bool exact) {
    if (exact && is_point(x) && (!w->narrow || (double)(float)x.low == x.low)) return x;
    return widened(w, x, 1);
}

/* A number that is rounded to the dtype when it is read. */
static interval read_number(const state *w, double x) {
    if (isnan(x)) return nowhere;
    return w->narrow ? hull((interval){x, x}, (interval){(float)x, (float)x}) : (interval){x, x};
}

/* What is computed beyond f32's range is infinite there, and nothing is known of what is made of
 * that. (Doubles go beyond theirs here as well as in the engine.) */
static interval in_range(const state *w, interval x) {
    return w->narrow && !(x.low >= -FLT_MAX && x.high <= FLT_MAX) ? nowhere : x;
}

/* ---- floats ---- */

/* Above it what an fma leaves of a product is a number, unless that is 0. */
#define SMALL 1e-290

static bool is_exact_sum(double a, double b) { return a + b - a == b && a + b - b == a; }

static interval sum(const state *w, interval a, interval b) {
    interval x = {a.low + b.low, a.high + b.high};
    return rounded(w, x, is_point(a) && is_point(b) && is_exact_sum(a.low, b.low));
}

static interval negated(interval a) { return (interval){-a.high, -a.low}; }

static interval product(const state *w, interval a, interval b) {
    interval x =
        hull(sorted(a.low * b.low, a.low * b.high), sorted(a.high * b.low, a.high * b.high));
    bool exact = is_point(a) && is_point(b) && fma(a.low, b.low, -x.low) == 0 &&
                 (a.low == 0 || b.low == 0 || fabs(x.low) > SMALL);
    return rounded(w, x, exact);
}

static interval quotient(const state *w, interval a, interval b) {
    if (b.low <= 0 && b.high >= 0) return nowhere;
    interval x =
        hull(sorted(a.low / b.low, a.low / b.high), sorted(a.high / b.low, a.high / b.high));
    bool exact = is_point(a) && is_point(b) && fma(x.low, b.low, -a.low) == 0 &&
                 (a.low == 0 || fabs(a.low) > SMALL);
    return rounded(w, x, exact);
}

static interval absolute(interval a) {
    if (a.low >= 0) return a;
    if (a.high <= 0) return negated(a);
    return (interval){0, a.high > -a.low ? a.high : -a.low};
}

/* Lua's a % b adds b where C's has another sign than b, and that alone may be rounded. */
static bool is_exact_modulo(double a, double b, bool floored) {
    double c = fmod(a, b);
    return !floored || c == 0 || (c < 0) == (b < 0) || is_exact_sum(c, b);
}

/* a % b, C's (truncated) or Lua's (floored). Where a stays between two multiples of b it moves
 * along with a; else all that is known is the range. */
static interval modulo(const state *w, interval a, interval b, bool floored) {
    if (!is_point(b) || b.low == 0) return nowhere;
    double m = fabs(b.low);
    double first = floored ? floor(a.low / b.low) : trunc(a.low / b.low);
    double last = floored ? floor(a.high / b.low) : trunc(a.high / b.low);
    interval x = floored ? sorted(ts_fmod(a.low, b.low), ts_fmod(a.high, b.low))
                         : sorted(fmod(a.low, m), fmod(a.high, m));
    if (first == last && x.high - x.low <= (a.high - a.low) * (1 + 0x1p-40))
        return rounded(w, x, is_point(a) && is_exact_modulo(a.low, b.low, floored));
    return floored ? sorted(0, b.low) : (interval){-m, m};
}

static interval power(const state *w, interval a, interval b) {
    if (!is_point(b)) return nowhere;
    double n = b.low;
    bool whole = n == floor(n) && fabs(n) < 0x1p53, even = whole && fmod(n, 2) == 0;
    if (n < 0 && a.low <= 0 && a.high >= 0) return nowhere;
    if (a.low < 0 && !whole) return nowhere;
    if (n == 2 && is_point(a)) return product(w, a, a);
    if (even) a = absolute(a);
    return widened(w, sorted(pow(a.low, n), pow(a.high, n)), 8);
}

/* A rising function that the engine computes within 3.5 ulp, which are at most 7u. */
static interval rising(const state *w, double f(double), interval a) {
    return widened(w, (interval){f(a.low), f(a.high)}, 8);
}

/* sin and cos move no faster than their argument. */
static interval wave(const state *w, double f(double), interval a) {
    double half = (a.high - a.low) / 2, at = f(a.low + half);
    interval x = widened(w, (interval){at - half, at + half}, 8);
    return (interval){x.low < -1 ? -1 - 8 * w->u : x.low, x.high > 1 ? 1 + 8 * w->u : x.high};
}

static interval tangent(const state *w, interval a) {
    interval slope = wave(w, cos, a); /* no pole where the cosine keeps away from 0 */
    if (a.high - a.low > 1 || (slope.low < 1e-3 && slope.high > -1e-3)) return nowhere;
    return rising(w, tan, a);
}

static interval of_floats(const state *w, ts_op op, interval a, interval b) {
    switch (op) {
    case TS_OP_fadd:
        return sum(w, a, b);
    case TS_OP_fsub:
        return sum(w, a, negated(b));
    case TS_OP_fmul:
        return product(w, a, b);
    case TS_OP_fdiv:
        return quotient(w, a, b);
    case TS_OP_fneg:
        return negated(a);
    case TS_OP_ffloordiv:
        a = quotient(w, a, b);
        return (interval){floor(a.low), floor(a.high)};
    case TS_OP_fmod:
        return modulo(w, a, b, true);
    case TS_OP_fcmod:
        return modulo(w, a, b, false);
    case TS_OP_fpow:
        return power(w, a, b);
    case TS_OP_fabs:
        return absolute(a);
    case TS_OP_ffloor:
        return (interval){floor(a.low), floor(a.high)};
    case TS_OP_fceil:
        return (interval){ceil(a.low), ceil(a.high)};
    case TS_OP_fsqrt:
        return a.low < 0 ? nowhere : rising(w, sqrt, a);
    case TS_OP_fexp:
        return rising(w, exp, a);
    case TS_OP_flog:
        return a.low <= 0 ? nowhere : rising(w, log, a);
    case TS_OP_flog2:
        return a.low <= 0 ? nowhere : rising(w, log2, a);
    case TS_OP_flog10:
        return a.low <= 0 ? nowhere : rising(w, log10, a);
    case TS_OP_fsin:
        return wave(w, sin, a);
    case TS_OP_fcos:
        return wave(w, cos, a);
    case TS_OP_ftan:
        return tangent(w, a);
    case TS_OP_ftanh:
        return rising(w, tanh, a);
    default:
        return nowhere;
    }
}

/* An integer as a float: rounded where it is large. */
static interval integer_range(const state *w, int64_t i) {
    interval x = read_number(w, (double)i);
    return i > -((int64_t)1 << 53) && i < (int64_t)1 << 53 ? x : widened(w, x, 1);
}

static interval float_node(const state *w, const ts_node *node) {
    int32_t a = node->operand[0], b = node->operand[1], c = node->operand[2];
    switch ((ts_op)node->op) {
    case TS_OP_fconst:
        return read_number(w, node->constant.f);
    case TS_OP_ftable:
    case TS_OP_matrix:
        if (w->open[a] || (b >= 0 && w->open[b])) return nowhere;
        return read_number(w, ts_node_eval(w->program, node, w->value).f);
    case TS_OP_ffrom:
        if (w->open[a]) return nowhere;
        return integer_range(w, w->value[a].i);
    case TS_OP_fselect: /* the exact and the computed score may take different sides */
        if (w->open[a]) return hull(w->range[b], w->range[c]);
        return w->value[a].b ? w->range[b] : w->range[c];
    default: {
        interval x = w->range[a], y = b >= 0 ? w->range[b] : x;
        if (!is_finite(x) || !is_finite(y)) return nowhere;
        return in_range(w, of_floats(w, (ts_op)node->op, x, y));
    }
    }
}

/* ---- questions about floats ---- */

static interval as_range(const state *w, int32_t node) {
    if (w->program->nodes[node].type == TS_FLOAT) return w->range[node];
    if (w->open[node]) return nowhere;
    double x = (double)w->value[node].i;
    return (interval){x - 0x1p-52 * fabs(x), x + 0x1p-52 * fabs(x)};
}

/* Answers x < y, x <= y or x == y, unless it is open. */
static bool ask(interval x, interval y, bool less, bool equal, bool *open) {
    if (less && !equal) { /* x < y */
        *open = !(x.high < y.low || x.low >= y.high);
        return x.high < y.low;
    }
    if (less) { /* x <= y */
        *open = !(x.high <= y.low || x.low > y.high);
        return x.high <= y.low;
    }
    bool apart = x.high < y.low || y.high < x.low;
    *open = !apart && !(is_point(x) && is_point(y));
    return !apart;
}

/* The node's answer where it asks about floats; false where it does not. */
static bool question(state *w, int64_t at) {
    const ts_node *node = &w->program->nodes[at];
    interval x = as_range(w, node->operand[0]);
    interval y = node->operand[1] >= 0 ? as_range(w, node->operand[1]) : x;
    switch ((ts_op)node->op) {
    case TS_OP_feq:
    case TS_OP_ifeq:
        w->value[at].b = ask(x, y, false, true, &w->open[at]);
        return true;
    case TS_OP_flt:
    case TS_OP_iflt:
    case TS_OP_filt:
        w->value[at].b = ask(x, y, true, false, &w->open[at]);
        return true;
    case TS_OP_fle:
    case TS_OP_ifle:
    case TS_OP_file:
        w->value[at].b = ask(x, y, true, true, &w->open[at]);
        return true;
    case TS_OP_fits:
        w->open[at] = !is_point(x);
        w->value[at].b = ts_fits(x.low);
        return true;
    case TS_OP_ifrom:
        w->open[at] = !is_point(x);
        w->value[at].i = ts_ifrom(x.low);
        return true;
    default:
        return false;
    }
}

/* ---- integers and booleans ---- */

static bool is_known(const state *w, int32_t node, bool value) {
    return !w->open[node] && w->value[node].b == value;
}

/* An open operand does not matter where the other one decides. */
static bool decided(state *w, int64_t at) {
    const ts_node *node = &w->program->nodes[at];
    int32_t a = node->operand[0], b = node->operand[1], c = node->operand[2];
    if (node->op == TS_OP_band && (is_known(w, a, false) || is_known(w, b, false)))
        w->value[at].b = false;
    else if (node->op == TS_OP_bor && (is_known(w, a, true) || is_known(w, b, true)))
        w->value[at].b = true;
    else if ((node->op == TS_OP_iselect || node->op == TS_OP_bselect) && !w->open[a] &&
             !w->open[w->value[a].b ? b : c])
        w->value[at] = w->value[w->value[a].b ? b : c];
    else
        return false;
    return true;
}

static void plain_node(state *w, int64_t at) {
    const ts_node *node = &w->program->nodes[at];
    int arity = ts_op_kinds[node->op].arity;
    if (arity > 0 && question(w, at)) return;
    w->open[at] = false;
    for (int k = 0; k < arity; k++) w->open[at] |= w->open[node->operand[k]];
    if (w->open[at])
        w->open[at] = !decided(w, at);
    else
        w->value[at] = ts_node_eval(w->program, node, w->value);
}

static void run(state *w, int64_t h, int64_t i, int64_t j, interval s) {
    for (int64_t at = 0; at < w->program->count; at++) {
        const ts_node *node = &w->program->nodes[at];
        w->open[at] = false;
        switch (node->op) {
        case TS_OP_i:
            w->value[at].i = i;
            break;
        case TS_OP_j:
            w->value[at].i = j;
            break;
        case TS_OP_h:
            w->value[at].i = h;
            break;
        case TS_OP_s:
            w->range[at] = s;
            break;
        default:
            if (node->type == TS_FLOAT)
                w->range[at] = float_node(w, node);
            else
                plain_node(w, at);
        }
    }
}

bool ts_program_enclose(const ts_program *program, ts_dtype dtype, int64_t h, int64_t i, int64_t j,
                        double *low, double *high, void *scratch) {
    state w = {.program = program, .value = scratch, .narrow = dtype == TS_F32};
    w.range = (interval *)(w.value + program->count);
    w.open = (bool *)(w.range + program->count);
    w.u = w.narrow ? 0x1p-24 : 0x1p-53;
    w.eta = w.narrow ? 0x1p-149 : 0x1p-1074;
    run(&w, h, i, j, (interval){*low, *high});
    interval result = w.range[program->count - 1];
    if (!is_finite(result)) return false;
    *low = result.low, *high = result.high;
    return true;
}
