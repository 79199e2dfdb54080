/* present.c -- the blocks of keys that the masks of some rows leave. */
#include "present.h"

void ts_present_take(ts_present *present, const ts_schedule *s, ts_arena *arena) {
    present->blocks = ts_arena_take(arena, s->blocks, sizeof(int32_t));
    present->cover = ts_arena_take(arena, s->blocks + 1, 1);
}

/* Whether the heads differ in their masks: then blocks are looked into chunk by chunk. */
static bool several_masks(const ts_problem *p, int64_t head, int64_t heads) {
    const ts_mask *one = ts_problem_mask(p, head);
    for (int64_t g = 1; g < heads; g++)
        if (ts_problem_mask(p, head + g) != one || (one && one->heads > 0)) return true;
    return false;
}

void ts_present_find(ts_present *present, const ts_problem *p, const ts_schedule *s, ts_range i,
                     int64_t head, int64_t heads, void *mask_scratch) {
    const ts_mask *one = ts_problem_mask(p, head);
    const bool several = several_masks(p, head, heads);
    if (one && !several && !s->ranges) {
        present->count = ts_mask_visit(one, head + 1, i, s->first, s->last, s->k, s->blocks,
                                       present->blocks, present->cover, mask_scratch);
        for (int64_t n = present->count; n-- > 0;) { /* from a list of covers to one by block */
            present->blocks[n]++;
            present->cover[present->blocks[n]] = present->cover[n];
        }
        return;
    }
    present->count = s->blocks;
    for (int64_t b = 1; b <= s->blocks; b++) {
        present->blocks[b - 1] = (int32_t)b;
        present->cover[b] = several || one ? TS_PARTIAL : TS_FULL;
    }
}
