/* bracketing.c -- trees of merges: read from words, made of halves, written as words. */
#include "bracketing.h"

size_t ts_bracketing_size(int64_t leaves) {
    return (size_t)(leaves + 1) * (2 * sizeof(ts_bracket) + sizeof(int32_t));
}

ts_bracketing ts_bracketing_make(void *memory, int64_t leaves) {
    ts_bracket *nodes = memory;
    return (ts_bracketing){.nodes = nodes, .stack = (int32_t *)(nodes + 2 * (leaves + 1))};
}

static int32_t leaf(ts_bracketing *b, int32_t position) {
    b->nodes[b->count] = (ts_bracket){-1, -1, position, 1};
    return b->count++;
}

static int32_t merge(ts_bracketing *b, int32_t left, int32_t right) {
    const int32_t x = b->nodes[left].need, y = b->nodes[right].need;
    const int32_t need = x == y ? x + 1 : x > y ? x : y;
    b->nodes[b->count] = (ts_bracket){left, right, 0, need};
    return b->count++;
}

int32_t ts_bracketing_read(ts_bracketing *b, const int32_t *word, int64_t length,
                           const int32_t *marks) {
    int32_t top = 0;
    for (int64_t e = 0; e < length; e++) {
        if (word[e] > 0) {
            b->stack[top++] = !marks || marks[word[e]] ? leaf(b, word[e]) : -1;
            continue;
        }
        int32_t right = b->stack[--top], left = b->stack[--top];
        b->stack[top++] = left < 0 ? right : right < 0 ? left : merge(b, left, right);
    }
    return b->stack[0];
}

static int64_t middle(int64_t low, int64_t high) { return low + (high - low) / 2; }

int32_t ts_bracketing_halves(ts_bracketing *b, int64_t low, int64_t high, const int32_t *present,
                             int64_t count) {
    if (count == 1) return leaf(b, present[0]);
    int64_t split = middle(low, high), left = 0, right = count;
    while (left < right) { /* the first present position behind the split */
        int64_t probe = (left + right) / 2;
        if (present[probe] <= split)
            left = probe + 1;
        else
            right = probe;
    }
    if (left == 0) return ts_bracketing_halves(b, split + 1, high, present, count);
    if (left == count) return ts_bracketing_halves(b, low, split, present, count);
    const int32_t a = ts_bracketing_halves(b, low, split, present, left);
    return merge(b, a, ts_bracketing_halves(b, split + 1, high, present + left, count - left));
}

/* It is written from its end, so that no stack of recursion is needed. */
int64_t ts_bracketing_write(ts_bracketing *b, int32_t root, int64_t leaves, int32_t *word,
                            int64_t *depth) {
    *depth = b->nodes[root].need;
    int64_t at = 2 * leaves - 1;
    int32_t top = 0;
    b->stack[top++] = root;
    while (top > 0) {
        const ts_bracket *n = &b->nodes[b->stack[--top]];
        word[--at] = n->left < 0 ? n->position : 0;
        if (n->left < 0) continue;
        bool left_first = b->nodes[n->left].need >= b->nodes[n->right].need;
        b->stack[top++] = left_first ? n->left : n->right;
        b->stack[top++] = left_first ? n->right : n->left;
    }
    return 2 * leaves - 1;
}

/* The left half is the larger and so needs no less stack. */
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

int64_t ts_bracketing_write_halves(int64_t count, int32_t *word, int64_t *depth) {
    return halves_word(1, count, word, depth);
}
