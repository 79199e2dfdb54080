/* waiting.c -- the summaries of parts that wait until all parts of their item are there. */
#include "waiting.h"

static int64_t unit_rows(const ts_cut *cut) { return cut->queries * cut->heads; }

void ts_waiting_take(ts_waiting *waiting, const ts_cut *cut, const ts_loops *loops,
                     int64_t value_stride, ts_arena *arena) {
    waiting->cut = cut;
    if (cut->parts == 1) return;
    waiting->rows = ts_rows_take(loops, cut->units * unit_rows(cut), value_stride, arena);
    waiting->left = ts_arena_take(arena, cut->items, sizeof(int32_t));
}

void ts_waiting_begin(const ts_waiting *waiting) {
    const ts_cut *cut = waiting->cut;
    for (int64_t n = 0; n < cut->items && cut->parts > 1; n++)
        waiting->left[n] = (int32_t)cut->parts;
}

ts_rows ts_waiting_rows(const ts_waiting *waiting, const ts_loops *loops, int64_t part,
                        int64_t item) {
    const int64_t unit = part * waiting->cut->items + item;
    return ts_rows_from(loops, &waiting->rows, unit * unit_rows(waiting->cut));
}

bool ts_waiting_complete(const ts_waiting *waiting, int64_t item) {
    return __atomic_sub_fetch(&waiting->left[item], 1, __ATOMIC_ACQ_REL) == 0;
}
