/* band_nonfinite.c -- scores and values of a band that are not finite. */
#include "band.h"

#include "chunk.h"

#include <math.h>
#include <string.h>

static void set_nan(const ts_loops *loops, void *numbers, int64_t at) {
    ts_number_set(loops->dtype, numbers, at, (double)NAN);
}

/* Number (j, c) of V, by the key's number. */
static double value_at(const ts_tile *tile, const ts_matrix *v, int64_t j, int64_t c) {
    return ts_matrix_get(v, j - tile->problem->first_key, c);
}

/* The first column of key j's value that is not finite; -1 if there is none. */
static int64_t bad_column(const ts_tile *tile, const ts_matrix *v, int64_t j) {
    for (int64_t c = 0; c < v->cols; c++)
        if (!isfinite(value_at(tile, v, j, c))) return c;
    return -1;
}

bool ts_band_find_poison(ts_tile *tile, const ts_band *b) {
    const ts_matrix v = ts_chunk_v(tile, b->row);
    bool any = false;
    memset(tile->poisoned, 0, (size_t)(b->rows * tile->words) * sizeof(uint64_t));
    for (int64_t lane = b->from; lane < ts_least(b->to, tile->keys); lane++) {
        if (bad_column(tile, &v, ts_chunk_key(tile, lane)) < 0) continue;
        for (int64_t r = 0; r < b->rows; r++) {
            if (ts_number_get(tile->loops->dtype, ts_band_scores_of(tile, r), lane) == -INFINITY)
                continue;
            tile->poisoned[r * tile->words + lane / 64] |= (uint64_t)1 << (lane % 64);
            any = true;
        }
    }
    return any;
}

void ts_band_spread_poison(ts_tile *tile, const ts_band *b, const ts_rows *out) {
    const ts_matrix v = ts_chunk_v(tile, b->row);
    for (int64_t lane = b->from; lane < ts_least(b->to, tile->keys); lane++)
        for (int64_t r = 0; r < b->rows; r++) {
            if (!(tile->poisoned[r * tile->words + lane / 64] >> (lane % 64) & 1)) continue;
            for (int64_t c = 0; c < v.cols; c++)
                if (!isfinite(value_at(tile, &v, ts_chunk_key(tile, lane), c)))
                    set_nan(tile->loops, out->value, r * out->stride + c);
        }
}

void ts_band_poison_rows(const ts_tile *tile, int64_t rows, const ts_rows *out) {
    for (int64_t r = 0; r < rows; r++) {
        if (!isnan(ts_number_get(tile->loops->dtype, out->norm, r))) continue;
        set_nan(tile->loops, out->max, r);
        set_nan(tile->loops, out->norm, r);
        for (int64_t c = 0; c < tile->problem->d_v; c++)
            set_nan(tile->loops, out->value, r * out->stride + c);
    }
}

ts_status ts_band_find_nonfinite(ts_tile *tile, const ts_band *b, ts_status found,
                                 ts_detail *detail) {
    const ts_matrix v = ts_chunk_v(tile, b->row);
    for (int64_t r = 0; r < b->rows; r++)
        for (int64_t lane = b->from; lane < ts_least(b->to, tile->keys); lane++) {
            const double s = ts_number_get(tile->loops->dtype, ts_band_scores_of(tile, r), lane);
            const int64_t row = tile->i.first + (b->row + r) % tile->queries;
            const int64_t key = ts_chunk_key(tile, lane);
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
