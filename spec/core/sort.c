/* sort.c -- items of several sizes against counting: in order, and the same ones. */
#include "../../core/sort.h"

#include "check.h"

enum { MOST = 200, KINDS = 23 };

static uint32_t state = 1;
static int64_t draw(int64_t below) {
    state = state * 1664525u + 1013904223u;
    return (int64_t)(state >> 8) % below;
}

/* Items begin with their key and end with a number that goes along with it. */
typedef struct {
    int64_t key, tail;
} pair;
typedef struct {
    int64_t key, middle[6], tail;
} longest;

static int by_key(const void *a, const void *b) {
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

static void check_pairs(int64_t count) {
    pair items[MOST];
    int seen[KINDS] = {0};
    for (int64_t n = 0; n < count; n++) {
        items[n] = (pair){draw(KINDS), 0};
        items[n].tail = 100 - items[n].key;
        seen[items[n].key]++;
    }
    ts_sort(items, count, sizeof *items, by_key);
    for (int64_t n = 0; n < count; n++) {
        CHECK(n == 0 || items[n - 1].key <= items[n].key);
        CHECK_INT(items[n].tail, 100 - items[n].key);
        seen[items[n].key]--;
    }
    for (int k = 0; k < KINDS; k++) CHECK_INT(seen[k], 0);
}

static void check_longest(void) {
    longest items[MOST];
    for (int64_t n = 0; n < MOST; n++) items[n] = (longest){.key = n * 77 % MOST, .tail = n};
    CHECK_INT(sizeof *items, TS_SORT_MOST);
    ts_sort(items, MOST, sizeof *items, by_key);
    for (int64_t n = 0; n < MOST; n++) {
        CHECK_INT(items[n].key, n); /* 77 and 200 have no common divisor */
        CHECK_INT(items[n].tail * 77 % MOST, n);
    }
}

int main(void) {
    for (int64_t count = 0; count <= MOST; count++) check_pairs(count);
    check_longest();
    return check_done();
}
