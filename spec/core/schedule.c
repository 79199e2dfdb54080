/* schedule.c -- words against trees evaluated by hand: what is merged with what. */
#include "../../core/schedule.h"

#include "check.h"

#include <stdlib.h>

enum { BLOCKS = 40, ROOM = 1 << 20 };

/* What a bracketing means: two summaries commute in bits and do not associate, so a tree is told
 * from every other by a commutative hash. 0 stands for ⊥, the identity. */
static uint64_t mix(uint64_t x) {
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}
static uint64_t block_hash(int64_t block) { return mix((uint64_t)block + 1000); }
static uint64_t merge(uint64_t a, uint64_t b) {
    if (!a || !b) return a + b;
    return mix(mix(a) + mix(b) + 17);
}

static uint32_t state = 1;
static int64_t draw(int64_t below) {
    state = state * 1664525u + 1013904223u;
    return (int64_t)(state >> 8) % below;
}

static _Alignas(64) unsigned char scratch[ROOM];

/* Runs a word of blocks; depth: the highest the stack stood. */
static uint64_t run(const int32_t *word, int64_t length, int64_t *depth) {
    uint64_t stack[64];
    int64_t top = 0;
    *depth = 0;
    for (int64_t e = 0; e < length; e++) {
        if (word[e] > 0) {
            stack[top++] = block_hash(word[e]);
        } else {
            top--;
            stack[top - 1] = merge(stack[top - 1], stack[top]);
        }
        if (top > *depth) *depth = top;
    }
    CHECK(top == (length > 0));
    return length > 0 ? stack[0] : 0;
}

/* The naive evaluators: over all positions low..high, with h[position] = 0 for what is empty. */
static uint64_t left_fold(const uint64_t *h, int64_t low, int64_t high) {
    uint64_t sum = 0;
    for (int64_t p = low; p <= high; p++) sum = merge(sum, h[p]);
    return sum;
}
static uint64_t right_fold(const uint64_t *h, int64_t low, int64_t high) {
    uint64_t sum = 0;
    for (int64_t p = high; p >= low; p--) sum = merge(h[p], sum);
    return sum;
}
static uint64_t tree(const uint64_t *h, int64_t low, int64_t high) {
    if (low == high) return h[low];
    int64_t left = (high - low + 2) / 2;
    return merge(tree(h, low, low + left - 1), tree(h, low + left, high));
}
static uint64_t split_part(const ts_schedule *s, const uint64_t *h, int64_t part) {
    return left_fold(h, part * s->blocks / s->parts + 1, (part + 1) * s->blocks / s->parts);
}
static uint64_t word_of(const ts_schedule *s, const uint64_t *h) {
    uint64_t stack[2 * BLOCKS];
    int64_t top = 0;
    for (int64_t e = 0; e < 2 * s->blocks - 1; e++) {
        if (s->word[e] > 0)
            stack[top++] = h[s->word[e]];
        else
            top--, stack[top - 1] = merge(stack[top - 1], stack[top]);
    }
    return stack[0];
}

static int64_t block_at(const ts_schedule *s, int64_t tile, int64_t tiles, int64_t position) {
    switch (s->order) {
    case TS_ORDER_BACKWARD:
        return s->blocks + 1 - position;
    case TS_ORDER_DIAGONAL:
        return (tile * s->blocks / tiles + position - 1) % s->blocks + 1;
    case TS_ORDER_LISTED:
        return s
            ->listed[(tile < s->order_rows ? tile : s->order_rows - 1) * s->blocks + position - 1];
    default:
        return position;
    }
}

static void shuffle(int32_t *list, int64_t count) {
    for (int64_t n = 0; n < count; n++) {
        int64_t other = draw(n + 1);
        list[n] = list[other];
        list[other] = (int32_t)n + 1;
    }
}

/* A random word over positions: any two of a growing list of words are joined. */
static void random_word(int32_t *word, int64_t blocks) {
    int64_t length = 0, height = 0, pushed = 0;
    int32_t order[BLOCKS];
    shuffle(order, blocks);
    while (pushed < blocks || height > 1) {
        bool push = height < 2 || (pushed < blocks && draw(2));
        if (push)
            word[length++] = order[pushed++], height++;
        else
            word[length++] = 0, height--;
    }
}

static int64_t log2_floor(int64_t n) {
    int64_t log = 0;
    while (n > 1) n /= 2, log++;
    return log;
}

static void check_random_subsets(void) {
    for (int round = 0; round < 20000; round++) {
        int32_t word[2 * BLOCKS], listed[3 * BLOCKS], given[2 * BLOCKS], present[BLOCKS];
        int64_t tiles = 1 + draw(7), tile = draw(tiles), count = 0, depth, stack;
        ts_schedule s = {.first = 1, .k = 1, .parts = 1, .order_rows = 1 + draw(3)};
        s.blocks = s.last = 1 + draw(BLOCKS);
        s.order = (ts_order_kind)draw(4);
        s.merge = (ts_merge_kind)draw(5);
        if (s.merge == TS_MERGE_SPLIT) s.parts = 1 + draw(s.blocks);
        for (int64_t row = 0; row < s.order_rows; row++) shuffle(listed + row * s.blocks, s.blocks);
        random_word(given, s.blocks);
        if (draw(2)) ts_schedule_deepen(given, s.blocks, scratch);
        s.listed = listed;
        s.word = given;
        ts_detail detail;
        CHECK_INT(ts_schedule_check(&s, scratch, &detail), TS_OK);

        uint64_t by_block[BLOCKS + 1] = {0}, h[BLOCKS + 1];
        int64_t keep = draw(5);
        for (int64_t b = 1; b <= s.blocks; b++)
            if (draw(4) < keep) present[count++] = (int32_t)b, by_block[b] = block_hash(b);
        for (int64_t p = 1; p <= s.blocks; p++) h[p] = by_block[block_at(&s, tile, tiles, p)];

        uint64_t parts[BLOCKS + 1];
        for (int64_t part = 0; part < s.parts; part++) {
            int64_t length =
                ts_schedule_word(&s, part, tile, tiles, present, count, word, &depth, scratch);
            parts[part + 1] = run(word, length, &stack);
            CHECK_INT(depth, stack);
            CHECK(depth <= 1 + log2_floor(count ? count : 1));
            if (s.merge == TS_MERGE_SPLIT) CHECK(parts[part + 1] == split_part(&s, h, part));
        }
        switch (s.merge) {
        case TS_MERGE_ONLINE:
            CHECK(parts[1] == left_fold(h, 1, s.blocks));
            break;
        case TS_MERGE_RIGHT:
            CHECK(parts[1] == right_fold(h, 1, s.blocks));
            break;
        case TS_MERGE_TREE:
            CHECK(parts[1] == tree(h, 1, s.blocks));
            break;
        case TS_MERGE_WORD:
            CHECK(parts[1] == word_of(&s, h));
            break;
        case TS_MERGE_SPLIT: {
            int64_t length = ts_schedule_parts_word(&s, word, &depth), top = 0;
            uint64_t left[64];
            for (int64_t e = 0; e < length; e++) {
                if (word[e] > 0)
                    left[top++] = parts[word[e]];
                else
                    top--, left[top - 1] = merge(left[top - 1], left[top]);
            }
            CHECK(left[0] == tree(parts, 1, s.parts));
            break;
        }
        }
    }
}

/* Words of n pushes in order: a walk that never has fewer than one summary. Counts those that
 * ts_schedule_check takes, which must be Catalan(n - 1). */
static int64_t count_words(int32_t *word, int64_t at, int64_t pushed, int64_t n) {
    if (at == 2 * n - 1) {
        ts_schedule s = {
            .first = 1, .last = n, .k = 1, .blocks = n, .merge = TS_MERGE_WORD, .word = word};
        ts_detail detail;
        return ts_schedule_check(&s, scratch, &detail) == TS_OK;
    }
    int64_t count = 0;
    if (pushed < n) {
        word[at] = (int32_t)pushed + 1;
        count += count_words(word, at + 1, pushed + 1, n);
    }
    word[at] = 0;
    return count + count_words(word, at + 1, pushed, n);
}

static void check_catalan(void) {
    const int64_t catalan[] = {1, 1, 2, 5, 14, 42, 132, 429};
    for (int64_t n = 1; n <= 8; n++) {
        int32_t word[16];
        CHECK_INT(count_words(word, 0, 0, n), catalan[n - 1]);
    }
}

static void check_deepen(void) {
    int32_t right[] = {1, 2, 3, 4, 5, 0, 0, 0, 0}, want[] = {4, 5, 0, 3, 0, 2, 0, 1, 0};
    ts_schedule_deepen(right, 5, scratch);
    for (int e = 0; e < 9; e++) CHECK_INT(right[e], want[e]);

    enum { MANY = 5000 };
    static int32_t long_word[2 * MANY];
    for (int32_t n = 0; n < MANY; n++) long_word[n] = n + 1;
    for (int32_t n = MANY; n < 2 * MANY - 1; n++) long_word[n] = 0;
    ts_schedule_deepen(long_word, MANY, scratch);
    CHECK_INT(long_word[0], MANY - 1);
    CHECK_INT(long_word[2 * MANY - 3], 1);
}

static ts_status check(ts_schedule s, int64_t *key) {
    ts_detail detail = {0};
    ts_status status = ts_schedule_check(&s, scratch, &detail);
    *key = detail.key;
    return status;
}

static void check_refusals(void) {
    int64_t key;
    int32_t twice[] = {1, 2, 2, 4}, none[] = {1, 2, 5, 4}, good[] = {3, 1, 4, 2, 1, 2, 3, 4};
    ts_schedule s = {.first = 1,
                     .last = 10,
                     .k = 3,
                     .blocks = 4,
                     .order = TS_ORDER_LISTED,
                     .listed = twice,
                     .order_rows = 1};
    CHECK_INT(check(s, &key), TS_BLOCK_TWICE);
    CHECK_INT(key, 2);
    s.listed = none;
    CHECK_INT(check(s, &key), TS_MALFORMED);
    CHECK_INT(key, 3);
    s.listed = good, s.order_rows = 2;
    CHECK_INT(check(s, &key), TS_OK);

    int32_t missing[] = {1, 2, 0, 4, 0, 0, 0}, early[] = {1, 0, 2, 0, 3, 4, 0};
    int32_t again[] = {1, 2, 0, 1, 0, 4, 0}, left_out[] = {1, 2, 0, 3, 0, 0, 0};
    s.merge = TS_MERGE_WORD, s.word = missing;
    CHECK_INT(check(s, &key), TS_BLOCK_MISSING);
    CHECK_INT(key, 3);
    s.word = early;
    CHECK_INT(check(s, &key), TS_MALFORMED);
    CHECK_INT(key, 2);
    s.word = again;
    CHECK_INT(check(s, &key), TS_BLOCK_TWICE);
    CHECK_INT(key, 1);
    s.word = left_out;
    CHECK_INT(check(s, &key), TS_BLOCK_MISSING);
    CHECK_INT(key, 4);

    s.merge = TS_MERGE_ONLINE;
    s.blocks = 3;
    CHECK_INT(check(s, &key), TS_KEY_MISSING);
    s.blocks = 5;
    CHECK_INT(check(s, &key), TS_KEY_UNKNOWN);
    s.k = 0;
    CHECK(check(s, &key) != TS_OK);
    s.k = 3, s.first = -5;
    CHECK_INT(check(s, &key), TS_MALFORMED);
    s.first = INT64_MAX - 5, s.last = INT64_MIN;
    CHECK_INT(check(s, &key), TS_MALFORMED);
    s.last = INT64_MAX;
    CHECK_INT(check(s, &key), TS_TOO_LARGE);
}

static void check_ranges(void) {
    int64_t key, starts[] = {0, 2, 3, 3};
    ts_range good[] = {{5, 6}, {9, 10}, {7, 8}}, twice[] = {{5, 7}, {9, 10}, {7, 8}};
    ts_range missing[] = {{5, 6}, {10, 10}, {7, 8}}, outside[] = {{5, 6}, {9, 12}, {7, 8}};
    ts_range before[] = {{3, 6}, {9, 10}, {7, 8}}, short_end[] = {{5, 6}, {9, 9}, {7, 8}};
    ts_schedule s = {.first = 5, .last = 10, .blocks = 3, .ranges = good, .starts = starts};
    CHECK_INT(check(s, &key), TS_OK);
    s.ranges = twice;
    CHECK_INT(check(s, &key), TS_OVERLAP);
    CHECK_INT(key, 7);
    s.ranges = missing;
    CHECK_INT(check(s, &key), TS_KEY_MISSING);
    CHECK_INT(key, 9);
    s.ranges = outside;
    CHECK_INT(check(s, &key), TS_KEY_UNKNOWN);
    CHECK_INT(key, 11);
    s.ranges = before;
    CHECK_INT(check(s, &key), TS_KEY_UNKNOWN);
    CHECK_INT(key, 3);
    s.ranges = short_end;
    CHECK_INT(check(s, &key), TS_KEY_MISSING);
    CHECK_INT(key, 10);

    ts_range one;
    int64_t count;
    s.ranges = good;
    CHECK_INT(ts_schedule_block(&s, 1, &one, &count)[1].first, 9);
    CHECK_INT(count, 2);
    ts_schedule_block(&s, 3, &one, &count);
    CHECK_INT(count, 0);
    s.ranges = NULL, s.k = 4, s.blocks = 2;
    CHECK_INT(ts_schedule_block(&s, 2, &one, &count)->first, 9);
    CHECK_INT(one.last, 10);
}

static void check_nothing(void) {
    ts_schedule s = {.first = 1, .last = 0, .k = 128, .blocks = 0, .merge = TS_MERGE_TREE};
    int64_t key, depth = -1;
    CHECK_INT(check(s, &key), TS_OK);
    CHECK_INT(ts_schedule_word(&s, 0, 0, 1, NULL, 0, NULL, &depth, scratch), 0);
    CHECK_INT(depth, 0);
}

int main(void) {
    CHECK(ts_schedule_scratch(&(ts_schedule){.blocks = 5000}) <= ROOM);
    check_random_subsets();
    check_catalan();
    check_deepen();
    check_refusals();
    check_ranges();
    check_nothing();
    return check_done();
}
