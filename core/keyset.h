/* keyset.h -- a set of keys, kept as sorted, disjoint, inclusive ranges of 1-based indices. */
#ifndef TS_KEYSET_H
#define TS_KEYSET_H

#include "status.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct {
    int64_t first, last; /* inclusive; last = first - 1 holds nothing */
} ts_range;

typedef struct {
    int64_t count;
    ts_range *ranges; /* caller's memory; sorted, disjoint, non-empty, and no two that touch */
} ts_keyset;

/* Writes to *out (room for `count` ranges) the keys of `ranges`, in any order, empty ones allowed.
 * Returns TS_OVERLAP with the first key named twice in detail->key. */
ts_status ts_keyset_make(const ts_range *ranges, int64_t count, ts_keyset *out, ts_detail *detail);

/* Writes to *out (room for a->count + b->count ranges) the union of a and b. Returns TS_OVERLAP,
 * with the first shared key in detail->key and *out untouched, when they are not disjoint: a key
 * may be summarised only once. */
ts_status ts_keyset_union(const ts_keyset *a, const ts_keyset *b, ts_keyset *out,
                          ts_detail *detail);

bool ts_keyset_equal(const ts_keyset *a, const ts_keyset *b);

#endif
