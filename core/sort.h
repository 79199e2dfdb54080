/* sort.h -- heapsort: in place, since the C library's qsort may allocate. */
#ifndef TS_SORT_H
#define TS_SORT_H

#include <stddef.h>
#include <stdint.h>

/* Puts `count` items of `size` bytes, at most TS_SORT_MOST, in ascending order: compare answers as
 * qsort's does. Equal items come in any order. */
enum { TS_SORT_MOST = 64 };
void ts_sort(void *items, int64_t count, size_t size, int (*compare)(const void *a, const void *b));

#endif
