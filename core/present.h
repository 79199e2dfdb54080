/* present.h -- the blocks of keys that the masks of some rows leave. */
#ifndef TS_PRESENT_H
#define TS_PRESENT_H

#include "arena.h"
#include "problem.h"
#include "schedule.h"

typedef struct {
    int64_t count;
    int32_t *blocks; /* ascending, from 1 */
    uint8_t *cover;  /* of each of those: cover[block] */
} ts_present;

/* Takes room for all blocks of a schedule. */
void ts_present_take(ts_present *present, const ts_schedule *schedule, ts_arena *arena);

/* Of queries i (from 1) and heads head .. head + heads - 1 (from 0). mask_scratch:
 * ts_problem_mask_scratch bytes. */
void ts_present_find(ts_present *present, const ts_problem *problem, const ts_schedule *schedule,
                     ts_range i, int64_t head, int64_t heads, void *mask_scratch);

#endif
