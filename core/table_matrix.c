/* table_matrix.c -- extremes of the elements of matrices over rectangles. */
#include "table_index.h"

enum { SQUARE = 16 };

static void join_numbers(const ts_table *table, ts_range rows, ts_range cols, ts_extremes *all) {
    for (int64_t r = rows.first; r <= rows.last; r++)
        for (int64_t c = cols.first; c <= cols.last; c++) {
            double x = ts_table_matrix(table, r + 1, c + 1);
            ts_join_floats(all, x, x, isnan(x));
        }
}

size_t ts_table_matrix_index_size(const ts_table *table) {
    const ts_matrix *m = &table->matrix;
    return (size_t)(ts_quotient_up(m->rows, SQUARE) * ts_quotient_up(m->cols, SQUARE)) *
           sizeof(ts_extremes);
}

void ts_table_matrix_index(const ts_table *table, void *memory) {
    const ts_matrix *m = &table->matrix;
    ts_extremes *out = memory;
    if (m->cols == 0) return; /* however many rows there are */
    for (int64_t r = 0; r < m->rows; r += SQUARE)
        for (int64_t c = 0; c < m->cols; c += SQUARE, out++) {
            *out = ts_no_extremes(TS_TABLE_MATRIX);
            ts_range rows = {r, r + SQUARE < m->rows ? r + SQUARE - 1 : m->rows - 1};
            ts_range cols = {c, c + SQUARE < m->cols ? c + SQUARE - 1 : m->cols - 1};
            join_numbers(table, rows, cols, out);
        }
}

void ts_table_matrix_range(const ts_table *table, ts_range rows, ts_range cols, double *low,
                           double *high, bool *nan) {
    const ts_extremes *index = table->index;
    const int64_t across = ts_quotient_up(table->matrix.cols, SQUARE);
    ts_extremes all = ts_no_extremes(TS_TABLE_MATRIX);
    rows.first--, rows.last--, cols.first--, cols.last--;
    ts_split r = {rows, {0, -1}, {0, -1}}, c = {cols, {0, -1}, {0, -1}};
    if (index) {
        r = ts_split_range(rows, table->matrix.rows, SQUARE);
        c = ts_split_range(cols, table->matrix.cols, SQUARE);
    }
    join_numbers(table, r.before, cols, &all);
    join_numbers(table, r.behind, cols, &all);
    if (!ts_is_none(r.blocks)) {
        ts_range inner = {r.before.last + 1, ts_is_none(r.behind) ? rows.last : r.behind.first - 1};
        join_numbers(table, inner, c.before, &all);
        join_numbers(table, inner, c.behind, &all);
    }
    for (int64_t b = r.blocks.first; b <= r.blocks.last; b++)
        for (int64_t k = c.blocks.first; k <= c.blocks.last; k++)
            ts_join_extremes(TS_TABLE_MATRIX, &all, &index[b * across + k]);
    *low = all.low.f, *high = all.high.f, *nan = all.nan;
}
