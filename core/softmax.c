/* softmax.c -- road 1, as the definition reads: scores, weights e^(s - m), their sum, and one true
 * division. A few rows at a time share what they read; no row's arithmetic depends on another's. */
#include "softmax.h"

#include "arena.h"
#include "items.h"
#include "sizes.h"

#include <math.h>
#include <string.h>

enum { STRIP = 64, MOST_ROWS = 8 }; /* keys to a word of mask bits; rows that share a read of K */

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

/* One thread's work space. */
typedef struct {
    double *q;      /* rows x d, the scale folded in */
    double *s;      /* rows x n_k: scores, then weights; -inf where not allowed */
    double *strip;  /* of K, d x STRIP, or of V, STRIP x d_v: doubles */
    double *z;      /* rows x d_v */
    uint64_t *bits; /* rows x words: what the mask allows */
    uint64_t *poor; /* words: keys whose values are not all finite */
    void *scratch;  /* the mask's or the score program's */
} work;

/* ---- reading the problem ---- */

/* +0.0 and the one quiet NaN, rounded once to the matrix's dtype. */
static void store(ts_matrix *m, int64_t row, int64_t col, double x) {
    double narrow = m->dtype == TS_F32 ? (double)(float)x : x; /* what rounds to -0 is +0, too */
    ts_matrix_set(m, row, col, isnan(x) ? (double)NAN : narrow + 0.0);
}

static const ts_mask *mask_of(const ts_problem *p, int64_t head) {
    return p->mask ? p->mask[head] : NULL;
}

static const ts_score *score_of(const ts_problem *p, int64_t head) {
    return p->score ? p->score[head] : NULL;
}

static int64_t words_of(const ts_problem *p) { return ts_quotient_up(p->n_k, STRIP); }

/* A bit for each key that rows row .. row + rows - 1 may use. */
static void read_mask(const ts_problem *p, int64_t head, int64_t row, int64_t rows, work *w) {
    const ts_mask *mask = mask_of(p, head);
    int64_t words = words_of(p);
    if (mask && p->n_k > 0) {
        ts_range i = {row + 1, row + rows}, j = {p->first_key, p->first_key + p->n_k - 1};
        ts_mask_tile(mask, head + 1, i, j, w->bits, words, w->scratch);
        return;
    }
    memset(w->bits, 0xff, (size_t)(rows * words) * sizeof *w->bits);
    for (int64_t r = 0; p->n_k % STRIP && r < rows; r++)
        w->bits[(r + 1) * words - 1] = ((uint64_t)1 << p->n_k % STRIP) - 1;
}

/* Applies the score function to the strip of keys at `key`. Each of its operations rounds once in
 * the problem's dtype, which its argument and result have. */
static ts_status apply_score(const ts_problem *p, int64_t head, int64_t row, int64_t key,
                             int64_t count, uint64_t allowed, double *s, void *scratch) {
    const ts_score *score = score_of(p, head);
    int64_t j = p->first_key + key;
    float narrow[STRIP];
    if (!score) return TS_OK;
    if (!score->program) {
        ts_status status = score->call(score->data, head + 1, row + 1, j, count, &allowed, s);
        for (int64_t n = 0; p->dtype == TS_F32 && n < count; n++) s[n] = (float)s[n];
        return status;
    }
    if (p->dtype == TS_F64) {
        ts_program_score_f64(score->program, head + 1, row + 1, j, count, s, scratch);
        return TS_OK;
    }
    for (int64_t n = 0; n < count; n++) narrow[n] = (float)s[n];
    ts_program_score_f32(score->program, head + 1, row + 1, j, count, narrow, scratch);
    for (int64_t n = 0; n < count; n++) s[n] = narrow[n];
    return TS_OK;
}

/* What counts as infinite is what the dtype cannot hold. */
static double clamp(ts_dtype dtype, double s) {
    return dtype == TS_F32 && !isfinite((float)s) ? (double)(float)s : s + 0.0;
}

/* Writes the scores of keys key .. key + count - 1 for one row: c<q, k_j>, summed in the order of
 * the columns, then the score function, then the mask, which selects. */
static ts_status score_strip(const ts_problem *p, int64_t head, int64_t row, int64_t key,
                             int64_t count, uint64_t allowed, const double *q, const double *k,
                             double *s, void *scratch) {
    double sum[STRIP] = {0};
    for (int64_t r = 0; r < p->d; r++)
        for (int n = 0; n < STRIP; n++) sum[n] += q[r] * k[r * STRIP + n];
    ts_status status = apply_score(p, head, row, key, count, allowed, sum, scratch);
    for (int64_t n = 0; n < count; n++)
        s[n] = allowed >> n & 1 ? clamp(p->dtype, sum[n]) : -(double)INFINITY;
    return status;
}

/* Keys key .. key + count - 1, transposed, and zeros up to a strip. */
static void read_keys(const ts_matrix *k, int64_t key, int64_t count, double *strip) {
    for (int64_t n = 0; n < STRIP; n++)
        for (int64_t c = 0; c < k->cols; c++)
            strip[c * STRIP + n] = n < count ? ts_matrix_get(k, key + n, c) : 0;
}

/* Between strips, every few million multiply-adds: whether to leave the item. */
static bool must_leave(const ts_problem *p, int64_t key, int64_t rows, int64_t width, double from,
                       ts_outcome *f) {
    int64_t strips = ((int64_t)1 << 22) / (rows * STRIP * (width + 1)) + 1;
    if (key / STRIP % strips != strips - 1) return false;
    return ts_items_pause(f, from + (double)key / (double)p->n_k / 2);
}

/* The scores of `rows` rows from `row` on, in w->s. TS_INTERRUPTED: leave the item. */
static ts_status read_scores(const ts_problem *p, int64_t head, int64_t row, int64_t rows, work *w,
                             ts_outcome *f) {
    ts_matrix q = ts_problem_q(p, head), k = ts_problem_k(p, head);
    int64_t words = words_of(p);
    ts_status status = TS_OK;
    for (int64_t r = 0; r < rows; r++)
        for (int64_t c = 0; c < p->d; c++)
            w->q[r * p->d + c] = p->scale[head] * ts_matrix_get(&q, row + r, c);
    read_mask(p, head, row, rows, w);
    for (int64_t key = 0; !status && key < p->n_k; key += STRIP) {
        if (must_leave(p, key, rows, p->d, 0, f)) return TS_INTERRUPTED;
        int64_t count = ts_least(p->n_k - key, STRIP);
        const uint64_t *allowed = w->bits + key / STRIP;
        uint64_t any = 0;
        for (int64_t r = 0; r < rows; r++) any |= allowed[r * words];
        if (any) read_keys(&k, key, count, w->strip);
        for (int64_t r = 0; !status && r < rows; r++) {
            double *s = w->s + r * p->n_k + key;
            if (allowed[r * words])
                status = score_strip(p, head, row + r, key, count, allowed[r * words],
                                     w->q + r * p->d, w->strip, s, w->scratch);
            else
                for (int64_t n = 0; n < count; n++) s[n] = -(double)INFINITY;
        }
    }
    return status;
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
    memset(poor, 0, (size_t)words_of(p) * sizeof *poor);
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
static bool sum_values(const ts_problem *p, int64_t head, int64_t rows, work *w, ts_outcome *f) {
    ts_matrix v = ts_problem_v(p, head);
    int64_t words = words_of(p);
    memset(w->z, 0, (size_t)(rows * p->d_v) * sizeof *w->z);
    for (int64_t key = 0; key < p->n_k; key += STRIP) {
        if (must_leave(p, key, rows, p->d_v, 0.5, f)) return false;
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

/* Takes a thread's work space from the arena. */
static void place_work(const job *job, ts_arena *arena, work *w) {
    const ts_problem *p = job->p;
    const int64_t rows = job->rows, words = words_of(p);
    size_t scratch = 0;
    for (int64_t h = 0; h < p->heads; h++) {
        const ts_score *score = score_of(p, h);
        if (mask_of(p, h)) scratch = ts_most_bytes(scratch, ts_mask_scratch(mask_of(p, h)));
        if (score && score->program)
            scratch = ts_most_bytes(scratch, ts_program_scratch(score->program));
    }
    w->q = ts_arena_take_grid(arena, rows, p->d, sizeof(double));
    w->s = ts_arena_take_grid(arena, rows, p->n_k, sizeof(double));
    w->strip = ts_arena_take_grid(arena, STRIP, ts_most(p->d, p->d_v), sizeof(double));
    w->z = ts_arena_take_grid(arena, rows, p->d_v, sizeof(double));
    w->bits = ts_arena_take_grid(arena, rows, words, sizeof(uint64_t));
    w->poor = ts_arena_take(arena, words, sizeof(uint64_t));
    w->scratch = ts_arena_take(arena, 1, scratch);
}

/* ---- items ---- */

/* Drops keys whose allowed score is -inf: it counts as not allowed. */
static void drop_infinite(const ts_problem *p, int64_t rows, work *w) {
    int64_t words = words_of(p);
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
    work space, *w = &space;
    ts_arena arena = {memory, 0};
    place_work(job, &arena, w);
    int64_t head = job->first_head + item / job->items_a_head;
    int64_t row = item % job->items_a_head * job->rows;
    int64_t rows = ts_least(p->n_q - row, job->rows);
    row_sum sums[MOST_ROWS] = {{0, 0, false}};
    ts_status status = read_scores(p, head, row, rows, w, f);
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

/* Calls back into a score function are made on the calling thread alone. */
static bool calls_back(const job *job) {
    for (int64_t h = job->first_head; h < job->first_head + job->heads; h++)
        if (score_of(job->p, h) && !score_of(job->p, h)->program) return true;
    return false;
}

static ts_status run_job(job job, const ts_run *run, ts_detail *detail) {
    ts_outcome whole;
    work unused;
    ts_arena arena = {NULL, 0};
    job.rows = rows_together(job.p);
    job.items_a_head = ts_quotient_up(job.p->n_q, job.rows);
    place_work(&job, &arena, &unused);
    if (job.p->n_q > 0 && ts_arena_too_large(&arena)) return TS_TOO_LARGE;
    const ts_items items = {.job = &job,
                            .count = job.items_a_head * job.heads,
                            .work = arena.used,
                            .cost = 2 * (double)job.p->n_q * (double)job.p->n_k *
                                    (double)job.heads * (double)(job.p->d + job.p->d_v),
                            .alone = calls_back(&job),
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
