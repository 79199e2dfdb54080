/* keyset.c -- key sets against a plain array of flags. */
#include "../../core/keyset.h"

#include "check.h"

enum { KEYS = 24, RANGES = 6 };

static uint32_t state = 1;

static int64_t draw(int64_t below) {
    state = state * 1664525u + 1013904223u;
    return (int64_t)(state >> 8) % below;
}

/* Up to RANGES ranges, empty ones among them; held[key] counts how often key is named. */
static int64_t draw_ranges(ts_range *ranges, int *held) {
    int64_t count = draw(RANGES + 1);
    for (int64_t r = 0; r < count; r++) {
        ranges[r].first = 1 + draw(KEYS);
        int64_t room = KEYS + 1 - ranges[r].first;
        ranges[r].last = ranges[r].first + draw(room < 5 ? room + 1 : 5) - 1;
        for (int64_t key = ranges[r].first; key <= ranges[r].last; key++) held[key]++;
    }
    return count;
}

static int64_t first_shared(const int *held) {
    for (int64_t key = 1; key <= KEYS; key++)
        if (held[key] > 1) return key;
    return 0;
}

/* The set holds exactly the keys that are held, in ranges that are sorted and do not touch. */
static bool is_set_of(const ts_keyset *set, const int *held) {
    int64_t key = 1;
    for (int64_t r = 0; r < set->count; r++) {
        ts_range range = set->ranges[r];
        if (range.last < range.first || (r > 0 && range.first <= set->ranges[r - 1].last + 1))
            return false;
        for (; key < range.first; key++)
            if (held[key]) return false;
        for (; key <= range.last; key++)
            if (!held[key]) return false;
    }
    for (; key <= KEYS; key++)
        if (held[key]) return false;
    return true;
}

static void check_made(void) {
    for (int round = 0; round < 2000; round++) {
        ts_range ranges[RANGES], room[RANGES];
        int held[KEYS + 1] = {0};
        ts_keyset set = {0, room};
        ts_detail detail = {0};
        int64_t count = draw_ranges(ranges, held), shared = first_shared(held);
        ts_status status = ts_keyset_make(ranges, count, &set, &detail);
        CHECK_INT(status, shared ? TS_OVERLAP : TS_OK);
        if (shared)
            CHECK_INT(detail.key, shared);
        else
            CHECK(is_set_of(&set, held));
    }
}

static void check_unions(void) {
    for (int round = 0; round < 4000; round++) {
        ts_range ranges[RANGES], room_a[RANGES], room_b[RANGES], room[2 * RANGES];
        int a_held[KEYS + 1] = {0}, b_held[KEYS + 1] = {0}, both[KEYS + 1];
        ts_keyset a = {0, room_a}, b = {0, room_b}, sum = {-7, room};
        ts_detail detail = {0};
        if (ts_keyset_make(ranges, draw_ranges(ranges, a_held), &a, &detail)) continue;
        if (ts_keyset_make(ranges, draw_ranges(ranges, b_held), &b, &detail)) continue;
        for (int key = 0; key <= KEYS; key++) both[key] = a_held[key] + b_held[key];
        int64_t shared = first_shared(both);
        ts_status status = ts_keyset_union(&a, &b, &sum, &detail);
        CHECK_INT(status, shared ? TS_OVERLAP : TS_OK);
        if (shared) {
            CHECK_INT(detail.key, shared);
            CHECK_INT(sum.count, -7);
            continue;
        }
        CHECK(is_set_of(&sum, both));
        CHECK(ts_keyset_equal(&sum, &a) == (b.count == 0));
    }
}

static void check_ends_of_the_numbers(void) {
    ts_range ranges[] = {{INT64_MAX, INT64_MAX}, {INT64_MAX - 3, INT64_MAX - 1}}, room[2];
    ts_keyset set = {0, room};
    ts_detail detail = {0};
    CHECK_INT(ts_keyset_make(ranges, 2, &set, &detail), TS_OK);
    CHECK_INT(set.count, 1);
    CHECK_INT(set.ranges[0].first, INT64_MAX - 3);
    CHECK_INT(set.ranges[0].last, INT64_MAX);
    CHECK_INT(ts_keyset_make(ranges, 0, &set, &detail), TS_OK);
    CHECK_INT(set.count, 0);
}

int main(void) {
    check_made();
    check_unions();
    check_ends_of_the_numbers();
    return check_done();
}
