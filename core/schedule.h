/* schedule.h -- the order of key blocks and the bracketing of their merges, as a postfix word. */
#ifndef TS_SCHEDULE_H
#define TS_SCHEDULE_H

#include "keyset.h"

typedef enum {
    TS_MERGE_ONLINE, /* ((1 2) 3) 4: online softmax, the left fold */
    TS_MERGE_RIGHT,  /* 1 (2 (3 4)) */
    TS_MERGE_TREE,   /* halves, the left one the larger */
    TS_MERGE_SPLIT,  /* `parts` runs of positions, each online, merged as a tree */
    TS_MERGE_WORD    /* `word` */
} ts_merge_kind;

typedef enum {
    TS_ORDER_FORWARD,
    TS_ORDER_BACKWARD,
    TS_ORDER_DIAGONAL, /* query tile t of T starts at block 1 + t * blocks / T, and wraps round */
    TS_ORDER_LISTED    /* as `listed` says */
} ts_order_kind;

/* Blocks are numbered from 1. They are k keys each (ranges NULL), or block b is ranges[starts[b -
 * 1] .. starts[b] - 1]. The order says which block stands at which position, 1 .. blocks; the
 * word's pushes are positions, and 0 is ⋆. */
typedef struct {
    int64_t first, last; /* the keys, by number, from 1: those of the problem; first - 1: none */
    int64_t blocks;
    int64_t k; /* keys a block, the last one ragged; used where ranges is NULL */
    const ts_range *ranges;
    const int64_t *starts; /* blocks + 1 of them */
    ts_order_kind order;
    const int32_t *listed; /* LISTED: order_rows x blocks numbers; row min(tile, order_rows - 1) */
    int64_t order_rows;    /* 1: the same for every query tile; else one a query tile */
    ts_merge_kind merge;
    int64_t parts;       /* of SPLIT; 1 otherwise */
    const int32_t *word; /* WORD: 2 * blocks - 1 entries, deeper side of each node first */
} ts_schedule;

/* Every block and every key once (TS_BLOCK_MISSING, TS_BLOCK_TWICE, TS_KEY_MISSING, TS_KEY_UNKNOWN
 * and TS_OVERLAP name it), and a word that is one (TS_MALFORMED, with the entry). scratch:
 * ts_schedule_scratch bytes. */
size_t ts_schedule_scratch(const ts_schedule *schedule);
ts_status ts_schedule_check(const ts_schedule *schedule, void *scratch, ts_detail *detail);

/* Rewrites the word in place so that the deeper side of each node runs first (⋆ commutes in bits):
 * then at most 1 + log2(blocks) summaries are on the stack. scratch: ts_schedule_scratch bytes. */
void ts_schedule_deepen(int32_t *word, int64_t blocks, void *scratch);

/* The word of part `part` (from 0) for query tile `tile` (from 0; of `tiles`), whose non-empty
 * blocks are present[0 .. count - 1] (numbers, ascending): pushes are block numbers, 0 is ⋆, and
 * empty blocks are left out, since ⊥ is the identity, in bits: what remains is merged as in the
 * whole tree. Writes at most 2 * count - 1 entries to word and returns how many; *depth is the
 * stack it needs, at most 1 + log2(count). Takes time in proportion to count * log(blocks), and
 * only where the order is LISTED or the merge a WORD to blocks. */
int64_t ts_schedule_word(const ts_schedule *schedule, int64_t part, int64_t tile, int64_t tiles,
                         const int32_t *present, int64_t count, int32_t *word, int64_t *depth,
                         void *scratch);

/* The word that merges the parts themselves (a tree); pushes are parts from 1. At most 2 * parts -
 * 1 entries. */
int64_t ts_schedule_parts_word(const ts_schedule *schedule, int32_t *word, int64_t *depth);

/* The ranges of block b, its number of ranges in *count; one range is built in *one where blocks
 * are of k keys. */
const ts_range *ts_schedule_block(const ts_schedule *schedule, int64_t block, ts_range *one,
                                  int64_t *count);

#endif
