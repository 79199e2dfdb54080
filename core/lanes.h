/* lanes.h -- a program run on a tile: rows of up to TS_LANES keys, many at once.
 *
 * What a tile's bounds decide is dropped; what depends on the query alone is computed once a row,
 * what depends on the key alone once a tile, and only the rest for each cell, by the vector loops
 * of the instruction set in use. Booleans are bits, integers are narrow where their bounds allow
 * it. */
#ifndef TS_LANES_H
#define TS_LANES_H

#include "interval.h"

/* As many as the default blocks of keys have with f32 and d = 64: a tile is planned once a band. */
enum { TS_LANES = 512 };

/* Longer programs are evaluated cell by cell: their work space would be large. */
enum { TS_LANES_MOST_NODES = 4096 };

/* Whether a program can be run so: it is not too long. */
bool ts_lanes_ready(const ts_program *program);
size_t ts_lanes_scratch(const ts_program *program);

/* The boolean program on the cells of the tile, of one head and at most TS_LANES keys: bit (j -
 * j.first) of row (i - i.first), rows `words` apart; bits behind the last key are 0. */
void ts_lanes_mask(const ts_program *program, int64_t h, ts_range i, ts_range j, uint64_t *bits,
                   int64_t words, void *scratch);

/* Replaces the scores of the tile (at most TS_LANES keys), rows `stride` numbers of `dtype` apart.
 */
void ts_lanes_score(const ts_program *program, ts_dtype dtype, int64_t h, ts_range i, ts_range j,
                    void *scores, int64_t stride, void *scratch);

/* ---- what the loops of an instruction set are given ---- */

/* An operand: a number (bits: a word) for each lane at `at` or, with `splat`, the one at `at`. */
typedef struct {
    const void *at;
    bool splat;
} ts_lane;

/* out[k] = op(operand[0][k], ..) for k < n, a multiple of 64. out may be the memory of an operand.
 */
typedef void ts_lane_op(int64_t n, const ts_lane *operand, void *out);

/* Integers are int32_t or int64_t (`wide`), floats float or double, booleans bits in words of 64.
 * NULL where there is no loop: such operations are done lane by lane. */
typedef struct ts_lane_table {
    /* [op][wide][dtype]; functions such as exp are SLEEF's, for scores: a mask's are libm's. */
    ts_lane_op *op[TS_OP_COUNT][2][2];
    /* (r + s[k]) mod c, for r and s[k] in 0 .. c - 1: operands s; r and c, splat. [wide] */
    ts_lane_op *residue[2];
    /* q + d[k] + (r + s[k] >= c): operands s, d; r, c and q, splat. */
    ts_lane_op *quotient[2];
} ts_lane_table;

#endif
