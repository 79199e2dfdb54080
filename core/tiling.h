/* tiling.h -- how the engine cuts a problem: tiles of queries x blocks of keys, and the
 * exponential. */
#ifndef TS_TILING_H
#define TS_TILING_H

#include "problem.h"
#include "schedule.h"

typedef enum { TS_EXP_SLEEF, TS_EXP_POLY } ts_exp;

typedef struct {
    int64_t q;            /* query rows a tile; 0: the default */
    ts_schedule schedule; /* of the problem's keys */
    ts_exp exp;
    int degree; /* of the polynomial, 1 to TS_POLY_DEGREE; 0: the dtype's default */
} ts_tiling;

/* Rows - queries x the heads that share a key head - of a tile, unless its q says otherwise:
 * packing a block costs as much as computing some five to twenty of them. And of a piece of it that
 * still is worth that. */
enum { TS_TILING_ROWS = 1024, TS_TILING_PIECE = 512 };

/* Fills q, schedule.k, schedule.parts (with merge SPLIT where there are more than one) and degree
 * where they are not positive, and clips them to what there is: each part has a block. Also fills
 * schedule.first, last and (ranges NULL) blocks, from the problem. What it chooses depends on
 * dtype, d, d_v, n_q, n_k, heads and kv_heads only. */
void ts_tiling_defaults(const ts_problem *problem, ts_tiling *tiling);

#endif
