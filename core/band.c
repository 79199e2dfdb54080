/* band.c -- Σ of the chunk at hand for one band: scores, weights, values. */
#include "band.h"

#include "chunk.h"

#include <math.h>

/* Scores of 24 KiB, for a first cache of 32. */
int64_t ts_band_most_rows(const ts_loops *loops, int64_t keys) {
    int64_t rows = 24576 / (ts_round_up(keys, loops->panel) * (int64_t)ts_dtype_size(loops->dtype));
    return ts_most(loops->rows, rows / loops->rows * loops->rows);
}

static int64_t rows_at_once(const ts_tile *tile, int64_t row) {
    const ts_loops *loops = tile->loops;
    if (tile->passing) return tile->rows;
    return ts_least(tile->cover == TS_FULL ? ts_band_most_rows(loops, tile->max_keys) : loops->rows,
                    tile->shared - row % tile->shared);
}

/* Word w of the bits of some rows, one row's or the other's. */
static uint64_t any_of(const uint64_t *bits, int64_t rows, int64_t words, int64_t w) {
    uint64_t any = 0;
    for (int64_t r = 0; r < rows; r++) any |= bits[r * words + w];
    return any;
}

/* Lanes before the first allowed key and behind the last one are left out: their weights would be
 * +0. */
static void trim(const ts_tile *tile, ts_band *b) {
    const int64_t lanes = tile->loops->lanes, words = (tile->keys + 63) / 64;
    int64_t from = tile->width, to = 0;
    for (int64_t r = b->row, rows; r < b->row + b->rows; r += rows) {
        const uint64_t *bits = ts_chunk_bits(tile, r);
        int64_t first = 0, last = words - 1;
        uint64_t any = 0;
        rows = ts_band_rows_of_head(tile, b, r);
        while (first < words && !(any = any_of(bits, rows, tile->words, first))) first++;
        if (first == words) continue;
        from = ts_least(from, 64 * first + __builtin_ctzll(any));
        while (!(any = any_of(bits, rows, tile->words, last))) last--;
        to = ts_most(to, 64 * last + 64 - __builtin_clzll(any));
    }
    from = from / lanes * lanes;
    if (to > 0 && tile->passing && ts_least(to, tile->keys) - from < TS_PASSING_KEYS) return;
    b->from = ts_least(from, to);
    b->to = ts_round_up(to, lanes);
}

ts_band ts_band_next(const ts_tile *tile, int64_t row) {
    ts_band b = {row, rows_at_once(tile, row), 0, tile->width};
    if (tile->cover != TS_FULL) trim(tile, &b);
    return b;
}

/* Lanes behind the last key are no keys. */
static void close_row(const ts_tile *tile, void *s) {
    for (int64_t j = tile->keys; j < tile->width; j++)
        ts_number_set(tile->loops->dtype, s, j, -INFINITY);
}

/* S = Q' Kᵀ. */
static void multiply_keys(ts_tile *tile, const ts_band *b) {
    const ts_panels k = {
        .numbers = tile->k_panels, .depth = tile->problem->d, .width = tile->width};
    tile->loops->product(
        b->rows, k.depth, ts_at(tile->loops, tile->q, b->row * k.depth), k.depth, &k, 0, b->from,
        b->to, ts_at(tile->loops, ts_band_scores_of(tile, 0), b->from), tile->strip_stride, false);
}

static void select(const ts_tile *tile, const ts_band *b) {
    for (int64_t r = b->row, rows; r < b->row + b->rows; r += rows) {
        rows = ts_band_rows_of_head(tile, b, r);
        tile->loops->select(rows, ts_chunk_bits(tile, r), tile->words, b->from, b->to,
                            ts_band_scores_of(tile, r - b->row), tile->strip_stride);
    }
}

ts_status ts_band_scores(ts_tile *tile, const ts_band *b) {
    if (tile->passing)
        ts_band_pass_keys(tile, b);
    else
        multiply_keys(tile, b);
    if (tile->any_wide) ts_band_score_wide(tile, b);
    ts_status status = tile->problem->score ? ts_band_score(tile, b) : TS_OK;
    if (status) return status;
    if (tile->cover == TS_FULL)
        for (int64_t r = 0; r < b->rows; r++) close_row(tile, ts_band_scores_of(tile, r));
    else
        select(tile, b);
    return TS_OK;
}

/* z = P V over the band's lanes. */
static void multiply_values(const ts_tile *tile, const ts_band *b, const ts_panels *v,
                            const ts_rows *out) {
    tile->loops->product(b->rows, ts_least(b->to, tile->keys) - b->from,
                         ts_at(tile->loops, ts_band_scores_of(tile, 0), b->from),
                         tile->strip_stride, v, b->from, 0, v->width, out->value, out->stride,
                         false);
}

bool ts_band_weigh(ts_tile *tile, const ts_band *b, const void *soon, const ts_rows *out) {
    return tile->loops->weights(b->rows, b->from, b->to, tile->strip_stride, tile->unit,
                                tile->degree, soon, ts_band_scores_of(tile, 0), out->max,
                                out->norm);
}

ts_status ts_band_summary(ts_tile *tile, const ts_band *b, const ts_rows *out) {
    const bool propagate = tile->problem->propagate;
    ts_status status = ts_band_scores(tile, b);
    if (status) return status;
    const bool poison = !tile->clean && ts_band_find_poison(tile, b);
    const bool finite = ts_band_weigh(tile, b, NULL, out);
    if (!finite && !propagate) return TS_NONFINITE_SCORE;
    if (poison && !propagate) return TS_NONFINITE_VALUE;
    const ts_panels v = {
        .numbers = tile->v_panels, .depth = tile->keys, .width = tile->value_stride};
    multiply_values(tile, b, &v, out);
    if (poison) ts_band_spread_poison(tile, b, out);
    if (!finite) ts_band_poison_rows(tile, b->rows, out);
    return TS_OK;
}
