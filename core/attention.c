/* attention.c -- road 2: for each query tile and key head, a postfix word run on a stack of
 * summaries. */
#include "attention.h"

#include "block.h"
#include "sizes.h"
#include "sort.h"
#include "threads.h"

#include <omp.h>
#include <pthread.h>
#include <string.h>

/* Where finished rows go: o and lse, or a summary. */
typedef struct {
    ts_matrix *o, *lse;
    ts_summary *summary;
} target;

typedef struct {
    int64_t weight, unit; /* weight: blocks that its mask leaves */
} weighed_unit;

/* Units next .. end - 1, side by side in memory, which a thread takes before it helps others. */
typedef struct {
    int64_t next, end;
} share;

/* One call. A unit of work is an item - the rows of one key head in a piece of a query tile, or of
 * all key heads, where reading those is all the work - or, where there are few items, one part of
 * the split of its keys. Units count by parts first: the heads of a part lie side by side in the
 * same pages of memory. */
typedef struct {
    const ts_problem *problem;
    const ts_loops *loops;
    ts_tiling tiling;
    target target;
    const ts_run *run;
    int64_t heads;               /* of an item: those of a key head, or all */
    int64_t queries, pieces;     /* of a piece; pieces of a tile */
    int64_t tiles, items, parts; /* parts that run apart; 1: an item is one unit */
    int64_t units, depth;        /* depth: summaries on a stack */
    int64_t largest;             /* keys of the largest block */
    ts_rows partial;             /* parts that wait for the others of their item */
    weighed_unit *order;         /* the heaviest first; NULL: as they come */
    int32_t *left;               /* of each item: parts still to come */
    share *shares;               /* one a thread; or a single one, from which all take */
    int64_t share_count;
    pthread_t caller; /* the thread that called, whichever it is of a host's own team */
    /* shared by the threads: */
    int64_t next, weighed;
    int stop;                   /* the reason, a ts_status */
    int64_t empty, first_empty; /* rows without keys; the first one's head * n_q + row */
} engine;

/* One thread's work space. */
typedef struct {
    ts_tile tile;
    int32_t *present, *word, *parts_word; /* blocks, from 1 */
    uint8_t *cover;                       /* of each block */
    void *schedule_scratch;
    ts_rows *stack;
    int64_t height;
    ts_status status;
} worker;

/* Work is cut finer where there would be too few items to keep all threads at work. */
enum { FEWEST_ROWS = 64, FEW_ITEMS = 64 };

/* ---- the items ---- */

typedef struct {
    int64_t head, tile;
    ts_range i; /* queries, from 1; empty: the tile has fewer pieces */
} item_rows;

static item_rows item_at(const engine *e, int64_t item) {
    item_rows r;
    r.head = item / (e->tiles * e->pieces) * e->heads;
    item %= e->tiles * e->pieces;
    r.tile = item / e->pieces;
    r.i.first = r.tile * e->tiling.q + item % e->pieces * e->queries + 1;
    r.i.last =
        ts_least(r.i.first + e->queries - 1, ts_least((r.tile + 1) * e->tiling.q, e->problem->n_q));
    return r;
}

/* Writes the blocks that the rows' masks leave to present, ascending from 1, and their covers. */
static int64_t find_present(const engine *e, worker *w, const item_rows *r) {
    const ts_problem *p = e->problem;
    const ts_schedule *s = &e->tiling.schedule;
    const ts_mask *one = p->mask ? p->mask[r->head] : NULL;
    bool several = false; /* masks, in this group: every block is looked into, chunk by chunk */
    for (int64_t g = 0; p->mask && g < e->heads; g++)
        several |= p->mask[r->head + g] != one || (g > 0 && one && one->heads > 0);
    int64_t count = s->blocks;
    if (one && !several && !s->ranges) {
        count = ts_mask_visit(one, r->head + 1, r->i, s->first, s->last, s->k, s->blocks,
                              w->present, w->cover, w->tile.mask_scratch);
        for (int64_t n = count; n-- > 0;) { /* from a list of covers to one by block */
            w->cover[w->present[n]] = w->cover[n];
            w->present[n]++;
        }
        return count;
    }
    for (int64_t b = 0; b < count; b++) {
        w->present[b] = (int32_t)(b + 1);
        w->cover[b] = several || one ? TS_PARTIAL : TS_FULL;
    }
    return count;
}

/* ---- the machine: a stack of summaries ---- */

/* Between blocks the calling thread asks whether to stop; all threads heed the answer. */
static bool stopped(void *asked) {
    engine *e = asked;
    if (e->run->poll && pthread_equal(pthread_self(), e->caller)) {
        double done = (double)__atomic_load_n(&e->next, __ATOMIC_RELAXED) / (double)e->units;
        if (e->run->poll(e->run->poll_data, done < 1 ? done : 1))
            __atomic_store_n(&e->stop, TS_INTERRUPTED, __ATOMIC_RELAXED);
    }
    return __atomic_load_n(&e->stop, __ATOMIC_RELAXED) != TS_OK;
}

/* Σ of a block, onto the stack or, where ⋆ follows at once, into its top. */
static void push_block(engine *e, worker *w, int64_t block, bool merge) {
    ts_range one;
    int64_t count;
    const ts_range *ranges = ts_schedule_block(&e->tiling.schedule, block, &one, &count);
    const ts_rows *out = &w->stack[merge ? w->height - 1 : w->height++];
    w->status = ts_tile_summary(&w->tile, ranges, count, w->cover[block - 1], merge, out);
}

static void push_bottom(engine *e, worker *w) {
    ts_rows_bottom(e->loops, &w->stack[w->height++], w->tile.rows);
}

static void push_copy(engine *e, worker *w, const ts_rows *rows) {
    const size_t size = ts_dtype_size(e->loops->dtype);
    const int64_t count = w->tile.rows;
    ts_rows *to = &w->stack[w->height++];
    memcpy(to->max, rows->max, (size_t)count * size);
    memcpy(to->norm, rows->norm, (size_t)count * size);
    if (to->stride > 0) memcpy(to->value, rows->value, (size_t)(count * to->stride) * size);
}

static void merge_top_two(engine *e, worker *w) {
    const ts_rows *top = &w->stack[--w->height], *under = top - 1;
    e->loops->merge(w->tile.rows, w->tile.value_stride, w->tile.unit, under, top, under);
}

/* Leaves Σ of part `part`'s blocks on the stack. */
static bool run_part(engine *e, worker *w, int64_t part, int64_t tile, int64_t present) {
    int64_t depth;
    int64_t length = ts_schedule_word(&e->tiling.schedule, part, tile, e->tiles, w->present,
                                      present, w->word, &depth, w->schedule_scratch);
    if (length == 0) push_bottom(e, w);
    for (const int32_t *word = w->word, *end = word + length; word < end; word++) {
        if (*word == 0) {
            merge_top_two(e, w);
        } else {
            if (stopped(e)) return false;
            const bool merge = word + 1 < end && word[1] == 0 && e->largest <= TS_CHUNK;
            push_block(e, w, *word, merge);
            if (w->status) return false;
            word += merge;
        }
    }
    return true;
}

/* ---- the end of an item ---- */

static void note_empty(engine *e, int64_t place) {
    __atomic_fetch_add(&e->empty, 1, __ATOMIC_RELAXED);
    int64_t first = __atomic_load_n(&e->first_empty, __ATOMIC_RELAXED);
    while (place < first && !__atomic_compare_exchange_n(&e->first_empty, &first, place, true,
                                                         __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
}

static void finish_row(engine *e, int64_t q, int64_t head, const ts_rows *row) {
    const ts_problem *p = e->problem;
    ts_matrix *o = e->target.o, *lse = e->target.lse;
    void *out = ts_at(e->loops, o->data, q * o->row_stride + head * p->d_v * o->col_stride);
    double x;
    if (!ts_rows_finish(e->loops, p->base, p->sink ? p->sink + head : NULL, row, p->d_v, out,
                        o->col_stride, lse ? &x : NULL)) {
        for (int64_t c = 0; c < p->d_v; c++) ts_matrix_set(o, q, head * p->d_v + c, 0);
        note_empty(e, head * p->n_q + q);
    }
    if (lse) ts_matrix_set(lse, q, head, x);
}

static void keep_row(engine *e, int64_t q, int64_t head, const ts_rows *row) {
    const ts_summary *s = e->target.summary;
    const size_t size = ts_dtype_size(e->loops->dtype);
    const int64_t r = q * s->heads + head;
    memcpy(ts_at(e->loops, s->max, r), row->max, size);
    memcpy(ts_at(e->loops, s->norm, r), row->norm, size);
    if (s->d_v > 0)
        memcpy(ts_at(e->loops, s->value, r * s->d_v), row->value, (size_t)s->d_v * size);
}

/* What is on the stack is the item's summary. */
static void finish_item(engine *e, worker *w) {
    const ts_rows *rows = &w->stack[--w->height];
    for (int64_t r = 0; r < w->tile.rows; r++) {
        const ts_rows row = ts_rows_from(e->loops, rows, r);
        const int64_t q = w->tile.i.first - 1 + r % w->tile.queries;
        const int64_t head = w->tile.head + r / w->tile.queries;
        if (e->target.summary)
            keep_row(e, q, head, &row);
        else
            finish_row(e, q, head, &row);
    }
}

static ts_rows partial_rows(const engine *e, int64_t unit) {
    return ts_rows_from(e->loops, &e->partial, unit * e->queries * e->heads);
}

/* All parts of an item, by the tree that merges them; each is run here, or waits in `partial`. */
static bool run_parts(engine *e, worker *w, int64_t item, int64_t tile, int64_t present) {
    int64_t depth, length = ts_schedule_parts_word(&e->tiling.schedule, w->parts_word, &depth);
    for (const int32_t *word = w->parts_word, *end = word + length; word < end; word++) {
        if (*word == 0) {
            merge_top_two(e, w);
        } else if (e->parts > 1) {
            const ts_rows rows = partial_rows(e, (*word - 1) * e->items + item);
            push_copy(e, w, &rows);
        } else if (!run_part(e, w, *word - 1, tile, present)) {
            return false;
        }
    }
    return true;
}

/* ---- a unit of work ---- */

/* One part of an item: it waits in `partial`, and the last one to come merges them all. */
static bool run_apart(engine *e, worker *w, int64_t unit, int64_t tile, int64_t present) {
    const int64_t item = unit % e->items;
    if (!run_part(e, w, unit / e->items, tile, present)) return false;
    const ts_rows *top = &w->stack[--w->height], rows = partial_rows(e, unit);
    const size_t size = ts_dtype_size(e->loops->dtype);
    memcpy(rows.max, top->max, (size_t)w->tile.rows * size);
    memcpy(rows.norm, top->norm, (size_t)w->tile.rows * size);
    if (rows.stride > 0)
        memcpy(rows.value, top->value, (size_t)(w->tile.rows * rows.stride) * size);
    if (__atomic_sub_fetch(&e->left[item], 1, __ATOMIC_ACQ_REL) > 0) return false;
    return run_parts(e, w, item, tile, present);
}

static void run_unit(engine *e, worker *w, int64_t unit) {
    const item_rows r = item_at(e, unit % e->items);
    if (r.i.last < r.i.first) return;
    w->height = 0;
    ts_tile_begin(&w->tile, r.i, r.head, e->heads);
    const int64_t present = find_present(e, w, &r);
    bool done;
    if (e->parts > 1)
        done = run_apart(e, w, unit, r.tile, present);
    else if (e->tiling.schedule.merge == TS_MERGE_SPLIT)
        done = run_parts(e, w, unit, r.tile, present);
    else
        done = run_part(e, w, 0, r.tile, present);
    if (done) finish_item(e, w);
    int none = TS_OK; /* the first reason stays: to stop for it is none of its own */
    if (w->status)
        __atomic_compare_exchange_n(&e->stop, &none, w->status, false, __ATOMIC_RELAXED,
                                    __ATOMIC_RELAXED);
}

/* The next unit of the member's own share, then of what others have left; -1: none. With shares a
 * thread reads what it read in the last call, too: what another processor read last comes more
 * slowly, long after it has left that one's caches. */
static int64_t take_unit(engine *e, int member) {
    for (int64_t n = 0; n < e->share_count; n++) {
        share *from = &e->shares[(member + n) % e->share_count];
        const int64_t unit = __atomic_fetch_add(&from->next, 1, __ATOMIC_RELAXED);
        if (unit >= from->end) continue;
        __atomic_fetch_add(&e->next, 1, __ATOMIC_RELAXED);
        return unit;
    }
    return -1;
}

static void run_units(engine *e, worker *w, int member) {
    int64_t n;
    while (!stopped(e) && (n = take_unit(e, member)) >= 0)
        run_unit(e, w, e->order ? e->order[n].unit : n);
}

/* ---- heaviest first ---- */

static void weigh_units(engine *e, worker *w) {
    int64_t n;
    while ((n = __atomic_fetch_add(&e->weighed, 1, __ATOMIC_RELAXED)) < e->items) {
        const item_rows r = item_at(e, n);
        const int64_t present = r.i.first <= r.i.last ? find_present(e, w, &r) : 0;
        for (int64_t unit = n; unit < e->units; unit += e->items)
            e->order[unit] = (weighed_unit){present, unit};
    }
}

static int heavier_first(const void *a, const void *b) {
    const weighed_unit *x = a, *y = b;
    if (x->weight != y->weight) return x->weight > y->weight ? -1 : 1;
    return x->unit < y->unit ? -1 : x->unit > y->unit;
}

/* ---- the whole ---- */

static bool score_is_called(const ts_problem *p) {
    for (int64_t h = 0; p->score && h < p->heads; h++)
        if (p->score[h] && !p->score[h]->program) return true;
    return false;
}

/* Threads worth their start: one for each 2^20 multiply-adds. Called scores are called here. */
static int team_of(const engine *e) {
    const ts_problem *p = e->problem;
    if (score_is_called(p)) return 1;
    const double work =
        (double)p->n_q * (double)p->n_k * (double)p->heads * (double)(p->d + p->d_v);
    return ts_threads_team(e->run->threads,
                           ts_least(e->units, work < 0x1p50 ? (int64_t)(work / 0x1p20) : e->units));
}

static int64_t log2_up(int64_t n) { return n > 1 ? 64 - __builtin_clzll((uint64_t)(n - 1)) : 0; }

static void worker_make(engine *e, worker *w, ts_arena *arena) {
    const ts_schedule *s = &e->tiling.schedule;
    const int degree = e->tiling.exp == TS_EXP_POLY ? e->tiling.degree : 0;
    ts_tile_make(&w->tile, e->problem, e->loops, degree, e->queries, e->heads, e->largest, arena);
    w->tile.stopped = stopped, w->tile.asked = e;
    w->status = TS_OK;
    w->present = ts_arena_take(arena, s->blocks, sizeof(int32_t));
    w->word = ts_arena_take(arena, 2 * s->blocks, sizeof(int32_t));
    w->parts_word = ts_arena_take(arena, 2 * s->parts, sizeof(int32_t));
    w->cover = ts_arena_take(arena, s->blocks, 1);
    w->schedule_scratch = ts_arena_take(arena, 1, ts_schedule_scratch(s));
    w->stack = ts_arena_take(arena, e->depth, sizeof(ts_rows));
    for (int64_t n = 0; n < e->depth; n++) {
        ts_rows rows = ts_rows_take(e->loops, e->queries * e->heads, w->tile.value_stride, arena);
        if (w->stack) w->stack[n] = rows;
    }
}

/* Everything the call needs, out of one arena; the workers come first. */
static worker *engine_make(engine *e, int team, ts_arena *arena) {
    worker spare, *workers = ts_arena_take(arena, team, sizeof(worker));
    for (int t = 0; t < team; t++) worker_make(e, workers ? &workers[t] : &spare, arena);
    if (e->parts > 1) {
        const int64_t stride = ts_round_up(e->problem->d_v, e->loops->lanes);
        e->partial = ts_rows_take(e->loops, e->units * e->queries * e->heads, stride, arena);
        e->left = ts_arena_take(arena, e->items, sizeof(int32_t));
    }
    e->share_count = e->parts > 1 && !e->problem->mask ? team : 1;
    e->shares = ts_arena_take(arena, e->share_count, sizeof(share));
    if (team > 1 && e->problem->mask)
        e->order = ts_arena_take(arena, e->units, sizeof(weighed_unit));
    return workers;
}

/* Splits the problem into units: tiles into pieces that fit the cache, items into parts where there
 * are too few of them. None of it changes a bit of the result. */
static void engine_cut(engine *e) {
    const ts_problem *p = e->problem;
    const ts_schedule *s = &e->tiling.schedule;
    const int64_t q = ts_least(e->tiling.q, p->n_q);
    const int64_t threads = e->run->threads > 0 ? e->run->threads : ts_threads_default();
    const int64_t enough = threads > 1 ? 4 * threads : 1; /* items, to keep them all at work */
    e->heads = p->heads / p->kv_heads;
    e->tiles = ts_quotient_up(p->n_q, e->tiling.q);
    for (int64_t rows = TS_TILING_ROWS; rows >= FEWEST_ROWS; rows /= 2) {
        e->queries = ts_least(q, ts_most(1, rows / e->heads));
        e->pieces = ts_quotient_up(q, ts_most(1, e->queries));
        e->items = p->kv_heads * e->tiles * e->pieces;
        if (e->items >= enough) break;
    }
    const int64_t together = e->queries * e->heads < TS_PASSING_ROWS ? p->kv_heads : 1;
    e->parts = s->merge == TS_MERGE_SPLIT && e->items / together < FEW_ITEMS ? s->parts : 1;
    if (e->items / together * e->parts >= enough) e->items /= together, e->heads *= together;
    e->units = e->items * e->parts;
    e->depth = 3 + log2_up(s->blocks) + (s->merge == TS_MERGE_SPLIT ? log2_up(s->parts) : 0);
    e->largest = s->ranges ? 0 : ts_least(s->k, p->n_k);
    for (int64_t b = 0; s->ranges && b < s->blocks; b++) {
        int64_t keys = 0;
        for (int64_t n = s->starts[b]; n < s->starts[b + 1]; n++)
            keys += s->ranges[n].last - s->ranges[n].first + 1;
        e->largest = ts_most(e->largest, keys);
    }
}

static void run_team(engine *e, worker *workers, int team) {
    for (int64_t n = 0; n < e->items && e->parts > 1; n++) e->left[n] = (int32_t)e->parts;
    for (int64_t n = 0; n < e->share_count; n++)
        e->shares[n] = (share){e->units * n / e->share_count, e->units * (n + 1) / e->share_count};
    if (team == 1) {
        run_units(e, workers, 0);
        return;
    }
#pragma omp parallel num_threads(team)
    {
        const int member = omp_get_thread_num();
        worker *w = &workers[member];
        if (e->order) {
            weigh_units(e, w);
#pragma omp barrier
#pragma omp master
            ts_sort(e->order, e->units, sizeof *e->order, heavier_first);
#pragma omp barrier
        }
        run_units(e, w, member);
    }
}

/* Which score or value it was must not depend on which thread met one first: this looks for it in
 * the order of heads, rows and keys. */
static ts_status find_nonfinite(engine *e, worker *w, ts_detail *detail) {
    const ts_problem *p = e->problem;
    const ts_range keys = {p->first_key, p->first_key + p->n_k - 1};
    for (int64_t head = 0; head < p->heads; head++)
        for (int64_t first = 1; first <= p->n_q; first += e->queries) {
            if (e->run->poll && e->run->poll(e->run->poll_data, 1)) return TS_INTERRUPTED;
            const ts_range i = {first, ts_least(first + e->queries - 1, p->n_q)};
            ts_tile_begin(&w->tile, i, head, 1);
            ts_status status = ts_tile_find(&w->tile, keys, detail);
            if (status) return status;
        }
    return TS_NONFINITE_SCORE; /* a called score that answers otherwise when asked again */
}

/* What a team needs, before there is any of it; 0 where there is nothing to do. */
static ts_status engine_size(engine *e, int *team, size_t *bytes) {
    *bytes = 0;
    engine_cut(e);
    if (e->items == 0) return TS_OK;
    if (e->tiling.schedule.blocks > INT32_MAX / 2) return TS_TOO_LARGE; /* words are of int32_t */
    *team = team_of(e);
    ts_arena arena = {NULL, 0};
    engine_make(e, *team, &arena);
    if (ts_arena_too_large(&arena)) return TS_TOO_LARGE;
    *bytes = arena.used + 63;
    return TS_OK;
}

static ts_status run_engine(engine *e, ts_detail *detail) {
    int team;
    size_t bytes;
    const ts_status fits = engine_size(e, &team, &bytes);
    if (fits || bytes == 0) return fits;
    char *memory = e->run->allocator.resize(e->run->allocator.data, NULL, 0, bytes);
    if (!memory) {
        detail->bytes = bytes;
        return TS_NO_MEMORY;
    }
    ts_arena arena = {memory + (-(uintptr_t)memory & 63), 0};
    worker *workers = engine_make(e, team, &arena);
    e->caller = pthread_self();
    run_team(e, workers, team);
    ts_status status = (ts_status)e->stop;
    if (status == TS_NONFINITE_SCORE || status == TS_NONFINITE_VALUE)
        status = find_nonfinite(e, workers, detail);
    e->run->allocator.resize(e->run->allocator.data, memory, bytes, 0);
    return status;
}

ts_status ts_attention(const ts_problem *problem, const ts_tiling *tiling, bool zero_empty,
                       const ts_run *run, ts_matrix *o, ts_matrix *lse, ts_detail *detail) {
    engine e = {.problem = problem,
                .loops = ts_kernel_get()->loops[problem->dtype],
                .tiling = *tiling,
                .target = {o, lse, NULL},
                .run = run,
                .first_empty = INT64_MAX};
    ts_tiling_defaults(problem, &e.tiling);
    ts_status status = run_engine(&e, detail);
    if (status || e.empty == 0 || zero_empty) return status;
    detail->row = e.first_empty % problem->n_q + 1;
    detail->head = e.first_empty / problem->n_q + 1;
    detail->count = e.empty;
    return TS_EMPTY_ROW;
}

ts_status ts_attention_memory(const ts_problem *problem, const ts_tiling *tiling, const ts_run *run,
                              size_t *bytes) {
    int team;
    engine e = {.problem = problem,
                .loops = ts_kernel_get()->loops[problem->dtype],
                .tiling = *tiling,
                .run = run};
    ts_tiling_defaults(problem, &e.tiling);
    return engine_size(&e, &team, bytes);
}

ts_status ts_attention_summary(const ts_problem *problem, const ts_range *ranges, int64_t count,
                               const ts_run *run, ts_summary *out, ts_detail *detail) {
    const int64_t starts[2] = {0, count};
    engine e = {.problem = problem,
                .loops = ts_kernel_get()->loops[problem->dtype],
                .target = {NULL, NULL, out},
                .run = run};
    e.tiling.schedule = (ts_schedule){.blocks = 1, .ranges = ranges, .starts = starts, .parts = 1};
    ts_tiling_defaults(problem, &e.tiling);
    if (count == 0) {
        ts_summary_bottom(out);
        return TS_OK;
    }
    return run_engine(&e, detail);
}
