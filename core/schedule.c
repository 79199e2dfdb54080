/* schedule.c -- postfix words: from an order and a bracketing to the pushes and merges that run. */
#include "schedule.h"

#include <string.h>

/* A bracketing in memory: leaves hold positions, nodes two earlier nodes. `need` is the stack that
 * running it takes: a leaf 1; a node the larger of its sides', or one more where they are equal
 * (Sethi & Ullman 1970), which is at most 1 + log2(leaves). */
typedef struct {
    int32_t left, right; /* -1 in a leaf */
    int32_t position;
    int32_t need;
} node;

/* What the functions of this file work in; cut from the caller's scratch. */
typedef struct {
    node *nodes;      /* 2 * blocks */
    int32_t count;    /* of nodes made */
    int32_t *stack;   /* blocks + 1 */
    int32_t *present; /* blocks: positions, ascending */
    int32_t *place;   /* blocks + 1: by block, or by position */
} work;

static size_t size_of_work(int64_t blocks) {
    return (size_t)(blocks + 1) * (2 * sizeof(node) + 3 * sizeof(int32_t));
}

static work work_in(void *scratch, int64_t blocks) {
    work w;
    w.nodes = scratch;
    w.count = 0;
    w.stack = (int32_t *)(w.nodes + 2 * (blocks + 1));
    w.present = w.stack + blocks + 1;
    w.place = w.present + blocks + 1;
    return w;
}

size_t ts_schedule_scratch(const ts_schedule *s) {
    size_t ranges = s->ranges ? (size_t)s->starts[s->blocks] * sizeof(ts_range) : 0;
    return size_of_work(s->blocks) + ranges;
}

/* ---- bracketings ---- */

static int32_t leaf(work *w, int32_t position) {
    w->nodes[w->count] = (node){-1, -1, position, 1};
    return w->count++;
}

static int32_t merge(work *w, int32_t left, int32_t right) {
    int32_t a = w->nodes[left].need, b = w->nodes[right].need;
    int32_t need = a == b ? a + 1 : a > b ? a : b;
    w->nodes[w->count] = (node){left, right, 0, need};
    return w->count++;
}

/* The postfix word of the tree at root, the side that needs more stack first; returns its length.
 * It is written from its end, so that no stack of recursion is needed. */
static int64_t emit(work *w, int32_t root, int64_t leaves, int32_t *word) {
    int64_t at = 2 * leaves - 1;
    int32_t top = 0;
    w->stack[top++] = root;
    while (top > 0) {
        const node *n = &w->nodes[w->stack[--top]];
        word[--at] = n->left < 0 ? n->position : 0;
        if (n->left < 0) continue;
        bool left_first = w->nodes[n->left].need >= w->nodes[n->right].need;
        w->stack[top++] = left_first ? n->left : n->right;
        w->stack[top++] = left_first ? n->right : n->left;
    }
    return 2 * leaves - 1;
}

static int64_t middle(int64_t low, int64_t high) { return low + (high - low) / 2; }

/* Halves of positions low..high, the left one the larger, of which `present` are not empty. */
static int32_t halves(work *w, int64_t low, int64_t high, const int32_t *present, int64_t count) {
    if (count == 1) return leaf(w, present[0]);
    int64_t split = middle(low, high), left = 0, right = count;
    while (left < right) { /* the first present position behind the split */
        int64_t probe = (left + right) / 2;
        if (present[probe] <= split)
            left = probe + 1;
        else
            right = probe;
    }
    if (left == 0) return halves(w, split + 1, high, present, count);
    if (left == count) return halves(w, low, split, present, count);
    int32_t a = halves(w, low, split, present, left);
    return merge(w, a, halves(w, split + 1, high, present + left, count - left));
}

/* The tree of a postfix word, without the positions whose mark is 0 (marks NULL: with all); -1
 * where nothing is left. */
static int32_t parse(work *w, const int32_t *word, int64_t length, const int32_t *marks) {
    int32_t top = 0;
    for (int64_t e = 0; e < length; e++) {
        if (word[e] > 0) {
            w->stack[top++] = !marks || marks[word[e]] ? leaf(w, word[e]) : -1;
            continue;
        }
        int32_t right = w->stack[--top], left = w->stack[--top];
        w->stack[top++] = left < 0 ? right : right < 0 ? left : merge(w, left, right);
    }
    return w->stack[0];
}

void ts_schedule_deepen(int32_t *word, int64_t blocks, void *scratch) {
    if (blocks == 0) return;
    work w = work_in(scratch, blocks);
    emit(&w, parse(&w, word, 2 * blocks - 1, NULL), blocks, word);
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
    int32_t root = parse(w, s->word, 2 * s->blocks - 1, w->place);
    *depth = w->nodes[root].need;
    return emit(w, root, count, word);
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
        int32_t root = halves(w, 1, s->blocks, present, count);
        *depth = w->nodes[root].need;
        return emit(w, root, count, word);
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

/* As halves and emit, without scratch: the left half is the larger and so needs no less stack. */
static int64_t halves_word(int64_t low, int64_t high, int32_t *word, int64_t *depth) {
    if (low == high) {
        word[0] = (int32_t)low;
        *depth = 1;
        return 1;
    }
    int64_t split = middle(low, high), left, right;
    int64_t length = halves_word(low, split, word, &left);
    length += halves_word(split + 1, high, word + length, &right);
    word[length++] = 0;
    *depth = left == right ? left + 1 : left;
    return length;
}

int64_t ts_schedule_parts_word(const ts_schedule *s, int32_t *word, int64_t *depth) {
    return halves_word(1, is_split(s) ? s->parts : 1, word, depth);
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

/* ---- checks ---- */

/* Every key of first..last in one block, and no other. */
static ts_status check_ranges(const ts_schedule *s, ts_range *scratch, ts_detail *detail) {
    ts_keyset keys = {0, scratch};
    ts_status status = ts_keyset_make(s->ranges, s->starts[s->blocks], &keys, detail);
    if (status) return status;
    int64_t next = s->first;
    for (int64_t r = 0; r < keys.count; r++) {
        ts_range range = keys.ranges[r];
        if (range.first < s->first || range.last > s->last) {
            detail->key = range.first < s->first  ? range.first
                          : range.first > s->last ? range.first
                                                  : s->last + 1;
            return TS_KEY_UNKNOWN;
        }
        if (range.first > next) break;
        next = range.last + 1;
    }
    if (next == s->last + 1) return TS_OK;
    detail->key = next;
    return TS_KEY_MISSING;
}

static ts_status check_blocks(const ts_schedule *s, void *scratch, ts_detail *detail) {
    if (s->first < 1 || s->last < s->first - 1) return TS_MALFORMED;
    if (s->last == INT64_MAX) return TS_TOO_LARGE; /* no number is left for the key behind it */
    int64_t keys = s->last - s->first + 1;
    if (s->blocks < 0 || s->blocks > INT32_MAX / 2) return TS_TOO_LARGE;
    if (s->ranges) return check_ranges(s, scratch, detail);
    bool right = keys == 0 ? s->blocks == 0 : s->k > 0 && s->blocks == (keys - 1) / s->k + 1;
    if (right) return TS_OK;
    detail->key = s->last;
    return s->k > 0 && keys / s->k < s->blocks ? TS_KEY_UNKNOWN : TS_KEY_MISSING;
}

/* Marks number n as used; TS_MALFORMED at entry `at` for what is none, TS_BLOCK_TWICE. */
static ts_status use(const ts_schedule *s, int32_t n, int64_t at, int32_t *used,
                     ts_detail *detail) {
    detail->key = at;
    if (n < 1 || n > s->blocks) return TS_MALFORMED;
    detail->key = n;
    return used[n]++ ? TS_BLOCK_TWICE : TS_OK;
}

static ts_status check_all_used(const ts_schedule *s, const int32_t *used, ts_detail *detail) {
    for (int64_t n = 1; n <= s->blocks; n++)
        if (!used[n]) {
            detail->key = n;
            return TS_BLOCK_MISSING;
        }
    return TS_OK;
}

static ts_status check_order(const ts_schedule *s, const int32_t *row, int32_t *used,
                             ts_detail *detail) {
    memset(used, 0, (size_t)(s->blocks + 1) * sizeof *used);
    for (int64_t p = 0; p < s->blocks; p++) {
        ts_status status = use(s, row[p], p + 1, used, detail);
        if (status) return status;
    }
    return TS_OK; /* as many numbers as blocks, none twice */
}

/* Every position pushed once; then a push adds a summary, ⋆ takes two and leaves one. */
static ts_status check_word(const ts_schedule *s, int32_t *used, ts_detail *detail) {
    int64_t length = 2 * s->blocks - 1, height = 0;
    ts_status status = TS_OK;
    memset(used, 0, (size_t)(s->blocks + 1) * sizeof *used);
    for (int64_t e = 0; !status && e < length; e++)
        if (s->word[e] != 0) status = use(s, s->word[e], e + 1, used, detail);
    if (!status) status = check_all_used(s, used, detail);
    for (int64_t e = 0; !status && e < length; e++) {
        height += s->word[e] != 0 ? 1 : -1;
        detail->key = e + 1;
        if (height < 1) status = TS_MALFORMED;
    }
    return status;
}

ts_status ts_schedule_check(const ts_schedule *s, void *scratch, ts_detail *detail) {
    ts_status status = check_blocks(s, scratch, detail);
    if (status || s->blocks == 0) return status;
    work w = work_in(scratch, s->blocks);
    for (int64_t row = 0; s->order == TS_ORDER_LISTED && row < s->order_rows; row++) {
        status = check_order(s, s->listed + row * s->blocks, w.place, detail);
        if (status) return status;
    }
    if (s->merge == TS_MERGE_SPLIT && s->parts < 1) return TS_MALFORMED;
    return s->merge == TS_MERGE_WORD ? check_word(s, w.place, detail) : TS_OK;
}
