/* tiling.c -- the default tiling. */
#include "tiling.h"

#include "block.h"
#include "kernel/poly.h"
#include "sizes.h"

/* Keys a block: K and V of a block, packed, are half of a second-level cache of 512 KiB. */
static int64_t default_keys(const ts_problem *p) {
    const int64_t fewest = 64, most = TS_CHUNK, wide = 1 << 20; /* for the fewest */
    const int64_t numbers = ts_least(p->d, wide) + ts_least(p->d_v, wide);
    const int64_t bytes = ts_most(1, numbers * (int64_t)ts_dtype_size(p->dtype));
    return ts_most(fewest, ts_least((256 << 10) / bytes / fewest * fewest, most));
}

/* Few pieces are split, so that there is work for many threads: each part has 2048 keys or more;
 * with few rows, for which all key heads are one item, 512. */
static int64_t default_parts(const ts_problem *p, const ts_tiling *tiling, bool few) {
    const int64_t rows = ts_most(1, TS_TILING_PIECE / (p->heads / p->kv_heads));
    const int64_t items =
        (few ? 1 : p->kv_heads) * ts_quotient_up(p->n_q, ts_least(tiling->q, rows));
    if (tiling->schedule.merge != TS_MERGE_ONLINE || items == 0 || items >= 32) return 1;
    if (few) return ts_most(ts_least(64 / items, p->n_k / 512), p->n_k / 2048);
    return ts_least(64 / items, p->n_k / 2048);
}

void ts_tiling_defaults(const ts_problem *p, ts_tiling *tiling) {
    ts_schedule *s = &tiling->schedule;
    const int64_t group = p->heads / p->kv_heads;
    if (tiling->q <= 0) tiling->q = ts_most(1, TS_TILING_ROWS / group);
    tiling->q = ts_least(tiling->q, ts_most(1, p->n_q));
    const bool few = tiling->q < ts_quotient_up(TS_PASSING_ROWS, group);
    if (tiling->degree <= 0) tiling->degree = ts_poly_default(p->dtype);
    if (tiling->degree > TS_POLY_DEGREE) tiling->degree = TS_POLY_DEGREE;
    s->first = p->first_key, s->last = p->first_key + p->n_k - 1;
    if (!s->ranges) {
        if (s->k <= 0) s->k = default_keys(p);
        s->k = ts_least(s->k, ts_most(1, p->n_k));
        s->blocks = ts_quotient_up(p->n_k, s->k);
    }
    if (s->parts <= 0) {
        s->parts = default_parts(p, tiling, few);
        if (ts_least(s->parts, s->blocks) > 1) s->merge = TS_MERGE_SPLIT;
    }
    s->parts = ts_most(1, ts_least(s->parts, s->blocks));
}
