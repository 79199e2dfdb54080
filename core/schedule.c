/* schedule.c -- postfix words: from an order and a bracketing to the pushes and merges that run. */
#include "schedule.h"

#include "bracketing.h"

#include <string.h>

/* What the functions of this file work in; cut from the caller's scratch. */
typedef struct {
    ts_bracketing tree;
    int32_t *present; /* blocks: positions, ascending */
    int32_t *place;   /* blocks + 1: by block, or by position */
} work;

static work work_in(void *scratch, int64_t blocks) {
    work w = {.tree = ts_bracketing_make(scratch, blocks)};
    w.present = (int32_t *)((char *)scratch + ts_bracketing_size(blocks));
    w.place = w.present + blocks + 1;
    return w;
}

size_t ts_schedule_scratch(const ts_schedule *s) {
    const size_t lists = (size_t)(s->blocks + 1) * 2 * sizeof(int32_t);
    const size_t ranges = s->ranges ? (size_t)s->starts[s->blocks] * sizeof(ts_range) : 0;
    return ts_bracketing_size(s->blocks) + lists + ranges;
}

/* ---- orders ---- */

/* Where query tile `tile` starts in a diagonal order: the block as far down the blocks as the tile
 * is down the tiles; it goes on to the last block, and wraps round to the first. */
static int64_t diagonal_start(const ts_schedule *s, int64_t tile, int64_t tiles) {
    return tiles > 0 ? 1 + tile * s->blocks / tiles : 1;
}

static const int32_t *listed_row(const ts_schedule *s, int64_t tile) {
    int64_t row = tile < s->order_rows ? tile : s->order_rows - 1;
    return s->listed + row * s->blocks;
}

static int64_t block_at(const ts_schedule *s, int64_t tile, int64_t tiles, int64_t position) {
    switch (s->order) {
    case TS_ORDER_BACKWARD:
        return s->blocks + 1 - position;
    case TS_ORDER_DIAGONAL:
        return (diagonal_start(s, tile, tiles) + position - 2) % s->blocks + 1;
    case TS_ORDER_LISTED:
        return listed_row(s, tile)[position - 1];
    case TS_ORDER_FORWARD:
        break;
    }
    return position;
}

/* The inverse; of LISTED orders place_listed finds all positions at once. */
static int64_t position_of(const ts_schedule *s, int64_t tile, int64_t tiles, int64_t block) {
    switch (s->order) {
    case TS_ORDER_BACKWARD:
        return s->blocks + 1 - block;
    case TS_ORDER_DIAGONAL:
        return (block - diagonal_start(s, tile, tiles) + s->blocks) % s->blocks + 1;
    case TS_ORDER_LISTED:
    case TS_ORDER_FORWARD:
        break;
    }
    return block;
}

/* Positions of the present blocks in a listed order, ascending. */
static void place_listed(const ts_schedule *s, int64_t tile, const int32_t *present, int64_t count,
                         work *w) {
    const int32_t *row = listed_row(s, tile);
    memset(w->place, 0, (size_t)(s->blocks + 1) * sizeof *w->place);
    for (int64_t b = 0; b < count; b++) w->place[present[b]] = 1;
    int64_t found = 0;
    for (int32_t position = 1; position <= s->blocks; position++)
        if (w->place[row[position - 1]]) w->present[found++] = position;
}

/* Writes the positions of the present blocks to w->present, ascending. */
static void place_present(const ts_schedule *s, int64_t tile, int64_t tiles, const int32_t *present,
                          int64_t count, work *w) {
    if (s->order == TS_ORDER_LISTED) {
        place_listed(s, tile, present, count, w);
        return;
    }
    /* The other orders run through ascending blocks up or down, from some block on. */
    int64_t first = 0;
    if (s->order == TS_ORDER_BACKWARD) first = count - 1;
    if (s->order == TS_ORDER_DIAGONAL) {
        int64_t start = diagonal_start(s, tile, tiles);
        while (first < count && present[first] < start) first++;
    }
    int64_t step = s->order == TS_ORDER_BACKWARD ? count - 1 : 1; /* -1, round the circle */
    for (int64_t n = 0, at = first; n < count; n++, at += step)
        w->present[n] = (int32_t)position_of(s, tile, tiles, present[at % count]);
}

/* ---- words ---- */

static bool is_split(const ts_schedule *s) { return s->merge == TS_MERGE_SPLIT && s->parts > 1; }

/* The positions of part `part`: low < position <= high. */
static int64_t part_edge(const ts_schedule *s, int64_t part) { return part * s->blocks / s->parts; }

static int64_t online(const int32_t *present, int64_t count, int32_t *word) {
    int64_t length = 0;
    for (int64_t p = 0; p < count; p++) {
        word[length++] = present[p];
        if (p > 0) word[length++] = 0;
    }
    return length;
}

/* 1 (2 (3 4)) as `3 4 * 2 * 1 *`. */
static int64_t right_fold(const int32_t *present, int64_t count, int32_t *word) {
    if (count == 1) return online(present, count, word);
    int64_t length = online(present + count - 2, 2, word);
    for (int64_t p = count - 3; p >= 0; p--) {
        word[length++] = present[p];
        word[length++] = 0;
    }
    return length;
}

/* The word given, without what is not present. */
static int64_t given_word(const ts_schedule *s, int64_t count, int32_t *word, int64_t *depth,
                          work *w) {
    memset(w->place, 0, (size_t)(s->blocks + 1) * sizeof *w->place);
    for (int64_t p = 0; p < count; p++) w->place[w->present[p]] = 1;
    int32_t root = ts_bracketing_read(&w->tree, s->word, 2 * s->blocks - 1, w->place);
    return ts_bracketing_write(&w->tree, root, count, word, depth);
}

static int64_t word_of_positions(const ts_schedule *s, int64_t part, int64_t count, int32_t *word,
                                 int64_t *depth, work *w) {
    const int32_t *present = w->present;
    if (is_split(s)) {
        int64_t low = part_edge(s, part), high = part_edge(s, part + 1);
        while (count > 0 && *present <= low) present++, count--;
        while (count > 0 && present[count - 1] > high) count--;
    }
    *depth = count < 2 ? count : 2;
    if (count == 0) return 0;
    switch (s->merge) {
    case TS_MERGE_RIGHT:
        return right_fold(present, count, word);
    case TS_MERGE_TREE: {
        int32_t root = ts_bracketing_halves(&w->tree, 1, s->blocks, present, count);
        return ts_bracketing_write(&w->tree, root, count, word, depth);
    }
    case TS_MERGE_WORD:
        return given_word(s, count, word, depth, w);
    case TS_MERGE_ONLINE:
    case TS_MERGE_SPLIT:
        break;
    }
    return online(present, count, word);
}

int64_t ts_schedule_word(const ts_schedule *s, int64_t part, int64_t tile, int64_t tiles,
                         const int32_t *present, int64_t count, int32_t *word, int64_t *depth,
                         void *scratch) {
    *depth = 0;
    if (count == 0) return 0;
    work w = work_in(scratch, s->blocks);
    place_present(s, tile, tiles, present, count, &w);
    int64_t length = word_of_positions(s, part, count, word, depth, &w);
    for (int64_t e = 0; e < length; e++)
        if (word[e] > 0) word[e] = (int32_t)block_at(s, tile, tiles, word[e]);
    return length;
}

int64_t ts_schedule_parts_word(const ts_schedule *s, int32_t *word, int64_t *depth) {
    return ts_bracketing_write_halves(is_split(s) ? s->parts : 1, word, depth);
}

void ts_schedule_deepen(int32_t *word, int64_t blocks, void *scratch) {
    if (blocks == 0) return;
    ts_bracketing tree = ts_bracketing_make(scratch, blocks);
    int64_t depth;
    ts_bracketing_write(&tree, ts_bracketing_read(&tree, word, 2 * blocks - 1, NULL), blocks, word,
                        &depth);
}

/* ---- blocks ---- */

const ts_range *ts_schedule_block(const ts_schedule *s, int64_t block, ts_range *one,
                                  int64_t *count) {
    if (s->ranges) {
        *count = s->starts[block] - s->starts[block - 1];
        return s->ranges + s->starts[block - 1];
    }
    *count = 1;
    one->first = s->first + (block - 1) * s->k;
    one->last = block == s->blocks ? s->last : one->first + s->k - 1;
    return one;
}
