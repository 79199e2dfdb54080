/* table.c -- extremes of the elements of tables over ranges.
 *
 * Without an index they are found by looking at each element. The index of a list holds the
 * extremes of each 16 elements, of each 256, and so on; that of a matrix those of squares of 16 x
 * 16; that of dense bits, for squares of 64 x 64, whether some are set and whether all are. */
#include "table.h"

#include "sizes.h"

#include <math.h>
#include <string.h>

/* Extremes of some elements; booleans count as 0 and 1. low > high: there are none, or (floats) all
 * are NaN. */
typedef struct {
    ts_value low, high;
    int64_t nan;
} extremes;

static extremes no_elements(ts_table_kind kind) {
    if (kind == TS_TABLE_FLOATS || kind == TS_TABLE_MATRIX)
        return (extremes){{.f = INFINITY}, {.f = -INFINITY}, 0};
    return (extremes){{.i = INT64_MAX}, {.i = INT64_MIN}, 0};
}

static void join_ints(extremes *all, int64_t low, int64_t high) {
    if (low < all->low.i) all->low.i = low;
    if (high > all->high.i) all->high.i = high;
}

static void join_floats(extremes *all, double low, double high, int64_t nan) {
    if (low < all->low.f) all->low.f = low;
    if (high > all->high.f) all->high.f = high;
    all->nan |= nan;
}

static void join(ts_table_kind kind, extremes *all, const extremes *some) {
    if (kind == TS_TABLE_FLOATS || kind == TS_TABLE_MATRIX)
        join_floats(all, some->low.f, some->high.f, some->nan);
    else
        join_ints(all, some->low.i, some->high.i);
}

/* ---- lists ---- */

enum { FAN = 16 };

/* Behind it the extremes of each FAN elements, then of each FAN of those, until one is left. */
typedef struct {
    bool ascending; /* no element is less than the one before it, or NaN */
} list_index;

static const extremes *list_levels(const list_index *index) {
    return (const extremes *)((const char *)index + sizeof(extremes));
}

static size_t list_index_size(int64_t count) {
    size_t size = sizeof(extremes);
    while (count > 1) size += (size_t)(count = ts_quotient_up(count, FAN)) * sizeof(extremes);
    return size;
}

static void join_element(const ts_table *table, int64_t k, extremes *all) {
    if (table->kind == TS_TABLE_INTS)
        join_ints(all, table->ints[k], table->ints[k]);
    else if (table->kind == TS_TABLE_BOOLS)
        join_ints(all, table->bools[k] != 0, table->bools[k] != 0);
    else
        join_floats(all, table->floats[k], table->floats[k], isnan(table->floats[k]));
}

/* Joins entries first .. last of a level: of the elements where it is NULL. */
static void join_level(const ts_table *table, const extremes *level, int64_t first, int64_t last,
                       extremes *all) {
    for (int64_t k = first; k <= last; k++)
        if (level)
            join(table->kind, all, &level[k]);
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

static void build_list(const ts_table *table, list_index *index) {
    extremes *out = (extremes *)list_levels(index);
    const extremes *level = NULL;
    index->ascending = is_ascending(table);
    for (int64_t count = table->count; count > 1;) {
        const int64_t blocks = ts_quotient_up(count, FAN);
        for (int64_t b = 0; b < blocks; b++) {
            out[b] = no_elements(table->kind);
            int64_t last = b * FAN + FAN - 1;
            join_level(table, level, b * FAN, last < count ? last : count - 1, &out[b]);
        }
        level = out;
        out += blocks;
        count = blocks;
    }
}

/* Entries of the next level that entries first .. last fill: up to, excluding, *to. The last one
 * may be short. */
static int64_t whole_blocks(int64_t first, int64_t last, int64_t count, int64_t size, int64_t *to) {
    *to = last == count - 1 ? ts_quotient_up(count, size) : (last + 1) / size;
    return ts_quotient_up(first, size);
}

/* Elements first .. last, from 0: the ends of each level that fill no entry of the next. */
static extremes list_range(const ts_table *table, int64_t first, int64_t last) {
    const list_index *index = table->index;
    const extremes *level = NULL, *next = index ? list_levels(index) : NULL;
    extremes all = no_elements(table->kind);
    if (index && index->ascending) {
        join_element(table, first, &all);
        join_element(table, last, &all);
        return all;
    }
    for (int64_t count = table->count; first <= last; count = ts_quotient_up(count, FAN)) {
        int64_t to, from = whole_blocks(first, last, count, FAN, &to);
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
    extremes all = list_range(table, first - table->first, last - table->first);
    *low = all.low.i, *high = all.high.i;
}

void ts_table_float_range(const ts_table *table, int64_t first, int64_t last, double *low,
                          double *high, bool *nan) {
    extremes all = list_range(table, first - table->first, last - table->first);
    *low = all.low.f, *high = all.high.f, *nan = all.nan;
}

void ts_table_bool_range(const ts_table *table, int64_t first, int64_t last, bool *some,
                         bool *all) {
    extremes ends = list_range(table, first - table->first, last - table->first);
    *some = ends.high.i == 1, *all = ends.low.i == 1;
}

/* ---- rectangles ---- */

/* A range (from 0) in three: whole blocks, by their numbers, and what lies before and behind them.
 */
typedef struct {
    ts_range before, blocks, behind;
} split;

static split split_range(ts_range r, int64_t count, int64_t size) {
    int64_t to, from = whole_blocks(r.first, r.last, count, size, &to);
    const ts_range none = {0, -1};
    if (from >= to) return (split){r, none, none};
    return (split){{r.first, from * size - 1}, {from, to - 1}, {to * size, r.last}};
}

static bool is_none(ts_range r) { return r.first > r.last; }

enum { SQUARE = 16 };

static void join_numbers(const ts_table *table, ts_range rows, ts_range cols, extremes *all) {
    for (int64_t r = rows.first; r <= rows.last; r++)
        for (int64_t c = cols.first; c <= cols.last; c++) {
            double x = ts_table_matrix(table, r + 1, c + 1);
            join_floats(all, x, x, isnan(x));
        }
}

static void build_matrix(const ts_table *table, extremes *out) {
    const ts_matrix *m = &table->matrix;
    if (m->cols == 0) return; /* however many rows there are */
    for (int64_t r = 0; r < m->rows; r += SQUARE)
        for (int64_t c = 0; c < m->cols; c += SQUARE, out++) {
            *out = no_elements(TS_TABLE_MATRIX);
            ts_range rows = {r, r + SQUARE < m->rows ? r + SQUARE - 1 : m->rows - 1};
            ts_range cols = {c, c + SQUARE < m->cols ? c + SQUARE - 1 : m->cols - 1};
            join_numbers(table, rows, cols, out);
        }
}

void ts_table_matrix_range(const ts_table *table, ts_range rows, ts_range cols, double *low,
                           double *high, bool *nan) {
    const extremes *index = table->index;
    const int64_t across = ts_quotient_up(table->matrix.cols, SQUARE);
    extremes all = no_elements(TS_TABLE_MATRIX);
    rows.first--, rows.last--, cols.first--, cols.last--;
    split r = {rows, {0, -1}, {0, -1}}, c = {cols, {0, -1}, {0, -1}};
    if (index) {
        r = split_range(rows, table->matrix.rows, SQUARE);
        c = split_range(cols, table->matrix.cols, SQUARE);
    }
    join_numbers(table, r.before, cols, &all);
    join_numbers(table, r.behind, cols, &all);
    if (!is_none(r.blocks)) {
        ts_range inner = {r.before.last + 1, is_none(r.behind) ? rows.last : r.behind.first - 1};
        join_numbers(table, inner, c.before, &all);
        join_numbers(table, inner, c.behind, &all);
    }
    for (int64_t b = r.blocks.first; b <= r.blocks.last; b++)
        for (int64_t k = c.blocks.first; k <= c.blocks.last; k++)
            join(TS_TABLE_MATRIX, &all, &index[b * across + k]);
    *low = all.low.f, *high = all.high.f, *nan = all.nan;
}

/* ---- bits ---- */

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
    for (int64_t r = 0; r < rows && !is_none(cols); r++, row += words) {
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

static void build_bits(const ts_table *t, uint64_t *out) {
    uint64_t *some = out, *all = out + index_words(t);
    memset(out, 0, (size_t)(2 * index_words(t)) * sizeof *out);
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
static bool look_at_squares(const ts_table *t, int64_t h, int64_t b, const split *cols, bool *some,
                            bool *all) {
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
    split r = {rows, {0, -1}, {0, -1}}, c = {cols, {0, -1}, {0, -1}};
    if (t->index) c = split_range(cols, t->cols, 64);
    if (!is_none(c.blocks)) r = split_range(rows, t->rows, 64);
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

/* ---- the index ---- */

size_t ts_table_index_size(const ts_table *table) {
    const ts_matrix *m = &table->matrix;
    if (table->kind == TS_TABLE_MATRIX)
        return (size_t)(ts_quotient_up(m->rows, SQUARE) * ts_quotient_up(m->cols, SQUARE)) *
               sizeof(extremes);
    if (table->kind == TS_TABLE_BITS) return (size_t)(2 * index_words(table)) * sizeof(uint64_t);
    return list_index_size(table->count);
}

void ts_table_index(ts_table *table, void *memory) {
    if (table->kind == TS_TABLE_MATRIX)
        build_matrix(table, memory);
    else if (table->kind == TS_TABLE_BITS)
        build_bits(table, memory);
    else
        build_list(table, memory);
    table->index = memory;
}
