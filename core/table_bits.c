/* table_bits.c -- whether some, and all, of dense bits are set in rectangles. */
#include "table_index.h"

#include <string.h>

/* The bits of word w of a row that stand for columns first .. last (from 0). */
static uint64_t window(int64_t w, int64_t first, int64_t last) {
    int64_t low = first - 64 * w, high = last - 64 * w;
    uint64_t mask = ~(uint64_t)0;
    if (low > 0) mask &= low > 63 ? 0 : mask << low;
    if (high < 63) mask &= high < 0 ? 0 : ~(uint64_t)0 >> (63 - high);
    return mask;
}

static bool any_set(const uint64_t *row, ts_range cols) {
    for (int64_t w = cols.first / 64; w <= cols.last / 64; w++)
        if (row[w] & window(w, cols.first, cols.last)) return true;
    return false;
}

static bool all_set(const uint64_t *row, ts_range cols) {
    for (int64_t w = cols.first / 64; w <= cols.last / 64; w++)
        if (~row[w] & window(w, cols.first, cols.last)) return false;
    return true;
}

/* Looks at columns of `rows` rows, `words` apart; false once both a set and an unset bit are known.
 */
static bool look(const uint64_t *row, int64_t words, int64_t rows, ts_range cols, bool *some,
                 bool *all) {
    for (int64_t r = 0; r < rows && !ts_is_none(cols); r++, row += words) {
        *some = *some || any_set(row, cols);
        *all = *all && all_set(row, cols);
        if (*some && !*all) return false;
    }
    return true;
}

/* The index: for each head a bit for each square, `some` of them, and then as many for `all`. */
static int64_t square_rows(const ts_table *t) { return ts_quotient_up(t->rows, 64); }
static int64_t square_words(const ts_table *t) { return ts_quotient_up(t->words, 64); }
static int64_t index_words(const ts_table *t) {
    return t->heads * square_rows(t) * square_words(t);
}

size_t ts_table_bits_index_size(const ts_table *t) {
    return (size_t)(2 * index_words(t)) * sizeof(uint64_t);
}

void ts_table_bits_index(const ts_table *t, void *memory) {
    uint64_t *some = memory, *all = some + index_words(t);
    memset(memory, 0, ts_table_bits_index_size(t));
    for (int64_t h = 0; h < t->heads; h++)
        for (int64_t b = 0; b < square_rows(t); b++)
            for (int64_t w = 0; w < t->words; w++) {
                const uint64_t *row = t->bits + (h * t->rows + 64 * b) * t->words;
                int64_t rows = 64 * b + 64 < t->rows ? 64 : t->rows - 64 * b;
                int64_t last = 64 * w + 63 < t->cols ? 64 * w + 63 : t->cols - 1;
                bool any = false, each = true;
                look(row, t->words, rows, (ts_range){64 * w, last}, &any, &each);
                int64_t at = (h * square_rows(t) + b) * square_words(t) + w / 64;
                some[at] |= (uint64_t)any << (w % 64);
                all[at] |= (uint64_t)each << (w % 64);
            }
}

/* A row of squares: whole ones by the index, the rim by the bits. */
static bool look_at_squares(const ts_table *t, int64_t h, int64_t b, const ts_split *cols,
                            bool *some, bool *all) {
    const uint64_t *row = t->bits + (h * t->rows + 64 * b) * t->words;
    const uint64_t *any = (const uint64_t *)t->index + (h * square_rows(t) + b) * square_words(t);
    const uint64_t *every = any + index_words(t);
    const int64_t rows = 64 * b + 64 < t->rows ? 64 : t->rows - 64 * b;
    *some = *some || any_set(any, cols->blocks);
    *all = *all && all_set(every, cols->blocks);
    return !(*some && !*all) && look(row, t->words, rows, cols->before, some, all) &&
           look(row, t->words, rows, cols->behind, some, all);
}

static bool look_at_head(const ts_table *t, int64_t h, ts_range rows, ts_range cols, bool *some,
                         bool *all) {
    const uint64_t *head = t->bits + h * t->rows * t->words;
    ts_split r = {rows, {0, -1}, {0, -1}}, c = {cols, {0, -1}, {0, -1}};
    if (t->index) c = ts_split_range(cols, t->cols, 64);
    if (!ts_is_none(c.blocks)) r = ts_split_range(rows, t->rows, 64);
    for (int64_t b = r.blocks.first; b <= r.blocks.last; b++)
        if (!look_at_squares(t, h, b, &c, some, all)) return false;
    const ts_range parts[2] = {r.before, r.behind};
    for (int k = 0; k < 2; k++)
        if (!look(head + parts[k].first * t->words, t->words, parts[k].last - parts[k].first + 1,
                  cols, some, all))
            return false;
    return true;
}

void ts_table_bits_range(const ts_table *table, ts_range rows, ts_range cols, ts_range heads,
                         bool *some, bool *all) {
    *some = false, *all = true;
    rows.first--, rows.last--, cols.first--, cols.last--;
    for (int64_t h = heads.first - 1; h < heads.last; h++)
        if (!look_at_head(table, h, rows, cols, some, all)) return;
}
