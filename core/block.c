/* block.c -- Σ of one block of keys for the rows of one query tile: a chunk of keys at a time, and
 * of its rows a band at a time, so that scores and weights stay in the nearest cache. */
#include "block.h"

#include "band.h"
#include "chunk.h"
#include "summary.h"

#include <math.h>
#include <string.h>

/* ---- work space ---- */

void ts_tile_make(ts_tile *tile, const ts_problem *p, const ts_loops *loops, int degree,
                  int64_t queries, int64_t heads, int64_t keys, ts_arena *arena) {
    const size_t size = ts_dtype_size(loops->dtype);
    const int64_t max_keys = ts_least(ts_most(keys, 1), TS_CHUNK);
    const int64_t width = ts_round_up(max_keys, loops->panel), words = (max_keys + 63) / 64 + 1;
    const int64_t group = p->heads / p->kv_heads, groups = ts_quotient_up(heads, group);
    const int64_t passing = ts_least(queries * ts_least(heads, group), TS_PASSING_ROWS) * groups;
    const int64_t rows =
        ts_most(ts_least(queries * heads, ts_band_most_rows(loops, max_keys)), passing);
    memset(tile, 0, sizeof *tile);
    tile->problem = p, tile->loops = loops, tile->degree = degree;
    tile->unit = ts_base_unit(p->base);
    tile->max_queries = queries, tile->max_heads = heads, tile->max_keys = max_keys;
    tile->value_stride = ts_round_up(p->d_v, loops->lanes);
    tile->words = words;
    tile->strip_stride = width + 64 / (int64_t)size;
    tile->q = ts_arena_take_grid(arena, queries * heads, p->d, size);
    tile->wide = ts_arena_take_grid(arena, queries, heads, sizeof(bool));
    tile->k_panels =
        ts_arena_take_grid(arena, ts_most(width, TS_PASSING_ROWS * groups), p->d, size);
    tile->v_panels = ts_arena_take_grid(arena, max_keys, tile->value_stride, size);
    tile->strip = ts_arena_take_grid(arena, rows, tile->strip_stride, size);
    tile->staging = ts_arena_take_grid(arena, max_keys, ts_most(p->d, p->d_v), size);
    tile->part = ts_rows_take(loops, rows, tile->value_stride, arena);
    tile->segments = ts_arena_take(arena, max_keys, sizeof(ts_range));
    tile->poisoned = ts_arena_take_grid(arena, rows, words, sizeof(uint64_t));
    if (p->mask || p->score) {
        tile->slot = ts_arena_take(arena, heads, sizeof(int64_t));
        tile->covers = ts_arena_take(arena, heads, sizeof(uint8_t));
        tile->bits = ts_arena_take_grid(arena, queries * heads, words, sizeof(uint64_t));
        tile->segment_bits = ts_arena_take_grid(arena, queries, words, sizeof(uint64_t));
        tile->called = ts_arena_take(arena, max_keys, sizeof(double));
        tile->mask_scratch = ts_arena_take(arena, 1, ts_problem_mask_scratch(p));
        tile->score_scratch = ts_arena_take(arena, 1, ts_problem_score_scratch(p));
    }
}

/* ---- the tile: Q' = c Q ---- */

/* Whether any of row r's Q' is beyond f32. */
static bool is_wide(const ts_tile *tile, int64_t r) {
    const int64_t d = tile->problem->d;
    if (tile->problem->dtype == TS_F64) return false;
    for (int64_t c = 0; c < d; c++)
        if (isinf(((const float *)tile->q)[r * d + c])) return true;
    return false;
}

/* A row of Q; of those behind the tile, its last one. */
static const void *query(const ts_tile *tile, int64_t row, int64_t head) {
    const ts_matrix *q = &tile->problem->q;
    row = ts_least(row, tile->i.last - 1);
    return ts_at(tile->loops, q->data,
                 row * q->row_stride + head * tile->problem->d * q->col_stride);
}

void ts_tile_begin(ts_tile *tile, ts_range i, int64_t head, int64_t heads) {
    const ts_problem *p = tile->problem;
    tile->i = i, tile->head = head, tile->heads = heads;
    tile->queries = i.last - i.first + 1;
    tile->rows = tile->queries * heads;
    tile->shared = tile->queries * ts_least(heads, p->heads / p->kv_heads);
    tile->any_wide = false;
    for (int64_t r = 0; r < tile->rows; r++) {
        int64_t h = head + r / tile->queries;
        int64_t row = i.first - 1 + r % tile->queries;
        if (p->q.col_stride == 1) ts_ask(tile->loops, query(tile, row + TS_ROWS_AHEAD, h), p->d);
        tile->loops->scale(p->scale[h], query(tile, row, h), p->q.col_stride, p->d,
                           ts_at(tile->loops, tile->q, r * p->d));
        tile->wide[r] = fabs(p->scale[h]) > 1 && is_wide(tile, r);
        tile->any_wide |= tile->wide[r];
    }
}

/* ---- the chunk ---- */

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
        int64_t taken = ts_least(range->last - first + 1, tile->max_keys - tile->keys);
        if (taken > 0) tile->segments[tile->segment_count++] = (ts_range){first, first + taken - 1};
        tile->keys += taken;
        at->used += taken;
        if (first + taken > range->last) at->range++, at->used = 0;
    }
    tile->width = ts_round_up(tile->keys, tile->loops->lanes);
    return tile->keys > 0;
}

/* Σ of the chunk, ⋆-ed into out; written there where it is the block's first. */
static ts_status chunk_summary(ts_tile *tile, bool first, const ts_rows *out) {
    const ts_loops *loops = tile->loops;
    tile->passing = ts_band_can_pass(tile);
    if (tile->passing) tile->packed = (ts_packed){0}; /* K's panels are used for something else */
    for (int64_t row = 0; row < tile->rows;) {
        if (!tile->passing && row % tile->shared == 0) ts_chunk_pack(tile, row);
        ts_band b = ts_band_next(tile, row);
        const ts_rows rows = ts_rows_from(loops, out, row), *to = first ? &rows : &tile->part;
        if (b.from < b.to) {
            if (tile->passing && !ts_band_passing_summary(tile, &b, to)) {
                tile->passing = false; /* all again, to see what is not finite */
                continue;
            }
            ts_status status = tile->passing ? TS_OK : ts_band_summary(tile, &b, to);
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
        if (cover == TS_PARTIAL) ts_chunk_find_cover(tile);
        if (tile->cover == TS_EMPTY) continue; /* ⊥ */
        status = chunk_summary(tile, first, out);
        first = false;
        if (!status && at.range < count && tile->stopped(tile->asked)) status = TS_INTERRUPTED;
    }
    if (first) ts_rows_bottom(tile->loops, out, tile->rows);
    return status;
}

/* ---- the search for what is not finite ---- */

ts_status ts_tile_find(ts_tile *tile, ts_range range, ts_detail *detail) {
    ts_status found = TS_OK;
    for (cursor at = {&range, 1, 0, 0}; next_chunk(tile, &at);) {
        if (tile->stopped(tile->asked)) return TS_INTERRUPTED;
        tile->cover = TS_FULL;
        if (tile->problem->mask) ts_chunk_find_cover(tile);
        if (tile->cover == TS_EMPTY) continue;
        tile->passing = false;
        ts_chunk_pack(tile, 0);
        for (int64_t row = 0; row < tile->rows;) {
            ts_band b = ts_band_next(tile, row);
            ts_status status = b.from < b.to ? ts_band_scores(tile, &b) : TS_OK;
            if (status) return status;
            found = ts_band_find_nonfinite(tile, &b, found, detail);
            row += b.rows;
        }
    }
    return found;
}
