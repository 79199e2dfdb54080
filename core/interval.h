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
    int64_t nan, whole; /* booleans; whole words, like values */
} ts_interval;

/* The cells of a tile, not empty. */
typedef struct {
    ts_range i, j, h;
    bool any_float; /* nothing is known of floats: they are a score's, of any dtype */
} ts_cells;

/* Whether linear forms cannot wrap on its indices. */
bool ts_cells_have_forms(const ts_cells *tile);

/* The bound of the result on the tile; intervals: room for one a node, among them the result's. */
const ts_interval *ts_program_bound(const ts_program *program, const ts_cells *tile,
                                    ts_interval *intervals);
/* Bounds of every node, into intervals[0 .. count - 1]. */
void ts_program_bounds(const ts_program *program, const ts_cells *tile, ts_interval *intervals);

#endif
