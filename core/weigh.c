/* weigh.c -- units of work in shares by their weight. */
#include "weigh.h"

#include "items.h"
#include "present.h"
#include "sort.h"

typedef struct {
    const ts_problem *problem;
    const ts_schedule *schedule;
    const ts_cut *cut;
    ts_weighed *order;
} job;

/* One thread's work space. */
typedef struct {
    ts_present present;
    void *mask_scratch;
} worker;

static void *place_worker(const void *asked, ts_arena *arena) {
    const job *job = asked;
    worker w = {0};
    ts_present_take(&w.present, job->schedule, arena);
    w.mask_scratch = ts_arena_take(arena, 1, ts_problem_mask_scratch(job->problem));
    return ts_arena_keep(arena, &w, sizeof w);
}

/* Weighs an item: each of its parts as if it had all the blocks. */
static void answer(const void *asked, int64_t item, void *work, ts_outcome *outcome) {
    const job *job = asked;
    worker *w = work;
    const ts_cut *cut = job->cut;
    const ts_cut_rows r = ts_cut_item(cut, item);
    (void)outcome;
    w->present.count = 0;
    if (r.i.first <= r.i.last)
        ts_present_find(&w->present, job->problem, job->schedule, r.i, r.head, cut->heads,
                        w->mask_scratch);
    for (int64_t unit = item; unit < cut->units; unit += cut->items)
        job->order[unit] = (ts_weighed){0, w->present.count, unit};
}

/* By share, then by weight. */
static int heavier_first(const void *a, const void *b) {
    const ts_weighed *x = a, *y = b;
    if (x->share != y->share) return x->share < y->share ? -1 : 1;
    if (x->weight != y->weight) return x->weight > y->weight ? -1 : 1;
    return x->unit < y->unit ? -1 : x->unit > y->unit;
}

/* Deals out what is sorted: units of one weight by stretches, and single ones by turns. */
static void deal(ts_weighed *order, int64_t count, int shares) {
    for (int64_t first = 0, end; first < count; first = end) {
        for (end = first; end < count && order[end].weight == order[first].weight;) end++;
        for (int64_t n = first; n < end; n++)
            order[n].share = (first + (n - first) * shares / (end - first)) % shares;
    }
}

ts_status ts_weigh_units(const ts_problem *problem, const ts_schedule *schedule, const ts_cut *cut,
                         int shares, const ts_run *run, ts_weighed *order, ts_detail *detail) {
    const job job = {problem, schedule, cut, order};
    const double block = 0x1p12; /* to look at one takes as long as so many multiply-adds */
    ts_outcome whole;
    const ts_items items = {.job = &job,
                            .count = cut->items,
                            .cost = block * (double)cut->items * (double)schedule->blocks,
                            .place = place_worker,
                            .answer = answer};
    const ts_status status = ts_items_run(&items, run, &whole, detail);
    if (status) return status;
    ts_sort(order, cut->units, sizeof *order, heavier_first);
    deal(order, cut->units, shares);
    ts_sort(order, cut->units, sizeof *order, heavier_first);
    return TS_OK;
}
