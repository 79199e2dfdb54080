/* target.c -- where the finished summaries of rows go. */
#include "target.h"

#include <string.h>

/* A row of O. */
static void *output(const ts_target *target, const ts_tile *tile, int64_t q, int64_t head) {
    const ts_matrix *o = target->o;
    return ts_at(tile->loops, o->data,
                 q * o->row_stride + head * tile->problem->d_v * o->col_stride);
}

/* Row q, from 0. */
static void finish(const ts_target *target, const ts_tile *tile, int64_t q, int64_t head,
                   const ts_rows *row, ts_outcome *outcome) {
    const ts_problem *p = tile->problem;
    const ts_loops *loops = tile->loops;
    ts_matrix *o = target->o, *lse = target->lse;
    const double *sink = p->sink ? p->sink + head : NULL;
    double x;
    if (o->col_stride == 1)
        ts_ask_to_write(loops,
                        output(target, tile, ts_least(q + TS_ROWS_AHEAD, tile->i.last - 1), head),
                        p->d_v);
    if (!ts_rows_finish(loops, p->base, sink, row, p->d_v, output(target, tile, q, head),
                        o->col_stride, lse ? &x : NULL)) {
        for (int64_t c = 0; c < p->d_v; c++) ts_matrix_set(o, q, head * p->d_v + c, 0);
        ts_items_note_empty(outcome, head * p->n_q + q);
    }
    if (lse) ts_matrix_set(lse, q, head, x);
}

static void keep(const ts_summary *s, const ts_loops *loops, int64_t q, int64_t head,
                 const ts_rows *row) {
    const size_t size = ts_dtype_size(loops->dtype);
    const int64_t r = q * s->heads + head;
    memcpy(ts_at(loops, s->max, r), row->max, size);
    memcpy(ts_at(loops, s->norm, r), row->norm, size);
    if (s->d_v > 0) memcpy(ts_at(loops, s->value, r * s->d_v), row->value, (size_t)s->d_v * size);
}

void ts_target_put(const ts_target *target, const ts_tile *tile, const ts_rows *rows,
                   ts_outcome *outcome) {
    for (int64_t r = 0; r < tile->rows; r++) {
        const ts_rows row = ts_rows_from(tile->loops, rows, r);
        const int64_t q = tile->i.first - 1 + r % tile->queries;
        const int64_t head = tile->head + r / tile->queries;
        if (target->summary)
            keep(target->summary, tile->loops, q, head, &row);
        else
            finish(target, tile, q, head, &row, outcome);
    }
}
