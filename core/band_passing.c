/* band_passing.c -- Q' Kᵀ where K is used once: keys pass by, the next ones are fetched. */
#include "band.h"

#include "chunk.h"

enum { AT_ONCE = 64 }; /* keys of a passing band that are packed together */

/* One head's share of the rows of m that the next chunk uses. Where heads lie side by side and rows
 * without a gap, all heads together ask for whole rows in the order of memory: amid others, a
 * head's own few lines come at half the speed. */
static const void *share_of_rows(const ts_tile *tile, const ts_matrix *all, const ts_matrix *own,
                                 int64_t row, int64_t *stride) {
    const int64_t first = tile->soon - tile->problem->first_key;
    const bool whole = tile->rows / tile->shared * own->cols == own->row_stride;
    *stride = whole ? own->cols : own->row_stride;
    return whole ? ts_at(tile->loops, all->data,
                         first * all->row_stride + row / tile->shared * tile->keys * own->cols)
                 : ts_at(tile->loops, own->data, first * own->row_stride);
}

/* What band b asks for: of the next chunk or, where nobody knows one, of this one. */
static ts_soon soon_of(const ts_tile *tile, const ts_band *b) {
    const ts_problem *p = tile->problem;
    const ts_matrix k = ts_chunk_k(tile, b->row), v = ts_chunk_v(tile, b->row);
    if (tile->soon == 0) {
        const int64_t first = tile->segments[0].first - p->first_key;
        return (ts_soon){ts_at(tile->loops, k.data, (first + AT_ONCE) * k.row_stride),
                         ts_at(tile->loops, v.data, first * v.row_stride), k.row_stride,
                         v.row_stride};
    }
    ts_soon soon;
    soon.k = share_of_rows(tile, &p->k, &k, b->row, &soon.k_stride);
    soon.v = share_of_rows(tile, &p->v, &v, b->row, &soon.v_stride);
    return soon;
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
        const ts_panels part = {tile->k_panels, k.cols, width, width};
        const ts_soon here = {ts_at(loops, soon.k, lane * soon.k_stride),
                              ts_at(loops, soon.v, lane * soon.v_stride), soon.k_stride,
                              soon.v_stride};
        loops->pack_columns(ts_at(loops, rows, lane * stride), stride, k.cols, keys, &here,
                            tile->k_panels);
        loops->product(b->rows, k.cols, ts_at(loops, tile->q, b->row * k.cols), k.cols, &part, 0, 0,
                       width, ts_at(loops, ts_band_scores_of(tile, 0), lane), ts_band_stride(tile),
                       false);
    }
}
