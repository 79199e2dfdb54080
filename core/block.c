/* block.c -- Σ of one block of keys for the rows of one query tile: a chunk of keys at a time, and
 * of its rows a band at a time, so that scores and weights stay in the nearest cache. */
#include "block.h"

#include "summary.h"

#include <math.h>
#include <string.h>

static inline int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

/* Rows that run together, and the lanes (whole panels) that any of them may use. */
typedef struct {
    int64_t row, rows, from, to;
} band;

/* Rows of a band where no lane can be left out: scores of 24 KiB, for a first cache of 32. */
static int64_t band_rows(const ts_loops *loops, int64_t keys) {
    int64_t rows = 24576 / (ts_round_up(keys, loops->panel) * (int64_t)ts_dtype_size(loops->dtype));
    return rows < loops->rows ? loops->rows : rows / loops->rows * loops->rows;
}

/* From one row of scores to the next: a line more than it takes, so that rows a power of two long
 * do not fight for the same places of the cache. */
static int64_t strip_stride(const ts_tile *tile) {
    return ts_round_up(tile->max_keys, tile->loops->panel) +
           64 / (int64_t)ts_dtype_size(tile->loops->dtype);
}

/* ---- work space ---- */

static size_t mask_scratch(const ts_problem *p) {
    size_t most = 0;
    for (int64_t h = 0; p->mask && h < p->heads; h++) {
        size_t bytes = p->mask[h] ? ts_mask_scratch(p->mask[h]) : 0;
        if (bytes > most) most = bytes;
    }
    return most;
}

static size_t score_scratch(const ts_problem *p) {
    size_t most = 0;
    for (int64_t h = 0; p->score && h < p->heads; h++) {
        const ts_score *score = p->score[h];
        size_t bytes = score && score->program ? ts_program_scratch(score->program) : 0;
        if (bytes > most) most = bytes;
    }
    return most;
}

void ts_tile_make(ts_tile *tile, const ts_problem *p, const ts_loops *loops, int degree,
                  int64_t queries, int64_t heads, int64_t keys, ts_arena *arena) {
    const size_t size = ts_dtype_size(loops->dtype);
    const int64_t max_keys = least(keys < 1 ? 1 : keys, TS_CHUNK);
    const int64_t width = ts_round_up(max_keys, loops->panel), words = (max_keys + 63) / 64 + 1;
    const int64_t rows = least(queries * heads, band_rows(loops, max_keys));
    memset(tile, 0, sizeof *tile);
    tile->problem = p, tile->loops = loops, tile->degree = degree;
    tile->unit = ts_base_unit(p->base);
    tile->max_queries = queries, tile->max_heads = heads, tile->max_keys = max_keys;
    tile->value_stride = ts_round_up(p->d_v, loops->lanes);
    tile->words = words;
    tile->q = ts_arena_take_grid(arena, queries * heads, p->d, size);
    tile->k_panels = ts_arena_take_grid(arena, width, p->d, size);
    tile->v_panels = ts_arena_take_grid(arena, max_keys, tile->value_stride, size);
    tile->strip = ts_arena_take_grid(arena, rows, strip_stride(tile), size);
    tile->staging = ts_arena_take_grid(arena, max_keys, p->d > p->d_v ? p->d : p->d_v, size);
    tile->part = ts_rows_take(loops, rows, tile->value_stride, arena);
    tile->segments = ts_arena_take(arena, max_keys, sizeof(ts_range));
    tile->poisoned = ts_arena_take_grid(arena, rows, words, sizeof(uint64_t));
    if (p->mask || p->score) {
        tile->slot = ts_arena_take(arena, heads, sizeof(int64_t));
        tile->covers = ts_arena_take(arena, heads, sizeof(uint8_t));
        tile->bits = ts_arena_take_grid(arena, queries * heads, words, sizeof(uint64_t));
        tile->segment_bits = ts_arena_take_grid(arena, queries, words, sizeof(uint64_t));
        tile->called = ts_arena_take(arena, max_keys, sizeof(double));
        tile->mask_scratch = ts_arena_take(arena, 1, mask_scratch(p));
        tile->score_scratch = ts_arena_take(arena, 1, score_scratch(p));
    }
}

/* ---- the tile: Q' = c Q ---- */

void ts_tile_begin(ts_tile *tile, ts_range i, int64_t head, int64_t heads) {
    const ts_problem *p = tile->problem;
    tile->i = i, tile->head = head, tile->heads = heads;
    tile->queries = i.last - i.first + 1;
    tile->rows = tile->queries * heads;
    tile->shared = tile->queries * least(heads, p->heads / p->kv_heads);
    for (int64_t r = 0; r < tile->rows; r++) {
        int64_t h = head + r / tile->queries;
        int64_t row = i.first - 1 + r % tile->queries;
        const void *q =
            ts_at(tile->loops, p->q.data, row * p->q.row_stride + h * p->d * p->q.col_stride);
        tile->loops->scale(p->scale[h], q, p->q.col_stride, p->d,
                           ts_at(tile->loops, tile->q, r * p->d));
    }
}

/* ---- the chunk: its keys, packed ---- */

/* Walks over the keys of some ranges, at most TS_CHUNK at a time. */
typedef struct {
    const ts_range *ranges;
    int64_t count, range, used; /* of range `range`, `used` keys are done */
} cursor;

static bool next_chunk(ts_tile *tile, cursor *at) {
    tile->keys = tile->segment_count = 0;
    while (at->range < at->count && tile->keys < tile->max_keys) {
        const ts_range *range = &at->ranges[at->range];
        int64_t first = range->first + at->used;
        int64_t taken = least(range->last - first + 1, tile->max_keys - tile->keys);
        if (taken > 0) tile->segments[tile->segment_count++] = (ts_range){first, first + taken - 1};
        tile->keys += taken;
        at->used += taken;
        if (first + taken > range->last) at->range++, at->used = 0;
    }
    tile->width = ts_round_up(tile->keys, tile->loops->lanes);
    return tile->keys > 0;
}

/* K and V of the tile's row `row`. */
static ts_matrix keys_of(const ts_tile *tile, int64_t row) {
    return ts_problem_k(tile->problem, tile->head + row / tile->queries);
}
static ts_matrix values_of(const ts_tile *tile, int64_t row) {
    return ts_problem_v(tile->problem, tile->head + row / tile->queries);
}

/* The chunk's rows of one head of K or V: where they lie if they lie evenly and their numbers side
 * by side, else a copy. */
static const void *gather(const ts_tile *tile, const ts_matrix *m, int64_t *stride) {
    const ts_loops *loops = tile->loops;
    const size_t size = ts_dtype_size(loops->dtype);
    const int64_t first = tile->problem->first_key;
    if (tile->segment_count == 1 && (m->col_stride == 1 || m->cols <= 1)) {
        *stride = m->row_stride;
        return ts_at(loops, m->data, (tile->segments[0].first - first) * m->row_stride);
    }
    char *to = tile->staging;
    for (int64_t s = 0; s < tile->segment_count; s++)
        for (int64_t j = tile->segments[s].first; j <= tile->segments[s].last; j++)
            for (int64_t c = 0; c < m->cols; c++, to += size)
                memcpy(to, ts_at(loops, m->data, (j - first) * m->row_stride + c * m->col_stride),
                       size);
    *stride = m->cols;
    return tile->staging;
}

/* In a copy, what is not finite becomes 0: it may stand at a masked key, which must not matter. */
static void zero_nonfinite(const ts_loops *loops, void *numbers, int64_t count) {
    if (loops->dtype == TS_F32) {
        for (float *x = numbers; count > 0; count--, x++)
            if (!isfinite(*x)) *x = 0;
    } else {
        for (double *x = numbers; count > 0; count--, x++)
            if (!isfinite(*x)) *x = 0;
    }
}

static void pack_keys(ts_tile *tile, int64_t row) {
    const ts_matrix k = keys_of(tile, row);
    int64_t stride;
    const void *rows = gather(tile, &k, &stride);
    tile->loops->pack_columns(rows, stride, k.cols, tile->keys, NULL, tile->k_panels);
}

static void pack_values(ts_tile *tile, int64_t row) {
    const ts_matrix v = values_of(tile, row);
    int64_t stride;
    const void *rows = gather(tile, &v, &stride);
    tile->clean = tile->loops->pack_rows(rows, stride, tile->keys, v.cols, tile->v_panels);
    if (!tile->clean) zero_nonfinite(tile->loops, tile->v_panels, tile->keys * tile->value_stride);
}

/* ---- the chunk's mask ---- */

/* Bits from .. from + count - 1 of a row, from bit `at` on of another; those may be set only. */
static void put_bits(uint64_t *to, int64_t at, const uint64_t *from, int64_t count) {
    for (int64_t b = 0; b < count; b++)
        to[(at + b) / 64] |= (from[b / 64] >> (b % 64) & 1) << ((at + b) % 64);
}

static void fill_bits(uint64_t *row, int64_t words, int64_t count) {
    for (int64_t w = 0; w < words; w++) {
        int64_t left = count - 64 * w;
        row[w] = left >= 64 ? ~(uint64_t)0 : left <= 0 ? 0 : ((uint64_t)1 << left) - 1;
    }
}

static uint64_t *slot_bits(const ts_tile *tile, int64_t slot) {
    return tile->bits + slot * tile->queries * tile->words;
}

/* A tile's cover from its parts': what all of them agree on. */
static ts_cover both(ts_cover a, ts_cover b) { return a == b ? a : TS_PARTIAL; }

/* Of a mask over the chunk's segments: its cover and, where that is partial, its bits. */
static ts_cover cover_mask(ts_tile *tile, const ts_mask *mask, int64_t h, int64_t slot) {
    uint64_t *bits = slot_bits(tile, slot);
    ts_cover cover = ts_mask_cover(mask, h, tile->i, tile->segments[0], tile->mask_scratch);
    for (int64_t s = 1; s < tile->segment_count; s++)
        cover = both(cover, ts_mask_cover(mask, h, tile->i, tile->segments[s], tile->mask_scratch));
    if (cover != TS_PARTIAL) return cover;
    if (tile->segment_count == 1)
        return ts_mask_tile(mask, h, tile->i, tile->segments[0], bits, tile->words,
                            tile->mask_scratch);
    memset(bits, 0, (size_t)(tile->queries * tile->words) * sizeof *bits);
    for (int64_t s = 0, at = 0; s < tile->segment_count; s++) {
        ts_range j = tile->segments[s];
        ts_mask_tile(mask, h, tile->i, j, tile->segment_bits, tile->words, tile->mask_scratch);
        for (int64_t i = 0; i < tile->queries; i++)
            put_bits(bits + i * tile->words, at, tile->segment_bits + i * tile->words,
                     j.last - j.first + 1);
        at += j.last - j.first + 1;
    }
    return TS_PARTIAL;
}

static void find_cover(ts_tile *tile) {
    const ts_problem *p = tile->problem;
    ts_cover all = TS_FULL;
    for (int64_t g = 0; g < tile->heads; g++) {
        const ts_mask *mask = p->mask ? p->mask[tile->head + g] : NULL;
        tile->slot[g] = g;
        for (int64_t other = 0; other < g && (!mask || mask->heads == 0); other++)
            if (mask == p->mask[tile->head + other]) {
                tile->slot[g] = tile->slot[other];
                break;
            }
        if (tile->slot[g] == g)
            tile->covers[g] =
                (uint8_t)(mask ? cover_mask(tile, mask, tile->head + g + 1, g) : TS_FULL);
        else
            tile->covers[g] = tile->covers[tile->slot[g]];
        all = g == 0 ? tile->covers[0] : both(all, tile->covers[g]);
    }
    tile->cover = all;
    for (int64_t g = 0; all == TS_PARTIAL && g < tile->heads; g++)
        if (tile->slot[g] == g && tile->covers[g] != TS_PARTIAL)
            for (int64_t i = 0; i < tile->queries; i++)
                fill_bits(slot_bits(tile, g) + i * tile->words, tile->words,
                          tile->covers[g] == TS_FULL ? tile->keys : 0);
}

/* The bits of row r of the tile; of use where the cover is partial. */
static const uint64_t *row_bits(const ts_tile *tile, int64_t r) {
    int64_t slot = tile->slot[r / tile->queries], i = r % tile->queries;
    return slot_bits(tile, slot) + i * tile->words;
}

/* ---- a band ---- */

/* The next rows from `row` on. Where the cover is partial they are a register tile, whose lanes
 * before the first and behind the last allowed key are left out: their weights would be +0. */
static band next_band(const ts_tile *tile, int64_t row) {
    const int64_t panel = tile->loops->panel;
    const int64_t left = tile->shared - row % tile->shared;
    if (tile->cover == TS_FULL)
        return (band){row, least(band_rows(tile->loops, tile->max_keys), left), 0, tile->width};
    band b = {row, least(tile->loops->rows, left), tile->width, 0};
    const int64_t words = (tile->keys + 63) / 64;
    for (int64_t w = 0; w < words; w++) {
        uint64_t any = 0;
        for (int64_t r = row; r < row + b.rows; r++) any |= row_bits(tile, r)[w];
        if (any == 0) continue;
        b.from = least(b.from, 64 * w + __builtin_ctzll(any));
        b.to = 64 * w + 64 - __builtin_clzll(any);
    }
    if (b.to == 0) b.from = 0;
    b.from = b.from / panel * panel;
    b.to = least(ts_round_up(b.to, panel), tile->width);
    return b;
}

static void *strip_row(const ts_tile *tile, int64_t r) {
    return ts_at(tile->loops, tile->strip, r * strip_stride(tile));
}

/* Asks a called score for the allowed keys of one segment, `at` lanes into the chunk. */
static ts_status call_score(ts_tile *tile, const ts_score *score, int64_t r, ts_range j, int64_t at,
                            void *s) {
    const int64_t count = j.last - j.first + 1;
    uint64_t *allowed = tile->segment_bits; /* free by now */
    memset(allowed, 0, (size_t)tile->words * sizeof *allowed);
    if (tile->cover == TS_FULL)
        fill_bits(allowed, tile->words, count);
    else
        for (int64_t b = 0; b < count; b++)
            allowed[b / 64] |= (row_bits(tile, r)[(at + b) / 64] >> ((at + b) % 64) & 1)
                               << (b % 64);
    double *called = tile->called;
    if (tile->loops->dtype == TS_F32)
        for (int64_t b = 0; b < count; b++) called[b] = ((float *)s)[b];
    else
        memcpy(called, s, (size_t)count * sizeof *called);
    ts_status status =
        score->call(score->data, tile->head + r / tile->queries + 1,
                    tile->i.first + r % tile->queries, j.first, count, allowed, called);
    if (tile->loops->dtype == TS_F32)
        for (int64_t b = 0; b < count; b++) ((float *)s)[b] = (float)called[b];
    else
        memcpy(s, called, (size_t)count * sizeof *called);
    return status;
}

/* The score function of `rows` rows of a band, from row r of the tile on, all of one head: over the
 * band's lanes. */
static ts_status score_rows(ts_tile *tile, const band *b, int64_t r, int64_t rows) {
    const int64_t head = tile->head + r / tile->queries, stride = strip_stride(tile);
    const ts_score *score = tile->problem->score[head];
    const ts_range i = {tile->i.first + r % tile->queries,
                        tile->i.first + r % tile->queries + rows - 1};
    ts_status status = TS_OK;
    for (int64_t n = 0, at = 0; score && !status && n < tile->segment_count; n++) {
        ts_range j = tile->segments[n];
        int64_t from = b->from > at ? b->from : at;
        int64_t to = least(b->to, at + j.last - j.first + 1);
        ts_range keys = {j.first + from - at, j.first + to - at - 1};
        void *s = ts_at(tile->loops, strip_row(tile, r - b->row), from);
        at += j.last - j.first + 1;
        if (from >= to) continue;
        if (score->program)
            ts_program_score(score->program, tile->loops->dtype, head + 1, i, keys, s, stride,
                             tile->score_scratch);
        else
            for (int64_t k = 0; k < rows && !status; k++)
                status =
                    call_score(tile, score, r + k, keys, from, ts_at(tile->loops, s, k * stride));
    }
    return status;
}

static ts_status score_band(ts_tile *tile, const band *b) {
    ts_status status = TS_OK;
    for (int64_t r = b->row, rows; !status && r < b->row + b->rows; r += rows) {
        rows = least(b->row + b->rows - r, tile->queries - r % tile->queries);
        status = score_rows(tile, b, r, rows);
    }
    return status;
}

/* Lanes behind the last key are no keys. */
static void close_row(const ts_tile *tile, void *s) {
    for (int64_t j = tile->keys; j < tile->width; j++)
        if (tile->loops->dtype == TS_F32)
            ((float *)s)[j] = -INFINITY;
        else
            ((double *)s)[j] = -INFINITY;
}

/* S = Q' Kᵀ. */
static void multiply_keys(ts_tile *tile, const band *b) {
    const ts_panels k = {tile->k_panels, tile->problem->d, tile->width, 0};
    tile->loops->product(b->rows, k.depth, ts_at(tile->loops, tile->q, b->row * k.depth), k.depth,
                         &k, 0, b->from, b->to, ts_at(tile->loops, strip_row(tile, 0), b->from),
                         strip_stride(tile), false);
}

enum { AT_ONCE = 64 }; /* keys of a passing band that are packed together */

/* One head's share of the rows of m that the next chunk uses. Where heads lie side by side and rows
 * without a gap, all heads together ask for whole rows in the order of memory: amid others, a
 * head's own few lines come at half the speed. */
static const void *share_of_rows(const ts_tile *tile, const ts_matrix *all, const ts_matrix *own,
                                 int64_t row, int64_t *stride) {
    const int64_t first = tile->soon - tile->problem->first_key;
    const bool whole = tile->rows / tile->shared * own->cols == own->row_stride;
    *stride = whole ? own->cols : own->row_stride;
    return whole ? ts_at(tile->loops, all->data,
                         first * all->row_stride + row / tile->shared * tile->keys * own->cols)
                 : ts_at(tile->loops, own->data, first * own->row_stride);
}

/* What band b asks for: of the next chunk or, where nobody knows one, of this one. */
static ts_soon soon_of(const ts_tile *tile, const band *b) {
    const ts_problem *p = tile->problem;
    const ts_matrix k = keys_of(tile, b->row), v = values_of(tile, b->row);
    if (tile->soon == 0) {
        const int64_t first = tile->segments[0].first - p->first_key;
        return (ts_soon){ts_at(tile->loops, k.data, (first + AT_ONCE) * k.row_stride),
                         ts_at(tile->loops, v.data, first * v.row_stride), k.row_stride,
                         v.row_stride};
    }
    ts_soon soon;
    soon.k = share_of_rows(tile, &p->k, &k, b->row, &soon.k_stride);
    soon.v = share_of_rows(tile, &p->v, &v, b->row, &soon.v_stride);
    return soon;
}

/* S = Q' Kᵀ where rows that share K are one band: a few keys are packed, used and forgotten, while
 * they are in the nearest cache; meanwhile the next chunk's are asked for. */
static void multiply_passing_keys(ts_tile *tile, const band *b) {
    const ts_loops *loops = tile->loops;
    const ts_matrix k = keys_of(tile, b->row);
    const ts_soon soon = soon_of(tile, b);
    int64_t stride;
    const void *rows = gather(tile, &k, &stride);
    for (int64_t lane = b->from; lane < least(b->to, tile->keys); lane += AT_ONCE) {
        const int64_t keys = least(AT_ONCE, tile->keys - lane);
        const int64_t width = ts_round_up(keys, loops->lanes);
        const ts_panels part = {tile->k_panels, k.cols, width, width};
        const ts_soon here = {ts_at(loops, soon.k, lane * soon.k_stride),
                              ts_at(loops, soon.v, lane * soon.v_stride), soon.k_stride,
                              soon.v_stride};
        loops->pack_columns(ts_at(loops, rows, lane * stride), stride, k.cols, keys, &here,
                            tile->k_panels);
        loops->product(b->rows, k.cols, ts_at(loops, tile->q, b->row * k.cols), k.cols, &part, 0, 0,
                       width, ts_at(loops, strip_row(tile, 0), lane), strip_stride(tile), false);
    }
}

/* S, then the score function, then the mask. */
static ts_status band_scores(ts_tile *tile, const band *b) {
    if (tile->thin)
        multiply_passing_keys(tile, b);
    else
        multiply_keys(tile, b);
    ts_status status = tile->problem->score ? score_band(tile, b) : TS_OK;
    for (int64_t r = 0; r < b->rows && !status; r++) {
        void *s = strip_row(tile, r);
        if (tile->cover == TS_FULL)
            close_row(tile, s);
        else
            tile->loops->select(row_bits(tile, b->row + r), b->from, b->to, s);
    }
    return status;
}

static double number_at(const ts_loops *loops, const void *numbers, int64_t i) {
    return loops->dtype == TS_F32 ? ((const float *)numbers)[i] : ((const double *)numbers)[i];
}
static void set_nan(const ts_loops *loops, void *numbers, int64_t i) {
    if (loops->dtype == TS_F32)
        ((float *)numbers)[i] = NAN;
    else
        ((double *)numbers)[i] = (double)NAN;
}

/* Number (j, c) of V, by the key's number. */
static double value_at(const ts_tile *tile, const ts_matrix *v, int64_t j, int64_t c) {
    return number_at(tile->loops, v->data,
                     (j - tile->problem->first_key) * v->row_stride + c * v->col_stride);
}

/* The number of the chunk's key in lane `lane`. */
static int64_t key_of(const ts_tile *tile, int64_t lane) {
    int64_t s = 0;
    for (; lane > tile->segments[s].last - tile->segments[s].first; s++)
        lane -= tile->segments[s].last - tile->segments[s].first + 1;
    return tile->segments[s].first + lane;
}

/* The first column of key j's value that is not finite; -1 if there is none. */
static int64_t bad_column(const ts_tile *tile, const ts_matrix *v, int64_t j) {
    for (int64_t c = 0; c < v->cols; c++)
        if (!isfinite(value_at(tile, v, j, c))) return c;
    return -1;
}

/* Which lanes of the band's rows are allowed a key whose value is not finite: asked while the
 * scores are there, since a weight may be 0 by underflow. True where there are any. */
static bool find_poison(ts_tile *tile, const band *b) {
    const ts_matrix v = values_of(tile, b->row);
    bool any = false;
    memset(tile->poisoned, 0, (size_t)(b->rows * tile->words) * sizeof(uint64_t));
    for (int64_t lane = b->from; lane < least(b->to, tile->keys); lane++) {
        if (bad_column(tile, &v, key_of(tile, lane)) < 0) continue;
        for (int64_t r = 0; r < b->rows; r++) {
            if (number_at(tile->loops, strip_row(tile, r), lane) == -INFINITY) continue;
            tile->poisoned[r * tile->words + lane / 64] |= (uint64_t)1 << (lane % 64);
            any = true;
        }
    }
    return any;
}

static void spread_poison(ts_tile *tile, const band *b, const ts_rows *out) {
    const ts_matrix v = values_of(tile, b->row);
    for (int64_t lane = b->from; lane < least(b->to, tile->keys); lane++)
        for (int64_t r = 0; r < b->rows; r++) {
            if (!(tile->poisoned[r * tile->words + lane / 64] >> (lane % 64) & 1)) continue;
            for (int64_t c = 0; c < v.cols; c++)
                if (!isfinite(value_at(tile, &v, key_of(tile, lane), c)))
                    set_nan(tile->loops, out->value, r * out->stride + c);
        }
}

/* nonfinite = "propagate": a row with such a score is NaN throughout. */
static void poison_rows(const ts_tile *tile, int64_t rows, const ts_rows *out) {
    for (int64_t r = 0; r < rows; r++) {
        if (!isnan(number_at(tile->loops, out->norm, r))) continue;
        set_nan(tile->loops, out->max, r);
        set_nan(tile->loops, out->norm, r);
        for (int64_t c = 0; c < tile->problem->d_v; c++)
            set_nan(tile->loops, out->value, r * out->stride + c);
    }
}

/* z = P V over the band's lanes. */
static void multiply_values(const ts_tile *tile, const band *b, const ts_panels *v,
                            const ts_rows *out) {
    tile->loops->product(b->rows, least(b->to, tile->keys) - b->from,
                         ts_at(tile->loops, strip_row(tile, 0), b->from), strip_stride(tile), v,
                         b->from, 0, v->width, out->value, out->stride, false);
}

/* P and ℓ from S; false where a score was NaN or +inf. */
static bool weigh(ts_tile *tile, const band *b, const ts_rows *out) {
    return tile->loops->weights(b->rows, b->to - b->from, strip_stride(tile), tile->unit,
                                tile->degree, ts_at(tile->loops, strip_row(tile, 0), b->from),
                                out->max, out->norm);
}

/* Σ of the chunk for a band: scores, weights, values. */
static ts_status band_summary(ts_tile *tile, const band *b, const ts_rows *out) {
    const bool propagate = tile->problem->propagate;
    ts_status status = band_scores(tile, b);
    if (status) return status;
    const bool poison = !tile->clean && find_poison(tile, b);
    const bool finite = weigh(tile, b, out);
    if (!finite && !propagate) return TS_NONFINITE_SCORE;
    if (poison && !propagate) return TS_NONFINITE_VALUE;
    const ts_panels v = {tile->v_panels, tile->keys, tile->value_stride, 0};
    multiply_values(tile, b, &v, out);
    if (poison) spread_poison(tile, b, out);
    if (!finite) poison_rows(tile, b->rows, out);
    return TS_OK;
}

/* Whether the chunk's values can be used where they lie: whole vectors, evenly apart. (A called
 * score is never asked twice, as thin_summary might.) */
static bool values_in_place(const ts_tile *tile, const band *b, ts_panels *out) {
    const ts_problem *p = tile->problem;
    const ts_matrix v = values_of(tile, b->row);
    if (tile->segment_count != 1 || v.col_stride != 1 || v.row_stride <= 0 || v.cols == 0 ||
        v.cols % tile->loops->lanes != 0)
        return false;
    for (int64_t g = 0; p->score && g < tile->heads; g++)
        if (p->score[tile->head + g] && !p->score[tile->head + g]->program) return false;
    const int64_t first = tile->segments[0].first - p->first_key;
    *out = (ts_panels){ts_at(tile->loops, v.data, first * v.row_stride), tile->keys, v.cols,
                       v.row_stride};
    return true;
}

/* The same where the tile is one band. A value that is not finite shows in z: then all is done
 * again on a copy. */
static ts_status thin_summary(ts_tile *tile, const band *b, const ts_rows *out) {
    ts_panels v;
    if (values_in_place(tile, b, &v)) {
        ts_status status = band_scores(tile, b);
        if (status) return status;
        bool finite = weigh(tile, b, out);
        multiply_values(tile, b, &v, out);
        for (int64_t r = 0; r < b->rows && finite; r++)
            for (int64_t c = 0; c < v.width; c++)
                finite &= isfinite(number_at(tile->loops, out->value, r * out->stride + c)) != 0;
        if (finite) return TS_OK;
    }
    pack_values(tile, b->row);
    return band_summary(tile, b, out);
}

/* ---- the block ---- */

/* Σ of the chunk, ⋆-ed into out; written there where it is the block's first. */
static ts_status chunk_summary(ts_tile *tile, bool first, const ts_rows *out) {
    const ts_loops *loops = tile->loops;
    tile->thin = next_band(tile, 0).rows == tile->shared;
    for (int64_t row = 0; row < tile->rows;) {
        if (!tile->thin && row % tile->shared == 0) pack_keys(tile, row), pack_values(tile, row);
        band b = next_band(tile, row);
        const ts_rows rows = ts_rows_from(loops, out, row), *to = first ? &rows : &tile->part;
        if (b.from < b.to) {
            ts_status status = tile->thin ? thin_summary(tile, &b, to) : band_summary(tile, &b, to);
            if (status) return status;
            if (!first) loops->merge(b.rows, tile->value_stride, tile->unit, &rows, to, &rows);
        } else if (first) {
            ts_rows_bottom(loops, &rows, b.rows);
        }
        row += b.rows;
    }
    return TS_OK;
}

ts_status ts_tile_summary(ts_tile *tile, const ts_range *ranges, int64_t count, ts_cover cover,
                          bool onto, const ts_rows *out) {
    bool first = !onto;
    ts_status status = TS_OK;
    for (cursor at = {ranges, count, 0, 0}; !status && next_chunk(tile, &at);) {
        tile->cover = cover;
        tile->soon = at.range < count ? ranges[at.range].first + at.used : tile->next_key;
        if (cover == TS_PARTIAL) find_cover(tile);
        if (tile->cover == TS_EMPTY) continue; /* ⊥ */
        status = chunk_summary(tile, first, out);
        first = false;
        if (!status && at.range < count && tile->stopped(tile->asked)) status = TS_INTERRUPTED;
    }
    if (first) ts_rows_bottom(tile->loops, out, tile->rows);
    return status;
}

/* ---- the search for what is not finite ---- */

/* The band's first such row and key, if it stands before the one in detail. */
static ts_status find_in_band(ts_tile *tile, const band *b, ts_status found, ts_detail *detail) {
    const ts_matrix v = values_of(tile, b->row);
    for (int64_t r = 0; r < b->rows; r++)
        for (int64_t lane = b->from; lane < least(b->to, tile->keys); lane++) {
            const double s = number_at(tile->loops, strip_row(tile, r), lane);
            const int64_t row = tile->i.first + (b->row + r) % tile->queries;
            const int64_t key = key_of(tile, lane);
            if (found && detail->row <= row) break; /* earlier chunks hold earlier keys */
            const bool bad_score = isnan(s) || s == INFINITY;
            const int64_t column = s == -INFINITY ? -1 : bad_column(tile, &v, key);
            if (!bad_score && column < 0) continue;
            detail->row = row, detail->key = key;
            detail->head = tile->head + (b->row + r) / tile->queries + 1;
            detail->column = column + 1;
            detail->value = bad_score ? s : value_at(tile, &v, key, column);
            found = bad_score ? TS_NONFINITE_SCORE : TS_NONFINITE_VALUE;
        }
    return found;
}

ts_status ts_tile_find(ts_tile *tile, ts_range range, ts_detail *detail) {
    ts_status found = TS_OK;
    for (cursor at = {&range, 1, 0, 0}; next_chunk(tile, &at);) {
        tile->cover = TS_FULL;
        if (tile->problem->mask) find_cover(tile);
        if (tile->cover == TS_EMPTY) continue;
        tile->thin = false;
        pack_keys(tile, 0);
        for (int64_t row = 0; row < tile->rows;) {
            band b = next_band(tile, row);
            ts_status status = b.from < b.to ? band_scores(tile, &b) : TS_OK;
            if (status) return status;
            found = find_in_band(tile, &b, found, detail);
            row += b.rows;
        }
    }
    return found;
}
