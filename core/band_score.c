/* band_score.c -- the score function, over the allowed scores of a band. */
#include "band.h"

#include "chunk.h"

#include <string.h>

/* Asks a called score for the allowed keys of one segment, `at` lanes into the chunk. */
static ts_status call_score(ts_tile *tile, const ts_score *score, int64_t r, ts_range j, int64_t at,
                            void *s) {
    const int64_t count = j.last - j.first + 1;
    uint64_t *allowed = tile->segment_bits; /* free by now */
    memset(allowed, 0, (size_t)tile->words * sizeof *allowed);
    if (tile->cover == TS_FULL)
        ts_chunk_fill_bits(allowed, tile->words, count);
    else
        for (int64_t b = 0; b < count; b++)
            allowed[b / 64] |= (ts_chunk_bits(tile, r)[(at + b) / 64] >> ((at + b) % 64) & 1)
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
static ts_status score_rows(ts_tile *tile, const ts_band *b, int64_t r, int64_t rows) {
    const int64_t head = tile->head + r / tile->queries, stride = tile->strip_stride;
    const ts_score *score = ts_problem_score(tile->problem, head);
    const ts_range i = {tile->i.first + r % tile->queries,
                        tile->i.first + r % tile->queries + rows - 1};
    ts_status status = TS_OK;
    for (int64_t n = 0, at = 0; score && !status && n < tile->segment_count; n++) {
        ts_range j = tile->segments[n];
        int64_t from = ts_most(b->from, at);
        int64_t to = ts_least(b->to, at + j.last - j.first + 1);
        ts_range keys = {j.first + from - at, j.first + to - at - 1};
        void *s = ts_at(tile->loops, ts_band_scores_of(tile, r - b->row), from);
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

ts_status ts_band_score(ts_tile *tile, const ts_band *b) {
    ts_status status = TS_OK;
    for (int64_t r = b->row, rows; !status && r < b->row + b->rows; r += rows) {
        rows = ts_band_rows_of_head(tile, b, r);
        status = score_rows(tile, b, r, rows);
    }
    return status;
}
