/* softmax.c -- the definition on problems small enough to work out by hand. */
#include "../../core/softmax.h"

#include "check.h"

#include <stdlib.h>

static void *resize(void *data, void *block, size_t old_size, size_t new_size) {
    int64_t *left = data; /* requests still granted; NULL: all */
    (void)old_size;
    if (new_size == 0) {
        free(block);
        return NULL;
    }
    if (left && (*left)-- <= 0) return NULL;
    return realloc(block, new_size);
}

static const ts_run one_thread = {.allocator = {resize, NULL}, .threads = 1};

/* A problem of one head in f64 and, with the same numbers, in f32; scale 1. */
enum { MOST = 64 };
typedef struct {
    ts_problem p;
    double q[MOST], k[MOST], v[MOST], o[MOST], lse[MOST];
    float q32[MOST], k32[MOST], v32[MOST], o32[MOST], lse32[MOST];
    ts_detail detail;
} trial;

static ts_matrix view(ts_dtype dtype, int64_t rows, int64_t cols, double *wide, float *narrow) {
    return (ts_matrix){dtype, rows, cols, cols, 1, dtype == TS_F32 ? (void *)narrow : (void *)wide};
}

static const double unit_scale = 1;

/* One head, of packed matrices. */
static ts_problem one_head(ts_dtype dtype, int64_t n_q, int64_t n_k, int64_t d, int64_t d_v,
                           void *q, void *k, void *v) {
    return (ts_problem){.dtype = dtype,
                        .n_q = n_q,
                        .n_k = n_k,
                        .d = d,
                        .d_v = d_v,
                        .heads = 1,
                        .kv_heads = 1,
                        .first_key = 1,
                        .scale = &unit_scale,
                        .q = ts_matrix_packed(dtype, n_q, d, q),
                        .k = ts_matrix_packed(dtype, n_k, d, k),
                        .v = ts_matrix_packed(dtype, n_k, d_v, v)};
}

static ts_status run(trial *t, ts_dtype dtype, bool zero_empty) {
    ts_problem *p = &t->p;
    p->dtype = dtype;
    p->heads = p->kv_heads = 1;
    if (!p->scale) p->scale = &unit_scale;
    if (!p->first_key) p->first_key = 1;
    for (int n = 0; n < MOST; n++)
        t->q32[n] = (float)t->q[n], t->k32[n] = (float)t->k[n], t->v32[n] = (float)t->v[n];
    p->q = view(dtype, p->n_q, p->d, t->q, t->q32);
    p->k = view(dtype, p->n_k, p->d, t->k, t->k32);
    p->v = view(dtype, p->n_k, p->d_v, t->v, t->v32);
    ts_matrix o = view(dtype, p->n_q, p->d_v, t->o, t->o32);
    ts_matrix lse = view(dtype, p->n_q, 1, t->lse, t->lse32);
    CHECK_INT(ts_problem_check(p, &t->detail), TS_OK);
    ts_status status = ts_softmax(p, zero_empty, &one_thread, &o, &lse, &t->detail);
    for (int n = 0; dtype == TS_F32 && n < MOST; n++) t->o[n] = t->o32[n], t->lse[n] = t->lse32[n];
    return status;
}

/* The outcome of scores (as keys of width 1 under q = 1) over values. */
static ts_status of_scores(trial *t, ts_dtype dtype, int64_t n, const double *s, const double *v) {
    t->p.n_q = t->p.d = t->p.d_v = 1;
    t->p.n_k = n;
    t->q[0] = 1;
    for (int64_t j = 0; j < n; j++) t->k[j] = s[j], t->v[j] = v[j];
    return run(t, dtype, false);
}

static double ulp(ts_dtype dtype) { return dtype == TS_F32 ? 0x1p-23 : 0x1p-52; }

static void check_values(ts_dtype dtype) {
    const double u = ulp(dtype);
    trial t = {.p.n_q = 1};
    CHECK_INT(of_scores(&t, dtype, 2, (double[]){1, 2}, (double[]){10, 20}), TS_OK);
    CHECK_NEAR(t.o[0], 17.31058578630005, 20 * u);
    CHECK_NEAR(t.lse[0], 2.3132616875182228, 4 * u);

    CHECK_INT(of_scores(&t, dtype, 1, (double[]){-245000}, (double[]){7}), TS_OK); /* E07 */
    CHECK_NUMBER(t.o[0], 7);
    CHECK_NUMBER(t.lse[0], -245000);
    CHECK_INT(of_scores(&t, dtype, 2, (double[]){-3e38, -3e38}, (double[]){1, 3}), TS_OK);
    CHECK_NUMBER(t.o[0], 2);
    CHECK_INT(of_scores(&t, dtype, 2, (double[]){-20000, -20001}, (double[]){1, 3}),
              TS_OK); /* E08 */
    CHECK_NEAR(t.o[0], 1.53788284274, 4 * u + 1e-11);

    t.p.base = TS_BASE_2;
    CHECK_INT(of_scores(&t, dtype, 3, (double[]){3, 1, 0}, (double[]){8, 4, 2}), TS_OK);
    CHECK_NUMBER(t.o[0], dtype == TS_F32 ? (double)(float)(74.0 / 11) : 74.0 / 11);
    CHECK_NEAR(t.lse[0], 2.3978952727983707, 4 * u); /* ln 11 */
}

/* No output is -0, and every NaN is the quiet one. */
static void check_zero_and_nan(ts_dtype dtype) {
    trial t = {.p.n_q = 1};
    CHECK_INT(of_scores(&t, dtype, 2, (double[]){-0.0, 0}, (double[]){-0.0, -0.0}), TS_OK);
    CHECK_BITS(t.o[0], 0.0);
    t.p.propagate = true;
    CHECK_INT(of_scores(&t, dtype, 3, (double[]){1, -NAN, 2}, (double[]){1, 2, 3}), TS_OK);
    CHECK(isnan(t.o[0]) && !signbit(t.o[0]));
    CHECK(isnan(t.lse[0]));
    CHECK_INT(of_scores(&t, dtype, 2, (double[]){INFINITY, 0}, (double[]){1, 2}), TS_OK);
    CHECK(isnan(t.o[0]));
    CHECK_INT(of_scores(&t, dtype, 2, (double[]){0, -2000}, (double[]){1, INFINITY}), TS_OK);
    CHECK(isnan(t.o[0]));
    CHECK_NUMBER(t.lse[0], 0);
}

static void check_named(ts_dtype dtype) {
    trial t = {.p.n_q = 1, .p.first_key = 11};
    CHECK_INT(of_scores(&t, dtype, 3, (double[]){0, NAN, INFINITY}, (double[]){1, 2, 3}),
              TS_NONFINITE_SCORE);
    CHECK_INT(t.detail.key, 12);
    CHECK_INT(t.detail.row, 1);
    CHECK_INT(t.detail.head, 1);
    CHECK_INT(of_scores(&t, dtype, 3, (double[]){0, 1, INFINITY}, (double[]){1, -INFINITY, 3}),
              TS_NONFINITE_VALUE);
    CHECK_INT(t.detail.key, 12);
    CHECK_INT(t.detail.column, 1);
    CHECK_INT(of_scores(&t, dtype, 3, (double[]){0, 1, INFINITY}, (double[]){1, 2, NAN}),
              TS_NONFINITE_SCORE);
    /* an allowed score of -inf is not allowed, and what stands in its value cannot matter */
    CHECK_INT(of_scores(&t, dtype, 2, (double[]){-INFINITY, 5}, (double[]){NAN, 3}), TS_OK);
    CHECK_NUMBER(t.o[0], 3);
    CHECK_NUMBER(t.lse[0], 5);
    CHECK_INT(of_scores(&t, dtype, 1, (double[]){-INFINITY}, (double[]){3}), TS_EMPTY_ROW);
    CHECK_INT(t.detail.count, 1);
    if (dtype == TS_F32) /* a score beyond f32 is infinite in an f32 problem */
        CHECK_INT(of_scores(&t, dtype, 1, (double[]){1e39}, (double[]){3}), TS_NONFINITE_SCORE);
}

static void check_empty(ts_dtype dtype) {
    trial t = {.p.n_q = 3, .p.d = 2, .p.d_v = 2};
    CHECK_INT(run(&t, dtype, false), TS_EMPTY_ROW);
    CHECK_INT(t.detail.row, 1);
    CHECK_INT(t.detail.count, 3);
    CHECK_INT(run(&t, dtype, true), TS_OK);
    CHECK_NUMBER(t.o[5], 0);
    CHECK_NUMBER(t.lse[2], -INFINITY);

    const double sink = 0.5; /* X01 */
    t.p.sink = &sink;
    CHECK_INT(run(&t, dtype, false), TS_OK);
    CHECK_NUMBER(t.o[0], 0);
    CHECK_NUMBER(t.lse[0], 0.5);

    trial widths = {.p.n_q = 2, .p.n_k = 4, .p.d = 0, .p.d_v = 1, .v = {1, 2, 3, 6}};
    CHECK_INT(run(&widths, dtype, false), TS_OK);
    CHECK_NUMBER(widths.o[1], 3);
    widths.p.d_v = 0;
    CHECK_INT(run(&widths, dtype, false), TS_OK);
    widths.p.n_q = 0;
    CHECK_INT(run(&widths, dtype, false), TS_OK);
}

static void check_sink(void) {
    const double hundred = 100; /* X01 */
    trial t = {.p.sink = &hundred};
    CHECK_INT(of_scores(&t, TS_F64, 2, (double[]){0, 0}, (double[]){1, 1}), TS_OK);
    CHECK_NEAR(t.o[0], 7.4401519520416565e-44, 1e-57);
    CHECK_NUMBER(t.lse[0], 100);
    const double none = -INFINITY;
    t.p.sink = &none;
    CHECK_INT(of_scores(&t, TS_F64, 2, (double[]){0, 0}, (double[]){1, 3}), TS_OK);
    CHECK_NUMBER(t.o[0], 2);
    /* What an f32 cannot hold would be a sink on this road, and none on the fused one. */
    const double beyond = -1e300;
    ts_detail detail = {0};
    t.p.sink = &beyond;
    CHECK_INT(ts_problem_check(&t.p, &detail), TS_OK);
    t.p.dtype = t.p.q.dtype = t.p.k.dtype = t.p.v.dtype = TS_F32;
    CHECK_INT(ts_problem_check(&t.p, &detail), TS_NONFINITE_SCORE);
    CHECK_INT(detail.head, 1);
    CHECK_NUMBER(detail.value, beyond);
}

static void check_scale(ts_dtype dtype) { /* N06 */
    const double zero = 0, minus = -1;
    trial t = {.p.scale = &zero};
    CHECK_INT(of_scores(&t, dtype, 2, (double[]){5, -3}, (double[]){1, 3}), TS_OK);
    CHECK_NUMBER(t.o[0], 2);
    t.p.scale = &minus;
    CHECK_INT(of_scores(&t, dtype, 2, (double[]){0, 1000}, (double[]){1, 3}), TS_OK);
    CHECK_NUMBER(t.o[0], 1);
}

/* N04: a sum of many small weights in f32. */
static void check_long_sum(void) {
    enum { N = (1 << 20) + 1 };
    float *k = malloc(N * sizeof *k), *v = malloc(N * sizeof *v), q = 1, o, lse;
    for (int j = 0; j < N; j++) k[j] = j ? -17.328679513998633f : 0, v[j] = j > 0;
    ts_problem p = one_head(TS_F32, 1, N, 1, 1, &q, k, v);
    ts_matrix out = {TS_F32, 1, 1, 1, 1, &o}, out_lse = {TS_F32, 1, 1, 1, 1, &lse};
    ts_detail detail;
    CHECK_INT(ts_softmax(&p, false, &one_thread, &out, &out_lse, &detail), TS_OK);
    /* The score is rounded to f32, by at most 2^-20: o moves by p(1 - p) of that, and is rounded.
     */
    CHECK_NEAR(o, 1.0 / 33, 0x1p-20 * (32.0 / 33 / 33) + 0x1p-24);
    CHECK_NEAR(expf(lse), 1.03125, 0x1p-20 / 32 + 0x1p-22);
    free(k);
    free(v);
}

/* Heads side by side, two queries heads to a key head, negative and zero strides. */
static void check_heads_and_strides(void) {
    double q[4] = {0}, k[2] = {0}, v[4] = {100, 1, 2, 3}, o[4];
    const double scale[4] = {1, 1, 1, 1};
    ts_problem p = {.dtype = TS_F64,
                    .n_q = 1,
                    .n_k = 2,
                    .d = 1,
                    .d_v = 1,
                    .heads = 4,
                    .kv_heads = 2,
                    .first_key = 1,
                    .scale = scale,
                    .q = {TS_F64, 1, 4, 4, 1, q},
                    .k = {TS_F64, 2, 2, 0, 1, k},
                    .v = {TS_F64, 2, 2, -2, 1, v + 2}};
    ts_matrix out = {TS_F64, 1, 4, 0, -1, o + 3};
    ts_detail detail;
    CHECK_INT(ts_problem_check(&p, &detail), TS_OK);
    CHECK_INT(ts_softmax(&p, false, &one_thread, &out, NULL, &detail), TS_OK);
    CHECK_NUMBER(o[3], 51); /* head 1: the first column of v */
    CHECK_NUMBER(o[2], 51);
    CHECK_NUMBER(o[1], 2);
    CHECK_NUMBER(o[0], 2);
}

static bool stop(void *data, double done) {
    (void)data;
    return done > 0;
}

/* The same bits for any number of threads; failing memory and a stop are told. */
static void check_runs(void) {
    enum { N = 70, D = 5 };
    static double q[N * D], k[N * D], o[2][N * D], lse[2][N];
    for (int n = 0; n < N * D; n++) q[n] = sin(n * n), k[n] = cos(3 * n);
    ts_problem p = one_head(TS_F64, N, N, D, D, q, k, k);
    ts_detail detail;
    ts_run run = one_thread;
    for (int threads = 1; threads <= 8; threads++) {
        int to = threads > 1;
        ts_matrix out = {TS_F64, N, D, D, 1, o[to]}, out_lse = {TS_F64, N, 1, 1, 1, lse[to]};
        run.threads = threads;
        CHECK_INT(ts_softmax(&p, false, &run, &out, &out_lse, &detail), TS_OK);
        CHECK(!to || memcmp(o[0], o[1], sizeof o[0]) == 0);
        CHECK(!to || memcmp(lse[0], lse[1], sizeof lse[0]) == 0);
    }
    for (int n = 20; n < N; n += 7) q[n * D] = NAN;
    ts_matrix out = {TS_F64, N, D, D, 1, o[0]};
    for (int round = 0; round < 50; round++) {
        CHECK_INT(ts_softmax(&p, false, &run, &out, NULL, &detail), TS_NONFINITE_SCORE);
        CHECK_INT(detail.row, 21);
        CHECK_INT(detail.key, 1);
    }
    int64_t none = 0;
    ts_run failing = {.allocator = {resize, &none}};
    CHECK_INT(ts_softmax(&p, false, &failing, &out, NULL, &detail), TS_NO_MEMORY);
    CHECK(detail.bytes > 0);
    ts_run stopped = one_thread;
    stopped.poll = stop;
    for (int n = 0; n < N * D; n++) q[n] = 0;
    CHECK_INT(ts_softmax(&p, false, &stopped, &out, NULL, &detail), TS_INTERRUPTED);
}

static ts_status call(void *data, int64_t h, int64_t i, int64_t j, int64_t count,
                      const uint64_t *allowed, double *s) {
    for (int64_t n = 0; n < count; n++)
        if (allowed[n / 64] >> n % 64 & 1) s[n] = (double)(100 * h + 10 * i + j + n) + 0 * s[n];
    return data ? TS_CALLBACK : TS_OK;
}

static void check_called_score(void) {
    double k[3] = {0}, q[2] = {1, 1}, out[6];
    int64_t failing;
    ts_score score = {.call = call}, failure = {.call = call, .data = &failing};
    const ts_score *scores[] = {&score}, *failures[] = {&failure};
    ts_problem p = one_head(TS_F64, 2, 3, 1, 1, q, k, k);
    p.first_key = 5, p.score = scores;
    ts_matrix s = {TS_F64, 2, 3, 3, 1, out};
    ts_detail detail;
    CHECK_INT(ts_softmax_scores(&p, 0, &one_thread, &s, &detail), TS_OK);
    CHECK_NUMBER(out[0], 115);
    CHECK_NUMBER(out[5], 127);
    CHECK_INT(ts_softmax_weights(&p, 0, &one_thread, &s, &detail), TS_OK);
    CHECK_NEAR(out[0] + out[1] + out[2], 1, 0x1p-51);
    CHECK_NEAR(out[2], 0.66524095577, 1e-11);
    p.score = failures;
    CHECK_INT(ts_softmax_scores(&p, 0, &one_thread, &s, &detail), TS_CALLBACK);
}

int main(void) {
    for (int dtype = TS_F32; dtype <= TS_F64; dtype++) {
        check_values((ts_dtype)dtype);
        check_zero_and_nan((ts_dtype)dtype);
        check_named((ts_dtype)dtype);
        check_empty((ts_dtype)dtype);
        check_scale((ts_dtype)dtype);
    }
    check_sink();
    check_long_sum();
    check_heads_and_strides();
    check_runs();
    check_called_score();
    return check_done();
}
