/* nonfinite.c -- what NaN, infinities and masked poison do to the fused road, and what stops it. */
#include "sample.h"

static double one(void) { return 1; }

/* n_q rows of n_k keys whose scores are all 0 and whose values are all 1. */
static void make_plain(sample *s, ts_dtype dtype, int64_t n_q, int64_t n_k, int64_t heads) {
    s->problem =
        (ts_problem){.n_q = n_q, .n_k = n_k, .d = 2, .d_v = 3, .heads = heads, .kv_heads = heads};
    sample_make(s, dtype);
    s->problem.base = TS_BASE_E;
    sample_fill(&s->problem.q, one);
    sample_fill(&s->problem.v, one);
    for (int64_t j = 0; j < n_k; j++)
        for (int64_t c = 0; c < 2 * heads; c++) sample_set(&s->problem.k, j, c, c % 2 ? -1 : 1);
}

static ts_status attend(const sample *s, int64_t k, int threads, ts_matrix *o, ts_matrix *lse,
                        ts_detail *detail) {
    const ts_problem *p = &s->problem;
    ts_tiling tiling = {.q = 4};
    tiling.schedule.k = k;
    const ts_run run = sample_run(threads);
    *o = sample_matrix(p->dtype, p->n_q, p->heads * p->d_v);
    *lse = sample_matrix(p->dtype, p->n_q, p->heads);
    ts_status status = ts_attention(p, &tiling, false, &run, o, lse, detail);
    CHECK(sample_guarded(o) && sample_guarded(lse));
    return status;
}

/* cases.md E12, E13: a NaN or +inf among the scores, at any place of any length. */
static void check_scores(ts_dtype dtype, double poison) {
    static const int64_t lengths[] = {1, 3, 7, 8, 15, 16, 17, 33, 130};
    static sample s;
    ts_matrix o, lse;
    ts_detail detail;
    for (int n = 0; n < 9; n++)
        for (int64_t at = 0; at < lengths[n]; at += 1 + at / 16) {
            make_plain(&s, dtype, 9, lengths[n], 1);
            sample_set(&s.problem.k, at, 0, poison);
            for (int64_t k = 1; k <= 64; k += 21) {
                CHECK_INT(attend(&s, k, 1 + (int)at % 2, &o, &lse, &detail), TS_NONFINITE_SCORE);
                CHECK_INT(detail.row, 1);
                CHECK_INT(detail.key, at + 1);
                CHECK_INT(detail.head, 1);
                CHECK(isnan(poison) ? isnan(detail.value) : detail.value == poison);
            }
            s.problem.propagate = true;
            CHECK_INT(attend(&s, 5, 1, &o, &lse, &detail), TS_OK);
            CHECK(isnan(sample_get(&o, 8, 2)) && isnan(sample_get(&lse, 8, 0)));
        }
}

/* A score of -inf is a key not allowed: alone, it leaves an empty row. */
static void check_minus_infinity(void) {
    static sample s;
    ts_matrix o, lse;
    ts_detail detail;
    make_plain(&s, TS_F32, 2, 20, 1);
    for (int64_t j = 0; j < 20; j++) sample_set(&s.problem.k, j, 0, -INFINITY);
    CHECK_INT(attend(&s, 8, 1, &o, &lse, &detail), TS_EMPTY_ROW);
    CHECK_INT(detail.row, 1);
    CHECK_INT(detail.count, 2);
    sample_set(&s.problem.k, 13, 0, 1);
    sample_set(&s.problem.v, 4, 1, NAN); /* not allowed either, then */
    CHECK_INT(attend(&s, 8, 1, &o, &lse, &detail), TS_OK);
    CHECK_NUMBER(sample_get(&o, 1, 1), 1);
    CHECK_NUMBER(sample_get(&lse, 1, 0), 0);
}

/* cases.md E10: what stands in a masked key or value cannot matter, bit for bit. */
static void check_masked(ts_dtype dtype) {
    static const double poisons[] = {NAN, INFINITY, -INFINITY, 1e38};
    static sample s;
    ts_matrix want, o, lse;
    ts_detail detail;
    for (int64_t n_k = 2; n_k < 140; n_k += 13)
        for (int where = 0; where < 8; where++) {
            make_plain(&s, dtype, 9, n_k, 2);
            sample_fill(&s.problem.q, sample_normal);
            sample_fill(&s.problem.k, sample_normal);
            sample_fill(&s.problem.v, sample_normal);
            sample_mask(&s, false);
            for (int64_t i = 0; i < 9; i++)
                for (int64_t j = 0; j < n_k; j++)
                    if (j % 3 != 1) sample_open(&s, 0, i, j);
            CHECK_INT(attend(&s, 40, 1, &want, &lse, &detail), TS_OK);
            ts_matrix *m = where % 2 ? &s.problem.k : &s.problem.v;
            for (int64_t j = 1; j < n_k; j += 3)
                for (int64_t c = 0; c < m->cols; c++) sample_set(m, j, c, poisons[where / 2]);
            CHECK_INT(attend(&s, 40, 1, &o, &lse, &detail), TS_OK);
            CHECK(sample_same_bits(&o, &want));
        }
}

/* A value that is not finite, at a key that is allowed, even with a weight that underflows to 0. */
static void check_values(ts_dtype dtype) {
    static sample s;
    ts_matrix o, lse;
    ts_detail detail;
    for (int64_t n_k = 1; n_k < 100; n_k += 7) {
        make_plain(&s, dtype, 9, n_k, 2);
        sample_mask(&s, false);
        for (int64_t i = 0; i < 9; i++)
            for (int64_t j = 0; j < n_k; j++)
                if (i >= 5 || j != n_k - 1) sample_open(&s, 0, i, j);
        for (int64_t i = 0; i < 5; i++) sample_open(&s, 0, i, 0);
        if (n_k > 1) sample_set(&s.problem.k, n_k - 1, 2, -1e6);
        sample_set(&s.problem.v, n_k - 1, 3 + 1, -INFINITY);
        CHECK_INT(attend(&s, 40, 2, &o, &lse, &detail), TS_NONFINITE_VALUE);
        CHECK_INT(detail.row, n_k == 1 ? 1 : 6);
        CHECK_INT(detail.key, n_k);
        CHECK_INT(detail.head, 2);
        CHECK_INT(detail.column, 2);
        s.problem.propagate = true;
        CHECK_INT(attend(&s, 40, 2, &o, &lse, &detail), TS_OK);
        CHECK(isnan(sample_get(&o, 8, 3 + 1)));
        CHECK_NUMBER(sample_get(&o, 8, 3 + 2), 1);
        CHECK_NUMBER(sample_get(&o, 8, 1), 1);
        if (n_k > 1) CHECK_NUMBER(sample_get(&o, 4, 3 + 1), 1);
        CHECK(isfinite(sample_get(&lse, 8, 1)));
    }
}

/* The same where rows are few and whole vectors of V are used where they lie. */
static void check_values_in_place(ts_dtype dtype) {
    static sample s;
    ts_matrix o, lse;
    ts_detail detail;
    for (int masked = 0; masked < 2; masked++) {
        s.problem = (ts_problem){.n_q = 2, .n_k = 70, .d = 2, .d_v = 16, .heads = 1, .kv_heads = 1};
        sample_make(&s, dtype);
        sample_fill(&s.problem.q, one);
        sample_fill(&s.problem.k, one);
        sample_fill(&s.problem.v, one);
        sample_set(&s.problem.v, 66, 5, NAN);
        sample_mask(&s, false);
        for (int64_t i = 0; i < 2; i++)
            for (int64_t j = 0; j < 70; j++)
                if (j != 66 || (i == 1 && !masked)) sample_open(&s, 0, i, j);
        CHECK_INT(attend(&s, 70, 1, &o, &lse, &detail), masked ? TS_OK : TS_NONFINITE_VALUE);
        if (!masked) CHECK(detail.row == 2 && detail.key == 67 && detail.column == 6);
        s.problem.propagate = true;
        CHECK_INT(attend(&s, 70, 1, &o, &lse, &detail), TS_OK);
        CHECK_NUMBER(sample_get(&o, 0, 5), 1);
        CHECK_NUMBER(sample_get(&o, 1, 4), 1);
        CHECK(masked ? sample_get(&o, 1, 5) == 1 : isnan(sample_get(&o, 1, 5)));
    }
}

/* The first in the order of heads, rows and keys is named, whatever the tiling and the threads. */
static void check_first(void) {
    static sample s;
    ts_matrix o, lse;
    ts_detail detail;
    make_plain(&s, TS_F64, 500, 700, 4);
    sample_set(&s.problem.q, 480, 2, NAN);
    sample_set(&s.problem.q, 2, 6, NAN);
    sample_set(&s.problem.q, 490, 3, INFINITY);
    for (int64_t k = 30; k < 700; k += 150)
        for (int threads = 1; threads <= 3; threads++) {
            CHECK_INT(attend(&s, k, threads, &o, &lse, &detail), TS_NONFINITE_SCORE);
            CHECK_INT(detail.row, 481);
            CHECK_INT(detail.key, 1);
            CHECK_INT(detail.head, 2);
        }
}

/* Rows without keys stand as 0 where that is asked for; the first and their number are told. */
static void check_empty(void) {
    static sample s;
    ts_detail detail;
    make_plain(&s, TS_F32, 6, 2, 2);
    sample_mask(&s, true);
    for (int64_t i = 4; i < 6; i++)
        for (int64_t j = 0; j <= i - 4; j++) sample_open(&s, 0, i, j), sample_open(&s, 1, i, j);
    sample_open(&s, 0, 0, 1);
    ts_matrix o, lse;
    CHECK_INT(attend(&s, 1, 1, &o, &lse, &detail), TS_EMPTY_ROW);
    CHECK_INT(detail.row, 2);
    CHECK_INT(detail.head, 1);
    CHECK_INT(detail.count, 7);
    const ts_tiling tiling = {0};
    const ts_run run = sample_run(1);
    CHECK_INT(ts_attention(&s.problem, &tiling, true, &run, &o, &lse, &detail), TS_OK);
    CHECK_NUMBER(sample_get(&o, 1, 0), 0);
    CHECK_NUMBER(sample_get(&o, 0, 3), 0);
    CHECK_NUMBER(sample_get(&o, 5, 5), 1);
    CHECK_NUMBER(sample_get(&lse, 1, 0), -INFINITY);
    s.problem.sink = s.sink;
    s.sink[0] = 0.5, s.sink[1] = 100;
    CHECK_INT(ts_attention(&s.problem, &tiling, false, &run, &o, &lse, &detail), TS_OK);
    CHECK_NUMBER(sample_get(&o, 1, 0), 0);
    CHECK_NUMBER(sample_get(&lse, 1, 0), 0.5);
    CHECK_NUMBER(sample_get(&lse, 5, 1), 100);
    CHECK_NEAR(sample_get(&o, 5, 0), 2 / (2 + exp(0.5)), 8 * 0x1p-24);
}

/* Axes of length zero are legal. */
static void check_nothing(void) {
    static sample s;
    ts_detail detail;
    ts_matrix o, lse;
    for (int n = 0; n < 32; n++) {
        s.problem = (ts_problem){.n_q = n & 1 ? 3 : 0,
                                 .n_k = n & 2 ? 5 : 0,
                                 .d = n & 4 ? 2 : 0,
                                 .d_v = n & 8 ? 2 : 0,
                                 .heads = 2,
                                 .kv_heads = 1};
        sample_make(&s, n & 16 ? TS_F64 : TS_F32);
        s.problem.base = TS_BASE_E;
        sample_fill(&s.problem.q, one);
        sample_fill(&s.problem.k, one);
        sample_fill(&s.problem.v, one);
        const bool empty = s.problem.n_k == 0 && s.problem.n_q > 0;
        CHECK_INT(attend(&s, 2, 1, &o, &lse, &detail), empty ? TS_EMPTY_ROW : TS_OK);
        if (empty || s.problem.n_q == 0) continue;
        CHECK_NEAR(sample_get(&lse, 2, 1), (double)s.problem.d + log(5), 8 * 0x1p-24);
        if (s.problem.d_v > 0) CHECK_NUMBER(sample_get(&o, 2, 3), 1);
    }
}

/* ---- called scores, failing memory, a stop ---- */

static int64_t asked, forbidden;
static ts_status halve(void *data, int64_t h, int64_t i, int64_t j, int64_t count,
                       const uint64_t *allowed, double *x) {
    const sample *s = data;
    for (int64_t b = 0; b < count; b++) {
        const bool open = allowed[b / 64] >> (b % 64) & 1;
        forbidden += open != sample_allowed(s, h - 1, i - 1, j - 1 + b);
        if (open) x[b] = x[b] / 2 + (double)h, asked++;
    }
    return h == 3 ? TS_CALLBACK : TS_OK;
}

static void check_called(void) {
    static sample s;
    ts_detail detail;
    ts_matrix o, lse;
    const ts_score score = {NULL, halve, &s}, *scores[SAMPLE_HEADS];
    for (int h = 0; h < SAMPLE_HEADS; h++) scores[h] = &score;
    for (int masked = 0; masked < 2; masked++) {
        make_plain(&s, TS_F32, 5, 150, 2);
        for (int64_t j = 0; j < 150; j++)
            sample_set(&s.problem.k, j, 0, 3), sample_set(&s.problem.k, j, 2, 3);
        if (masked) {
            sample_mask(&s, true);
            for (int64_t i = 0; i < 5; i++)
                for (int64_t j = 0; j < 150; j++)
                    if ((i + j) % 7) sample_open(&s, i % 2, i, j), sample_open(&s, 1, i, j);
            for (int64_t i = 0; i < 5; i++) sample_open(&s, 0, i, 149);
        }
        s.problem.score = scores;
        asked = forbidden = 0;
        CHECK_INT(attend(&s, 90, 3, &o, &lse, &detail), TS_OK);
        CHECK_INT(forbidden, 0);
        CHECK(masked ? asked > 0 && asked < 2 * 5 * 150 : asked == 2 * 5 * 150);
        if (!masked) CHECK_NEAR(sample_get(&lse, 4, 1), 1 + 2 + log(150), 16 * 0x1p-24);
    }
    make_plain(&s, TS_F64, 5, 50, 4);
    s.problem.score = scores;
    CHECK_INT(attend(&s, 90, 1, &o, &lse, &detail), TS_CALLBACK);
}

static bool stop_at_once(void *data, double done) { return ++*(int *)data > 0 && done <= 1; }

static void check_stops(void) {
    static sample s;
    ts_detail detail;
    make_plain(&s, TS_F32, 300, 700, 2);
    ts_matrix o = sample_matrix(TS_F32, 300, 6);
    const ts_tiling tiling = {0};
    int polled = 0;
    ts_run run = sample_run(1); /* another could do all of it, and the one that asks nothing */
    run.poll = stop_at_once, run.poll_data = &polled;
    CHECK_INT(ts_attention(&s.problem, &tiling, false, &run, &o, NULL, &detail), TS_INTERRUPTED);
    CHECK(polled > 0);
    run.poll = NULL;
    sample_fail_at = 0;
    CHECK_INT(ts_attention(&s.problem, &tiling, false, &run, &o, NULL, &detail), TS_NO_MEMORY);
    CHECK(detail.bytes > 0);
    sample_fail_at = -1;
    CHECK_INT(sample_blocks, 0);
}

static bool count_polls(void *data, double done) { return ++*(int *)data < 0 || done > 1; }

/* The search for what is not finite asks between its chunks, as what came before it does. */
static void check_search_asks(void) {
    enum { CHUNKS = 20, KEYS = CHUNKS * 512 };
    static sample s;
    ts_detail detail;
    make_plain(&s, TS_F32, 4, KEYS, 1);
    sample_set(&s.problem.v, KEYS - 1, 0, NAN);
    ts_matrix o = sample_matrix(TS_F32, 4, 3);
    const ts_tiling tiling = {0};
    int polls[2] = {0, 0};
    for (int propagate = 0; propagate < 2; propagate++) {
        ts_run run = sample_run(1);
        run.poll = count_polls, run.poll_data = &polls[propagate];
        s.problem.propagate = propagate;
        CHECK_INT(ts_attention(&s.problem, &tiling, false, &run, &o, NULL, &detail),
                  propagate ? TS_OK : TS_NONFINITE_VALUE);
    }
    CHECK(polls[0] >= polls[1] + CHUNKS - 2);
}

int main(void) {
    for (int isa = 0; isa < SAMPLE_ISAS; isa++) {
        if (ts_kernel_select(sample_isas[isa])) continue;
        for (int dtype = TS_F32; dtype <= TS_F64; dtype++) {
            check_scores((ts_dtype)dtype, NAN);
            check_scores((ts_dtype)dtype, INFINITY);
            check_masked((ts_dtype)dtype);
            check_values((ts_dtype)dtype);
            check_values_in_place((ts_dtype)dtype);
        }
        check_minus_infinity();
        check_first();
        check_empty();
        check_nothing();
        check_called();
        check_stops();
        check_search_asks();
    }
    return check_done();
}
