/* bound_path.c -- what stands between a key and the root of the word. */
#include "block.h"
#include "bound_row.h"

/* The keys of block `block`, by number; *one is room for a range that no list holds. */
const ts_range *ts_bound_block_keys(const ts_bound_row_state *w, int64_t block, ts_range *one,
                                    int64_t *count) {
    if (w->schedule) return ts_schedule_block(w->schedule, block, one, count);
    *one = (ts_range){w->p->first_key, w->p->first_key + w->p->n_k - 1};
    *count = 1;
    return one;
}

/* Reads the scores of the row's keys that the schedule holds; lists the blocks that have any. */
int64_t ts_bound_read_blocks(ts_bound_row_state *w) {
    ts_matrix k = ts_problem_k(w->p, w->head);
    int64_t found = 0;
    for (int64_t b = 1; b <= w->blocks; b++) {
        ts_range one;
        int64_t count, before = w->allowed;
        const ts_range *ranges = ts_bound_block_keys(w, b, &one, &count);
        for (int64_t r = 0; r < count; r++)
            for (int64_t j = ranges[r].first; j <= ranges[r].last; j++)
                ts_bound_read_score(w, &k, j - w->p->first_key);
        if (w->allowed > before) w->present[found++] = (int32_t)b;
    }
    return found;
}

/* Read backwards, a word is a walk from the root: writes each block's number of merges. */
static void count_merges(ts_bound_row_state *w) {
    int64_t top = 0;
    w->depths[top++] = 0;
    for (int64_t e = w->word_length - 1; e >= 0; e--) {
        int32_t depth = w->depths[--top];
        if (w->word[e] > 0)
            w->merges[w->word[e]] = depth;
        else
            w->depths[top++] = depth + 1, w->depths[top++] = depth + 1;
    }
}

/* The row's word: of each part, and of the parts. Empty parts are left out. */
void ts_bound_write_word(ts_bound_row_state *w, int64_t found) {
    const ts_schedule *s = w->schedule;
    int64_t depth;
    if (!s) {
        w->word[0] = 1;
        w->word_length = found;
        count_merges(w);
        return;
    }
    int64_t length = ts_schedule_parts_word(s, w->part_word, &depth), top = 0;
    bool holds[TS_BOUND_STACK];
    w->word_length = 0;
    for (int64_t e = 0; e < length; e++) {
        if (w->part_word[e] > 0) {
            int64_t written =
                ts_schedule_word(s, w->part_word[e] - 1, w->tile, w->tiles, w->present, found,
                                 w->word + w->word_length, &depth, w->scratch);
            holds[top++] = written > 0;
            w->word_length += written;
        } else {
            bool right = holds[--top], left = holds[--top];
            holds[top++] = left || right;
            if (left && right) w->word[w->word_length++] = 0;
        }
    }
    count_merges(w);
}

/* Of a block: its merges on the path, those of its own chunks among them, and the longest chain of
 * roundings from one of its products to the root. */
double ts_bound_path(const ts_bound_row_state *w, int64_t block, double *chain) {
    ts_range one;
    int64_t count, keys = 0;
    const ts_range *ranges = ts_bound_block_keys(w, block, &one, &count);
    double merges = w->merges[block], sink = w->sink_p > 0;
    for (int64_t r = 0; r < count; r++) keys += ranges[r].last - ranges[r].first + 1;
    if (!w->schedule) {
        *chain = (double)w->allowed + sink;
        return 0;
    }
    merges += (double)((keys - 1) / TS_CHUNK) + sink;
    *chain = (double)(keys < TS_CHUNK ? keys : TS_CHUNK) + 2 * merges;
    return merges;
}
