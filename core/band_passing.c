/* band_passing.c -- Q' Kᵀ where K is used once: keys pass by, the next ones are fetched. */
#include "band.h"

#include "chunk.h"

enum { AT_ONCE = 64 }; /* keys of a passing band that are packed together */

/* One head's share of the rows of m that the next chunk uses, of tile->keys * own->cols numbers.
 * Where heads lie side by side and rows without a gap, all heads together ask for whole rows in the
 * order of memory: amid others, a head's own few lines come at half the speed. Else NULL. */
static const void *share_of_rows(const ts_tile *tile, const ts_matrix *all, const ts_matrix *own,
                                 int64_t row) {
    const int64_t first = tile->soon - tile->problem->first_key;
    if (tile->soon == 0 || tile->rows / tile->shared * own->cols != own->row_stride) return NULL;
    return ts_at(tile->loops, all->data,
                 first * all->row_stride + row / tile->shared * tile->keys * own->cols);
}

/* With so many rows products take long enough to ask for V while they run; with fewer, packing is
 * most of the time. */
enum { ROWS_THAT_ASK = 4 };

/* What is asked for while keys are packed: of this chunk where nobody knows the next one. */
static ts_soon soon_of(const ts_tile *tile, const ts_band *b) {
    const ts_loops *loops = tile->loops;
    const ts_matrix k = ts_chunk_k(tile, b->row), v = ts_chunk_v(tile, b->row);
    const int64_t here = tile->segments[0].first;
    const int64_t k_first = (tile->soon ? tile->soon : here + AT_ONCE) - tile->problem->first_key;
    const int64_t v_first = (tile->soon ? tile->soon : here) - tile->problem->first_key;
    ts_soon soon = {share_of_rows(tile, &tile->problem->k, &k, b->row),
                    share_of_rows(tile, &tile->problem->v, &v, b->row), k.cols, v.cols};
    if (!soon.k) {
        soon.k = ts_at(loops, k.data, k_first * k.row_stride);
        soon.k_stride = k.row_stride;
    }
    if (soon.v && b->rows >= ROWS_THAT_ASK) {
        soon.v = NULL;
    } else if (!soon.v) {
        soon.v = ts_at(loops, v.data, v_first * v.row_stride);
        soon.v_stride = v.row_stride;
    }
    return soon;
}

void ts_band_ask_values(const ts_tile *tile, const ts_band *b, bool weighed, int64_t from,
                        int64_t keys, ts_panels *panels) {
    const ts_matrix v = ts_chunk_v(tile, b->row);
    const void *share = share_of_rows(tile, &tile->problem->v, &v, b->row);
    const int64_t half = v.cols / 2;
    if (!share || b->rows < ROWS_THAT_ASK) return;
    panels->soon = ts_at(tile->loops, share, (weighed ? tile->keys + from : from) * half);
    panels->asked = keys * half;
}

void ts_band_multiply_passing(ts_tile *tile, const ts_band *b) {
    const ts_loops *loops = tile->loops;
    const ts_matrix k = ts_chunk_k(tile, b->row);
    const ts_soon soon = soon_of(tile, b);
    int64_t stride;
    const void *rows = ts_chunk_gather(tile, &k, &stride);
    for (int64_t lane = b->from; lane < ts_least(b->to, tile->keys); lane += AT_ONCE) {
        const int64_t keys = ts_least(AT_ONCE, tile->keys - lane);
        const int64_t width = ts_round_up(keys, loops->lanes);
        const ts_soon here = {ts_at(loops, soon.k, lane * soon.k_stride),
                              soon.v ? ts_at(loops, soon.v, lane * soon.v_stride) : NULL,
                              soon.k_stride, soon.v_stride};
        ts_panels part = {
            .numbers = tile->k_panels, .depth = k.cols, .width = width, .step = width};
        ts_band_ask_values(tile, b, false, lane, keys, &part);
        loops->pack_columns(ts_at(loops, rows, lane * stride), stride, k.cols, keys, &here,
                            tile->k_panels);
        loops->product(b->rows, k.cols, ts_at(loops, tile->q, b->row * k.cols), k.cols, &part, 0, 0,
                       width, ts_at(loops, ts_band_scores_of(tile, 0), lane), ts_band_stride(tile),
                       false);
    }
}
