/* machine.c -- one thread's stack of summaries, on which the postfix words of an item run. */
#include "machine.h"

#include "sizes.h"

#include <string.h>

/* ---- work space ---- */

static int64_t log2_up(int64_t n) { return n > 1 ? 64 - __builtin_clzll((uint64_t)(n - 1)) : 0; }

/* Keys of the largest block. */
static int64_t largest_block(const ts_schedule *s, int64_t n_k) {
    int64_t largest = s->ranges ? 0 : ts_least(s->k, n_k);
    for (int64_t b = 0; s->ranges && b < s->blocks; b++) {
        int64_t keys = 0;
        for (int64_t n = s->starts[b]; n < s->starts[b + 1]; n++)
            keys += s->ranges[n].last - s->ranges[n].first + 1;
        largest = ts_most(largest, keys);
    }
    return largest;
}

/* Between blocks, and between the chunks of one. */
static bool stopped(void *asked) {
    const ts_machine *m = asked;
    const int64_t blocks = ts_most(1, m->present.count);
    return ts_items_pause(m->outcome, (double)m->pushed / (double)blocks);
}

ts_machine *ts_machine_place(const ts_problem *problem, const ts_tiling *tiling, const ts_cut *cut,
                             ts_arena *arena) {
    const ts_schedule *s = &tiling->schedule;
    const ts_loops *loops = ts_kernel_get()->loops[problem->dtype];
    const int degree = tiling->exp == TS_EXP_POLY ? tiling->degree : 0;
    const int64_t depth =
        3 + log2_up(s->blocks) + (s->merge == TS_MERGE_SPLIT ? log2_up(s->parts) : 0);
    ts_machine m = {.schedule = s, .tiles = cut->tiles};
    m.largest = largest_block(s, problem->n_k);
    ts_tile_make(&m.tile, problem, loops, degree, cut->queries, cut->heads, m.largest, arena);
    ts_present_take(&m.present, s, arena);
    m.word = ts_arena_take(arena, 2 * s->blocks, sizeof(int32_t));
    m.parts_word = ts_arena_take(arena, 2 * s->parts, sizeof(int32_t));
    m.schedule_scratch = ts_arena_take(arena, 1, ts_schedule_scratch(s));
    m.stack = ts_arena_take(arena, depth, sizeof(ts_rows));
    for (int64_t n = 0; n < depth; n++) {
        ts_rows rows = ts_rows_take(loops, cut->queries * cut->heads, m.tile.value_stride, arena);
        if (m.stack) m.stack[n] = rows;
    }
    ts_machine *placed = ts_arena_keep(arena, &m, sizeof m);
    if (placed) placed->tile.stopped = stopped, placed->tile.asked = placed;
    return placed;
}

void ts_machine_begin(ts_machine *m, const ts_cut *cut, const ts_cut_rows *rows,
                      ts_outcome *outcome) {
    m->height = m->pushed = 0;
    m->at_tile = rows->tile;
    m->outcome = outcome;
    ts_tile_begin(&m->tile, rows->i, rows->head, cut->heads);
    ts_present_find(&m->present, m->tile.problem, m->schedule, rows->i, rows->head, cut->heads,
                    m->tile.mask_scratch);
}

/* ---- the stack ---- */

/* Σ of a block, onto the stack or, where ⋆ follows at once, into its top. */
static void push_block(ts_machine *m, int64_t block, bool merge) {
    ts_range one;
    int64_t count;
    const ts_range *ranges = ts_schedule_block(m->schedule, block, &one, &count);
    const ts_rows *out = &m->stack[merge ? m->height - 1 : m->height++];
    m->status = ts_tile_summary(&m->tile, ranges, count, m->present.cover[block], merge, out);
    m->pushed++;
}

static void merge_top_two(ts_machine *m) {
    const ts_rows *top = &m->stack[--m->height], *under = top - 1;
    m->tile.loops->merge(m->tile.rows, m->tile.value_stride, m->tile.unit, under, top, under);
}

const ts_rows *ts_machine_pop(ts_machine *m) { return &m->stack[--m->height]; }

void ts_machine_copy(const ts_machine *m, const ts_rows *from, const ts_rows *to) {
    const size_t size = ts_dtype_size(m->tile.loops->dtype);
    const int64_t count = m->tile.rows;
    memcpy(to->max, from->max, (size_t)count * size);
    memcpy(to->norm, from->norm, (size_t)count * size);
    if (to->stride > 0) memcpy(to->value, from->value, (size_t)(count * to->stride) * size);
}

/* ---- the words ---- */

bool ts_machine_run_part(ts_machine *m, int64_t part) {
    int64_t depth;
    const int64_t length =
        ts_schedule_word(m->schedule, part, m->at_tile, m->tiles, m->present.blocks,
                         m->present.count, m->word, &depth, m->schedule_scratch);
    if (length == 0) ts_rows_bottom(m->tile.loops, &m->stack[m->height++], m->tile.rows);
    for (const int32_t *word = m->word, *end = word + length; word < end; word++) {
        if (*word == 0) {
            merge_top_two(m);
        } else {
            if (stopped(m)) return false;
            const bool merge = word + 1 < end && word[1] == 0 && m->largest <= TS_CHUNK;
            push_block(m, *word, merge);
            if (m->status) return false;
            word += merge;
        }
    }
    return true;
}

bool ts_machine_run_parts(ts_machine *m, const ts_waiting *waiting, int64_t item) {
    int64_t depth, length = ts_schedule_parts_word(m->schedule, m->parts_word, &depth);
    for (const int32_t *word = m->parts_word, *end = word + length; word < end; word++) {
        if (*word == 0) {
            merge_top_two(m);
        } else if (waiting) {
            const ts_rows rows = ts_waiting_rows(waiting, m->tile.loops, *word - 1, item);
            ts_machine_copy(m, &rows, &m->stack[m->height++]);
        } else if (!ts_machine_run_part(m, *word - 1)) {
            return false;
        }
    }
    return true;
}
