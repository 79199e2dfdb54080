/* weigh.h -- units of work in threads' shares by their weight, so that no thread is left with a
 * long one at the end. */
#ifndef TS_WEIGH_H
#define TS_WEIGH_H

#include "cut.h"
#include "run.h"

typedef struct {
    int64_t share, weight, unit; /* weight: blocks that its mask leaves */
} ts_weighed;

/* Fills order[0 .. cut->units - 1] for so many shares, one behind the other: each the heaviest
 * first, and among those of one weight neighbours, which use the same keys. TS_NO_MEMORY,
 * TS_TOO_LARGE, TS_INTERRUPTED. */
ts_status ts_weigh_units(const ts_problem *problem, const ts_schedule *schedule, const ts_cut *cut,
                         int shares, const ts_run *run, ts_weighed *order, ts_detail *detail);

#endif
