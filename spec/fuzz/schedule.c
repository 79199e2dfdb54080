/* schedule.c -- libFuzzer on schedules: any order, bracketing and blocks are refused, or merge
 * every block once. */
#include "../../core/schedule.h"
#include "bytes.h"

enum { BLOCKS = 12, RANGES = 3 * BLOCKS };

static _Alignas(64) char scratch[1 << 16];

typedef struct {
    int32_t listed[3 * BLOCKS], word[2 * BLOCKS];
    ts_range ranges[RANGES];
    int64_t starts[BLOCKS + 1];
} arrays;

/* Mostly what is right, at times one entry of it spoilt, at times anything. */
static void read_entries(bytes *in, int32_t *list, int64_t count, int64_t most) {
    for (int64_t n = 0; n < count; n++)
        list[n] = (int32_t)(bytes_one(in) % (most + 2)) - (bytes_one(in) == 255);
}

static void read_order(bytes *in, int32_t *list, int64_t count) {
    for (int64_t n = 0; n < count; n++) {
        int64_t other = bytes_one(in) % (n + 1);
        list[n] = list[other];
        list[other] = (int32_t)n + 1;
    }
    if (count > 0 && bytes_below(in, 8) == 0)
        list[bytes_below(in, count)] = (int32_t)bytes_number(in);
}

static void read_word(bytes *in, int32_t *word, int64_t blocks) {
    int64_t length = 0, height = 0, pushed = 0;
    int32_t order[BLOCKS];
    if (bytes_below(in, 4) == 0) {
        read_entries(in, word, 2 * blocks - 1, blocks);
        return;
    }
    read_order(in, order, blocks);
    while (pushed < blocks || height > 1) {
        bool push = height < 2 || (pushed < blocks && bytes_below(in, 2));
        word[length++] = push ? order[pushed++] : 0;
        height += push ? 1 : -1;
    }
}

/* Wraps: what is read may start or end at the rim of 64 bits. */
static int64_t plus(int64_t a, int64_t b) { return (int64_t)((uint64_t)a + (uint64_t)b); }

static void read_ranges(bytes *in, ts_schedule *s, arrays *a) {
    int64_t count = 0, key = s->first;
    a->starts[0] = 0;
    for (int64_t b = 1; b <= s->blocks; b++) {
        for (int64_t n = bytes_below(in, 3); n > 0; n--) {
            int64_t length = bytes_below(in, 4);
            a->ranges[count] = (ts_range){key, plus(key, length - 1)};
            if (bytes_below(in, 16) == 0)
                a->ranges[count] = (ts_range){bytes_number(in), bytes_number(in)};
            key = plus(key, length);
            count++;
        }
        a->starts[b] = count;
    }
    s->last = plus(key, -1);
    s->ranges = a->ranges, s->starts = a->starts;
}

static ts_schedule read_schedule(bytes *in, arrays *a) {
    ts_schedule s = {.first = 1 + bytes_one(in), .parts = 1, .order_rows = 1 + bytes_below(in, 3)};
    s.k = bytes_below(in, 6), s.blocks = bytes_below(in, BLOCKS + 1);
    s.last = s.first - 1 + s.k * s.blocks - (s.k > 0 ? bytes_below(in, s.k) : 0);
    if (bytes_below(in, 16) == 0) s.first = bytes_number(in), s.last = bytes_number(in);
    s.order = (ts_order_kind)bytes_below(in, 4);
    s.merge = (ts_merge_kind)bytes_below(in, 5);
    if (s.merge == TS_MERGE_SPLIT && s.blocks > 0) s.parts = 1 + bytes_below(in, s.blocks);
    for (int64_t row = 0; row < s.order_rows; row++)
        read_order(in, a->listed + row * s.blocks, s.blocks);
    if (s.blocks > 0) read_word(in, a->word, s.blocks);
    s.listed = a->listed, s.word = a->word;
    if (bytes_below(in, 2)) read_ranges(in, &s, a);
    return s;
}

static int64_t log2_floor(int64_t n) {
    int64_t log = 0;
    for (; n > 1; n /= 2) log++;
    return log;
}

/* Runs the word on a stack of heights: adds its pushes to seen. */
static void check_word(const int32_t *word, int64_t length, int64_t depth, int64_t blocks,
                       int *seen) {
    int64_t height = 0, highest = 0;
    for (int64_t e = 0; e < length; e++) {
        FUZZ_CHECK(word[e] >= 0 && word[e] <= blocks);
        if (word[e] > 0) seen[word[e]]++, height++;
        FUZZ_CHECK(word[e] > 0 || height >= 2);
        if (word[e] == 0) height--;
        if (height > highest) highest = height;
    }
    FUZZ_CHECK(height == (length > 0) && highest == depth);
}

/* The words of all parts push each present block once, on a stack of at most 1 + log2. */
static void check_words(bytes *in, const ts_schedule *s) {
    int32_t present[BLOCKS], word[2 * BLOCKS];
    int seen[BLOCKS + 1] = {0}, wanted[BLOCKS + 1] = {0};
    int64_t count = 0, depth, tiles = 1 + bytes_below(in, 7), tile = bytes_below(in, tiles);
    for (int32_t b = 1; b <= s->blocks; b++)
        if (bytes_below(in, 4)) present[count++] = b, wanted[b] = 1;
    for (int64_t part = 0; part < s->parts; part++) {
        int64_t length =
            ts_schedule_word(s, part, tile, tiles, present, count, word, &depth, scratch);
        FUZZ_CHECK(length >= 0 && length <= (count ? 2 * count - 1 : 0));
        FUZZ_CHECK(depth <= 1 + log2_floor(count ? count : 1));
        check_word(word, length, depth, s->blocks, seen);
    }
    FUZZ_CHECK(memcmp(seen, wanted, sizeof seen) == 0);
    int parts[BLOCKS + 1] = {0};
    int64_t length = ts_schedule_parts_word(s, word, &depth);
    check_word(word, length, depth, s->parts, parts);
}

/* Its blocks hold every key of first .. last once. */
static void check_blocks(const ts_schedule *s) {
    static uint8_t seen[1 << 10];
    int64_t keys = s->last - s->first + 1, held = 0;
    if (keys > (int64_t)sizeof seen) return;
    memset(seen, 0, sizeof seen);
    for (int64_t b = 1; b <= s->blocks; b++) {
        ts_range one;
        int64_t count;
        const ts_range *ranges = ts_schedule_block(s, b, &one, &count);
        for (int64_t n = 0; n < count; n++)
            for (int64_t key = ranges[n].first; key <= ranges[n].last; key++) {
                FUZZ_CHECK(key >= s->first && key <= s->last && !seen[key - s->first]);
                seen[key - s->first] = 1;
                held++;
            }
    }
    FUZZ_CHECK(held == (keys > 0 ? keys : 0));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static arrays a;
    bytes in = {data, size};
    ts_schedule s = read_schedule(&in, &a);
    ts_detail detail = {0};
    FUZZ_CHECK(ts_schedule_scratch(&s) <= sizeof scratch);
    if (ts_schedule_check(&s, scratch, &detail) != TS_OK) return 0;
    if (s.merge == TS_MERGE_WORD && bytes_below(&in, 2))
        ts_schedule_deepen(a.word, s.blocks, scratch);
    check_blocks(&s);
    check_words(&in, &s);
    return 0;
}
