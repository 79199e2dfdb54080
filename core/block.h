/* block.h -- Σ of one block of keys for the rows of one query tile. */
#ifndef TS_BLOCK_H
#define TS_BLOCK_H

#include "problem.h"
#include "rows.h"

enum { TS_CHUNK = 512 }; /* keys at a time; longer blocks are merged online */

/* With fewer rows that share them, packing K and V takes longer than it saves. */
enum { TS_PASSING_ROWS = 16 };

/* A stretch of keys of one key head (from 0). Keys count from 1: all zeros is no stretch. */
typedef struct {
    int64_t head;
    ts_range keys;
} ts_packed;

/* Query rows of some heads - one, or all that share one K and V, or several such groups - with one
 * thread's work space. Row r is query i.first + r % queries of head `head` + r / queries (from 0).
 */
typedef struct {
    const ts_problem *problem;
    const ts_loops *loops;
    int degree;                               /* of the exponential; 0: SLEEF's */
    double unit;                              /* log2 of the base */
    int64_t max_queries, max_heads, max_keys; /* what there is room for */
    int64_t value_stride;                     /* d_v, up to a full vector */
    /* From one row of scores to the next: a line more than it takes, so that rows a power of two
     * long do not fight for the same places of the cache. */
    int64_t strip_stride;
    ts_range i;                         /* the tile: queries, from 1, */
    int64_t head, heads, queries, rows; /* heads and their product */
    int64_t shared;                     /* rows that share one K and V */
    int64_t keys, width, segment_count; /* the chunk at hand; width: a full vector */
    ts_cover cover;                     /* of the chunk, over all heads */
    bool clean;                         /* all its values are finite */
    bool passing;                       /* K and V are used where they lie, by few rows */
    ts_range *segments;                 /* the chunk's keys, by number */
    ts_packed packed;                   /* what the panels hold */
    void *q, *k_panels, *v_panels, *staging, *strip; /* q: scaled */
    bool *wide, any_wide; /* which rows' q is beyond f32: their scores are summed in double */
    ts_rows part;         /* of one band, to be merged */
    int64_t *slot;        /* of each head: whose mask it shares */
    uint8_t *covers;      /* of each slot */
    uint64_t *bits, *segment_bits, *poisoned; /* by slot and query; by row of a band */
    int64_t words;                            /* in a row of bits */
    double *called;                           /* a row for a score that is called */
    void *mask_scratch, *score_scratch;
    bool (*stopped)(void *asked); /* between chunks; true ends the block with TS_INTERRUPTED */
    void *asked;
} ts_tile;

/* Takes from the arena what tiles of `queries` queries x `heads` heads, and blocks whose largest
 * has `keys` keys, need. */
void ts_tile_make(ts_tile *tile, const ts_problem *problem, const ts_loops *loops, int degree,
                  int64_t queries, int64_t heads, int64_t keys, ts_arena *arena);

/* Turns to queries i (from 1) of heads head .. head + heads - 1 (from 0). */
void ts_tile_begin(ts_tile *tile, ts_range i, int64_t head, int64_t heads);

/* Writes to out (values tile->value_stride apart and as wide, zeros behind d_v) the tile's summary
 * of the keys of `ranges`, by number; `cover` is what is known of them. With `onto` - for at most
 * TS_CHUNK keys - out becomes out ⋆ that, band by band, while it is in the nearest cache.
 * TS_INTERRUPTED, or TS_NONFINITE_SCORE or _VALUE without detail (which is met first depends on the
 * tiling: ts_tile_find tells). */
ts_status ts_tile_summary(ts_tile *tile, const ts_range *ranges, int64_t count, ts_cover cover,
                          bool onto, const ts_rows *out);

/* The first row, and in it the first key, among `range`, whose allowed score or value is not
 * finite: its status and detail; TS_OK if there is none. Or TS_INTERRUPTED. */
ts_status ts_tile_find(ts_tile *tile, ts_range range, ts_detail *detail);

#endif
