/* softmax.c -- road 1, as the definition reads: scores, weights e^(s - m), their sum, and one true
 * division. A few rows at a time share what they read; no row's arithmetic depends on another's. */
#include "softmax.h"

#include "arena.h"
#include "softmax_rows.h"

#include <math.h>
#include <string.h>

enum { STRIP = TS_SOFTMAX_STRIP, MOST_ROWS = 8 }; /* rows that share a read of K */

typedef enum { OUTPUT, SCORES, WEIGHTS } question;

typedef struct {
    const ts_problem *p;
    question asked;
    bool zero_empty;
    int64_t first_head, heads; /* the heads asked for */
    int64_t rows;              /* to an item */
    int64_t items_a_head;
    ts_matrix *out, *lse;
} job;

/* +0.0 and the one quiet NaN, rounded once to the matrix's dtype. */
static void store(ts_matrix *m, int64_t row, int64_t col, double x) {
    double narrow = m->dtype == TS_F32 ? (double)(float)x : x; /* what rounds to -0 is +0, too */
    ts_matrix_set(m, row, col, isnan(x) ? (double)NAN : narrow + 0.0);
}

/* ---- one row ---- */

/* The first key whose score is NaN or +inf, or -1. */
static int64_t bad_score(const double *s, int64_t n_k) {
    for (int64_t j = 0; j < n_k; j++)
        if (!(s[j] < (double)INFINITY)) return j;
    return -1;
}

/* Sets a bit for each key whose value is not finite in every column. */
static void find_poor(const ts_problem *p, int64_t head, uint64_t *poor) {
    ts_matrix v = ts_problem_v(p, head);
    memset(poor, 0, (size_t)ts_softmax_words(p) * sizeof *poor);
    for (int64_t j = 0; j < p->n_k; j++) {
        bool bad = false;
        for (int64_t c = 0; c < p->d_v; c++) bad |= !isfinite(ts_matrix_get(&v, j, c));
        poor[j / STRIP] |= (uint64_t)bad << j % STRIP;
    }
}

/* The first poor key below `end` that the row may use, or -1. */
static int64_t bad_value(const uint64_t *poor, const double *s, int64_t end) {
    for (int64_t j = 0; j < end; j++) {
        if (j % STRIP == 0 && poor[j / STRIP] == 0)
            j += STRIP - 1;
        else if (poor[j / STRIP] >> j % STRIP & 1 && s[j] != -(double)INFINITY)
            return j;
    }
    return -1;
}

/* Its first column that is not finite. */
static int64_t bad_column(const ts_matrix *v, int64_t j) {
    int64_t c = 0;
    while (isfinite(ts_matrix_get(v, j, c))) c++;
    return c;
}

/* What a row came to: m over scores and sink, and the normaliser. */
typedef struct {
    double max, norm;
    bool empty; /* neither keys nor sink */
} row_sum;

static double power(ts_base base, double x) { return base == TS_BASE_2 ? exp2(x) : exp(x); }

/* Turns the scores s of one row into base^(s - m), 0 where not allowed. */
static row_sum weigh(const ts_problem *p, int64_t head, double *s) {
    double sink = p->sink ? p->sink[head] : -(double)INFINITY, max = sink;
    for (int64_t j = 0; j < p->n_k; j++)
        if (s[j] > max || isnan(s[j])) max = s[j];
    if (max == -(double)INFINITY) {
        memset(s, 0, (size_t)p->n_k * sizeof *s);
        return (row_sum){max, 0, true};
    }
    double norm = 0;
    for (int64_t j = 0; j < p->n_k; j++) {
        s[j] = s[j] == -(double)INFINITY ? 0 : power(p->base, s[j] - max);
        norm += s[j];
    }
    return (row_sum){max, norm + (sink == -(double)INFINITY ? 0 : power(p->base, sink - max)),
                     false};
}

static double lse_of(ts_base base, row_sum sum) {
    return sum.empty ? sum.max : (base == TS_BASE_2 ? sum.max * M_LN2 : sum.max) + log(sum.norm);
}

/* row, head and column count from 0; key is a number. */
static ts_detail detail_of(int64_t head, int64_t row, int64_t key, int64_t column, double value) {
    return (ts_detail){
        .row = row + 1, .key = key, .head = head + 1, .column = column + 1, .value = value};
}

/* What of row `row` is not finite is an error, or, propagated, NaN. */
static void judge_scores(const job *job, int64_t item, int64_t head, int64_t row,
                         const uint64_t *poor, double *s, ts_outcome *f) {
    const ts_problem *p = job->p;
    int64_t bad = bad_score(s, p->n_k), value = -1;
    if (p->propagate) {
        for (int64_t j = bad; j >= 0 && j < p->n_k; j++)
            if (!(s[j] < (double)INFINITY)) s[j] = NAN;
        return;
    }
    ts_matrix v = ts_problem_v(p, head);
    if (job->asked == OUTPUT) value = bad_value(poor, s, bad < 0 ? p->n_k : bad);
    if (value >= 0) {
        int64_t column = bad_column(&v, value);
        ts_items_fail(
            f, TS_NONFINITE_VALUE, item,
            detail_of(head, row, p->first_key + value, column, ts_matrix_get(&v, value, column)));
    } else if (bad >= 0) {
        ts_items_fail(f, TS_NONFINITE_SCORE, item,
                      detail_of(head, row, p->first_key + bad, 0, s[bad]));
    }
}

/* z = sum of weights times values, for rows whose weights stand in w->s; keys that a row may not
 * use are not touched: allowed scores of -inf have been dropped from the bits. */
static bool sum_values(const ts_problem *p, int64_t head, int64_t rows, ts_softmax_rows *w,
                       ts_outcome *f) {
    ts_matrix v = ts_problem_v(p, head);
    int64_t words = ts_softmax_words(p);
    memset(w->z, 0, (size_t)(rows * p->d_v) * sizeof *w->z);
    for (int64_t key = 0; key < p->n_k; key += STRIP) {
        if (ts_softmax_leaves(p, key, rows, p->d_v, 0.5, f)) return false;
        int64_t count = ts_least(p->n_k - key, STRIP);
        uint64_t any = 0;
        for (int64_t r = 0; r < rows; r++) any |= w->bits[r * words + key / STRIP];
        for (int64_t n = 0; any && n < count; n++)
            for (int64_t c = 0; c < p->d_v; c++) {
                double x = ts_matrix_get(&v, key + n, c);
                w->strip[n * p->d_v + c] = isfinite(x) ? x : (double)NAN; /* propagated as NaN */
            }
        for (int64_t r = 0; r < rows; r++)
            for (int64_t n = 0; n < count; n++) {
                if (!(w->bits[r * words + key / STRIP] >> n & 1)) continue;
                double weight = w->s[r * p->n_k + key + n];
                const double *restrict value = w->strip + n * p->d_v;
                double *restrict z = w->z + r * p->d_v;
                for (int64_t c = 0; c < p->d_v; c++) z[c] += weight * value[c];
            }
    }
    return true;
}

/* ---- work space ---- */

static void *place_work(const void *asked, ts_arena *arena) {
    const job *job = asked;
    const ts_problem *p = job->p;
    const int64_t rows = job->rows, words = ts_softmax_words(p);
    ts_softmax_rows w = {0};
    w.q = ts_arena_take_grid(arena, rows, p->d, sizeof(double));
    w.s = ts_arena_take_grid(arena, rows, p->n_k, sizeof(double));
    w.strip = ts_arena_take_grid(arena, STRIP, ts_most(p->d, p->d_v), sizeof(double));
    w.z = ts_arena_take_grid(arena, rows, p->d_v, sizeof(double));
    w.bits = ts_arena_take_grid(arena, rows, words, sizeof(uint64_t));
    w.poor = ts_arena_take(arena, words, sizeof(uint64_t));
    w.scratch = ts_arena_take(
        arena, 1, ts_most_bytes(ts_problem_mask_scratch(p), ts_problem_score_scratch(p)));
    return ts_arena_keep(arena, &w, sizeof w);
}

/* ---- items ---- */

/* Drops keys whose allowed score is -inf: it counts as not allowed. */
static void drop_infinite(const ts_problem *p, int64_t rows, ts_softmax_rows *w) {
    int64_t words = ts_softmax_words(p);
    for (int64_t r = 0; r < rows; r++)
        for (int64_t j = 0; j < p->n_k; j++)
            if (w->s[r * p->n_k + j] == -(double)INFINITY)
                w->bits[r * words + j / STRIP] &= ~((uint64_t)1 << j % STRIP);
}

static void store_row(const job *job, int64_t head, int64_t row, row_sum sum, const double *s,
                      const double *z) {
    const ts_problem *p = job->p;
    for (int64_t j = 0; job->asked != OUTPUT && j < p->n_k; j++)
        store(job->out, row, j, job->asked == SCORES || s[j] == 0 ? s[j] : s[j] / sum.norm);
    if (job->asked != OUTPUT) return;
    for (int64_t c = 0; c < p->d_v; c++)
        store(job->out, row, head * p->d_v + c, sum.empty ? 0 : z[c] / sum.norm);
    if (job->lse) store(job->lse, row, head, lse_of(p->base, sum));
}

/* Answers item `item`: a few rows of one head. */
static void answer(const void *asked, int64_t item, void *memory, ts_outcome *f) {
    const job *job = asked;
    const ts_problem *p = job->p;
    ts_softmax_rows *w = memory;
    int64_t head = job->first_head + item / job->items_a_head;
    int64_t row = item % job->items_a_head * job->rows;
    int64_t rows = ts_least(p->n_q - row, job->rows);
    row_sum sums[MOST_ROWS] = {{0, 0, false}};
    ts_status status = ts_softmax_read_scores(p, head, row, rows, w, f);
    if (status == TS_INTERRUPTED) return;
    if (status) ts_items_fail(f, status, item, detail_of(head, row, 0, 0, 0));
    if (job->asked == OUTPUT && !p->propagate) find_poor(p, head, w->poor);
    for (int64_t r = 0; !f->status && r < rows; r++)
        judge_scores(job, item, head, row + r, w->poor, w->s + r * p->n_k, f);
    if (f->status) return;
    if (job->asked == OUTPUT) drop_infinite(p, rows, w);
    for (int64_t r = 0; job->asked != SCORES && r < rows; r++) {
        sums[r] = weigh(p, head, w->s + r * p->n_k);
        if (sums[r].empty) ts_items_note_empty(f, head * p->n_q + row + r);
    }
    if (job->asked == OUTPUT && !sum_values(p, head, rows, w, f)) return;
    for (int64_t r = 0; r < rows; r++)
        store_row(job, head, row + r, sums[r], w->s + r * p->n_k, w->z + r * p->d_v);
}

/* ---- all items ---- */

/* Rows to an item: they share what is read of K and V, and their scores stay within some
 * megabytes. */
static int64_t rows_together(const ts_problem *p) {
    int64_t rows = p->n_k > 0 ? ((int64_t)1 << 20) / p->n_k : MOST_ROWS;
    return ts_most(1, ts_least(rows, MOST_ROWS));
}

static ts_status run_job(job job, const ts_run *run, ts_detail *detail) {
    /* A multiply-add takes as long as 7 to 9 of the AVX2 kernels in f64, 16 to 20 in f32. */
    const double slower = 8;
    ts_outcome whole;
    job.rows = rows_together(job.p);
    job.items_a_head = ts_quotient_up(job.p->n_q, job.rows);
    const ts_items items = {.job = &job,
                            .count = job.items_a_head * job.heads,
                            .cost = slower * (double)job.p->n_q * (double)job.p->n_k *
                                    (double)job.heads * (double)(job.p->d + job.p->d_v),
                            .alone = ts_problem_calls(job.p, job.first_head, job.heads),
                            .place = place_work,
                            .answer = answer};
    ts_status status = ts_items_run(&items, run, &whole, detail);
    if (status || whole.empty_rows == 0 || job.asked != OUTPUT || job.zero_empty) return status;
    *detail = (ts_detail){.row = whole.first_empty % job.p->n_q + 1,
                          .head = whole.first_empty / job.p->n_q + 1,
                          .count = whole.empty_rows};
    return TS_EMPTY_ROW;
}

ts_status ts_softmax(const ts_problem *p, bool zero_empty, const ts_run *run, ts_matrix *o,
                     ts_matrix *lse, ts_detail *detail) {
    return run_job((job){.p = p,
                         .asked = OUTPUT,
                         .zero_empty = zero_empty,
                         .heads = p->heads,
                         .out = o,
                         .lse = lse},
                   run, detail);
}

ts_status ts_softmax_scores(const ts_problem *p, int64_t head, const ts_run *run, ts_matrix *out,
                            ts_detail *detail) {
    return run_job((job){.p = p, .asked = SCORES, .first_head = head, .heads = 1, .out = out}, run,
                   detail);
}

ts_status ts_softmax_weights(const ts_problem *p, int64_t head, const ts_run *run, ts_matrix *out,
                             ts_detail *detail) {
    return run_job((job){.p = p, .asked = WEIGHTS, .first_head = head, .heads = 1, .out = out}, run,
                   detail);
}
