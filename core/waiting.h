/* waiting.h -- the summaries of parts that wait until all parts of their item are there. */
#ifndef TS_WAITING_H
#define TS_WAITING_H

#include "cut.h"
#include "rows.h"

typedef struct {
    const ts_cut *cut;
    ts_rows rows;  /* of all units */
    int32_t *left; /* of each item: parts still to come */
} ts_waiting;

/* Takes room for all units of a cut, which must outlive it; nothing where items are not cut into
 * parts. */
void ts_waiting_take(ts_waiting *waiting, const ts_cut *cut, const ts_loops *loops,
                     int64_t value_stride, ts_arena *arena);
/* All parts are still to come. */
void ts_waiting_begin(const ts_waiting *waiting);

/* Those of one part (from 0) of an item. */
ts_rows ts_waiting_rows(const ts_waiting *waiting, const ts_loops *loops, int64_t part,
                        int64_t item);
/* Says that a part of the item, of which the rows have been written, is there: true for the last,
 * whose thread sees what the others wrote. */
bool ts_waiting_complete(const ts_waiting *waiting, int64_t item);

#endif
