/* bound.c -- random problems: the roads lie within the sum of their bounds, and exact rows agree in
 * bits. */
#include "check.h"
#include "trial.h"

#include "../../core/kernel/kernel.h"

static const ts_run one_thread = {.allocator = {trial_resize, NULL}, .threads = 1};

/* What a road said of a problem. */
typedef struct {
    ts_matrix o, lse;
    const ts_tiling *tiling;
} road;

static road road_of(trial *t, ts_dtype dtype, const ts_tiling *tiling) {
    const ts_problem *p = &t->p;
    road r = {.tiling = tiling};
    r.o = (ts_matrix){dtype, p->n_q, p->heads * p->d_v, p->heads * p->d_v, 1, NULL};
    r.lse = (ts_matrix){dtype, p->n_q, p->heads, p->heads, 1, NULL};
    r.o.data = trial_take(t, (size_t)(r.o.rows * r.o.cols) * 8);
    r.lse.data = trial_take(t, (size_t)(r.lse.rows * r.lse.cols) * 8);
    return r;
}

static road run_road(trial *t, const ts_tiling *tiling) {
    ts_detail detail = {0};
    road r = road_of(t, t->p.dtype, tiling);
    CHECK_INT(tiling ? ts_attention(&t->p, tiling, true, &one_thread, &r.o, &r.lse, &detail)
                     : ts_softmax(&t->p, true, &one_thread, &r.o, &r.lse, &detail),
              TS_OK);
    return r;
}

/* The judge, in doubles for f32 problems too; its own rounding is added to the bounds. */
static road judge(trial *t) {
    ts_detail detail = {0};
    road r = road_of(t, TS_F64, NULL);
    CHECK_INT(ts_oracle(&t->p, 200, NULL, 0, true, &one_thread, &r.o, &r.lse, &detail), TS_OK);
    return r;
}

typedef struct {
    int64_t rows, unbounded, exact, rows_that_err;
    double worst_output, worst_lse, worst_expected;
} tally;

static void note(double *worst, double error, double bound) {
    if (error > 0 && error / bound > *worst) *worst = error / bound;
}

static void compare_row(const trial *t, const road *a, const road *judge, int64_t row, int64_t head,
                        tally *all) {
    const int64_t d_v = t->p.d_v;
    double output[32], expected[32], err = 0;
    ts_bound bound = {.output = output, .expected = expected};
    void *scratch = malloc(ts_bound_scratch(&t->p, a->tiling));
    ts_bound_row(&t->p, a->tiling, row, head, &bound, scratch);
    free(scratch);
    all->rows++;
    all->exact += bound.exact;
    all->unbounded += !bound.bounded;
    if (!bound.bounded) return;
    for (int64_t c = 0; c < d_v; c++) {
        double x = trial_get(&a->o, row, head * d_v + c);
        double o = trial_get(&judge->o, row, head * d_v + c), error = fabs(x - o);
        double own = 0x1p-53 * fabs(o) + 0x1p-1074;
        CHECK(error <= output[c] + own);
        if (bound.exact) CHECK_BITS(x, a->o.dtype == TS_F32 ? (double)(float)o : o);
        note(&all->worst_output, error, output[c] + own);
        note(&all->worst_expected, error, expected[c] + own);
        err += error;
    }
    double x = trial_get(&a->lse, row, head), lse = trial_get(&judge->lse, row, head);
    double error = x == lse ? 0 : fabs(x - lse), own = 0x1p-53 * fabs(lse) + 0x1p-1074;
    CHECK(error <= bound.lse + own);
    note(&all->worst_lse, error, bound.lse + own);
    all->rows_that_err += err > 0;
}

static void compare(ts_dtype dtype, bool integers, int rounds, tally *full, tally *tiled) {
    for (int round = 1; round <= rounds; round++) {
        trial t;
        trial_make(&t, (uint64_t)round, dtype, integers);
        road one = run_road(&t, NULL), two = run_road(&t, &t.tiling), three = judge(&t);
        int failed = check_failed;
        for (int64_t h = 0; h < t.p.heads; h++)
            for (int64_t i = 0; i < t.p.n_q; i++) {
                compare_row(&t, &one, &three, i, h, full);
                compare_row(&t, &two, &three, i, h, tiled);
            }
        if (check_failed > failed)
            printf("seed %d, dtype %d, integers %d\n", round, dtype, integers);
        trial_free(&t);
    }
}

static void check_random(void) {
    for (int dtype = TS_F32; dtype <= TS_F64; dtype++) {
        tally all[2] = {{0}, {0}};
        compare((ts_dtype)dtype, false, 400, &all[0], &all[1]);
        for (int road = 0; road < 2; road++) {
            const tally *a = &all[road];
            printf("%s, %s: %d rows, %d without bound, %d err, error / bound: o %.3f, lse %.3f, "
                   "expected %.3f\n",
                   dtype ? "f64" : "f32", road ? "attention" : "softmax", (int)a->rows,
                   (int)a->unbounded, (int)a->rows_that_err, a->worst_output, a->worst_lse,
                   a->worst_expected);
            CHECK(a->unbounded * 20 < a->rows);
            CHECK(a->rows_that_err * 4 > a->rows); /* what is compared does err */
            CHECK(a->worst_output > 0.01);         /* and the bound says something */
        }
    }
}

static void check_exact(void) {
    for (int dtype = TS_F32; dtype <= TS_F64; dtype++) {
        tally full = {0}, tiled = {0};
        compare((ts_dtype)dtype, true, 400, &full, &tiled);
        CHECK_INT(full.exact, tiled.exact);
        CHECK(tiled.exact * 2 > tiled.rows);
    }
}

/* Keys without numbers can be so many that the bytes for their scores, 40 1/8 a key, are a little
 * more than 2^64. */
static void check_too_many_keys(void) {
    const int64_t n_k = INT64_C(459731939531702221);
    const double scale = 1;
    double figure;
    const ts_matrix keys = {TS_F64, n_k, 0, 0, 1, NULL}, query = {TS_F64, 1, 0, 0, 1, NULL};
    const ts_problem p = {.dtype = TS_F64,
                          .n_q = 1,
                          .n_k = n_k,
                          .heads = 1,
                          .kv_heads = 1,
                          .first_key = 1,
                          .q = query,
                          .k = keys,
                          .v = keys,
                          .scale = &scale};
    ts_matrix lse = ts_matrix_packed(TS_F64, 1, 1, &figure);
    ts_bounds out = {.lse = &lse};
    ts_detail detail = {0};
    CHECK_INT(ts_problem_check(&p, &detail), TS_OK);
    CHECK_INT(ts_bound_rows(&p, NULL, NULL, 0, &one_thread, &out, &detail), TS_TOO_LARGE);
}

int main(void) {
    CHECK_INT(ts_kernel_select(getenv("TESSERA_ISA")), TS_OK);
    check_random();
    check_exact();
    check_too_many_keys();
    return check_done();
}
