/* bound_scores.c -- the scores of a row, and how far each may be off. */
#include "bound_row.h"

#include "enclose.h"
#include "sizes.h"

#include <string.h>

/* The exponent of the lowest set bit; large for 0, which is a multiple of everything. */
static int lowest_bit(double x) {
    int exponent;
    if (x == 0) return 1 << 20;
    if (!isfinite(x)) return -(1 << 20);
    int64_t bits = (int64_t)ldexp(frexp(fabs(x), &exponent), 53);
    return exponent - 53 + __builtin_ctzll((unsigned long long)bits);
}

/* A dot product as it is rounded. */
typedef struct {
    double sum, absolute; /* Σ q_r k_r and Σ |q_r k_r|, q with the scale */
    double keys;          /* Σ |k_r| */
    double squares;       /* of the partial sums and the terms: what each rounding is relative to */
    int grid;             /* every term is a multiple of 2^grid */
} dot_product;

static dot_product dot(const ts_bound_row_state *w, const ts_matrix *k, int64_t key) {
    dot_product d = {0, 0, 0, 0, 1 << 20};
    for (int64_t r = 0; r < w->p->d; r++) {
        double q = w->q[r], x = ts_matrix_get(k, key, r), term = q * x;
        d.sum += term;
        d.absolute += fabs(term);
        d.keys += fabs(x);
        d.squares += d.sum * d.sum + term * term;
        if (w->exact && term != 0) {
            int grid = lowest_bit(q) + lowest_bit(x);
            if (grid < d.grid) d.grid = grid;
        }
    }
    return d;
}

/* What a score program does to an interval that holds s, the exact score and the computed one. Its
 * middle replaces s: within σ, its width, of both. */
static void enclose(ts_bound_row_state *w, int64_t key) {
    const ts_problem *p = w->p;
    const ts_score *score = ts_problem_score(p, w->head);
    double s = w->s[key], sigma = w->sigma[key];
    if (!score) return;
    w->exact = w->exact && score->program;
    w->bounded = w->bounded && score->program;
    if (!score->program) return;
    int64_t i = w->row + 1, j = p->first_key + key, h = w->head + 1;
    double low = s, high = s;
    if (w->exact)
        w->exact = ts_program_enclose(score->program, p->dtype, h, i, j, &low, &high, w->scratch) &&
                   low == high;
    if (w->exact) w->s[key] = low;
    /* The program is given the score in the problem's dtype. */
    double reach = 2 * sigma + w->a.last_u * fabs(s) + w->a.last_eta;
    low = s - reach, high = s + reach;
    if (!ts_program_enclose(score->program, p->dtype, h, i, j, &low, &high, w->scratch)) {
        w->bounded = false;
        return;
    }
    if (!w->exact) w->s[key] = low + (high - low) / 2;
    w->sigma[key] = high - low + 2 * TS_BOUND_U64 * fabs(w->s[key]);
    w->spread[key] = 0; /* the expected error takes all of σ */
}

/* Whether a score of -inf is that on every road: a key holds an infinity, and neither the query as
 * the engine has it, nor the other terms make NaN of it. */
static bool is_held(const ts_bound_row_state *w, const ts_matrix *k, int64_t key) {
    double others = 0;
    bool held = false;
    for (int64_t r = 0; r < w->p->d; r++) {
        double q = w->q[r], x = ts_matrix_get(k, key, r);
        if (!isinf(x))
            others += fabs(q * x);
        else if (w->p->dtype == TS_F32 && (float)q == 0)
            return false;
        else
            held = true;
    }
    return held && others <= w->a.largest;
}

/* A key whose score is -inf counts as not allowed, unless a score program makes a number of it;
 * that of finite numbers only went beyond the range. */
static void read_infinite(ts_bound_row_state *w, const ts_matrix *k, int64_t key) {
    const ts_score *score = ts_problem_score(w->p, w->head);
    if (!score && is_held(w, k, key)) return;
    w->bounded = w->exact = false;
}

void ts_bound_note_score(ts_bound_row_state *w, double s, double sigma) {
    if (s > w->max) w->max = s;
    if (s < w->min) w->min = s;
    if (s - 2 * sigma > w->least_max) w->least_max = s - 2 * sigma;
}

static bool is_allowed(const ts_bound_row_state *w, int64_t key) {
    return w->bits[key / 64] >> key % 64 & 1;
}

/* The score of key `key` and its errors; -inf where it counts as not allowed. */
void ts_bound_read_score(ts_bound_row_state *w, const ts_matrix *k, int64_t key) {
    const ts_bound_road *a = &w->a;
    if (!is_allowed(w, key)) return;
    double roundings = (double)w->p->d + 2;
    dot_product d = dot(w, k, key);
    w->s[key] = d.sum;
    w->sigma[key] =
        ts_bound_gamma(roundings, a->u) * d.absolute + 2 * a->eta * (d.keys + 2 * (double)w->p->d);
    w->spread[key] = d.squares;
    if (d.sum == TS_BOUND_NEVER) {
        read_infinite(w, k, key);
        return;
    }
    if (!(d.absolute + w->sigma[key] <= a->largest)) w->bounded = false;
    if (w->exact && w->p->d > 0) w->exact = d.absolute <= ldexp(1, a->bits + d.grid);
    enclose(w, key);
    double s = w->s[key];
    w->exact = w->exact && s == rint(s) && fabs(s) <= ldexp(1, a->bits);
    w->bounded = w->bounded && isfinite(s) && isfinite(w->sigma[key]);
    ts_bound_note_score(w, s, w->sigma[key]);
    w->allowed++;
}

/* Query row, scale folded in: exact where the product is, in the problem's dtype. Where f32 cannot
 * hold it the engine sums in double, and σ has room for that. */
void ts_bound_read_query(ts_bound_row_state *w) {
    ts_matrix q = ts_problem_q(w->p, w->head);
    double scale = w->p->scale[w->head];
    for (int64_t r = 0; r < w->p->d; r++) {
        double x = ts_matrix_get(&q, w->row, r), product = scale * x;
        bool fits = w->p->dtype == TS_F64 || (double)(float)product == product;
        w->exact = w->exact && fits && fma(scale, x, -product) == 0;
        w->bounded = w->bounded && isfinite(product);
        w->q[r] = product;
    }
}

void ts_bound_read_mask(ts_bound_row_state *w) {
    const ts_problem *p = w->p;
    const ts_mask *mask = ts_problem_mask(p, w->head);
    int64_t words = ts_quotient_up(p->n_k, 64);
    if (!mask || p->n_k == 0) {
        memset(w->bits, 0xff, (size_t)words * sizeof *w->bits);
        return;
    }
    ts_range i = {w->row + 1, w->row + 1}, j = {p->first_key, p->first_key + p->n_k - 1};
    ts_mask_tile(mask, w->head + 1, i, j, w->bits, words, w->scratch);
}
