/* oracle.c -- road 3: the definition once more, in numbers of any length. */
#include "oracle.h"

#include "arena.h"
#include "items.h"
#include "oracle_score.h"
#include "sizes.h"

#include <math.h>
#include <mpfr.h>
#include <string.h>

enum { PAUSE = 256 }; /* keys between two questions whether to stop */

typedef struct {
    const ts_problem *p;
    mpfr_prec_t bits;
    const int64_t *rows;
    int64_t row_count;
    ts_matrix *o, *lse;
    size_t number; /* bytes of one number's digits */
} job;

/* One thread's numbers: their digits lie in the work space, so MPFR allocates none of them. */
typedef struct {
    mpfr_t *q, *s, *z; /* d (scale folded in), n_k scores and then weights, d_v */
    mpfr_ptr max, norm, term, exact;
    ts_oracle_values values;
    uint64_t *bits; /* what the mask allows */
    void *scratch;
} work;

/* x rounded once to the dtype. */
static double rounded(ts_dtype dtype, mpfr_t x) {
    return dtype == TS_F32 ? (double)mpfr_get_flt(x, MPFR_RNDN) : mpfr_get_d(x, MPFR_RNDN);
}

/* +0.0 and the one quiet NaN. */
static void store(ts_matrix *m, int64_t row, int64_t col, double x) {
    double narrow = m->dtype == TS_F32 ? (double)(float)x : x; /* what rounds to -0 is +0, too */
    ts_matrix_set(m, row, col, isnan(x) ? (double)NAN : narrow + 0.0);
}

/* ---- scores ---- */

static void read_mask(const ts_problem *p, int64_t head, int64_t row, work *w) {
    int64_t words = ts_quotient_up(p->n_k, 64);
    const ts_mask *mask = ts_problem_mask(p, head);
    if (!mask || p->n_k == 0) {
        memset(w->bits, 0xff, (size_t)words * sizeof *w->bits);
        return;
    }
    ts_range i = {row + 1, row + 1}, j = {p->first_key, p->first_key + p->n_k - 1};
    ts_mask_tile(mask, head + 1, i, j, w->bits, words, w->scratch);
}

static bool is_allowed(const work *w, int64_t key) { return w->bits[key / 64] >> key % 64 & 1; }

static void forbid(work *w, int64_t key) { w->bits[key / 64] &= ~((uint64_t)1 << key % 64); }

static ts_status apply_score(const ts_problem *p, int64_t head, int64_t row, int64_t key, work *w) {
    const ts_score *score = ts_problem_score(p, head);
    mpfr_ptr s = w->s[key];
    int64_t j = p->first_key + key;
    if (!score) return TS_OK;
    if (score->program) {
        ts_oracle_score(score->program, head + 1, row + 1, j, s, &w->values);
        return TS_OK;
    }
    const uint64_t one = 1;
    double x = mpfr_get_d(s, MPFR_RNDN);
    ts_status status = score->call(score->data, head + 1, row + 1, j, 1, &one, &x);
    mpfr_set_d(s, x, MPFR_RNDN);
    return status;
}

/* What is infinite is what the dtype cannot hold; a score of -inf counts as not allowed. */
static ts_status score_key(const job *job, int64_t head, int64_t row, int64_t key,
                           const ts_matrix *k, work *w) {
    const ts_problem *p = job->p;
    mpfr_ptr s = w->s[key];
    mpfr_set_zero(s, 1);
    for (int64_t r = 0; r < p->d; r++) {
        mpfr_set_d(w->exact, ts_matrix_get(k, key, r), MPFR_RNDN);
        mpfr_fma(s, w->q[r], w->exact, s, MPFR_RNDN);
    }
    ts_status status = apply_score(p, head, row, key, w);
    double plain = rounded(p->dtype, s);
    if (!isfinite(plain)) mpfr_set_d(s, plain, MPFR_RNDN);
    if (plain == -(double)INFINITY) forbid(w, key);
    return status;
}

/* The first value of an allowed key that is not finite: its column, or -1. */
static int64_t bad_column(const ts_problem *p, const ts_matrix *v, int64_t key) {
    for (int64_t c = 0; c < p->d_v; c++)
        if (!isfinite(ts_matrix_get(v, key, c))) return c;
    return -1;
}

/* Errors of one key: its score before its value. */
static bool is_bad(const ts_problem *p, int64_t head, int64_t row, int64_t key, int64_t item,
                   const ts_matrix *v, work *w, ts_outcome *out) {
    bool score = mpfr_nan_p(w->s[key]) || mpfr_inf_p(w->s[key]);
    int64_t column = score ? 0 : bad_column(p, v, key);
    if (p->propagate || (!score && column < 0)) return false;
    ts_detail detail = {
        .row = row + 1, .key = p->first_key + key, .head = head + 1, .column = column + 1};
    detail.value = score ? mpfr_get_d(w->s[key], MPFR_RNDN) : ts_matrix_get(v, key, column);
    ts_items_fail(out, score ? TS_NONFINITE_SCORE : TS_NONFINITE_VALUE, item, detail);
    return true;
}

/* The scores of a row; false where it fails, or is left. */
static bool read_row(const job *job, int64_t item, int64_t head, int64_t row, work *w,
                     ts_outcome *out) {
    const ts_problem *p = job->p;
    ts_matrix q = ts_problem_q(p, head), k = ts_problem_k(p, head), v = ts_problem_v(p, head);
    mpfr_set_d(w->term, p->scale[head], MPFR_RNDN);
    for (int64_t r = 0; r < p->d; r++) {
        mpfr_set_d(w->exact, ts_matrix_get(&q, row, r), MPFR_RNDN);
        mpfr_mul(w->q[r], w->exact, w->term, MPFR_RNDN);
    }
    read_mask(p, head, row, w);
    for (int64_t key = 0; key < p->n_k; key++) {
        if (key % PAUSE == PAUSE - 1 && ts_items_pause(out, 0.7 * (double)key / (double)p->n_k))
            return false;
        if (!is_allowed(w, key)) continue;
        ts_status status = score_key(job, head, row, key, &k, w);
        if (status) ts_items_fail(out, status, item, (ts_detail){.row = row + 1});
        if (status || (is_allowed(w, key) && is_bad(p, head, row, key, item, &v, w, out)))
            return false;
    }
    return true;
}

/* ---- sums ---- */

static void power(ts_base base, mpfr_t x) {
    if (base == TS_BASE_2)
        mpfr_exp2(x, x, MPFR_RNDN);
    else
        mpfr_exp(x, x, MPFR_RNDN);
}

/* m over the allowed keys and the sink; false where there is none. A score that is not finite here
 * was let through, and makes all NaN. */
static bool find_max(const job *job, int64_t head, work *w) {
    const ts_problem *p = job->p;
    mpfr_set_inf(w->max, -1);
    if (p->sink) mpfr_set_d(w->max, p->sink[head], MPFR_RNDN);
    for (int64_t key = 0; key < p->n_k; key++) {
        if (!is_allowed(w, key)) continue;
        if (!mpfr_number_p(w->s[key]))
            mpfr_set_nan(w->max);
        else if (!mpfr_nan_p(w->max) && mpfr_greater_p(w->s[key], w->max))
            mpfr_set(w->max, w->s[key], MPFR_RNDN);
    }
    return !mpfr_inf_p(w->max);
}

static void add_key(const ts_problem *p, const ts_matrix *v, int64_t key, work *w) {
    mpfr_ptr weight = w->s[key];
    mpfr_sub(weight, weight, w->max, MPFR_RNDN);
    power(p->base, weight);
    mpfr_add(w->norm, w->norm, weight, MPFR_RNDN);
    for (int64_t c = 0; c < p->d_v; c++) {
        double x = ts_matrix_get(v, key, c);
        mpfr_set_d(w->exact, isfinite(x) ? x : (double)NAN, MPFR_RNDN);
        mpfr_fma(w->z[c], weight, w->exact, w->z[c], MPFR_RNDN);
    }
}

static bool sum_row(const job *job, int64_t head, work *w, ts_outcome *out) {
    const ts_problem *p = job->p;
    ts_matrix v = ts_problem_v(p, head);
    mpfr_set_zero(w->norm, 1);
    for (int64_t c = 0; c < p->d_v; c++) mpfr_set_zero(w->z[c], 1);
    for (int64_t key = 0; key < p->n_k; key++) {
        if (is_allowed(w, key)) add_key(p, &v, key, w);
        if (key % PAUSE == PAUSE - 1 &&
            ts_items_pause(out, 0.7 + 0.3 * (double)key / (double)p->n_k))
            return false;
    }
    if (!p->sink) return true;
    mpfr_set_d(w->term, p->sink[head], MPFR_RNDN);
    mpfr_sub(w->term, w->term, w->max, MPFR_RNDN);
    power(p->base, w->term);
    mpfr_add(w->norm, w->norm, w->term, MPFR_RNDN);
    return true;
}

static void store_row(const job *job, int64_t place, int64_t head, bool empty, work *w) {
    const ts_problem *p = job->p;
    for (int64_t c = 0; c < p->d_v; c++) {
        if (!empty) mpfr_div(w->term, w->z[c], w->norm, MPFR_RNDN);
        store(job->o, place, head * p->d_v + c, empty ? 0 : rounded(job->o->dtype, w->term));
    }
    if (!job->lse) return;
    if (!empty) { /* m ln(base) + ln ℓ */
        mpfr_log(w->term, w->norm, MPFR_RNDN);
        mpfr_const_log2(w->exact, MPFR_RNDN);
        if (p->base == TS_BASE_2) mpfr_mul(w->max, w->max, w->exact, MPFR_RNDN);
        mpfr_add(w->term, w->max, w->term, MPFR_RNDN);
    }
    store(job->lse, place, head, empty ? -(double)INFINITY : rounded(job->lse->dtype, w->term));
}

/* ---- work space ---- */

/* A number of the job's precision whose digits lie at digits. */
static void make_number(const job *job, mpfr_t x, void *digits) {
    mpfr_custom_init(digits, job->bits);
    mpfr_custom_init_set(x, MPFR_NAN_KIND, 0, job->bits, digits);
}

/* `count` numbers; made where the arena has memory. */
static mpfr_t *take_numbers(const job *job, ts_arena *arena, int64_t count) {
    mpfr_t *numbers = ts_arena_take(arena, count, sizeof(mpfr_t));
    char *digits = ts_arena_take(arena, count, job->number);
    for (int64_t n = 0; arena->base && n < count; n++)
        make_number(job, numbers[n], digits + (size_t)n * job->number);
    return numbers;
}

static mpfr_ptr take_number(const job *job, ts_arena *arena) {
    return (mpfr_ptr)take_numbers(job, arena, 1);
}

static void *place_work(const void *asked, ts_arena *arena) {
    const job *job = asked;
    const ts_problem *p = job->p;
    int64_t nodes = 0;
    work w = {0};
    for (int64_t h = 0; h < p->heads; h++) {
        const ts_score *score = ts_problem_score(p, h);
        if (score && score->program) nodes = ts_most(nodes, score->program->count);
    }
    w.q = take_numbers(job, arena, p->d);
    w.s = take_numbers(job, arena, p->n_k);
    w.z = take_numbers(job, arena, p->d_v);
    w.max = take_number(job, arena);
    w.norm = take_number(job, arena);
    w.term = take_number(job, arena);
    w.exact = take_number(job, arena);
    w.values.spare = take_number(job, arena);
    w.values.exact = take_numbers(job, arena, nodes);
    w.values.plain = ts_arena_take(arena, nodes, sizeof(ts_value));
    w.bits = ts_arena_take(arena, p->n_k / 64 + 1, sizeof(uint64_t));
    w.scratch = ts_arena_take(arena, 1, ts_problem_mask_scratch(p));
    return ts_arena_keep(arena, &w, sizeof w);
}

static void answer(const void *asked, int64_t item, void *memory, ts_outcome *out) {
    const job *job = asked;
    int64_t head = item / job->row_count, place = item % job->row_count;
    int64_t row = job->rows ? job->rows[place] : place;
    work *w = memory;
    if (!read_row(job, item, head, row, w, out)) return;
    bool empty = !find_max(job, head, w);
    if (empty)
        ts_items_note_empty(out, item);
    else if (!sum_row(job, head, w, out))
        return;
    store_row(job, place, head, empty, w);
}

static void leave(void) { mpfr_free_cache(); }

ts_status ts_oracle(const ts_problem *p, int64_t bits, const int64_t *rows, int64_t row_count,
                    bool zero_empty, const ts_run *run, ts_matrix *o, ts_matrix *lse,
                    ts_detail *detail) {
    /* A multiply-add of 64 bits takes as long as 1900 of the AVX2 kernels in f64, and longer ones
     * take more. */
    const double slower = 0x1p11;
    if (bits < 64 || bits > 65536) return TS_TOO_LARGE;
    job job = {.p = p,
               .bits = (mpfr_prec_t)bits,
               .rows = rows,
               .o = o,
               .lse = lse,
               .number = mpfr_custom_get_size((mpfr_prec_t)bits)};
    job.row_count = rows ? row_count : p->n_q;
    ts_outcome whole;
    const ts_items items = {.job = &job,
                            .count = job.row_count * p->heads,
                            .cost = slower * (double)job.row_count * (double)p->n_k *
                                    (double)p->heads * (double)(p->d + p->d_v),
                            .alone = ts_problem_calls(p, 0, p->heads) || !mpfr_buildopt_tls_p(),
                            .place = place_work,
                            .answer = answer,
                            .leave = leave};
    ts_status status = ts_items_run(&items, run, &whole, detail);
    if (status || whole.empty_rows == 0 || zero_empty) return status;
    int64_t place = whole.first_empty % job.row_count;
    *detail = (ts_detail){.row = (rows ? rows[place] : place) + 1,
                          .head = whole.first_empty / job.row_count + 1,
                          .count = whole.empty_rows};
    return TS_EMPTY_ROW;
}
