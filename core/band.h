/* band.h -- a band: rows of a tile that run together, while their scores are in the nearest cache.
 */
#ifndef TS_BAND_H
#define TS_BAND_H

#include "block.h"

/* Rows that share K and V, or whole heads side by side, and the lanes of the chunk (whole vectors)
 * that any of them may use. */
typedef struct {
    int64_t row, rows, from, to;
} ts_band;

/* Rows of a band where no lane can be left out. */
int64_t ts_band_most_rows(const ts_loops *loops, int64_t keys);

/* The next rows from `row` on: where K and V pass by, all; where the cover is partial, a register
 * tile. */
ts_band ts_band_next(const ts_tile *tile, int64_t row);

/* How many of the band's rows, from row r of the tile on, are of one head: their queries and masks
 * lie side by side. */
static inline int64_t ts_band_rows_of_head(const ts_tile *tile, const ts_band *b, int64_t r) {
    return ts_least(b->row + b->rows - r, tile->queries - r % tile->queries);
}

/* The scores of the band's row r, from 0. */
static inline void *ts_band_scores_of(const ts_tile *tile, int64_t r) {
    return ts_at(tile->loops, tile->strip, r * tile->strip_stride);
}

/* Whether K and V can be used where they lie, as they pass by: few rows share them, which packing
 * them would not pay for, their numbers lie side by side, and values are whole vectors. */
bool ts_band_can_pass(const ts_tile *tile);

/* S = Q' Kᵀ of the tile, and Z = P V, where they do. */
void ts_band_pass_keys(ts_tile *tile, const ts_band *b);

/* Where c Q is beyond f32, its products with K need not be: S of such rows, in double. */
void ts_band_score_wide(ts_tile *tile, const ts_band *b);

/* The score function over the band's scores: TS_OK, or what a called one returned. */
ts_status ts_band_score(ts_tile *tile, const ts_band *b);

/* The band's scores: Q' Kᵀ, then the score function, then the mask. */
ts_status ts_band_scores(ts_tile *tile, const ts_band *b);

/* P and ℓ from S; false where a score was NaN or +inf. soon: as ts_loops.weights has it. */
bool ts_band_weigh(ts_tile *tile, const ts_band *b, const void *soon, const ts_rows *out);

/* Σ of the chunk for a band whose K and V are packed: TS_NONFINITE_SCORE or _VALUE, without detail,
 * where that is an error. */
ts_status ts_band_summary(ts_tile *tile, const ts_band *b, const ts_rows *out);

/* The same for a whole tile whose K and V pass by. False where a score or value was not finite, or
 * a score failed: then nothing is known of out. */
bool ts_band_passing_summary(ts_tile *tile, const ts_band *b, const ts_rows *out);

/* Which lanes of the band's rows are allowed a key whose value is not finite: asked while the
 * scores are there, since a weight may be 0 by underflow. True where there are any. */
bool ts_band_find_poison(ts_tile *tile, const ts_band *b);

/* Makes NaN of the sums that such a value is part of. */
void ts_band_spread_poison(ts_tile *tile, const ts_band *b, const ts_rows *out);

/* nonfinite = "propagate": a row with such a score is NaN throughout. */
void ts_band_poison_rows(const ts_tile *tile, int64_t rows, const ts_rows *out);

/* The band's first row and key whose score or value is not finite, if it stands before the one in
 * detail (which `found` tells of, TS_OK: none): its status and detail, else `found`. */
ts_status ts_band_find_nonfinite(ts_tile *tile, const ts_band *b, ts_status found,
                                 ts_detail *detail);

#endif
