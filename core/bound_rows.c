/* bound_rows.c -- the bounds of many rows, shared out to threads. */
#include "arena.h"
#include "bound.h"
#include "items.h"

typedef struct {
    const ts_problem *p;
    const ts_tiling *tiling;
    const int64_t *rows;
    int64_t count;
    ts_bounds *out;
} job;

static void put(ts_matrix *m, int64_t row, int64_t col, double x) {
    if (m) ts_matrix_set(m, row, col, x);
}

/* One thread's work space: the figures of one row, and what ts_bound_row works in. */
typedef struct {
    ts_bound figures;
    void *scratch;
} worker;

static void *place_worker(const void *asked, ts_arena *arena) {
    const job *job = asked;
    worker w = {0};
    w.figures.output = ts_arena_take(arena, job->p->d_v, sizeof(double));
    w.figures.expected = ts_arena_take(arena, job->p->d_v, sizeof(double));
    w.scratch = ts_arena_take(arena, 1, ts_bound_scratch(job->p, job->tiling));
    return ts_arena_keep(arena, &w, sizeof w);
}

static void answer(const void *asked, int64_t item, void *work, ts_outcome *outcome) {
    const job *job = asked;
    const ts_problem *p = job->p;
    worker *w = work;
    ts_bound *b = &w->figures;
    int64_t head = item / job->count, place = item % job->count;
    (void)outcome;
    ts_bound_row(p, job->tiling, job->rows ? job->rows[place] : place, head, b, w->scratch);
    for (int64_t c = 0; c < p->d_v; c++) {
        put(job->out->output, place, head * p->d_v + c, b->output[c]);
        put(job->out->expected, place, head * p->d_v + c, b->expected[c]);
    }
    put(job->out->max, place, head, b->max);
    put(job->out->lse, place, head, b->lse);
    put(job->out->bounded, place, head, b->bounded);
    put(job->out->exact, place, head, b->exact);
}

ts_status ts_bound_rows(const ts_problem *p, const ts_tiling *tiling, const int64_t *rows,
                        int64_t count, const ts_run *run, ts_bounds *out, ts_detail *detail) {
    job job = {p, tiling, rows, rows ? count : p->n_q, out};
    /* The bounds of a pair and column take as long as 65 multiply-adds of the AVX2 kernels in f64,
     * 140 in f32. */
    const double slower = 64;
    ts_outcome whole;
    const ts_items items = {.job = &job,
                            .count = job.count * p->heads,
                            .cost = slower * (double)job.count * (double)p->n_k * (double)p->heads *
                                    (double)(p->d + p->d_v),
                            .place = place_worker,
                            .answer = answer};
    return ts_items_run(&items, run, &whole, detail);
}
