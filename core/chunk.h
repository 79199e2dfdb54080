/* chunk.h -- the chunk: the keys that a tile has at hand. */
#ifndef TS_CHUNK_H
#define TS_CHUNK_H

#include "block.h"

/* K and V of the tile's row `row`: of all keys, one head's. */
ts_matrix ts_chunk_k(const ts_tile *tile, int64_t row);
ts_matrix ts_chunk_v(const ts_tile *tile, int64_t row);

/* The number of the key in lane `lane`. */
int64_t ts_chunk_key(const ts_tile *tile, int64_t lane);

/* Puts the chunk's K and V into the panels, unless they are there, for the rows that share them
 * with row `row`. */
void ts_chunk_pack(ts_tile *tile, int64_t row);

/* Sets tile->cover to what all heads' masks agree on and, where that is partial, the rows' bits. */
void ts_chunk_find_cover(ts_tile *tile);

/* The bits of row r of the tile; of use where the cover is partial. */
const uint64_t *ts_chunk_bits(const ts_tile *tile, int64_t r);

/* Of a row of `words` words, the first `count` bits become 1, the others 0. */
void ts_chunk_fill_bits(uint64_t *row, int64_t words, int64_t count);

#endif
