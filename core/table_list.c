/* table_list.c -- extremes of the elements of lists over ranges. */
#include "table_index.h"

enum { FAN = 16 };

/* Behind it the extremes of each FAN elements, then of each FAN of those, until one is left. */
typedef struct {
    bool ascending; /* no element is less than the one before it, or NaN */
} list_index;

static const ts_extremes *list_levels(const list_index *index) {
    return (const ts_extremes *)((const char *)index + sizeof(ts_extremes));
}

size_t ts_table_list_index_size(const ts_table *table) {
    size_t size = sizeof(ts_extremes);
    int64_t count = table->count;
    while (count > 1) size += (size_t)(count = ts_quotient_up(count, FAN)) * sizeof(ts_extremes);
    return size;
}

static void join_element(const ts_table *table, int64_t k, ts_extremes *all) {
    if (table->kind == TS_TABLE_INTS)
        ts_join_ints(all, table->ints[k], table->ints[k]);
    else if (table->kind == TS_TABLE_BOOLS)
        ts_join_ints(all, table->bools[k] != 0, table->bools[k] != 0);
    else
        ts_join_floats(all, table->floats[k], table->floats[k], isnan(table->floats[k]));
}

/* Joins entries first .. last of a level: of the elements where it is NULL. */
static void join_level(const ts_table *table, const ts_extremes *level, int64_t first, int64_t last,
                       ts_extremes *all) {
    for (int64_t k = first; k <= last; k++)
        if (level)
            ts_join_extremes(table->kind, all, &level[k]);
        else
            join_element(table, k, all);
}

static bool in_order(const ts_table *table, int64_t a, int64_t b) {
    switch (table->kind) {
    case TS_TABLE_INTS:
        return table->ints[a] <= table->ints[b];
    case TS_TABLE_BOOLS:
        return (table->bools[a] != 0) <= (table->bools[b] != 0);
    default:
        return table->floats[a] <= table->floats[b]; /* NaN is never in order */
    }
}

static bool is_ascending(const ts_table *table) {
    for (int64_t k = 0; k < table->count; k++)
        if (!in_order(table, k > 0 ? k - 1 : 0, k)) return false;
    return true;
}

void ts_table_list_index(const ts_table *table, void *memory) {
    list_index *index = memory;
    ts_extremes *out = (ts_extremes *)list_levels(index);
    const ts_extremes *level = NULL;
    index->ascending = is_ascending(table);
    for (int64_t count = table->count; count > 1;) {
        const int64_t blocks = ts_quotient_up(count, FAN);
        for (int64_t b = 0; b < blocks; b++) {
            out[b] = ts_no_extremes(table->kind);
            int64_t last = b * FAN + FAN - 1;
            join_level(table, level, b * FAN, last < count ? last : count - 1, &out[b]);
        }
        level = out;
        out += blocks;
        count = blocks;
    }
}

/* Elements first .. last, from 0: the ends of each level that fill no entry of the next. */
static ts_extremes list_range(const ts_table *table, int64_t first, int64_t last) {
    const list_index *index = table->index;
    const ts_extremes *level = NULL, *next = index ? list_levels(index) : NULL;
    ts_extremes all = ts_no_extremes(table->kind);
    if (index && index->ascending) {
        join_element(table, first, &all);
        join_element(table, last, &all);
        return all;
    }
    for (int64_t count = table->count; first <= last; count = ts_quotient_up(count, FAN)) {
        int64_t to, from = ts_whole_blocks(first, last, count, FAN, &to);
        if (!next || count <= FAN || from >= to) {
            join_level(table, level, first, last, &all);
            break;
        }
        join_level(table, level, first, from * FAN - 1, &all);
        join_level(table, level, to * FAN, last, &all);
        level = next;
        next += ts_quotient_up(count, FAN);
        first = from, last = to - 1;
    }
    return all;
}

void ts_table_int_range(const ts_table *table, int64_t first, int64_t last, int64_t *low,
                        int64_t *high) {
    ts_extremes all = list_range(table, first - table->first, last - table->first);
    *low = all.low.i, *high = all.high.i;
}

void ts_table_float_range(const ts_table *table, int64_t first, int64_t last, double *low,
                          double *high, bool *nan) {
    ts_extremes all = list_range(table, first - table->first, last - table->first);
    *low = all.low.f, *high = all.high.f, *nan = all.nan;
}

void ts_table_bool_range(const ts_table *table, int64_t first, int64_t last, bool *some,
                         bool *all) {
    ts_extremes ends = list_range(table, first - table->first, last - table->first);
    *some = ends.high.i == 1, *all = ends.low.i == 1;
}
