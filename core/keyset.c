/* keyset.c -- sets of keys as sorted ranges: make, union, equality, size. */
#include "keyset.h"

#include "sort.h"

static bool is_empty(ts_range r) { return r.last < r.first; }

static int by_first(const void *a, const void *b) {
    const ts_range *x = a, *y = b;
    return x->first < y->first ? -1 : x->first > y->first;
}

/* Appends r, which begins at or behind the last range's first, joining ranges that touch. Answers
 * false where they overlap. */
static bool append(ts_keyset *set, ts_range r) {
    if (set->count > 0) {
        ts_range *last = &set->ranges[set->count - 1];
        if (r.first <= last->last) return false;
        if (r.first - 1 == last->last) {
            last->last = r.last;
            return true;
        }
    }
    set->ranges[set->count++] = r;
    return true;
}

ts_status ts_keyset_make(const ts_range *ranges, int64_t count, ts_keyset *out, ts_detail *detail) {
    int64_t filled = 0;
    for (int64_t r = 0; r < count; r++)
        if (!is_empty(ranges[r])) out->ranges[filled++] = ranges[r];
    ts_sort(out->ranges, filled, sizeof *out->ranges, by_first);
    out->count = 0;
    for (int64_t r = 0; r < filled; r++) {
        const ts_range next = out->ranges[r]; /* append writes at or before r */
        if (!append(out, next)) {
            detail->key = next.first;
            return TS_OVERLAP;
        }
    }
    return TS_OK;
}

/* The smallest key in both, or false. */
static bool shared_key(const ts_keyset *a, const ts_keyset *b, int64_t *key) {
    for (int64_t x = 0, y = 0; x < a->count && y < b->count;) {
        ts_range s = a->ranges[x], t = b->ranges[y];
        *key = s.first > t.first ? s.first : t.first;
        if (*key <= s.last && *key <= t.last) return true;
        if (s.last < t.last)
            x++;
        else
            y++;
    }
    return false;
}

ts_status ts_keyset_union(const ts_keyset *a, const ts_keyset *b, ts_keyset *out,
                          ts_detail *detail) {
    int64_t key;
    if (shared_key(a, b, &key)) {
        detail->key = key;
        return TS_OVERLAP;
    }
    out->count = 0;
    for (int64_t x = 0, y = 0; x < a->count || y < b->count;) {
        bool from_a = y == b->count || (x < a->count && a->ranges[x].first < b->ranges[y].first);
        append(out, from_a ? a->ranges[x++] : b->ranges[y++]);
    }
    return TS_OK;
}

bool ts_keyset_equal(const ts_keyset *a, const ts_keyset *b) {
    if (a->count != b->count) return false;
    for (int64_t r = 0; r < a->count; r++)
        if (a->ranges[r].first != b->ranges[r].first || a->ranges[r].last != b->ranges[r].last)
            return false;
    return true;
}
