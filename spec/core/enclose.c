/* enclose.c -- intervals of score programs hold what is exact and what is computed. */
#include "../../core/enclose.h"

#include "../../core/oracle_score.h"
#include "check.h"
#include "trial.h"

enum { NODES = 14, BITS = 256 };

static mpfr_t exact[NODES], spare;
static ts_value plain[NODES];
static _Alignas(64) unsigned char scratch[1 << 20];

/* A node of some type among those made so far, by chance; there is one of each. */
static int32_t pick(trial *t, const ts_program *program, ts_type type) {
    for (;;) {
        int32_t at = (int32_t)trial_draw(t, program->count);
        if (program->nodes[at].type == type) return at;
    }
}

/* A random program over s, i, j and constants, whose last node is a float that depends on s. */
static void random_program(trial *t, ts_program *program, ts_node *nodes) {
    *program = (ts_program){.nodes = nodes};
    const double constants[] = {0, 1, -1, 2, 0.5, 0.1, 3, -7.25};
    trial_node(program, nodes, TS_OP_s, -1, -1, -1, 0);
    trial_node(program, nodes, TS_OP_i, -1, -1, -1, 0);
    trial_node(program, nodes, TS_OP_fconst, -1, -1, -1, constants[trial_draw(t, 8)]);
    trial_node(program, nodes, TS_OP_flt, 0, 2, -1, 0);
    while (program->count < NODES) {
        ts_op op = (ts_op)(TS_OP_iadd + trial_draw(t, TS_OP_itable - TS_OP_iadd));
        const ts_op_kind *kind = &ts_op_kinds[op];
        int32_t with[3] = {-1, -1, -1};
        if (program->count == NODES - 1 && kind->result != TS_FLOAT) continue;
        for (int k = 0; k < kind->arity; k++)
            with[k] = pick(t, program,
                           kind->operands[k] == 'i'   ? TS_INT
                           : kind->operands[k] == 'f' ? TS_FLOAT
                                                      : TS_BOOL);
        trial_node(program, nodes, op, with[0], with[1], with[2], 0);
    }
}

static double exact_value(const ts_program *program, double s) {
    ts_oracle_values values = {plain, exact, spare};
    mpfr_t x;
    mpfr_init2(x, BITS);
    mpfr_set_d(x, s, MPFR_RNDN);
    ts_oracle_score(program, 2, 5, 9, x, &values);
    double result = mpfr_get_d(x, MPFR_RNDN);
    mpfr_clear(x);
    return result;
}

static double computed_value(const ts_program *program, ts_dtype dtype, double s) {
    float narrow = (float)s;
    if (dtype == TS_F32)
        ts_program_score_f32(program, 2, 5, 9, 1, &narrow, scratch);
    else
        ts_program_score_f64(program, 2, 5, 9, 1, &s, scratch);
    return dtype == TS_F32 ? (double)narrow : s;
}

static bool holds(double low, double high, double x) {
    double slack = 0x1p-53 * fabs(x) + 0x1p-1074; /* x was rounded to a double */
    return low - slack <= x && x <= high + slack;
}

static void check_sound(void) {
    int64_t known = 0, tight = 0;
    trial t = {.state = 5};
    for (int round = 0; round < 40000; round++) {
        ts_program program;
        ts_node nodes[NODES];
        ts_dtype dtype = (ts_dtype)(round % 2);
        random_program(&t, &program, nodes);
        double s = trial_draw(&t, 3) ? 2 * trial_normal(&t) : (double)trial_draw(&t, 5) - 2;
        double width = trial_draw(&t, 2) ? 0 : ldexp(1, -(int)trial_draw(&t, 30));
        if (trial_draw(&t, 4) == 0) { /* as large or small as a score can be */
            int most = dtype == TS_F32 ? 120 : 1000, shift = (int)trial_draw(&t, 2 * most) - most;
            s = ldexp(s, shift), width = ldexp(width, shift);
        }
        if (dtype == TS_F32) s = (float)s;
        double low = s - width, high = s + width;
        if (ts_program_scratch(&program) > sizeof scratch) {
            CHECK(!"there is room for the program's scratch");
            return;
        }
        if (!ts_program_enclose(&program, dtype, 2, 5, 9, &low, &high, scratch)) continue;
        known++;
        tight += high - low <= 1e-5 * (1 + fabs(low));
        for (int at = -2; at <= 2; at++) {
            double x = s + width * at / 2;
            if (dtype == TS_F32 && ((float)x < s - width || (float)x > s + width)) continue;
            if (dtype == TS_F32) x = (float)x;
            double e = exact_value(&program, x), c = computed_value(&program, dtype, x);
            bool ok = holds(low, high, e) && holds(low, high, c);
            CHECK(ok);
            if (ok) continue;
            printf("round %d, s = %.17g in %.17g +- %g: exact %.17g, computed %.17g, not in "
                   "[%.17g, %.17g]\n",
                   round, x, s, width, e, c, low, high);
            for (int n = 0; n < NODES; n++)
                printf("  %d %s %d %d %d %g\n", n, ts_op_kinds[nodes[n].op].name,
                       nodes[n].operand[0], nodes[n].operand[1], nodes[n].operand[2],
                       nodes[n].constant.f);
        }
    }
    CHECK(known > 10000);
    CHECK(tight > known / 4);
    printf("%d known, %d tight\n", (int)known, (int)tight);
}

/* Whole numbers under +, - and * by whole numbers are points: rows of them may be exact. */
static void check_points(void) {
    trial t = {.p.heads = 1};
    trial_score(&t, true); /* s + (j - i) */
    for (int dtype = TS_F32; dtype <= TS_F64; dtype++) {
        double low = -3, high = -3;
        CHECK(
            ts_program_enclose(&t.score_program, (ts_dtype)dtype, 1, 4, 11, &low, &high, scratch));
        CHECK_NUMBER(low, 4);
        CHECK_NUMBER(high, 4);
    }
}

/* s in [1, 2] against c chooses 10, or else 20: both where some score there answers yes and another
 * no, be it the one at the edge. */
static void check_edges(void) {
    static const struct {
        ts_op op;
        double c, low, high;
    } asked[] = {{TS_OP_flt, 1, 20, 20},   {TS_OP_flt, 2, 10, 20}, {TS_OP_flt, 2.5, 10, 10},
                 {TS_OP_fle, 0.5, 20, 20}, {TS_OP_fle, 1, 10, 20}, {TS_OP_fle, 2, 10, 10},
                 {TS_OP_feq, 0.5, 20, 20}, {TS_OP_feq, 1, 10, 20}, {TS_OP_feq, 2, 10, 20}};
    for (size_t n = 0; n < sizeof asked / sizeof *asked; n++) {
        ts_program program = {0};
        ts_node nodes[NODES];
        int32_t s = trial_node(&program, nodes, TS_OP_s, -1, -1, -1, 0);
        int32_t c = trial_node(&program, nodes, TS_OP_fconst, -1, -1, -1, asked[n].c);
        int32_t answer = trial_node(&program, nodes, asked[n].op, s, c, -1, 0);
        int32_t yes = trial_node(&program, nodes, TS_OP_fconst, -1, -1, -1, 10);
        int32_t no = trial_node(&program, nodes, TS_OP_fconst, -1, -1, -1, 20);
        trial_node(&program, nodes, TS_OP_fselect, answer, yes, no, 0);
        double low = 1, high = 2;
        CHECK(ts_program_enclose(&program, TS_F64, 2, 5, 9, &low, &high, scratch));
        CHECK_NUMBER(low, asked[n].low);
        CHECK_NUMBER(high, asked[n].high);
    }
}

/* The whole part of s in [1.5, 3.5] is not known, nor is what is looked up by it or chosen from it;
 * i, the other choice, is. */
static void check_unknown_integers(void) {
    const ts_matrix rows = {TS_F64, 5, 3, 0, 1, (double[]){1, 2, 4}};
    const ts_table table = {.kind = TS_TABLE_MATRIX, .matrix = rows};
    for (int choice = 0; choice < 3; choice++) {
        ts_program program = {.tables = &table, .table_count = 1};
        ts_node nodes[NODES];
        int32_t s = trial_node(&program, nodes, TS_OP_s, -1, -1, -1, 0);
        int32_t i = trial_node(&program, nodes, TS_OP_i, -1, -1, -1, 0);
        int32_t whole = trial_node(&program, nodes, TS_OP_ifrom, s, -1, -1, 0);
        if (choice == 2) {
            nodes[trial_node(&program, nodes, TS_OP_matrix, i, whole, -1, 0)].table = 0;
        } else {
            int32_t edge = trial_node(&program, nodes, TS_OP_fconst, -1, -1, -1, choice ? 1 : 4);
            int32_t below = trial_node(&program, nodes, TS_OP_flt, s, edge, -1, 0);
            int32_t chosen = trial_node(&program, nodes, TS_OP_iselect, below, i, whole, 0);
            trial_node(&program, nodes, TS_OP_ffrom, chosen, -1, -1, 0);
        }
        double low = 1.5, high = 3.5;
        CHECK_INT(ts_program_enclose(&program, TS_F64, 2, 5, 9, &low, &high, scratch), choice == 0);
        CHECK_NUMBER(low, choice ? 1.5 : 5);
        CHECK_NUMBER(high, choice ? 3.5 : 5);
    }
}

int main(void) {
    for (int n = 0; n < NODES; n++) mpfr_init2(exact[n], BITS);
    mpfr_init2(spare, BITS);
    check_sound();
    check_points();
    check_edges();
    check_unknown_integers();
    for (int n = 0; n < NODES; n++) mpfr_clear(exact[n]);
    mpfr_clear(spare);
    mpfr_free_cache();
    return check_done();
}
