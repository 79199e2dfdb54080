/* bracketing.h -- a bracketing of merges: a binary tree whose leaves are positions, from and to
 * postfix words. */
#ifndef TS_BRACKETING_H
#define TS_BRACKETING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* `need` is the stack that running a node takes: a leaf 1; others the larger of their sides', or
 * one more where those are equal (Sethi & Ullman 1970), which is at most 1 + log2(leaves). */
typedef struct {
    int32_t left, right; /* earlier nodes; -1 in a leaf */
    int32_t position;    /* of a leaf, from 1 */
    int32_t need;
} ts_bracket;

typedef struct {
    ts_bracket *nodes;
    int32_t count;
    int32_t *stack; /* of what is read or written */
} ts_bracketing;

/* Bytes for one of up to `leaves` leaves; an empty one in them. */
size_t ts_bracketing_size(int64_t leaves);
ts_bracketing ts_bracketing_make(void *memory, int64_t leaves);

/* Adds the tree of a postfix word without the positions whose mark is 0 (marks NULL: with all), and
 * returns its root; -1 where nothing is left. */
int32_t ts_bracketing_read(ts_bracketing *bracketing, const int32_t *word, int64_t length,
                           const int32_t *marks);

/* Adds that of halves of positions low .. high, the left one the larger, of which present[0 ..
 * count - 1] (ascending, at least one) are not empty; returns its root. */
int32_t ts_bracketing_halves(ts_bracketing *bracketing, int64_t low, int64_t high,
                             const int32_t *present, int64_t count);

/* Writes the postfix word of the tree at root, of so many leaves, the side that needs more stack
 * first; returns its length. *depth: the stack it needs. */
int64_t ts_bracketing_write(ts_bracketing *bracketing, int32_t root, int64_t leaves, int32_t *word,
                            int64_t *depth);

/* The same for halves of positions 1 .. count (at least 1), without memory. */
int64_t ts_bracketing_write_halves(int64_t count, int32_t *word, int64_t *depth);

#endif
