/* band_passing.c -- Σ of the chunk at hand for few rows: reading K and V is all the work, so that
 * they are used where they lie, all heads at once in the order of memory. */
#include "band.h"

#include "chunk.h"

#include <math.h>

static bool lies_side_by_side(const ts_matrix *m) { return m->col_stride == 1 || m->cols <= 1; }

/* (What is not finite is found by doing all again, and a called score is never asked twice.) */
bool ts_band_can_pass(const ts_tile *tile) {
    const ts_problem *p = tile->problem;
    return tile->shared < TS_PASSING_ROWS && tile->keys >= TS_PASSING_KEYS &&
           tile->segment_count == 1 && p->d > 0 && p->d_v > 0 && lies_side_by_side(&p->k) &&
           lies_side_by_side(&p->v) && p->d_v % tile->loops->lanes == 0 &&
           !ts_problem_calls(p, tile->head, tile->heads);
}

/* The rows of K or V - `all`, of which `first` is the tile's first head - from the band's first
 * lane on, for all of the tile's heads. */
static ts_passing rows_of(const ts_tile *tile, const ts_band *b, const ts_matrix *first) {
    const int64_t row = tile->segments[0].first - tile->problem->first_key + b->from;
    return (ts_passing){.numbers = ts_at(tile->loops, first->data, row * first->row_stride),
                        .stride = first->row_stride,
                        .heads = tile->rows / tile->shared,
                        .width = first->cols};
}

void ts_band_pass_keys(ts_tile *tile, const ts_band *b) {
    const ts_matrix first = ts_chunk_k(tile, 0);
    const ts_passing k = rows_of(tile, b, &first);
    tile->loops->pass_keys(tile->shared, tile->q, &k, ts_least(b->to, tile->keys) - b->from,
                           tile->k_panels, ts_at(tile->loops, ts_band_scores_of(tile, 0), b->from),
                           tile->strip_stride);
}

/* P, while the first rows of V come in where they lie side by side, then Z. */
static bool weigh_and_pass_values(ts_tile *tile, const ts_band *b, const ts_rows *out) {
    const ts_matrix first = ts_chunk_v(tile, 0);
    const ts_passing v = rows_of(tile, b, &first);
    const void *soon = v.stride == v.heads * v.width ? v.numbers : NULL;
    return ts_band_weigh(tile, b, soon, out) &&
           tile->loops->pass_values(tile->shared,
                                    ts_at(tile->loops, ts_band_scores_of(tile, 0), b->from),
                                    tile->strip_stride, &v, ts_least(b->to, tile->keys) - b->from,
                                    out->value, out->stride);
}

bool ts_band_passing_summary(ts_tile *tile, const ts_band *b, const ts_rows *out) {
    return ts_band_scores(tile, b) == TS_OK && weigh_and_pass_values(tile, b, out);
}
