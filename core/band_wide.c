/* band_wide.c -- scores of rows whose scaled query is beyond f32, though its products with K need
 * not be: summed in double, number by number. No power of two taken off the scale would do: where
 * one number of a row is so large, others, with larger keys, can be too small beside it. */
#include "band.h"

#include "chunk.h"

static double dot(double scale, const ts_matrix *q, int64_t i, const ts_matrix *k, int64_t j) {
    double sum = 0;
    for (int64_t c = 0; c < q->cols; c++)
        sum += scale * ts_matrix_get(q, i, c) * ts_matrix_get(k, j, c);
    return sum;
}

void ts_band_score_wide(ts_tile *tile, const ts_band *b) {
    const ts_problem *p = tile->problem;
    for (int64_t r = 0; r < b->rows; r++) {
        const int64_t row = b->row + r, head = tile->head + row / tile->queries;
        const int64_t i = tile->i.first - 1 + row % tile->queries;
        if (!tile->wide[row]) continue;
        const ts_matrix q = ts_problem_q(p, head), k = ts_chunk_k(tile, row);
        float *s = ts_band_scores_of(tile, r);
        for (int64_t lane = b->from; lane < ts_least(b->to, tile->keys); lane++)
            s[lane] =
                (float)dot(p->scale[head], &q, i, &k, ts_chunk_key(tile, lane) - p->first_key) +
                0; /* never -0 */
    }
}
