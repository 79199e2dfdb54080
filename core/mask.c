/* mask.c -- covers of tiles, and the questions that are answered by descending on them. */
#include "mask.h"

#include "interval.h"
#include "lanes.h"

#include <string.h>

/* The largest tiles that descents evaluate instead of cutting them up. */
#define LEAF_ROWS 64
#define LEAF_KEYS 256
#define LEAF_WORDS (LEAF_KEYS / 64)

static size_t most(size_t a, size_t b) { return a > b ? a : b; }

/* The bits of a leaf, then what a cover or a tile needs. */
size_t ts_mask_scratch(const ts_mask *mask) {
    const size_t count = (size_t)mask->program->count;
    return LEAF_ROWS * LEAF_WORDS * sizeof(uint64_t) +
           most(ts_lanes_scratch(mask->program),
                count * most(sizeof(ts_interval), sizeof(ts_value)));
}

static uint64_t *leaf_bits(void *scratch) { return scratch; }
static void *work(void *scratch) { return leaf_bits(scratch) + LEAF_ROWS * LEAF_WORDS; }

static int64_t length(ts_range r) { return r.last - r.first + 1; }

ts_cover ts_mask_cover(const ts_mask *mask, int64_t h, ts_range i, ts_range j, void *scratch) {
    if (length(i) <= 0 || length(j) <= 0) return TS_EMPTY;
    ts_cells tile = {.i = i, .j = j, .h = {h, h}};
    const ts_interval *result = ts_program_bound(mask->program, &tile, work(scratch));
    return result->low.b ? TS_FULL : result->high.b ? TS_PARTIAL : TS_EMPTY;
}

static void fill_row(uint64_t *row, int64_t keys) {
    memset(row, 0xff, (size_t)(keys / 64) * sizeof *row);
    if (keys % 64) row[keys / 64] = ~(uint64_t)0 >> (64 - keys % 64);
}

/* Cell by cell, where there are no lanes. */
static void evaluate_row(const ts_mask *mask, int64_t h, int64_t i, ts_range j, uint64_t *row,
                         void *scratch) {
    memset(row, 0, (size_t)((length(j) + 63) / 64) * sizeof *row);
    for (int64_t k = 0; k < length(j); k++) {
        bool keep = ts_program_eval(mask->program, 0, i, j.first + k, h, work(scratch)).b;
        row[k / 64] |= (uint64_t)keep << (k % 64);
    }
}

static void evaluate(const ts_mask *mask, int64_t h, ts_range i, ts_range j, uint64_t *bits,
                     int64_t words, void *scratch) {
    if (!ts_lanes_ready(mask->program)) {
        for (int64_t r = i.first; r <= i.last; r++, bits += words)
            evaluate_row(mask, h, r, j, bits, scratch);
        return;
    }
    for (int64_t first = j.first; first <= j.last; first += TS_LANES, bits += TS_LANES / 64) {
        int64_t last = j.last - first < TS_LANES ? j.last : first + TS_LANES - 1;
        ts_lanes_mask(mask->program, h, i, (ts_range){first, last}, bits, words, work(scratch));
    }
}

/* What evaluated bits come to; those behind the last key are 0. */
static ts_cover settled(const uint64_t *bits, int64_t rows, int64_t keys, int64_t stride) {
    const uint64_t rest = ((uint64_t)1 << (keys % 64)) - 1; /* of a word that is not whole */
    uint64_t some = 0, others = 0;
    for (int64_t r = 0; r < rows && !(some && others); r++, bits += stride) {
        for (int64_t w = 0; w < keys / 64; w++) some |= bits[w], others |= ~bits[w];
        if (rest) some |= bits[keys / 64], others |= ~bits[keys / 64] & rest;
    }
    return !some ? TS_EMPTY : others ? TS_PARTIAL : TS_FULL;
}

ts_cover ts_mask_tile(const ts_mask *mask, int64_t h, ts_range i, ts_range j, uint64_t *bits,
                      int64_t words, void *scratch) {
    if (length(i) <= 0 || length(j) <= 0) return TS_EMPTY;
    evaluate(mask, h, i, j, bits, words, scratch);
    return settled(bits, length(i), length(j), words);
}

/* ---- the blocks of a band of queries ---- */

typedef struct {
    const ts_mask *mask;
    int64_t h;
    ts_range i;
    int64_t first, end, k, blocks;
    int32_t *list;
    uint8_t *cover;
    int64_t found;
    void *scratch;
} visit;

/* The keys of blocks a .. b - 1; the last block ends at `end`, however long k is. */
static ts_range keys_of(const visit *v, int64_t a, int64_t b) {
    return (ts_range){v->first + a * v->k, b == v->blocks ? v->end : v->first + b * v->k - 1};
}

static void found(visit *v, int64_t block, ts_cover cover) {
    v->list[v->found] = (int32_t)block;
    v->cover[v->found++] = (uint8_t)cover;
}

static void visit_blocks(visit *v, int64_t a, int64_t b) {
    ts_cover cover = ts_mask_cover(v->mask, v->h, v->i, keys_of(v, a, b), v->scratch);
    if (cover == TS_EMPTY) return;
    if (cover == TS_FULL || b - a == 1) {
        for (; a < b; a++) found(v, a, cover);
        return;
    }
    int64_t middle = a + (b - a) / 2;
    visit_blocks(v, a, middle);
    visit_blocks(v, middle, b);
}

int64_t ts_mask_visit(const ts_mask *mask, int64_t h, ts_range i, int64_t first, int64_t end,
                      int64_t k, int64_t blocks, int32_t *list, uint8_t *cover, void *scratch) {
    visit v = {mask, h, i, first, end, k, blocks, list, cover, 0, scratch};
    if (blocks > 0) visit_blocks(&v, 0, blocks);
    return v.found;
}

/* ---- descents ---- */

typedef struct descent descent;
struct descent {
    const ts_mask *mask;
    int64_t h;
    const ts_run *run;
    void *scratch;
    ts_status status;
    int64_t covers; /* since the last poll */
    /* Whether a tile can still matter; NULL: always. */
    bool (*wanted)(const descent *d, ts_range i, ts_range j);
    void (*full)(descent *d, ts_range i, ts_range j);
    void (*leaf)(descent *d, ts_range i, ts_range j, const uint64_t *bits);
    int64_t count, row, key;
    bool some, others; /* whether an allowed cell was seen, and one that is not */
    uint64_t *rows;
    int64_t first_row;
};

static void poll(descent *d) {
    d->covers = 0;
    if (d->run && d->run->poll && d->run->poll(d->run->poll_data, -1)) d->status = TS_INTERRUPTED;
}

static void descend(descent *d, ts_range i, ts_range j) {
    if (d->status != TS_OK || (d->wanted && !d->wanted(d, i, j))) return;
    ts_cover cover = ts_mask_cover(d->mask, d->h, i, j, d->scratch);
    if (++d->covers == 1024) poll(d);
    if (cover == TS_EMPTY) {
        d->others = true;
    } else if (cover == TS_FULL) {
        d->full(d, i, j);
    } else if (length(i) <= LEAF_ROWS && length(j) <= LEAF_KEYS) {
        uint64_t *bits = leaf_bits(d->scratch);
        ts_mask_tile(d->mask, d->h, i, j, bits, LEAF_WORDS, d->scratch);
        d->leaf(d, i, j, bits);
        poll(d);
    } else if (length(i) * (LEAF_KEYS / LEAF_ROWS) >= length(j)) {
        int64_t middle = i.first + length(i) / 2;
        descend(d, (ts_range){i.first, middle - 1}, j);
        descend(d, (ts_range){middle, i.last}, j);
    } else {
        int64_t middle = j.first + length(j) / 2;
        descend(d, i, (ts_range){j.first, middle - 1});
        descend(d, i, (ts_range){middle, j.last});
    }
}

static int64_t popcount(const uint64_t *bits, int64_t rows, int64_t words, int64_t stride) {
    int64_t kept = 0;
    for (int64_t r = 0; r < rows; r++, bits += stride)
        for (int64_t w = 0; w < words; w++) kept += __builtin_popcountll(bits[w]);
    return kept;
}

static void count_full(descent *d, ts_range i, ts_range j) { d->count += length(i) * length(j); }
static void count_leaf(descent *d, ts_range i, ts_range j, const uint64_t *bits) {
    d->count += popcount(bits, length(i), (length(j) + 63) / 64, LEAF_WORDS);
}

ts_status ts_mask_count(const ts_mask *mask, int64_t h, ts_range i, ts_range j, const ts_run *run,
                        int64_t *count, void *scratch) {
    descent d = {.mask = mask,
                 .h = h,
                 .run = run,
                 .scratch = scratch,
                 .full = count_full,
                 .leaf = count_leaf};
    descend(&d, i, j);
    *count = d.count;
    return d.status;
}

static bool is_unsettled(const descent *d, ts_range i, ts_range j) {
    (void)i, (void)j;
    return !d->some || !d->others;
}
static void settle_full(descent *d, ts_range i, ts_range j) {
    (void)i, (void)j;
    d->some = true;
}
static void settle_leaf(descent *d, ts_range i, ts_range j, const uint64_t *bits) {
    ts_cover cover = settled(bits, length(i), length(j), LEAF_WORDS);
    d->some = d->some || cover != TS_EMPTY;
    d->others = d->others || cover != TS_FULL;
}

ts_status ts_mask_settle(const ts_mask *mask, int64_t h, ts_range i, ts_range j, const ts_run *run,
                         ts_cover *cover, void *scratch) {
    descent d = {.mask = mask,
                 .h = h,
                 .run = run,
                 .scratch = scratch,
                 .wanted = is_unsettled,
                 .full = settle_full,
                 .leaf = settle_leaf};
    descend(&d, i, j);
    *cover = !d.some ? TS_EMPTY : d.others ? TS_PARTIAL : TS_FULL;
    return d.status;
}

/* Descents go downwards, and to the right within rows: a tile met later can hold an earlier cell
 * only in an earlier row. */
static bool may_be_first(const descent *d, ts_range i, ts_range j) {
    (void)j;
    return d->row == 0 || i.first < d->row;
}
static void take(descent *d, int64_t row, int64_t key) {
    if (d->row != 0 && d->row <= row) return;
    d->row = row, d->key = key;
}
static void first_full(descent *d, ts_range i, ts_range j) { take(d, i.first, j.first); }
static void first_leaf(descent *d, ts_range i, ts_range j, const uint64_t *bits) {
    for (int64_t r = 0; r < length(i); r++)
        for (int64_t w = 0; w < (length(j) + 63) / 64; w++) {
            uint64_t word = bits[r * LEAF_WORDS + w];
            if (!word) continue;
            take(d, i.first + r, j.first + 64 * w + __builtin_ctzll(word));
            return;
        }
}

ts_status ts_mask_first(const ts_mask *mask, int64_t h, ts_range i, ts_range j, const ts_run *run,
                        int64_t *row, int64_t *key, void *scratch) {
    descent d = {.mask = mask,
                 .h = h,
                 .run = run,
                 .scratch = scratch,
                 .wanted = may_be_first,
                 .full = first_full,
                 .leaf = first_leaf};
    descend(&d, i, j);
    *row = d.row, *key = d.key;
    return d.status;
}

static bool is_open(const descent *d, int64_t row) {
    int64_t at = row - d->first_row;
    return d->rows[at / 64] >> (at % 64) & 1;
}
static void close_row(descent *d, int64_t row) {
    int64_t at = row - d->first_row;
    d->rows[at / 64] &= ~((uint64_t)1 << (at % 64));
}
/* Looks at bands of few rows only: above them a look would cost more than it saves. */
static bool has_open_rows(const descent *d, ts_range i, ts_range j) {
    (void)j;
    if (length(i) > LEAF_ROWS) return true;
    for (int64_t r = i.first; r <= i.last; r++)
        if (is_open(d, r)) return true;
    return false;
}
static void rows_full(descent *d, ts_range i, ts_range j) {
    (void)j;
    int64_t r = i.first;
    for (; r <= i.last && (r - d->first_row) % 64 != 0; r++) close_row(d, r);
    for (; i.last - r >= 63; r += 64) d->rows[(r - d->first_row) / 64] = 0; /* a word at once */
    for (; r <= i.last; r++) close_row(d, r);
}
static void rows_leaf(descent *d, ts_range i, ts_range j, const uint64_t *bits) {
    for (int64_t r = 0; r < length(i); r++)
        for (int64_t w = 0; w < (length(j) + 63) / 64; w++)
            if (bits[r * LEAF_WORDS + w]) close_row(d, i.first + r);
}

ts_status ts_mask_empty_rows(const ts_mask *mask, int64_t h, ts_range i, ts_range j,
                             const ts_run *run, uint64_t *rows, void *scratch) {
    descent d = {.mask = mask,
                 .h = h,
                 .run = run,
                 .scratch = scratch,
                 .wanted = has_open_rows,
                 .full = rows_full,
                 .leaf = rows_leaf,
                 .rows = rows,
                 .first_row = i.first};
    if (length(i) <= 0) return TS_OK;
    fill_row(rows, length(i));
    descend(&d, i, j);
    return d.status;
}
