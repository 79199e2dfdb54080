/* target.h -- where the finished summaries of rows go: an output and its lse, or a summary. */
#ifndef TS_TARGET_H
#define TS_TARGET_H

#include "block.h"
#include "items.h"
#include "summary.h"

typedef struct {
    ts_matrix *o, *lse;  /* as ts_attention's; used where summary is NULL */
    ts_summary *summary; /* of all rows and heads */
} ts_target;

/* Finishes the rows of a tile. One that is ⊥ where an output is asked for is noted as empty: its
 * output is 0, its lse -inf. */
void ts_target_put(const ts_target *target, const ts_tile *tile, const ts_rows *rows,
                   ts_outcome *outcome);

#endif
