/* interval.h -- what the nodes of a program can be on a tile: bounds that are never wrong, only too
 * cautious. */
#ifndef TS_INTERVAL_H
#define TS_INTERVAL_H

#include "program.h"

/* All values of a node lie in it. Integers: low.i .. high.i. Booleans: low.b and high.b, so that
 * {false, true} is undecided. Floats: low.f .. high.f, or NaN where `nan`; `whole`: each is an
 * integer (or infinite). */
typedef struct {
    ts_value low, high;
    bool nan, whole;
} ts_interval;

/* The cells of a tile, not empty; for a score s is any number in its range. */
typedef struct {
    ts_range i, j, h;
    double s_low, s_high;
} ts_tile;

/* Bounds of every node on the tile, into intervals[0 .. count - 1]; returns the result's. */
ts_interval ts_program_bound(const ts_program *program, const ts_tile *tile,
                             ts_interval *intervals);

/* The bound of one node from those of its operands. */
ts_interval ts_node_bound(const ts_program *program, int64_t at, const ts_tile *tile,
                          const ts_interval *intervals);

#endif
