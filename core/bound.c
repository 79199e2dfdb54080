/* bound.c -- the figures of bound.md for one row, in doubles, from the problem and the schedule. */
#include "bound.h"

#include "enclose.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { CHUNK = 512, STACK = 40 }; /* keys summarised at once; more than any word needs */

static const double U64 = 0x1p-53, NEVER = -(double)INFINITY;

/* The arithmetic that is judged. */
typedef struct {
    double u;       /* unit roundoff of the sums */
    double eta;     /* absolute error of a product below the normal range */
    double omega;   /* absolute error of an exponential below the normal range */
    double largest; /* finite number */
    double epsilon; /* relative error of the exponential */
    double last_u;  /* unit roundoff of what is stored, and the same below the normal range */
    double last_eta;
    double ln_base;
    int bits; /* t: integers up to 2^t are exact in the problem's dtype */
} arithmetic;

typedef struct {
    const ts_problem *p;
    const ts_schedule *schedule; /* NULL: one block of all keys */
    int64_t row, head, tile, tiles, blocks;
    arithmetic a;
    /* By key: score, σ, and the sum of squares of the roundings in units of u; then weight and ρ.
     */
    double *s, *sigma, *spread, *p_of, *rho;
    double *q; /* d: the scale folded in */
    /* By column. */
    double *value, *o, *moved, *programs, *absolute, *deviation, *total, *squares;
    double *stack;    /* STACK x (1 + d_v): sums of p and p v of the summaries on the stack */
    int32_t *merges;  /* by block: on its path to the root */
    int32_t *present; /* blocks that hold keys of the row */
    int32_t *word, *part_word, *depths;
    uint64_t *bits;
    void *scratch;
    /* Of the row. */
    int64_t allowed, word_length;
    double max, min, least_max; /* of the scores; what the maximum is at least, errors and all */
    double max_sigma;           /* of the scores that may be the maximum */
    double max_tau;             /* of s itself against the exact score, where the weight counts */
    double max_rho, chain, sum_p;
    double sink_p, sink_rho;
    bool bounded, exact;
} state;

/* γ_n of Higham (2002), §3.1, for n roundings. */
static double gamma_of(double n, double u) { return n * u < 0.5 ? n * u / (1 - n * u) : INFINITY; }

static double load(const ts_matrix *m, int64_t row, int64_t col) {
    int64_t at = row * m->row_stride + col * m->col_stride;
    return m->dtype == TS_F32 ? (double)((const float *)m->data)[at]
                              : ((const double *)m->data)[at];
}

/* ---- the arithmetic of each road ---- */

/* SLEEF documents 3.5 ulp for its exp2 u35, and an ulp is at most 2u. Any polynomial in its place
 * has not told its error: no bound. */
static double epsilon_of(const ts_tiling *tiling, double u) {
    return tiling->exp == TS_EXP_SLEEF ? 3.5 * 2 * u : (double)INFINITY;
}

static arithmetic arithmetic_of(const ts_problem *p, const ts_tiling *tiling) {
    bool narrow = p->dtype == TS_F32, narrow_sums = narrow && tiling;
    arithmetic a = {
        .u = narrow_sums ? 0x1p-24 : U64,
        .eta = narrow_sums ? 0x1p-149 : 0x1p-1074,
        .omega = narrow_sums ? FLT_MIN : DBL_MIN,
        .largest = narrow ? FLT_MAX : DBL_MAX,
        .last_u = narrow ? 0x1p-24 : U64,
        .last_eta = narrow ? 0x1p-149 : 0x1p-1074,
        .ln_base = p->base == TS_BASE_2 ? M_LN2 : 1,
        .bits = narrow ? 24 : 53,
    };
    a.epsilon = tiling ? epsilon_of(tiling, a.u) : 2 * a.u; /* libm's exp and exp2: within an ulp */
    return a;
}

/* ---- scores ---- */

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

static dot_product dot(const state *w, const ts_matrix *k, int64_t key) {
    dot_product d = {0, 0, 0, 0, 1 << 20};
    for (int64_t r = 0; r < w->p->d; r++) {
        double q = w->q[r], x = load(k, key, r), term = q * x;
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
static void enclose(state *w, int64_t key) {
    const ts_problem *p = w->p;
    const ts_score *score = p->score ? p->score[w->head] : NULL;
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
    w->sigma[key] = high - low + 2 * U64 * fabs(w->s[key]);
    w->spread[key] = 0; /* the expected error takes all of σ */
}

static void note_score(state *w, double s, double sigma) {
    if (s > w->max) w->max = s;
    if (s < w->min) w->min = s;
    if (s - 2 * sigma > w->least_max) w->least_max = s - 2 * sigma;
}

/* The score of key `key` and its errors; -inf where it counts as not allowed. */
static void read_score(state *w, const ts_matrix *k, int64_t key) {
    const arithmetic *a = &w->a;
    double roundings = (double)w->p->d + 2;
    dot_product d = dot(w, k, key);
    w->s[key] = d.sum;
    w->sigma[key] =
        gamma_of(roundings, a->u) * d.absolute + 2 * a->eta * (d.keys + 2 * (double)w->p->d);
    w->spread[key] = d.squares;
    if (d.sum == NEVER) return;
    if (!(d.absolute + w->sigma[key] <= a->largest)) w->bounded = false;
    if (w->exact && w->p->d > 0) w->exact = d.absolute <= ldexp(1, a->bits + d.grid);
    enclose(w, key);
    double s = w->s[key];
    w->exact = w->exact && s == rint(s) && fabs(s) <= ldexp(1, a->bits);
    w->bounded = w->bounded && isfinite(s) && isfinite(w->sigma[key]);
    note_score(w, s, w->sigma[key]);
    w->allowed++;
}

static bool is_allowed(const state *w, int64_t key) { return w->bits[key / 64] >> key % 64 & 1; }

/* Query row, scale folded in: exact where the product is, in the problem's dtype. */
static void read_query(state *w) {
    ts_matrix q = ts_problem_q(w->p, w->head);
    double scale = w->p->scale[w->head];
    for (int64_t r = 0; r < w->p->d; r++) {
        double x = load(&q, w->row, r), product = scale * x;
        bool fits = w->p->dtype == TS_F64 || (double)(float)product == product;
        w->exact = w->exact && fits && fma(scale, x, -product) == 0;
        w->bounded = w->bounded && fabs(product) <= w->a.largest;
        w->q[r] = product;
    }
}

static void read_mask(state *w) {
    const ts_problem *p = w->p;
    const ts_mask *mask = p->mask ? p->mask[w->head] : NULL;
    int64_t words = (p->n_k + 63) / 64;
    if (!mask || p->n_k == 0) {
        memset(w->bits, 0xff, (size_t)words * sizeof *w->bits);
        return;
    }
    ts_range i = {w->row + 1, w->row + 1}, j = {p->first_key, p->first_key + p->n_k - 1};
    ts_mask_tile(mask, w->head + 1, i, j, w->bits, words, w->scratch);
}

/* ---- paths ---- */

/* The keys of block `block`, as rows of k from 0: ranges of the caller's *one. */
static const ts_range *block_keys(const state *w, int64_t block, ts_range *one, int64_t *count) {
    if (w->schedule) return ts_schedule_block(w->schedule, block, one, count);
    *one = (ts_range){w->p->first_key, w->p->first_key + w->p->n_k - 1};
    *count = 1;
    return one;
}

/* Reads the scores of the row's keys that the schedule holds; lists the blocks that have any. */
static int64_t read_blocks(state *w) {
    ts_matrix k = ts_problem_k(w->p, w->head);
    int64_t found = 0;
    for (int64_t b = 1; b <= w->blocks; b++) {
        ts_range one;
        int64_t count, before = w->allowed;
        const ts_range *ranges = block_keys(w, b, &one, &count);
        for (int64_t r = 0; r < count; r++)
            for (int64_t j = ranges[r].first; j <= ranges[r].last; j++)
                if (is_allowed(w, j - w->p->first_key)) read_score(w, &k, j - w->p->first_key);
        if (w->allowed > before) w->present[found++] = (int32_t)b;
    }
    return found;
}

/* The row's word: of each part, and of the parts. Empty parts are left out. */
static void write_word(state *w, int64_t found) {
    const ts_schedule *s = w->schedule;
    int64_t depth;
    if (!s) {
        w->word[0] = 1;
        w->word_length = found;
        return;
    }
    int64_t length = ts_schedule_parts_word(s, w->part_word, &depth), top = 0;
    bool holds[STACK];
    w->word_length = 0;
    for (int64_t e = 0; e < length; e++) {
        if (w->part_word[e] > 0) {
            int64_t written =
                ts_schedule_word(s, w->part_word[e] - 1, w->tile, w->tiles, w->present, found,
                                 w->word + w->word_length, &depth, w->scratch);
            holds[top++] = written > 0;
            w->word_length += written;
        } else {
            bool right = holds[--top], left = holds[--top];
            holds[top++] = left || right;
            if (left && right) w->word[w->word_length++] = 0;
        }
    }
}

/* Read backwards, a word is a walk from the root: writes each block's number of merges. */
static void count_merges(state *w) {
    int64_t top = 0;
    w->depths[top++] = 0;
    for (int64_t e = w->word_length - 1; e >= 0; e--) {
        int32_t depth = w->depths[--top];
        if (w->word[e] > 0)
            w->merges[w->word[e]] = depth;
        else
            w->depths[top++] = depth + 1, w->depths[top++] = depth + 1;
    }
}

/* Of a block: its merges on the path, those of its own chunks among them, and the longest chain of
 * roundings from one of its products to the root. */
static double path_of(const state *w, int64_t block, double *chain) {
    ts_range one;
    int64_t count, keys = 0;
    const ts_range *ranges = block_keys(w, block, &one, &count);
    double merges = w->merges[block], sink = w->sink_p > 0;
    for (int64_t r = 0; r < count; r++) keys += ranges[r].last - ranges[r].first + 1;
    if (!w->schedule) {
        *chain = (double)w->allowed + sink;
        return 0;
    }
    merges += (double)((keys - 1) / CHUNK) + sink;
    *chain = (double)(keys < CHUNK ? keys : CHUNK) + 2 * merges;
    return merges;
}

/* ---- weights ---- */

/* Whether the weight of a score, exact or computed, is too small to be a normal number. */
static bool out_of_reach(const state *w, double s, double sigma) {
    double gap = (w->max - s - sigma - w->max_sigma) * w->a.ln_base;
    return gap > 1.01 * -log(w->a.omega) + 1;
}

/* ρ: the relative error of a key's weight after `merges` merges. */
static double rho_of(const state *w, double s, double sigma, double merges) {
    const arithmetic *a = &w->a;
    double gap = w->max - s + sigma + w->max_sigma;
    double scores = a->ln_base == 1 ? sigma + 3 * a->u * gap : (sigma + a->u * gap) * a->ln_base;
    return scores + (merges + 1) * (a->epsilon + 2 * a->eta);
}

/* Writes p (not yet divided by their sum) and ρ of the keys of a block. */
static void weigh_block(state *w, int64_t block) {
    ts_range one;
    int64_t count;
    const ts_range *ranges = block_keys(w, block, &one, &count);
    double chain, merges = path_of(w, block, &chain);
    if (chain > w->chain) w->chain = chain;
    for (int64_t r = 0; r < count; r++)
        for (int64_t j = ranges[r].first; j <= ranges[r].last; j++) {
            int64_t key = j - w->p->first_key;
            double s = w->s[key];
            w->p_of[key] = w->rho[key] = 0;
            if (s == NEVER || out_of_reach(w, s, w->sigma[key])) continue;
            w->p_of[key] = exp((s - w->max) * w->a.ln_base);
            w->rho[key] = rho_of(w, s, w->sigma[key], merges);
            w->sum_p += w->p_of[key];
            if (w->rho[key] > w->max_rho) w->max_rho = w->rho[key];
            if (w->sigma[key] > w->max_tau) w->max_tau = w->sigma[key];
        }
}

static void weigh_sink(state *w) {
    if (!w->p->sink || w->p->sink[w->head] == NEVER) return;
    double sink = w->p->sink[w->head], sigma = w->a.last_u * fabs(sink);
    w->exact = w->exact && sink == rint(sink) && fabs(sink) <= ldexp(1, w->a.bits);
    note_score(w, sink, sigma);
    w->sink_p = 1; /* for path_of: there is one */
}

/* |m̂ - m| is at most the largest σ among the scores that may be the maximum. */
static void bound_max(state *w) {
    for (int64_t j = 0; j < w->p->n_k; j++)
        if (w->s[j] != NEVER && w->s[j] + 2 * w->sigma[j] >= w->least_max &&
            w->sigma[j] > w->max_sigma)
            w->max_sigma = w->sigma[j];
    if (w->sink_p > 0) w->max_sigma += w->a.last_u * fabs(w->p->sink[w->head]);
}

static void weigh(state *w, int64_t found) {
    weigh_sink(w);
    bound_max(w);
    for (int64_t b = 0; b < found; b++) weigh_block(w, w->present[b]);
    if (w->sink_p > 0) {
        double sink = w->p->sink[w->head], sigma = w->a.last_u * fabs(sink);
        bool gone = out_of_reach(w, sink, sigma);
        w->sink_p = gone ? 0 : exp((sink - w->max) * w->a.ln_base);
        w->sink_rho = gone ? 0 : rho_of(w, sink, sigma, 1);
        w->sum_p += w->sink_p;
        if (w->sink_rho > w->max_rho) w->max_rho = w->sink_rho;
        w->chain = w->chain > 3 ? w->chain : 3;
    }
    /* s was computed in doubles: for f32 and no program, 2^-29 as far off as σ. */
    if (w->a.u > U64 && !(w->p->score && w->p->score[w->head])) w->max_tau *= 0x1p-28;
    for (int64_t j = 0; j < w->p->n_k; j++) w->p_of[j] /= w->sum_p;
    w->sink_p /= w->sum_p;
}

/* ---- values ---- */

static void read_values(state *w, const ts_matrix *v, int64_t key) {
    for (int64_t c = 0; c < w->p->d_v; c++) w->value[c] = load(v, key, c);
}

/* o, Σ|v_j| (which must not overflow), and whether the values are integers small enough. */
static void average(state *w) {
    ts_matrix v = ts_problem_v(w->p, w->head);
    double largest = 1, terms = (double)w->allowed + (w->p->sink != NULL);
    for (int64_t key = 0; key < w->p->n_k; key++) {
        if (w->s[key] == NEVER) continue;
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
static double squares_of_weight(const state *w, int64_t key, double exponentials) {
    double gap = (w->max - w->s[key]) * w->a.ln_base, unit = w->a.ln_base * w->a.ln_base;
    return unit * w->spread[key] + exponentials + (unit == 1 ? 3 : 1) * gap * gap;
}

/* Adds key's share to the sums of the theorem and to the squares of the expected error. */
static void add_key(state *w, int64_t key, double exponentials, double *sums) {
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
static void add_block(state *w, int64_t block, double *sums) {
    ts_matrix v = ts_problem_v(w->p, w->head);
    ts_range one;
    int64_t count;
    const ts_range *ranges = block_keys(w, block, &one, &count);
    double chain, exponentials = 1 + path_of(w, block, &chain);
    memset(sums, 0, (size_t)(1 + w->p->d_v) * sizeof *sums);
    for (int64_t r = 0; r < count; r++)
        for (int64_t j = ranges[r].first; j <= ranges[r].last; j++) {
            int64_t key = j - w->p->first_key;
            if (w->s[key] == NEVER) continue;
            read_values(w, &v, key);
            add_key(w, key, exponentials, sums);
        }
}

/* a becomes a + b: both were multiplied, and the sum is rounded. */
static void add_merge(state *w, double *a, const double *b) {
    double norm = a[0] * a[0] + b[0] * b[0] + (a[0] + b[0]) * (a[0] + b[0]);
    for (int64_t c = 0; c < w->p->d_v; c++) {
        double x = a[1 + c], y = b[1 + c], o = w->o[c];
        w->squares[c] += x * x + y * y + (x + y) * (x + y) + o * o * norm;
        a[1 + c] += y;
    }
    a[0] += b[0];
}

static void run_word(state *w) {
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

/* ---- figures ---- */

/* The theorem of bound.md, its parts named as there. */
static void conclude(state *w, ts_bound *out) {
    const arithmetic *a = &w->a;
    double gamma = gamma_of(w->chain, a->u), reach = w->max_rho + gamma;
    double kappa = 4 * (reach + a->u + w->max_tau) + (double)w->p->n_k * 0x1p-50;
    double path = 2 * w->chain; /* no fewer than the exponentials of a key, and than merges */
    if (!w->bounded || !(reach <= 0.125) || !(w->max_tau <= 0.125)) {
        w->bounded = false;
        return;
    }
    double sink = w->sink_p * w->sink_rho, moved = sink;
    for (int64_t j = 0; j < w->p->n_k; j++) moved += w->p_of[j] * w->rho[j];
    for (int64_t c = 0; c < w->p->d_v; c++) {
        double o = fabs(w->o[c]);
        double scores = w->moved[c] + sink * o;
        double second = 3 * w->max_rho * w->max_tau * (w->deviation[c] + w->sink_p * o);
        double sums = gamma * (w->absolute[c] + o);
        double tiny = path * a->omega * (w->total[c] + (double)(w->allowed + 1) * o) +
                      3 * path * (double)(w->allowed + 1) * a->eta + a->last_eta;
        out->output[c] = (1 + kappa) * (scores + second + sums + a->last_u * o + tiny);
        out->expected[c] = 8 * a->u * sqrt(w->squares[c]) + w->programs[c] + sink * o +
                           a->last_u * o + a->last_eta;
    }
    double log_norm = log(w->sum_p), max = w->max * a->ln_base;
    out->lse = (1 + kappa) * (moved + gamma + path * a->omega * (double)(w->allowed + 1) +
                              a->last_u * fabs(max + log_norm) + a->last_eta +
                              3 * U64 * (fabs(log_norm) + w->max_sigma + fabs(max)));
    out->max = w->max_sigma;
}

static void unbounded(const state *w, ts_bound *out) {
    out->max = out->lse = INFINITY;
    for (int64_t c = 0; c < w->p->d_v; c++) out->output[c] = out->expected[c] = INFINITY;
}

/* ---- work space ---- */

/* Cuts count * each bytes off at *cursor: an address, or, to learn the size, 0. */
static void *take(uintptr_t *cursor, size_t count, size_t each) {
    void *place = (void *)*cursor;
    *cursor += (count * each + 15) / 16 * 16;
    return place;
}

static state place(const ts_problem *p, const ts_tiling *tiling, uintptr_t at) {
    state w = {.p = p, .schedule = tiling ? &tiling->schedule : NULL, .blocks = 1};
    size_t n = (size_t)p->n_k, d_v = (size_t)p->d_v;
    if (tiling) w.blocks = tiling->schedule.blocks;
    size_t blocks = (size_t)w.blocks + 1, parts = tiling ? (size_t)tiling->schedule.parts + 1 : 1;
    double **by_key[] = {&w.s, &w.sigma, &w.spread, &w.p_of, &w.rho};
    double **by_column[] = {&w.value,    &w.o,         &w.moved, &w.programs,
                            &w.absolute, &w.deviation, &w.total, &w.squares};
    for (int i = 0; i < 5; i++) *by_key[i] = take(&at, n, sizeof(double));
    for (int i = 0; i < 8; i++) *by_column[i] = take(&at, d_v, sizeof(double));
    w.q = take(&at, (size_t)p->d, sizeof(double));
    w.stack = take(&at, STACK * (1 + d_v), sizeof(double));
    w.merges = take(&at, blocks, sizeof(int32_t));
    w.present = take(&at, blocks, sizeof(int32_t));
    w.depths = take(&at, blocks + 1, sizeof(int32_t));
    w.word = take(&at, 2 * blocks, sizeof(int32_t));
    w.part_word = take(&at, 2 * parts, sizeof(int32_t));
    w.bits = take(&at, n / 64 + 1, sizeof(uint64_t));
    w.scratch = (void *)at;
    return w;
}

static size_t larger(size_t a, size_t b) { return a > b ? a : b; }

size_t ts_bound_scratch(const ts_problem *p, const ts_tiling *tiling) {
    size_t shared = tiling ? ts_schedule_scratch(&tiling->schedule) : 0;
    for (int64_t h = 0; h < p->heads; h++) {
        if (p->mask && p->mask[h]) shared = larger(shared, ts_mask_scratch(p->mask[h]));
        if (p->score && p->score[h] && p->score[h]->program)
            shared = larger(shared, ts_enclose_scratch(p->score[h]->program));
    }
    return (size_t)(uintptr_t)place(p, tiling, 0).scratch + shared;
}

static void clear(state *w) {
    for (int64_t j = 0; j < w->p->n_k; j++) w->s[j] = NEVER, w->p_of[j] = w->rho[j] = 0;
    double *columns[] = {w->o,         w->moved, w->programs, w->absolute,
                         w->deviation, w->total, w->squares};
    for (int i = 0; i < 7; i++) memset(columns[i], 0, (size_t)w->p->d_v * sizeof(double));
    w->max = NEVER;
    w->min = INFINITY;
    w->least_max = NEVER;
}

void ts_bound_row(const ts_problem *p, const ts_tiling *tiling, int64_t row, int64_t head,
                  ts_bound *out, void *scratch) {
    state w = place(p, tiling, (uintptr_t)scratch);
    w.row = row, w.head = head;
    w.bounded = true;
    w.exact = p->base == TS_BASE_2;
    w.a = arithmetic_of(p, tiling);
    if (tiling) w.tile = row / tiling->q, w.tiles = (p->n_q + tiling->q - 1) / tiling->q;
    clear(&w);
    read_query(&w);
    read_mask(&w);
    int64_t found = read_blocks(&w);
    write_word(&w, found);
    count_merges(&w);
    weigh(&w, found);
    if (w.sum_p > 0) {
        average(&w);
        run_word(&w);
        conclude(&w, out);
    } else { /* ⊥ */
        w.exact = w.bounded;
        out->max = out->lse = 0;
        for (int64_t c = 0; c < p->d_v; c++) out->output[c] = out->expected[c] = 0;
    }
    out->bounded = w.bounded;
    out->exact = w.exact;
    if (!w.bounded) unbounded(&w, out);
}
