/* attention.h -- road 2: tiles of queries x blocks of keys x heads, fused: a postfix word run on a
 * stack of summaries. */
#ifndef TS_ATTENTION_H
#define TS_ATTENTION_H

#include "problem.h"
#include "run.h"
#include "schedule.h"
#include "summary.h"

typedef enum { TS_EXP_SLEEF, TS_EXP_POLY } ts_exp;

typedef struct {
    int64_t q;            /* query rows a tile; 0: the default */
    ts_schedule schedule; /* of the problem's keys */
    ts_exp exp;
    int degree; /* of the polynomial, 1 to TS_POLY_DEGREE; 0: the dtype's default */
} ts_tiling;

/* Default tiles: from dtype, d, d_v, n_q, group and instruction set only. Fills q, schedule.k and
 * schedule.parts (with merge SPLIT where there are more than one) that are 0, and schedule.first,
 * last and blocks from the problem. */
void ts_attention_defaults(const ts_problem *problem, ts_tiling *tiling);

/* o: n_q x heads * d_v; lse: n_q x heads, or NULL. As ts_softmax in errors. Nothing is half done:
 * on failure o is unspecified and nobody's. */
ts_status ts_attention(const ts_problem *problem, const ts_tiling *tiling, bool zero_empty,
                       const ts_run *run, ts_matrix *o, ts_matrix *lse, ts_detail *detail);

/* *bytes: the work space that ts_attention will ask the allocator for; TS_TOO_LARGE where it cannot
 * be. Only run->threads is used. */
ts_status ts_attention_memory(const ts_problem *problem, const ts_tiling *tiling, const ts_run *run,
                              size_t *bytes);

/* Σ of all rows and heads over the keys of `ranges` (by number, sorted, disjoint), as one block: at
 * most 512 keys at a time, merged online. The engine computes the summary of a block by this same
 * function. */
ts_status ts_attention_summary(const ts_problem *problem, const ts_range *ranges, int64_t count,
                               const ts_run *run, ts_summary *out, ts_detail *detail);

#endif
