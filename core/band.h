/* band.h -- a band: rows of a tile that run together, while their scores are in the nearest cache.
 */
#ifndef TS_BAND_H
#define TS_BAND_H

#include "block.h"

/* Rows that share K and V, and the lanes of the chunk (whole panels) that any of them may use. */
typedef struct {
    int64_t row, rows, from, to;
} ts_band;

/* Rows of a band where no lane can be left out. */
int64_t ts_band_most_rows(const ts_loops *loops, int64_t keys);

/* The next rows from `row` on. */
ts_band ts_band_next(const ts_tile *tile, int64_t row);

/* From one row of scores to the next: a line more than it takes, so that rows a power of two long
 * do not fight for the same places of the cache. */
static inline int64_t ts_band_stride(const ts_tile *tile) {
    return ts_round_up(tile->max_keys, tile->loops->panel) +
           64 / (int64_t)ts_dtype_size(tile->loops->dtype);
}

/* The scores of the band's row r, from 0. */
static inline void *ts_band_scores_of(const ts_tile *tile, int64_t r) {
    return ts_at(tile->loops, tile->strip, r * ts_band_stride(tile));
}

/* S = Q' Kᵀ where rows that share K are one band: a few keys are packed, used and forgotten, while
 * they are in the nearest cache; meanwhile the next chunk's are asked for. */
void ts_band_multiply_passing(ts_tile *tile, const ts_band *b);

/* Lets a product over `keys` keys from lane `from` on - K's, or with `weighed` V's - ask for half
 * of band b's share of the next chunk's values. */
void ts_band_ask_values(const ts_tile *tile, const ts_band *b, bool weighed, int64_t from,
                        int64_t keys, ts_panels *panels);

/* The score function over the band's scores: TS_OK, or what a called one returned. */
ts_status ts_band_score(ts_tile *tile, const ts_band *b);

/* The band's scores: Q' Kᵀ, then the score function, then the mask. */
ts_status ts_band_scores(ts_tile *tile, const ts_band *b);

/* Σ of the chunk for a band whose K and V are packed: TS_NONFINITE_SCORE or _VALUE, without detail,
 * where that is an error. */
ts_status ts_band_summary(ts_tile *tile, const ts_band *b, const ts_rows *out);

/* The same where rows that share K are one band, and nothing is packed. */
ts_status ts_band_thin_summary(ts_tile *tile, const ts_band *b, const ts_rows *out);

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
