/* reduce.c -- what each reduction keeps of a line, strip by strip. */
#include "reduce.h"

#include "strip.h"

#include <math.h>

/* What has been seen of a line so far. The value is (sum + rest) in the units of the kind: of
 * exp(max) for LOGSUMEXP, of 4^exponent for NORM. */
typedef struct {
    double sum, rest; /* rest: what rounding took from sum */
    double extreme;   /* MAX, MIN, ARGMAX, LOGSUMEXP: the largest (smallest) so far */
    int64_t at;       /* ARGMAX: where, from 1 */
    int64_t count;
    int exponent; /* NORM */
} state;

static state start(ts_reduction kind) {
    return (state){.extreme = kind == TS_MIN ? INFINITY : -INFINITY, .exponent = INT32_MIN};
}

/* Adds x, and to rest what the addition lost (Neumaier; exact by Knuth's two-sum). */
static inline void add(state *s, double x) {
    double sum = s->sum + x, back = sum - s->sum;
    s->rest += (s->sum - (sum - back)) + (x - back);
    s->sum = sum;
}

/* An infinite or NaN sum has no rest that means anything. */
static double total_of(const state *s) { return isfinite(s->sum) ? s->sum + s->rest : s->sum; }

/* The largest of x, NaN if there is one. */
static double strip_max(const double *x, int64_t n) {
    double max = -INFINITY;
    for (int64_t i = 0; i < n; i++) max = x[i] > max || isnan(x[i]) ? x[i] : max;
    return max;
}

/* What each kind does with the next n numbers of its line. */

static void feed_sum(state *s, const double *x, int64_t n) {
    for (int64_t i = 0; i < n; i++) add(s, x[i]);
}

static void feed_max(state *s, const double *x, int64_t n) {
    for (int64_t i = 0; i < n; i++)
        s->extreme = x[i] > s->extreme || isnan(x[i]) ? x[i] : s->extreme;
}

static void feed_min(state *s, const double *x, int64_t n) {
    for (int64_t i = 0; i < n; i++)
        s->extreme = x[i] < s->extreme || isnan(x[i]) ? x[i] : s->extreme;
}

static void feed_argmax(state *s, const double *x, int64_t n) {
    for (int64_t i = 0; i < n; i++) {
        bool better = x[i] > s->extreme || (isnan(x[i]) && !isnan(s->extreme)) || s->at == 0;
        if (!better) continue;
        s->extreme = x[i];
        s->at = s->count + i + 1;
    }
}

/* The sum is of exp(x - extreme): where the largest moves, what is there is scaled down. */
static void feed_logsumexp(state *s, const double *x, int64_t n) {
    double max = strip_max(x, n);
    if (isnan(s->extreme) || max == -INFINITY) return;
    if (!isfinite(max)) {
        s->extreme = max;
        return;
    }
    if (max > s->extreme) {
        double factor = exp(s->extreme - max);
        s->sum *= factor;
        s->rest *= factor;
        s->extreme = max;
    }
    for (int64_t i = 0; i < n; i++) add(s, exp(x[i] - s->extreme));
}

/* The sum is of (x / 2^exponent)^2, so that no square overflows, nor all vanish. */
static void feed_norm(state *s, const double *x, int64_t n) {
    double max = 0;
    for (int64_t i = 0; i < n; i++) max = fabs(x[i]) > max || isnan(x[i]) ? fabs(x[i]) : max;
    if (isnan(s->extreme) || max == 0) return;
    if (!isfinite(max)) {
        s->extreme = max;
        return;
    }
    int exponent;
    frexp(max, &exponent);
    if (exponent < -1000) exponent = -1000; /* 2^-exponent must be finite */
    if (exponent > s->exponent) {
        if (s->exponent != INT32_MIN) {
            s->sum = ldexp(s->sum, 2 * (s->exponent - exponent));
            s->rest = ldexp(s->rest, 2 * (s->exponent - exponent));
        }
        s->exponent = exponent;
    }
    double scale = ldexp(1, -s->exponent);
    for (int64_t i = 0; i < n; i++) add(s, (x[i] * scale) * (x[i] * scale));
}

static void feed(ts_reduction kind, state *s, const double *x, int64_t n) {
    switch (kind) {
    case TS_SUM:
    case TS_MEAN:
        feed_sum(s, x, n);
        break;
    case TS_MAX:
        feed_max(s, x, n);
        break;
    case TS_MIN:
        feed_min(s, x, n);
        break;
    case TS_ARGMAX:
        feed_argmax(s, x, n);
        break;
    case TS_LOGSUMEXP:
        feed_logsumexp(s, x, n);
        break;
    case TS_NORM:
        feed_norm(s, x, n);
        break;
    }
    s->count += n;
}

static double finish(ts_reduction kind, const state *s) {
    switch (kind) {
    case TS_SUM:
        return total_of(s);
    case TS_MEAN:
        return total_of(s) / (double)s->count;
    case TS_MAX:
    case TS_MIN:
        return s->count == 0 ? NAN : s->extreme;
    case TS_ARGMAX:
        return (double)s->at;
    case TS_LOGSUMEXP:
        return isfinite(s->extreme) ? s->extreme + log(total_of(s)) : s->extreme;
    case TS_NORM:
        if (isnan(s->extreme) || s->extreme > 0) return s->extreme;
        return s->exponent == INT32_MIN ? 0 : ldexp(sqrt(total_of(s)), s->exponent);
    }
    return NAN;
}

ts_status ts_reduce_all(ts_reduction kind, const ts_matrix *m, double *out, const ts_run *run) {
    double room[TS_STRIP];
    state s = start(kind);
    ts_strips at = ts_strips_of(m, run);
    while (ts_strips_next(&at))
        feed(kind, &s, ts_strip_load(m, at.row, at.col, at.count, room), at.count);
    *out = finish(kind, &s);
    return at.status;
}

enum { LINES = 8 }; /* rows that run side by side: a cache line of a transposed f64 matrix */

/* Elements (row .. row + lines - 1, col .. col + n - 1), taken across the rows. */
static void load_across(const ts_matrix *m, int64_t row, int64_t lines, int64_t col, int64_t n,
                        double room[LINES][TS_STRIP]) {
    ts_matrix part = ts_matrix_slice(m, row, col, lines, n);
    ts_matrix across = ts_matrix_transposed(&part);
    double one[LINES];
    for (int64_t c = 0; c < n; c++) {
        const double *x = ts_strip_load(&across, c, 0, lines, one);
        for (int64_t line = 0; line < lines; line++) room[line][c] = x[line];
    }
}

ts_status ts_reduce_rows(ts_reduction kind, const ts_matrix *m, ts_matrix *out, const ts_run *run) {
    double room[LINES][TS_STRIP];
    ts_pace pace = {run, 0};
    bool across = m->row_stride < m->col_stride;
    for (int64_t r = 0; r < m->rows; r += LINES) {
        state s[LINES];
        int64_t lines = m->rows - r < LINES ? m->rows - r : LINES;
        for (int64_t line = 0; line < lines; line++) s[line] = start(kind);
        for (int64_t c = 0, n; c < m->cols; c += n) {
            n = ts_strip_length(m->cols, c);
            if (ts_pace_stops(&pace, n * lines, (double)r / (double)m->rows)) return TS_INTERRUPTED;
            if (across) load_across(m, r, lines, c, n, room);
            for (int64_t line = 0; line < lines; line++)
                feed(kind, &s[line],
                     across ? room[line] : ts_strip_load(m, r + line, c, n, room[line]), n);
        }
        for (int64_t line = 0; line < lines; line++)
            ts_matrix_set(out, r + line, 0, finish(kind, &s[line]));
    }
    return TS_OK;
}

/* exp(x - max) / sum; -inf takes no part whatever max is, so that a row of it alone is zeros. */
static void softmax_strip(const double *x, double *y, int64_t n, double max, double sum) {
    for (int64_t i = 0; i < n; i++)
        y[i] = x[i] == -INFINITY && sum == 0 ? 0 : exp(x[i] - max) / sum;
}

/* As a matrix of one row, each of the three passes is a walk over its strips. */
static ts_status softmax_row(const ts_matrix *m, ts_matrix *out, const ts_run *run) {
    double room[TS_STRIP], result[TS_STRIP], max;
    ts_status status = ts_reduce_all(TS_MAX, m, &max, run);
    if (status != TS_OK) return status;
    state sum = start(TS_SUM);
    ts_strips at = ts_strips_of(m, run);
    while (max != -INFINITY && ts_strips_next(&at)) {
        const double *x = ts_strip_load(m, 0, at.col, at.count, room);
        for (int64_t i = 0; i < at.count; i++) add(&sum, exp(x[i] - max));
    }
    if (at.status != TS_OK) return at.status;
    double total = total_of(&sum);
    at = ts_strips_of(m, run);
    while (ts_strips_next(&at)) {
        softmax_strip(ts_strip_load(m, 0, at.col, at.count, room), result, at.count, max, total);
        ts_strip_store(out, 0, at.col, at.count, result);
    }
    return at.status;
}

ts_status ts_reduce_softmax(const ts_matrix *m, ts_matrix *out, const ts_run *run) {
    ts_pace pace = {run, 0};
    if (m->cols == 0) return TS_OK; /* however many rows there are */
    for (int64_t r = 0; r < m->rows; r++) {
        ts_matrix from = ts_matrix_slice(m, r, 0, 1, m->cols),
                  to = ts_matrix_slice(out, r, 0, 1, m->cols);
        if (ts_pace_stops(&pace, m->cols, (double)r / (double)m->rows)) return TS_INTERRUPTED;
        ts_status status = softmax_row(&from, &to, run);
        if (status != TS_OK) return status;
    }
    return TS_OK;
}
