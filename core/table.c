/* table.c -- extremes of the elements of tables over ranges. */
#include "table.h"

#include <math.h>

void ts_table_int_range(const ts_table *table, int64_t first, int64_t last, int64_t *low,
                        int64_t *high) {
    *low = INT64_MAX, *high = INT64_MIN;
    for (int64_t k = first - table->first; k <= last - table->first; k++) {
        if (table->ints[k] < *low) *low = table->ints[k];
        if (table->ints[k] > *high) *high = table->ints[k];
    }
}

static void widen(double x, double *low, double *high, bool *nan) {
    if (isnan(x)) *nan = true;
    if (x < *low) *low = x;
    if (x > *high) *high = x;
}

void ts_table_float_range(const ts_table *table, int64_t first, int64_t last, double *low,
                          double *high, bool *nan) {
    *low = INFINITY, *high = -INFINITY, *nan = false;
    for (int64_t k = first - table->first; k <= last - table->first; k++)
        widen(table->floats[k], low, high, nan);
}

void ts_table_bool_range(const ts_table *table, int64_t first, int64_t last, bool *some,
                         bool *all) {
    *some = false, *all = true;
    for (int64_t k = first - table->first; k <= last - table->first; k++) {
        *some = *some || table->bools[k];
        *all = *all && table->bools[k];
        if (*some && !*all) return;
    }
}

void ts_table_matrix_range(const ts_table *table, ts_range rows, ts_range cols, double *low,
                           double *high, bool *nan) {
    *low = INFINITY, *high = -INFINITY, *nan = false;
    for (int64_t r = rows.first; r <= rows.last; r++)
        for (int64_t c = cols.first; c <= cols.last; c++)
            widen(ts_table_matrix(table, r, c), low, high, nan);
}

/* The bits of word w of a row that stand for columns first .. last (from 0). */
static uint64_t window(int64_t w, int64_t first, int64_t last) {
    int64_t low = first - 64 * w, high = last - 64 * w;
    uint64_t mask = ~(uint64_t)0;
    if (low > 0) mask &= low > 63 ? 0 : mask << low;
    if (high < 63) mask &= high < 0 ? 0 : ~(uint64_t)0 >> (63 - high);
    return mask;
}

void ts_table_bits_range(const ts_table *table, ts_range rows, ts_range cols, ts_range heads,
                         bool *some, bool *all) {
    int64_t first = cols.first - 1, last = cols.last - 1;
    *some = false, *all = true;
    for (int64_t h = heads.first - 1; h < heads.last; h++)
        for (int64_t r = rows.first - 1; r < rows.last; r++) {
            const uint64_t *row = table->bits + (h * table->rows + r) * table->words;
            for (int64_t w = first / 64; w <= last / 64; w++) {
                uint64_t mask = window(w, first, last), bits = row[w] & mask;
                *some = *some || bits;
                *all = *all && bits == mask;
                if (*some && !*all) return;
            }
        }
}
