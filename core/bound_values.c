/* bound_values.c -- sums over the values of a row: what the figures are made of. */
#include "bound_row.h"

#include <string.h>

static void read_values(ts_bound_row_state *w, const ts_matrix *v, int64_t key) {
    for (int64_t c = 0; c < w->p->d_v; c++) w->value[c] = ts_matrix_get(v, key, c);
}

/* o, Σ|v_j| (which must not overflow), and whether the values are integers small enough. */
void ts_bound_average(ts_bound_row_state *w) {
    ts_matrix v = ts_problem_v(w->p, w->head);
    double largest = 1, terms = (double)w->allowed + (w->p->sink != NULL);
    for (int64_t key = 0; key < w->p->n_k; key++) {
        if (w->s[key] == TS_BOUND_NEVER) continue;
        read_values(w, &v, key);
        for (int64_t c = 0; c < w->p->d_v; c++) {
            double x = w->value[c];
            w->o[c] += w->p_of[key] * x;
            w->total[c] += fabs(x);
            w->exact = w->exact && x == rint(x);
            if (fabs(x) > largest) largest = fabs(x);
        }
    }
    for (int64_t c = 0; c < w->p->d_v; c++)
        w->bounded = w->bounded && w->total[c] <= w->a.largest / 2;
    double range = w->max - w->min;
    w->exact = w->exact && w->p->base == TS_BASE_2 && range <= w->a.bits &&
               terms * largest <= ldexp(1, w->a.bits - (int)range);
}

/* The sum of squares of what moves a key's weight, in units of u: the roundings of its score, three
 * (base 2: one) of its exponent, and one of each exponential - λ = 8 of these is more than ε. */
static double squares_of_weight(const ts_bound_row_state *w, int64_t key, double exponentials) {
    double gap = (w->max - w->s[key]) * w->a.ln_base, unit = w->a.ln_base * w->a.ln_base;
    double each = fmax(1, w->a.epsilon / (8 * w->a.u)); /* more for a polynomial of low degree */
    return unit * w->spread[key] + each * each * exponentials + (unit == 1 ? 3 : 1) * gap * gap;
}

/* Adds key's share to the sums of the theorem and to the squares of the expected error. */
static void add_key(ts_bound_row_state *w, int64_t key, double exponentials, double *sums) {
    double p = w->p_of[key], rho = w->rho[key];
    /* A score program's errors are not taken apart: all of σ counts. */
    double program = w->spread[key] == 0 && rho > 0 ? w->a.ln_base * w->sigma[key] : 0;
    double weight = rho > 0 ? p * p * squares_of_weight(w, key, exponentials) : 0;
    sums[0] += p;
    for (int64_t c = 0; c < w->p->d_v; c++) {
        double x = w->value[c], off = fabs(x - w->o[c]);
        w->moved[c] += p * off * rho;
        w->programs[c] += p * off * program;
        w->absolute[c] += p * fabs(x);
        w->deviation[c] += p * off;
        sums[1 + c] += p * x;
        double normal = w->o[c] * sums[0];
        w->squares[c] += off * off * weight + sums[1 + c] * sums[1 + c] + normal * normal;
    }
}

/* Runs the word for the expected error: each partial sum is rounded relative to itself. */
static void add_block(ts_bound_row_state *w, int64_t block, double *sums) {
    ts_matrix v = ts_problem_v(w->p, w->head);
    ts_range one;
    int64_t count;
    const ts_range *ranges = ts_bound_block_keys(w, block, &one, &count);
    double chain, exponentials = 1 + ts_bound_path(w, block, &chain);
    memset(sums, 0, (size_t)(1 + w->p->d_v) * sizeof *sums);
    for (int64_t r = 0; r < count; r++)
        for (int64_t j = ranges[r].first; j <= ranges[r].last; j++) {
            int64_t key = j - w->p->first_key;
            if (w->s[key] == TS_BOUND_NEVER) continue;
            read_values(w, &v, key);
            add_key(w, key, exponentials, sums);
        }
}

/* a becomes a + b: both were multiplied, and the sum is rounded. */
static void add_merge(ts_bound_row_state *w, double *a, const double *b) {
    double norm = a[0] * a[0] + b[0] * b[0] + (a[0] + b[0]) * (a[0] + b[0]);
    for (int64_t c = 0; c < w->p->d_v; c++) {
        double x = a[1 + c], y = b[1 + c], o = w->o[c];
        w->squares[c] += x * x + y * y + (x + y) * (x + y) + o * o * norm;
        a[1 + c] += y;
    }
    a[0] += b[0];
}

void ts_bound_run_word(ts_bound_row_state *w) {
    int64_t width = 1 + w->p->d_v, top = 0;
    for (int64_t e = 0; e < w->word_length; e++) {
        double *place = w->stack + top * width;
        if (w->word[e] > 0) {
            add_block(w, w->word[e], place);
            top++;
        } else {
            add_merge(w, place - 2 * width, place - width);
            top--;
        }
    }
}
