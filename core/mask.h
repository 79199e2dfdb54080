/* mask.h -- which keys a query may use: a predicate of (i, j, h), held as a boolean program. */
#ifndef TS_MASK_H
#define TS_MASK_H

#include "program.h"

typedef enum { TS_EMPTY, TS_PARTIAL, TS_FULL } ts_cover;

/* heads = 0: the predicate does not depend on h, and serves any number of heads. i counts from 1 to
 * rows, j from 1 to cols, h from 1 to heads. */
typedef struct {
    int64_t rows, cols, heads;
    const ts_program *program;
} ts_mask;

/* Bytes of scratch that the functions below need; each thread has its own. */
size_t ts_mask_scratch(const ts_mask *mask);

/* What is known of queries i.first..i.last and keys j.first..j.last without looking inside. May be
 * too cautious (PARTIAL for a tile that is empty or full), never wrong. A tile without cells is
 * EMPTY. */
ts_cover ts_mask_cover(const ts_mask *mask, int64_t h, ts_range i, ts_range j, void *scratch);

/* Evaluates the tile: bit (j - j.first) of row (i - i.first), in words of 64, rows `words` apart;
 * bits behind the last key are 0. Settles the cover exactly. */
ts_cover ts_mask_tile(const ts_mask *mask, int64_t h, ts_range i, ts_range j, uint64_t *bits,
                      int64_t words, void *scratch);

/* Of `blocks` blocks of k keys each, from `first` on up to `end`: writes the numbers (from 0,
 * ascending) of those that are not known to be empty for queries i.first..i.last to list, their
 * covers to cover, and returns how many. Descends from large ranges of keys to small ones: time in
 * proportion to what is found, times the logarithm of `blocks`. */
int64_t ts_mask_visit(const ts_mask *mask, int64_t h, ts_range i, int64_t first, int64_t end,
                      int64_t k, int64_t blocks, int32_t *list, uint8_t *cover, void *scratch);

/* The functions below ask about all cells of a rectangle of one head. They descend from large tiles
 * to small ones, and evaluate the cells of small ones that stay open. run: only its poll is used;
 * NULL: never stopped. TS_INTERRUPTED. */

/* *count: how many cells are allowed. */
ts_status ts_mask_count(const ts_mask *mask, int64_t h, ts_range i, ts_range j, const ts_run *run,
                        int64_t *count, void *scratch);
/* *cover: what the rectangle is, settled by looking for an allowed cell and one that is not. */
ts_status ts_mask_settle(const ts_mask *mask, int64_t h, ts_range i, ts_range j, const ts_run *run,
                         ts_cover *cover, void *scratch);
/* The first allowed cell, row by row; *row = 0 where there is none. */
ts_status ts_mask_first(const ts_mask *mask, int64_t h, ts_range i, ts_range j, const ts_run *run,
                        int64_t *row, int64_t *key, void *scratch);
/* Sets bit (i - i.first) of rows for each query without an allowed key; (i.last - i.first) / 64 + 1
 * words. */
ts_status ts_mask_empty_rows(const ts_mask *mask, int64_t h, ts_range i, ts_range j,
                             const ts_run *run, uint64_t *rows, void *scratch);

#endif
