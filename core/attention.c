/* attention.c -- road 2: units of work shared out to threads, each a postfix word run on a stack of
 * summaries. */
#include "attention.h"

#include "items.h"
#include "machine.h"
#include "target.h"
#include "weigh.h"

typedef struct {
    const ts_problem *problem;
    const ts_loops *loops;
    ts_tiling tiling;
    ts_target target;
    ts_cut cut;
    ts_waiting waiting;
    int shares; /* that units with masks are dealt into, one a thread: decided once, as a later look
                   at the team may give another number */
    ts_weighed *order; /* of the units; NULL: as they come */
} job;

/* ---- a unit of work ---- */

/* One part of an item: it waits, and the last one to come merges them all. */
static bool run_apart(const job *job, ts_machine *m, int64_t unit) {
    const int64_t item = unit % job->cut.items, part = unit / job->cut.items;
    if (!ts_machine_run_part(m, part)) return false;
    const ts_rows rows = ts_waiting_rows(&job->waiting, job->loops, part, item);
    ts_machine_copy(m, ts_machine_pop(m), &rows);
    if (!ts_waiting_complete(&job->waiting, item)) return false;
    return ts_machine_run_parts(m, &job->waiting, item);
}

static void run_unit(const void *asked, int64_t item, void *work, ts_outcome *outcome) {
    const job *job = asked;
    ts_machine *m = work;
    const int64_t unit = job->order ? job->order[item].unit : item;
    const ts_cut_rows rows = ts_cut_item(&job->cut, unit % job->cut.items);
    if (rows.i.last < rows.i.first) return;
    ts_machine_begin(m, &job->cut, &rows, outcome);
    bool done;
    if (job->cut.parts > 1)
        done = run_apart(job, m, unit);
    else if (job->tiling.schedule.merge == TS_MERGE_SPLIT)
        done = ts_machine_run_parts(m, NULL, unit);
    else
        done = ts_machine_run_part(m, 0);
    if (done) ts_target_put(&job->target, &m->tile, ts_machine_pop(m), outcome);
    if (m->status) ts_items_fail(outcome, m->status, item, (ts_detail){0});
}

/* ---- the search for what is not finite ---- */

/* Pieces of `queries` rows of one head, in the order of heads and rows. */
static void find(const void *asked, int64_t item, void *work, ts_outcome *outcome) {
    const job *job = asked;
    const ts_problem *p = job->problem;
    ts_machine *m = work;
    ts_detail detail = {0};
    const int64_t pieces = ts_quotient_up(p->n_q, job->cut.queries);
    const int64_t first = item % pieces * job->cut.queries + 1;
    const ts_range i = {first, ts_least(first + job->cut.queries - 1, p->n_q)};
    const ts_range keys = {p->first_key, p->first_key + p->n_k - 1};
    m->outcome = outcome;
    ts_tile_begin(&m->tile, i, item / pieces, 1);
    const ts_status status = ts_tile_find(&m->tile, keys, &detail);
    if (status) ts_items_fail(outcome, status, item, detail);
}

/* Which score or value it was must not depend on which thread met one first: this looks for the
 * first one. */
static ts_status find_nonfinite(const job *job, ts_items items, const ts_run *run,
                                ts_detail *detail) {
    ts_outcome whole;
    items.count = job->problem->heads * ts_quotient_up(job->problem->n_q, job->cut.queries);
    items.answer = find;
    const ts_status status = ts_items_run(&items, run, &whole, detail);
    return status ? status : TS_NONFINITE_SCORE; /* a called score that answered otherwise */
}

/* ---- the whole ---- */

static void *place_machine(const void *asked, ts_arena *arena) {
    const job *job = asked;
    return ts_machine_place(job->problem, &job->tiling, &job->cut, arena);
}

/* Cuts the work into units. TS_TOO_LARGE. */
static ts_status plan(job *job, const ts_run *run, ts_items *items) {
    const ts_problem *p = job->problem;
    job->cut = ts_cut_make(p, &job->tiling, run->threads);
    *items = (ts_items){.job = job,
                        .count = job->cut.units,
                        .cost = (double)p->n_q * (double)p->n_k * (double)p->heads *
                                (double)(p->d + p->d_v),
                        .alone = ts_problem_calls(p, 0, p->heads),
                        .place = place_machine,
                        .answer = run_unit};
    if (items->count == 0) return TS_OK;
    if (job->tiling.schedule.blocks > INT32_MAX / 2) return TS_TOO_LARGE; /* words are of int32_t */
    if (p->mask) job->shares = ts_items_team(items, run);
    items->shares = job->cut.parts > 1 || job->shares > 1;
    return TS_OK;
}

/* What the threads share. */
static void take_shared(job *job, ts_arena *arena) {
    const int64_t stride = ts_round_up(job->problem->d_v, job->loops->lanes);
    ts_waiting_take(&job->waiting, &job->cut, job->loops, stride, arena);
    if (job->shares > 1) job->order = ts_arena_take(arena, job->cut.units, sizeof *job->order);
}

/* The bytes of that; 0 where there is none. */
static ts_status shared_memory(job *job, size_t *bytes) {
    ts_arena arena = {NULL, 0};
    take_shared(job, &arena);
    *bytes = arena.used > 0 ? arena.used + 63 : 0;
    return ts_arena_too_large(&arena) ? TS_TOO_LARGE : TS_OK;
}

static ts_status run_items(job *job, const ts_items *items, const ts_run *run, ts_outcome *whole,
                           ts_detail *detail) {
    ts_waiting_begin(&job->waiting);
    if (job->order) {
        const ts_status status = ts_weigh_units(job->problem, &job->tiling.schedule, &job->cut,
                                                job->shares, run, job->order, detail);
        if (status) return status;
    }
    const ts_status status = ts_items_run(items, run, whole, detail);
    if (status != TS_NONFINITE_SCORE && status != TS_NONFINITE_VALUE) return status;
    return find_nonfinite(job, *items, run, detail);
}

static ts_status run_job(job *job, const ts_run *run, ts_outcome *whole, ts_detail *detail) {
    const ts_allocator *allocator = &run->allocator;
    ts_items items;
    size_t bytes;
    ts_status status = plan(job, run, &items);
    if (status || items.count == 0) return status;
    status = shared_memory(job, &bytes);
    if (status) return status;
    char *memory = bytes > 0 ? allocator->resize(allocator->data, NULL, 0, bytes) : NULL;
    if (bytes > 0 && !memory) {
        detail->bytes = bytes;
        return TS_NO_MEMORY;
    }
    ts_arena arena = {memory + (-(uintptr_t)memory & 63), 0};
    take_shared(job, &arena);
    status = run_items(job, &items, run, whole, detail);
    if (memory) allocator->resize(allocator->data, memory, bytes, 0);
    return status;
}

static job job_of(const ts_problem *problem, const ts_tiling *tiling) {
    job job = {
        .problem = problem, .loops = ts_kernel_get()->loops[problem->dtype], .tiling = *tiling};
    ts_tiling_defaults(problem, &job.tiling);
    return job;
}

ts_status ts_attention(const ts_problem *problem, const ts_tiling *tiling, bool zero_empty,
                       const ts_run *run, ts_matrix *o, ts_matrix *lse, ts_detail *detail) {
    job job = job_of(problem, tiling);
    ts_outcome whole = {.status = TS_OK};
    job.target = (ts_target){.o = o, .lse = lse};
    const ts_status status = run_job(&job, run, &whole, detail);
    if (status || whole.empty_rows == 0 || zero_empty) return status;
    detail->row = whole.first_empty % problem->n_q + 1;
    detail->head = whole.first_empty / problem->n_q + 1;
    detail->count = whole.empty_rows;
    return TS_EMPTY_ROW;
}

ts_status ts_attention_memory(const ts_problem *problem, const ts_tiling *tiling, const ts_run *run,
                              size_t *bytes) {
    job job = job_of(problem, tiling);
    ts_items items;
    size_t shared = 0;
    *bytes = 0;
    ts_status status = plan(&job, run, &items);
    if (!status && items.count > 0) status = shared_memory(&job, &shared);
    if (!status) status = ts_items_memory(&items, run, bytes);
    if (!status && __builtin_add_overflow(*bytes, shared, bytes)) status = TS_TOO_LARGE;
    return status;
}

ts_status ts_attention_summary(const ts_problem *problem, const ts_range *ranges, int64_t count,
                               const ts_run *run, ts_summary *out, ts_detail *detail) {
    const int64_t starts[2] = {0, count};
    ts_outcome whole;
    if (count == 0) {
        ts_summary_bottom(out);
        return TS_OK;
    }
    const ts_tiling one = {
        .schedule = {.blocks = 1, .ranges = ranges, .starts = starts, .parts = 1}};
    job job = job_of(problem, &one);
    job.target = (ts_target){.summary = out};
    return run_job(&job, run, &whole, detail);
}
