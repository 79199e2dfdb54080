/* sort.c -- heapsort (Williams 1964; built from the bottom, Floyd 1964). */
#include "sort.h"

#include <string.h>

typedef struct {
    char *items;
    size_t size;
    int (*compare)(const void *a, const void *b);
} heap;

static char *item(const heap *h, int64_t n) { return h->items + (size_t)n * h->size; }

/* Moves item `root` down a heap of `count` items whose largest is on top. */
static void sift(const heap *h, int64_t root, int64_t count) {
    char moved[TS_SORT_MOST];
    memcpy(moved, item(h, root), h->size);
    for (int64_t child = 2 * root + 1; child < count; child = 2 * root + 1) {
        if (child + 1 < count && h->compare(item(h, child + 1), item(h, child)) > 0) child++;
        if (h->compare(item(h, child), moved) <= 0) break;
        memcpy(item(h, root), item(h, child), h->size);
        root = child;
    }
    memcpy(item(h, root), moved, h->size);
}

void ts_sort(void *items, int64_t count, size_t size,
             int (*compare)(const void *a, const void *b)) {
    const heap h = {items, size, compare};
    char last[TS_SORT_MOST];
    for (int64_t root = count / 2 - 1; root >= 0; root--) sift(&h, root, count);
    for (int64_t end = count - 1; end > 0; end--) {
        memcpy(last, item(&h, end), size);
        memcpy(item(&h, end), item(&h, 0), size);
        memcpy(item(&h, 0), last, size);
        sift(&h, 0, end);
    }
}
