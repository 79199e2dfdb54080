/* bound_rows.c -- the bounds of many rows, shared out to threads. */
#include "bound.h"
#include "items.h"

typedef struct {
    const ts_problem *p;
    const ts_tiling *tiling;
    const int64_t *rows;
    int64_t count;
    ts_bounds *out;
    size_t columns; /* bytes of the figures of one row */
} job;

static void put(ts_matrix *m, int64_t row, int64_t col, double x) {
    if (m) ((double *)m->data)[row * m->row_stride + col * m->col_stride] = x;
}

static void answer(const void *asked, int64_t item, void *memory, ts_outcome *outcome) {
    const job *job = asked;
    const ts_problem *p = job->p;
    int64_t head = item / job->count, place = item % job->count;
    double *figures = memory;
    ts_bound b = {.output = figures, .expected = figures + p->d_v};
    (void)outcome;
    ts_bound_row(p, job->tiling, job->rows ? job->rows[place] : place, head, &b,
                 (char *)memory + job->columns);
    for (int64_t c = 0; c < p->d_v; c++) {
        put(job->out->output, place, head * p->d_v + c, b.output[c]);
        put(job->out->expected, place, head * p->d_v + c, b.expected[c]);
    }
    put(job->out->max, place, head, b.max);
    put(job->out->lse, place, head, b.lse);
    put(job->out->bounded, place, head, b.bounded);
    put(job->out->exact, place, head, b.exact);
}

ts_status ts_bound_rows(const ts_problem *p, const ts_tiling *tiling, const int64_t *rows,
                        int64_t count, const ts_run *run, ts_bounds *out, ts_detail *detail) {
    job job = {p, tiling, rows, rows ? count : p->n_q, out, 0};
    ts_outcome whole;
    job.columns = ((size_t)p->d_v * 2 * sizeof(double) + 63) / 64 * 64;
    size_t work = (job.columns + ts_bound_scratch(p, tiling) + 63) / 64 * 64;
    const ts_items items = {.job = &job,
                            .count = job.count * p->heads,
                            .work = work,
                            .cost = (double)job.count * (double)p->n_k * (double)p->heads *
                                    (double)(p->d + p->d_v),
                            .answer = answer};
    return ts_items_run(&items, run, &whole, detail);
}
