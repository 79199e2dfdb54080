/* oracle_score.c -- score programs evaluated in MPFR: Lua's operations on numbers of any length. */
#include "oracle_score.h"

#include "table.h"

static bool fits(mpfr_t a) { return mpfr_integer_p(a) && mpfr_fits_intmax_p(a, MPFR_RNDN); }

static int64_t to_integer(mpfr_t a) { return fits(a) ? mpfr_get_sj(a, MPFR_RNDN) : 0; }

/* -1, 0 or 1 as a lies below, at or above integer i; 2 for NaN. */
static int against_integer(mpfr_t a, int64_t i, mpfr_t spare) {
    if (mpfr_nan_p(a)) return 2;
    mpfr_set_sj(spare, i, MPFR_RNDN); /* exact: the precision is at least 64 */
    int order = mpfr_cmp(a, spare);
    return order < 0 ? -1 : order > 0;
}

/* floor(a / b): luai_numidiv with an exact quotient. */
static int floor_division(mpfr_ptr to, mpfr_srcptr a, mpfr_srcptr b, mpfr_rnd_t round) {
    mpfr_div(to, a, b, round);
    return mpfr_floor(to, to);
}

/* luai_nummod: the remainder of truncated division, moved to the sign of b. */
static int modulo(mpfr_ptr to, mpfr_srcptr a, mpfr_srcptr b, mpfr_rnd_t round) {
    mpfr_fmod(to, a, b, round);
    int m = mpfr_nan_p(to) ? 0 : mpfr_sgn(to), sign = mpfr_nan_p(b) ? 0 : mpfr_sgn(b);
    return m * sign < 0 ? mpfr_add(to, to, b, round) : 0;
}

static int round_down(mpfr_ptr to, mpfr_srcptr a, mpfr_rnd_t round) {
    (void)round;
    return mpfr_floor(to, a);
}
static int round_up(mpfr_ptr to, mpfr_srcptr a, mpfr_rnd_t round) {
    (void)round;
    return mpfr_ceil(to, a);
}

/* Beyond this exponent no sine is looked for: as many digits of π are needed, and a score can ask
 * for more than a person waits for. The other roads have no finite number here. As many bits as the
 * oracle takes at most. */
enum { MOST_EXPONENT = 65536 };

static bool has_period(mpfr_srcptr a) {
    return !mpfr_regular_p(a) || mpfr_get_exp(a) <= MOST_EXPONENT;
}

static int none(mpfr_ptr to) {
    mpfr_set_nan(to);
    return 0;
}

static int sine(mpfr_ptr to, mpfr_srcptr a, mpfr_rnd_t round) {
    return has_period(a) ? mpfr_sin(to, a, round) : none(to);
}
static int cosine(mpfr_ptr to, mpfr_srcptr a, mpfr_rnd_t round) {
    return has_period(a) ? mpfr_cos(to, a, round) : none(to);
}
static int tangent(mpfr_ptr to, mpfr_srcptr a, mpfr_rnd_t round) {
    return has_period(a) ? mpfr_tan(to, a, round) : none(to);
}

typedef int unary(mpfr_ptr to, mpfr_srcptr a, mpfr_rnd_t round);
typedef int binary(mpfr_ptr to, mpfr_srcptr a, mpfr_srcptr b, mpfr_rnd_t round);

static unary *const unaries[TS_OP_COUNT] = {
    [TS_OP_fneg] = mpfr_neg,   [TS_OP_fabs] = mpfr_abs,   [TS_OP_ffloor] = round_down,
    [TS_OP_fceil] = round_up,  [TS_OP_fsqrt] = mpfr_sqrt, [TS_OP_fexp] = mpfr_exp,
    [TS_OP_flog] = mpfr_log,   [TS_OP_flog2] = mpfr_log2, [TS_OP_flog10] = mpfr_log10,
    [TS_OP_fsin] = sine,       [TS_OP_fcos] = cosine,     [TS_OP_ftan] = tangent,
    [TS_OP_ftanh] = mpfr_tanh,
};
static binary *const binaries[TS_OP_COUNT] = {
    [TS_OP_fadd] = mpfr_add,
    [TS_OP_fsub] = mpfr_sub,
    [TS_OP_fmul] = mpfr_mul,
    [TS_OP_fdiv] = mpfr_div,
    [TS_OP_ffloordiv] = floor_division,
    [TS_OP_fmod] = modulo,
    [TS_OP_fcmod] = mpfr_fmod,
    [TS_OP_fpow] = mpfr_pow,
};

/* A question about floats; false where `op` is none of those. */
static bool compare(ts_op op, const ts_node *node, ts_oracle_values *v, bool *answer) {
    int32_t a = node->operand[0], b = node->operand[1];
    switch (op) {
    case TS_OP_feq:
        *answer = mpfr_equal_p(v->exact[a], v->exact[b]);
        break;
    case TS_OP_flt:
        *answer = mpfr_less_p(v->exact[a], v->exact[b]);
        break;
    case TS_OP_fle:
        *answer = mpfr_lessequal_p(v->exact[a], v->exact[b]);
        break;
    case TS_OP_ifeq:
        *answer = against_integer(v->exact[b], v->plain[a].i, v->spare) == 0;
        break;
    case TS_OP_iflt:
        *answer = against_integer(v->exact[b], v->plain[a].i, v->spare) == 1;
        break;
    case TS_OP_ifle: {
        int order = against_integer(v->exact[b], v->plain[a].i, v->spare);
        *answer = order == 0 || order == 1;
        break;
    }
    case TS_OP_filt:
        *answer = against_integer(v->exact[a], v->plain[b].i, v->spare) == -1;
        break;
    case TS_OP_file:
        *answer = against_integer(v->exact[a], v->plain[b].i, v->spare) <= 0;
        break;
    case TS_OP_fits:
        *answer = fits(v->exact[a]);
        break;
    default:
        return false;
    }
    return true;
}

/* The value of one node that is none of i, j, h, s. */
static void evaluate(const ts_program *program, int64_t at, ts_oracle_values *v) {
    const ts_node *node = &program->nodes[at];
    int32_t a = node->operand[0], b = node->operand[1], c = node->operand[2];
    ts_op op = (ts_op)node->op;
    mpfr_ptr to = v->exact[at];
    bool answer;
    if (node->type == TS_FLOAT) {
        if (op == TS_OP_fselect)
            mpfr_set(to, v->exact[v->plain[a].b ? b : c], MPFR_RNDN);
        else if (op == TS_OP_ffrom)
            mpfr_set_sj(to, v->plain[a].i, MPFR_RNDN);
        else if (unaries[op])
            unaries[op](to, v->exact[a], MPFR_RNDN);
        else if (binaries[op])
            binaries[op](to, v->exact[a], v->exact[b], MPFR_RNDN);
        else
            mpfr_set_d(to, ts_node_eval(program, node, v->plain).f, MPFR_RNDN);
    } else if (op == TS_OP_ifrom) {
        v->plain[at].i = to_integer(v->exact[a]);
    } else if (compare(op, node, v, &answer)) {
        v->plain[at].b = answer;
    } else {
        v->plain[at] = ts_node_eval(program, node, v->plain);
    }
}

void ts_oracle_score(const ts_program *program, int64_t h, int64_t i, int64_t j, mpfr_t s,
                     ts_oracle_values *v) {
    for (int64_t at = 0; at < program->count; at++) {
        switch (program->nodes[at].op) {
        case TS_OP_i:
            v->plain[at].i = i;
            break;
        case TS_OP_j:
            v->plain[at].i = j;
            break;
        case TS_OP_h:
            v->plain[at].i = h;
            break;
        case TS_OP_s:
            mpfr_set(v->exact[at], s, MPFR_RNDN);
            break;
        default:
            evaluate(program, at, v);
        }
    }
    mpfr_set(s, v->exact[program->count - 1], MPFR_RNDN);
}
