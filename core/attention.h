/* attention.h -- road 2: tiles of queries x blocks of keys x heads, fused: a postfix word run on a
 * stack of summaries. */
#ifndef TS_ATTENTION_H
#define TS_ATTENTION_H

#include "run.h"
#include "summary.h"
#include "tiling.h"

/* o: n_q x heads * d_v; lse: n_q x heads, or NULL. As ts_softmax in errors. Nothing is half done:
 * on failure o is unspecified and nobody's. */
ts_status ts_attention(const ts_problem *problem, const ts_tiling *tiling, bool zero_empty,
                       const ts_run *run, ts_matrix *o, ts_matrix *lse, ts_detail *detail);

/* *bytes: the most work space that ts_attention will hold at once; TS_TOO_LARGE where it cannot be.
 * Only run->threads is used. */
ts_status ts_attention_memory(const ts_problem *problem, const ts_tiling *tiling, const ts_run *run,
                              size_t *bytes);

/* Σ of all rows and heads over the keys of `ranges` (by number, sorted, disjoint), as one block: at
 * most 512 keys at a time, merged online. The engine computes the summary of a block by this same
 * function. */
ts_status ts_attention_summary(const ts_problem *problem, const ts_range *ranges, int64_t count,
                               const ts_run *run, ts_summary *out, ts_detail *detail);

#endif
