/* table_index.h -- what the indexes of tables are made of. */
#ifndef TS_TABLE_INDEX_H
#define TS_TABLE_INDEX_H

#include "sizes.h"
#include "table.h"

#include <math.h>

/* Of lists: the extremes of each 16 elements, of each 256, and so on. Of matrices: those of squares
 * of 16 x 16. Of dense bits, for squares of 64 x 64: whether some are set and whether all are. */
size_t ts_table_list_index_size(const ts_table *table);
void ts_table_list_index(const ts_table *table, void *memory);
size_t ts_table_matrix_index_size(const ts_table *table);
void ts_table_matrix_index(const ts_table *table, void *memory);
size_t ts_table_bits_index_size(const ts_table *table);
void ts_table_bits_index(const ts_table *table, void *memory);

/* ---- what they hold ---- */

/* Extremes of some elements; booleans count as 0 and 1. low > high: there are none, or (floats) all
 * are NaN. */
typedef struct {
    ts_value low, high;
    int64_t nan;
} ts_extremes;

static inline ts_extremes ts_no_extremes(ts_table_kind kind) {
    if (kind == TS_TABLE_FLOATS || kind == TS_TABLE_MATRIX)
        return (ts_extremes){{.f = INFINITY}, {.f = -INFINITY}, 0};
    return (ts_extremes){{.i = INT64_MAX}, {.i = INT64_MIN}, 0};
}

static inline void ts_join_ints(ts_extremes *all, int64_t low, int64_t high) {
    if (low < all->low.i) all->low.i = low;
    if (high > all->high.i) all->high.i = high;
}

static inline void ts_join_floats(ts_extremes *all, double low, double high, int64_t nan) {
    if (low < all->low.f) all->low.f = low;
    if (high > all->high.f) all->high.f = high;
    all->nan |= nan;
}

static inline void ts_join_extremes(ts_table_kind kind, ts_extremes *all, const ts_extremes *some) {
    if (kind == TS_TABLE_FLOATS || kind == TS_TABLE_MATRIX)
        ts_join_floats(all, some->low.f, some->high.f, some->nan);
    else
        ts_join_ints(all, some->low.i, some->high.i);
}

/* ---- ranges ---- */

/* Entries of the next level that entries first .. last fill: up to, excluding, *to. The last one
 * may be short. */
static inline int64_t ts_whole_blocks(int64_t first, int64_t last, int64_t count, int64_t size,
                                      int64_t *to) {
    *to = last == count - 1 ? ts_quotient_up(count, size) : (last + 1) / size;
    return ts_quotient_up(first, size);
}

/* A range (from 0) in three: whole blocks, by their numbers, and what lies before and behind them.
 */
typedef struct {
    ts_range before, blocks, behind;
} ts_split;

static inline ts_split ts_split_range(ts_range r, int64_t count, int64_t size) {
    int64_t to, from = ts_whole_blocks(r.first, r.last, count, size, &to);
    const ts_range none = {0, -1};
    if (from >= to) return (ts_split){r, none, none};
    return (ts_split){{r.first, from * size - 1}, {from, to - 1}, {to * size, r.last}};
}

static inline bool ts_is_none(ts_range r) { return r.first > r.last; }

#endif
