/* bound_row.h -- one row while its bound is computed: what the files of the bound share. The names
 * are those of bound.md. */
#ifndef TS_BOUND_ROW_H
#define TS_BOUND_ROW_H

#include "bound.h"

#include <math.h>

enum { TS_BOUND_STACK = 40 }; /* more summaries than any word needs */

#define TS_BOUND_U64 0x1p-53               /* the unit roundoff of double */
#define TS_BOUND_NEVER (-(double)INFINITY) /* the score of a key that is not allowed */

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
} ts_bound_road;

typedef struct {
    const ts_problem *p;
    const ts_schedule *schedule; /* NULL: one block of all keys */
    int64_t row, head, tile, tiles, blocks;
    ts_bound_road a;
    /* By key: score, σ, and the sum of squares of the roundings in units of u; then weight and ρ.
     */
    double *s, *sigma, *spread, *p_of, *rho;
    double *q; /* d: the scale folded in */
    /* By column. */
    double *value, *o, *moved, *programs, *absolute, *deviation, *total, *squares;
    double *stack; /* TS_BOUND_STACK x (1 + d_v): sums of p and p v of the summaries on the stack */
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
} ts_bound_row_state;

/* γ_n of Higham (2002), §3.1, for n roundings. */
static inline double ts_bound_gamma(double n, double u) {
    return n * u < 0.5 ? n * u / (1 - n * u) : (double)INFINITY;
}

/* bound_scores.c: the query with the scale folded in, the mask's bits, the score of an allowed key
 * with its errors, and a score - of a key, or the sink - that may be the maximum. */
void ts_bound_read_query(ts_bound_row_state *w);
void ts_bound_read_mask(ts_bound_row_state *w);
void ts_bound_read_score(ts_bound_row_state *w, const ts_matrix *k, int64_t key);
void ts_bound_note_score(ts_bound_row_state *w, double s, double sigma);

/* bound_path.c: the scores of all blocks, whose number with any key it returns; the row's word; how
 * many merges lead from a block to the root, its own chunks' among them, and the longest chain of
 * roundings. */
const ts_range *ts_bound_block_keys(const ts_bound_row_state *w, int64_t block, ts_range *one,
                                    int64_t *count);
int64_t ts_bound_read_blocks(ts_bound_row_state *w);
void ts_bound_write_word(ts_bound_row_state *w, int64_t found);
double ts_bound_path(const ts_bound_row_state *w, int64_t block, double *chain);

/* bound_weights.c: p and ρ of every key and of the sink. */
void ts_bound_weigh(ts_bound_row_state *w, int64_t found);

/* bound_values.c: o, and the sums over keys and over partial sums that the figures are made of. */
void ts_bound_average(ts_bound_row_state *w);
void ts_bound_run_word(ts_bound_row_state *w);

#endif
