/* table.h -- what the look-ups of programs read: elements, and their extremes over ranges. */
#ifndef TS_TABLE_H
#define TS_TABLE_H

#include "program.h"

/* The element, or 0 (false) outside the table. */
static inline int64_t ts_table_int(const ts_table *table, int64_t at) {
    uint64_t k = (uint64_t)at - (uint64_t)table->first;
    return k < (uint64_t)table->count ? table->ints[k] : 0;
}
static inline double ts_table_float(const ts_table *table, int64_t at) {
    uint64_t k = (uint64_t)at - (uint64_t)table->first;
    return k < (uint64_t)table->count ? table->floats[k] : 0;
}
static inline bool ts_table_bool(const ts_table *table, int64_t at) {
    uint64_t k = (uint64_t)at - (uint64_t)table->first;
    return k < (uint64_t)table->count && table->bools[k];
}
static inline double ts_table_matrix(const ts_table *table, int64_t r, int64_t c) {
    const ts_matrix *m = &table->matrix;
    if (r < 1 || r > m->rows || c < 1 || c > m->cols) return 0;
    return ts_matrix_get(m, r - 1, c - 1);
}
static inline bool ts_table_bit(const ts_table *table, int64_t r, int64_t c, int64_t h) {
    if (r < 1 || r > table->rows || c < 1 || c > table->cols || h < 1 || h > table->heads)
        return false;
    const uint64_t *row = table->bits + ((h - 1) * table->rows + r - 1) * table->words;
    return row[(c - 1) / 64] >> ((c - 1) % 64) & 1;
}

/* Bytes of an index of the table, which makes the functions below quick; ts_table_index builds it
 * in `memory`, once the elements are there. */
size_t ts_table_index_size(const ts_table *table);
void ts_table_index(ts_table *table, void *memory);

/* Extremes of the elements first .. last, all inside the table (first <= last). */
void ts_table_int_range(const ts_table *table, int64_t first, int64_t last, int64_t *low,
                        int64_t *high);
/* *nan: whether one is NaN; *low > *high where all are. */
void ts_table_float_range(const ts_table *table, int64_t first, int64_t last, double *low,
                          double *high, bool *nan);
void ts_table_bool_range(const ts_table *table, int64_t first, int64_t last, bool *some, bool *all);
void ts_table_matrix_range(const ts_table *table, ts_range rows, ts_range cols, double *low,
                           double *high, bool *nan);
void ts_table_bits_range(const ts_table *table, ts_range rows, ts_range cols, ts_range heads,
                         bool *some, bool *all);

/* The kind of table that `op` reads; -1 for those that read none. */
int ts_op_table(ts_op op);

/* The value of one node that is none of i, j, h, s. */
ts_value ts_node_eval(const ts_program *program, const ts_node *node, const ts_value *values);
/* The same in a score: floats are of this dtype, and rounded once. */
ts_value ts_node_score(const ts_program *program, const ts_node *node, ts_dtype dtype,
                       const ts_value *values);

#endif
