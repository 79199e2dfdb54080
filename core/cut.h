/* cut.h -- how attention on a problem is cut into units of work for threads. None of it changes a
 * bit of the result. */
#ifndef TS_CUT_H
#define TS_CUT_H

#include "tiling.h"

/* A unit of work is an item - the rows of one key head in a piece of a query tile, or of all key
 * heads, where reading those is all the work - or, where there are few items, one part of the split
 * of its keys. Units count by parts first: the heads of a part lie side by side in the same pages
 * of memory. */
typedef struct {
    int64_t n_q, q;                     /* queries; of a tile */
    int64_t heads;                      /* of an item: those of a key head, or all */
    int64_t queries, pieces;            /* of a piece; pieces of a tile */
    int64_t tiles, items, parts, units; /* parts that run apart; 1: an item is one unit */
} ts_cut;

/* The rows of an item: those of queries i (from 1; none: the tile has fewer pieces) and of the
 * cut's `heads` heads from `head` on (from 0), in query tile `tile` (from 0). */
typedef struct {
    int64_t head, tile;
    ts_range i;
} ts_cut_rows;

/* tiling: with its defaults filled in; threads: 0 for the default. */
ts_cut ts_cut_make(const ts_problem *problem, const ts_tiling *tiling, int threads);
ts_cut_rows ts_cut_item(const ts_cut *cut, int64_t item);

#endif
