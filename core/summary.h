/* summary.h -- Σ = (m, ℓ, z) of every query row and head: ⊥, ⋆, output and lse. */
#ifndef TS_SUMMARY_H
#define TS_SUMMARY_H

#include "problem.h"

/* max and norm: n_q x heads, value: n_q x heads * d_v; packed, of `dtype`, in the caller's memory.
 * A row is ⊥ where its max is -inf (no real summary has that maximum): then norm and value stand as
 * 0, and no arithmetic touches them. No number is -0; every NaN is the one quiet NaN. */
typedef struct {
    ts_dtype dtype;
    ts_base base;
    int64_t n_q, heads, d_v;
    void *max, *norm, *value;
} ts_summary;

/* Bytes of one block of memory, aligned to 64, for max, norm and value; ts_summary_place points
 * them into it. */
ts_status ts_summary_size(ts_dtype dtype, int64_t n_q, int64_t heads, int64_t d_v, size_t *bytes);
void ts_summary_place(ts_summary *summary, void *memory);

void ts_summary_bottom(ts_summary *summary); /* every row ⊥ */

/* *out = a ⋆ b, of the same shape, dtype and base; out may be a or b. Commutes bit for bit, ⊥ is
 * the identity bit for bit. Two multiplications and one addition a number, never fused. */
void ts_summary_merge(const ts_summary *a, const ts_summary *b, ts_summary *out);

/* z / ℓ, packed into o (n_q x heads * d_v); sink: one logit a head, or NULL. TS_EMPTY_ROW where a
 * row has neither keys nor sink, unless zero_empty: detail has the first one, from 1, in the order
 * of heads and rows, and how many there are. */
ts_status ts_summary_output(const ts_summary *summary, const double *sink, bool zero_empty,
                            ts_matrix *o, ts_detail *detail);
/* m ln(base) + ln ℓ, computed in double and rounded once, into lse (n_q x heads); -inf for ⊥. */
void ts_summary_lse(const ts_summary *summary, const double *sink, ts_matrix *lse);

/* log2 of the base: what s - m is multiplied by on its way to 2^x. */
static inline double ts_base_unit(ts_base base) {
    return base == TS_BASE_2 ? 1 : 0x1.71547652b82fep0;
}

#endif
