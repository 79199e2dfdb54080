/* band.c -- Σ of the chunk at hand for one band: scores, weights, values. */
#include "band.h"

#include "chunk.h"

#include <math.h>

/* Scores of 24 KiB, for a first cache of 32. */
int64_t ts_band_most_rows(const ts_loops *loops, int64_t keys) {
    int64_t rows = 24576 / (ts_round_up(keys, loops->panel) * (int64_t)ts_dtype_size(loops->dtype));
    return ts_most(loops->rows, rows / loops->rows * loops->rows);
}

/* Where the cover is partial they are a register tile, whose lanes before the first and behind the
 * last allowed key are left out: their weights would be +0. */
ts_band ts_band_next(const ts_tile *tile, int64_t row) {
    const int64_t panel = tile->loops->panel;
    const int64_t left = tile->shared - row % tile->shared;
    if (tile->cover == TS_FULL)
        return (ts_band){row, ts_least(ts_band_most_rows(tile->loops, tile->max_keys), left), 0,
                         tile->width};
    ts_band b = {row, ts_least(tile->loops->rows, left), tile->width, 0};
    const int64_t words = (tile->keys + 63) / 64;
    for (int64_t w = 0; w < words; w++) {
        uint64_t any = 0;
        for (int64_t r = row; r < row + b.rows; r++) any |= ts_chunk_bits(tile, r)[w];
        if (any == 0) continue;
        b.from = ts_least(b.from, 64 * w + __builtin_ctzll(any));
        b.to = 64 * w + 64 - __builtin_clzll(any);
    }
    if (b.to == 0) b.from = 0;
    b.from = b.from / panel * panel;
    b.to = ts_least(ts_round_up(b.to, panel), tile->width);
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
    tile->loops->product(b->rows, k.depth, ts_at(tile->loops, tile->q, b->row * k.depth), k.depth,
                         &k, 0, b->from, b->to,
                         ts_at(tile->loops, ts_band_scores_of(tile, 0), b->from),
                         ts_band_stride(tile), false);
}

ts_status ts_band_scores(ts_tile *tile, const ts_band *b) {
    if (tile->thin)
        ts_band_multiply_passing(tile, b);
    else
        multiply_keys(tile, b);
    ts_status status = tile->problem->score ? ts_band_score(tile, b) : TS_OK;
    for (int64_t r = 0; r < b->rows && !status; r++) {
        void *s = ts_band_scores_of(tile, r);
        if (tile->cover == TS_FULL)
            close_row(tile, s);
        else
            tile->loops->select(ts_chunk_bits(tile, b->row + r), b->from, b->to, s);
    }
    return status;
}

/* z = P V over the band's lanes. */
static void multiply_values(const ts_tile *tile, const ts_band *b, const ts_panels *v,
                            const ts_rows *out) {
    tile->loops->product(b->rows, ts_least(b->to, tile->keys) - b->from,
                         ts_at(tile->loops, ts_band_scores_of(tile, 0), b->from),
                         ts_band_stride(tile), v, b->from, 0, v->width, out->value, out->stride,
                         false);
}

/* P and ℓ from S; false where a score was NaN or +inf. */
static bool weigh(ts_tile *tile, const ts_band *b, const ts_rows *out) {
    return tile->loops->weights(
        b->rows, b->to - b->from, ts_band_stride(tile), tile->unit, tile->degree,
        ts_at(tile->loops, ts_band_scores_of(tile, 0), b->from), out->max, out->norm);
}

ts_status ts_band_summary(ts_tile *tile, const ts_band *b, const ts_rows *out) {
    const bool propagate = tile->problem->propagate;
    ts_status status = ts_band_scores(tile, b);
    if (status) return status;
    const bool poison = !tile->clean && ts_band_find_poison(tile, b);
    const bool finite = weigh(tile, b, out);
    if (!finite && !propagate) return TS_NONFINITE_SCORE;
    if (poison && !propagate) return TS_NONFINITE_VALUE;
    const ts_panels v = {
        .numbers = tile->v_panels, .depth = tile->keys, .width = tile->value_stride};
    multiply_values(tile, b, &v, out);
    if (poison) ts_band_spread_poison(tile, b, out);
    if (!finite) ts_band_poison_rows(tile, b->rows, out);
    return TS_OK;
}

/* Whether the chunk's values can be used where they lie: whole vectors, evenly apart. (A called
 * score is never asked twice, as ts_band_thin_summary might.) */
static bool values_in_place(const ts_tile *tile, const ts_band *b, ts_panels *out) {
    const ts_problem *p = tile->problem;
    const ts_matrix v = ts_chunk_v(tile, b->row);
    if (tile->segment_count != 1 || v.col_stride != 1 || v.row_stride <= 0 || v.cols == 0 ||
        v.cols % tile->loops->lanes != 0)
        return false;
    for (int64_t g = 0; p->score && g < tile->heads; g++)
        if (p->score[tile->head + g] && !p->score[tile->head + g]->program) return false;
    const int64_t first = tile->segments[0].first - p->first_key;
    *out = (ts_panels){.numbers = ts_at(tile->loops, v.data, first * v.row_stride),
                       .depth = tile->keys,
                       .width = v.cols,
                       .step = v.row_stride};
    return true;
}

/* The same where rows that share K are one band. A value that is not finite shows in z: then all is
 * done again on a copy. */
ts_status ts_band_thin_summary(ts_tile *tile, const ts_band *b, const ts_rows *out) {
    ts_panels v;
    if (values_in_place(tile, b, &v)) {
        ts_status status = ts_band_scores(tile, b);
        if (status) return status;
        bool finite = weigh(tile, b, out);
        ts_band_ask_values(tile, b, true, 0, tile->keys, &v);
        multiply_values(tile, b, &v, out);
        for (int64_t r = 0; r < b->rows && finite; r++)
            for (int64_t c = 0; c < v.width; c++)
                finite &= isfinite(ts_number_get(tile->loops->dtype, out->value,
                                                 r * out->stride + c)) != 0;
        if (finite) return TS_OK;
    }
    ts_chunk_pack_v(tile, b->row);
    return ts_band_summary(tile, b, out);
}
