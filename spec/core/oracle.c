/* oracle.c -- the judge on numbers known to many digits, and every operation of its score programs.
 */
#include "../../core/oracle.h"

#include "../../core/oracle_score.h"
#include "check.h"
#include "trial.h"

static const ts_run two_threads = {.allocator = {trial_resize, NULL}, .threads = 2};
static const double unit_scale = 1;

/* One head of width 1 with query 1: the keys are the scores. */
static ts_problem of_scores(int64_t n, double *q, double *s, double *v) {
    return (ts_problem){.dtype = TS_F64,
                        .n_q = 2,
                        .n_k = n,
                        .d = 1,
                        .d_v = 1,
                        .heads = 1,
                        .kv_heads = 1,
                        .first_key = 1,
                        .scale = &unit_scale,
                        .q = {TS_F64, 2, 1, 0, 1, q},
                        .k = {TS_F64, n, 1, 1, 1, s},
                        .v = {TS_F64, n, 1, 1, 1, v}};
}

static ts_status ask(const ts_problem *p, int64_t bits, double *o, double *lse, ts_detail *detail) {
    ts_matrix om = {TS_F64, 2, 1, 1, 1, o}, lm = {TS_F64, 2, 1, 1, 1, lse};
    return ts_oracle(p, bits, NULL, 0, false, &two_threads, &om, &lm, detail);
}

static void check_digits(void) {
    double q = 1, s[] = {0, 1}, v[] = {0, 1}, o[2], lse[2];
    ts_problem p = of_scores(2, &q, s, v);
    ts_detail detail;
    for (int64_t bits = 64; bits <= 4096; bits *= 4) {
        CHECK_INT(ask(&p, bits, o, lse, &detail), TS_OK);
        CHECK_NUMBER(o[0], 0.73105857863000487925115924182); /* 1 / (1 + 1/e) */
        CHECK_NUMBER(o[1], o[0]);
        CHECK_NUMBER(lse[0], 1.31326168751822283404899549497); /* ln(1 + e) */
    }
    CHECK_INT(ask(&p, 63, o, lse, &detail), TS_TOO_LARGE);
    CHECK_INT(ask(&p, 65537, o, lse, &detail), TS_TOO_LARGE);
    double far[] = {0, -800}, one[] = {1, 1 + 0x1p-52}; /* the second weight is e^-800 */
    p = of_scores(2, &q, far, one);
    CHECK_INT(ask(&p, 2048, o, lse, &detail), TS_OK);
    CHECK_NUMBER(o[0], 1);
    double sink = 0.5;
    p = of_scores(0, &q, s, v), p.sink = &sink;
    CHECK_INT(ask(&p, 256, o, lse, &detail), TS_OK);
    CHECK_NUMBER(o[0], 0);
    CHECK_NUMBER(lse[1], 0.5);
    p.base = TS_BASE_2;
    CHECK_INT(ask(&p, 256, o, lse, &detail), TS_OK);
    CHECK_NUMBER(lse[1], 0.34657359027997265470861606072908828);
}

static void check_named(void) {
    double q = 1, s[] = {0, NAN, INFINITY, -INFINITY}, v[] = {1, 2, 3, NAN}, o[2], lse[2];
    ts_problem p = of_scores(4, &q, s, v);
    ts_detail detail = {0};
    CHECK_INT(ask(&p, 128, o, lse, &detail), TS_NONFINITE_SCORE);
    CHECK_INT(detail.key, 2);
    CHECK_INT(detail.row, 1);
    s[1] = 0, v[1] = INFINITY;
    CHECK_INT(ask(&p, 128, o, lse, &detail), TS_NONFINITE_VALUE);
    CHECK_INT(detail.key, 2);
    v[1] = 2, s[2] = 1;
    CHECK_INT(ask(&p, 128, o, lse, &detail),
              TS_OK);                           /* -inf is not allowed: its NaN cannot matter */
    CHECK_NUMBER(o[0], 2.36417532714874366479); /* (1 + 2 + 3e) / (2 + e) */
    s[2] = NAN, p.propagate = true;
    CHECK_INT(ask(&p, 128, o, lse, &detail), TS_OK);
    CHECK(isnan(o[0]) && !signbit(o[0]) && isnan(lse[0]));
    for (int n = 0; n < 4; n++) s[n] = -INFINITY;
    CHECK_INT(ask(&p, 128, o, lse, &detail), TS_EMPTY_ROW);
    CHECK_INT(detail.count, 2);
    CHECK_NUMBER(lse[1], -INFINITY);
}

/* Listed rows come in the order of the list. */
static void check_rows(void) {
    for (uint64_t seed = 1; seed <= 20; seed++) {
        trial t;
        trial_make(&t, seed, TS_F64, false);
        const ts_problem *p = &t.p;
        int64_t cols = p->heads * p->d_v, rows[3] = {p->n_q - 1, 0, p->n_q / 2};
        double *all = trial_take(&t, (size_t)(p->n_q * cols) * 8),
               *some = trial_take(&t, (size_t)(3 * cols) * 8);
        ts_matrix a = {TS_F64, p->n_q, cols, cols, 1, all}, b = {TS_F64, 3, cols, cols, 1, some};
        ts_detail detail;
        CHECK_INT(ts_oracle(p, 256, NULL, 0, true, &two_threads, &a, NULL, &detail), TS_OK);
        CHECK_INT(ts_oracle(p, 256, rows, 3, true, &two_threads, &b, NULL, &detail), TS_OK);
        for (int n = 0; n < 3; n++)
            CHECK(memcmp(all + rows[n] * cols, some + n * cols, (size_t)cols * 8) == 0);
        trial_free(&t);
    }
}

static void *refuse(void *data, void *block, size_t old_size, size_t new_size) {
    (void)data, (void)block, (void)old_size, (void)new_size;
    return NULL;
}
static bool stop(void *data, double done) {
    (void)data;
    return done >= 0;
}

static void check_runs(void) {
    double q = 1, s[600] = {0}, v[600] = {0}, o[2], lse[2];
    ts_problem p = of_scores(600, &q, s, v);
    ts_matrix om = {TS_F64, 2, 1, 1, 1, o};
    ts_detail detail;
    ts_run failing = {.allocator = {refuse, NULL}};
    CHECK_INT(ts_oracle(&p, 256, NULL, 0, false, &failing, &om, NULL, &detail), TS_NO_MEMORY);
    ts_run stopped = two_threads;
    stopped.threads = 1; /* the other could do all of it, and the one that asks nothing */
    stopped.poll = stop;
    CHECK_INT(ts_oracle(&p, 256, NULL, 0, false, &stopped, &om, NULL, &detail), TS_INTERRUPTED);
    (void)lse;
}

/* ---- score programs: every operation against the program's own evaluation in doubles ---- */

enum { BITS = 256, MOST = 16 };

static mpfr_t exact[MOST], spare;
static ts_value plain[MOST];

static void check_program(const ts_program *program, double s, double within) {
    ts_oracle_values values = {plain, exact, spare};
    ts_value doubles[MOST];
    mpfr_t x;
    mpfr_init2(x, BITS);
    mpfr_set_d(x, s, MPFR_RNDN);
    ts_oracle_score(program, 3, 5, 11, x, &values);
    double got = mpfr_get_d(x, MPFR_RNDN), want = ts_program_eval(program, s, 5, 11, 3, doubles).f;
    bool same =
        (isnan(got) && isnan(want)) || got == want || fabs(got - want) <= within * fabs(want);
    CHECK(same);
    if (!same)
        printf("op %s of s = %.17g: %.17g, not %.17g\n",
               ts_op_kinds[program->nodes[program->count - 3 + (program->count < 4)].op].name, s,
               got, want);
    mpfr_clear(x);
}

/* op(s), op(s, f), op(f, s) for floats f; op(s, i) and op(i, s) for integers; as a float. */
static void check_operation(ts_op op, double s, double f, int64_t i) {
    const ts_op_kind *kind = &ts_op_kinds[op];
    for (int turn = 0; turn < 2; turn++) {
        ts_program program = {0};
        ts_node nodes[MOST];
        int32_t with[2];
        for (int k = 0; k < kind->arity; k++) {
            bool is_s = k == (kind->arity == 1 ? 0 : turn);
            if (kind->operands[k] == 'i')
                with[k] = trial_node(&program, nodes, TS_OP_iconst, -1, -1, -1, (double)i);
            else if (is_s)
                with[k] = trial_node(&program, nodes, TS_OP_s, -1, -1, -1, 0);
            else
                with[k] = trial_node(&program, nodes, TS_OP_fconst, -1, -1, -1, f);
        }
        int32_t at =
            trial_node(&program, nodes, op, with[0], kind->arity > 1 ? with[1] : -1, -1, 0);
        int32_t one = trial_node(&program, nodes, TS_OP_fconst, -1, -1, -1, 1);
        if (kind->result == TS_BOOL)
            trial_node(&program, nodes, TS_OP_fselect, at, one,
                       trial_node(&program, nodes, TS_OP_fconst, -1, -1, -1, 7), 0);
        else if (kind->result == TS_INT)
            trial_node(&program, nodes, TS_OP_ffrom, at, -1, -1, 0);
        else
            trial_node(&program, nodes, TS_OP_fmul, at, one, -1, 0);
        check_program(&program, s, 0x1p-50);
    }
}

static void check_operations(void) {
    const double numbers[] = {0,  1,   -1,       2,        3.5,       -3.5, 0.75,
                              -7, 1e9, -0x1p-30, INFINITY, -INFINITY, NAN};
    const int64_t integers[] = {0, 1, -1, 3, -4, 1000000000};
    enum { NUMBERS = sizeof numbers / sizeof *numbers, INTEGERS = 6 };
    const ts_op ops[] = {TS_OP_fadd,      TS_OP_fsub,   TS_OP_fmul,  TS_OP_fdiv, TS_OP_fneg,
                         TS_OP_ffloordiv, TS_OP_fmod,   TS_OP_fcmod, TS_OP_fpow, TS_OP_fabs,
                         TS_OP_ffloor,    TS_OP_fceil,  TS_OP_fsqrt, TS_OP_fexp, TS_OP_flog,
                         TS_OP_flog2,     TS_OP_flog10, TS_OP_fsin,  TS_OP_fcos, TS_OP_ftan,
                         TS_OP_ftanh,     TS_OP_ifrom,  TS_OP_fits,  TS_OP_feq,  TS_OP_flt,
                         TS_OP_fle,       TS_OP_ifeq,   TS_OP_iflt,  TS_OP_ifle, TS_OP_filt,
                         TS_OP_file};
    for (int n = 0; n < MOST; n++) mpfr_init2(exact[n], BITS);
    mpfr_init2(spare, BITS);
    for (size_t op = 0; op < sizeof ops / sizeof *ops; op++)
        for (int a = 0; a < NUMBERS; a++)
            for (int b = 0; b < NUMBERS; b++)
                for (int i = 0; i < INTEGERS; i++)
                    check_operation(ops[op], numbers[a], numbers[b], integers[i]);
    for (int n = 0; n < MOST; n++) mpfr_clear(exact[n]);
    mpfr_clear(spare);
}

int main(void) {
    check_digits();
    check_named();
    check_rows();
    check_runs();
    check_operations();
    mpfr_free_cache();
    return check_done();
}
