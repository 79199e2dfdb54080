/* cut.c -- how attention on a problem is cut into units of work for threads: tiles into pieces that
 * fit the cache, items into parts where there are too few of them. */
#include "cut.h"

#include "block.h"
#include "sizes.h"
#include "threads.h"

/* Work is cut finer where there would be too few items to keep all threads at work. */
enum { FEWEST_ROWS = 64, FEW_ITEMS = 64 };

/* Rows of a piece: with a mask fewer, since the keys of a block that some row of it may not use
 * cost its bits for all. */
static int64_t most_rows(const ts_problem *p) { return p->mask ? TS_TILING_PIECE : TS_TILING_ROWS; }

ts_cut ts_cut_make(const ts_problem *p, const ts_tiling *tiling, int wanted) {
    const ts_schedule *s = &tiling->schedule;
    const int64_t q = ts_least(tiling->q, p->n_q);
    const int64_t threads = wanted > 0 ? wanted : ts_threads_default();
    const int64_t enough = threads > 1 ? 4 * threads : 1; /* items, to keep them all at work */
    ts_cut cut = {.n_q = p->n_q, .q = tiling->q};
    cut.heads = p->heads / p->kv_heads;
    cut.tiles = ts_quotient_up(p->n_q, tiling->q);
    for (int64_t rows = most_rows(p); rows >= FEWEST_ROWS; rows /= 2) {
        cut.queries = ts_least(q, ts_most(1, rows / cut.heads));
        cut.pieces = ts_quotient_up(q, ts_most(1, cut.queries));
        cut.items = p->kv_heads * cut.tiles * cut.pieces;
        if (cut.items >= enough) break;
    }
    const int64_t together = cut.queries * cut.heads < TS_PASSING_ROWS ? p->kv_heads : 1;
    cut.parts = s->merge == TS_MERGE_SPLIT && cut.items / together < FEW_ITEMS ? s->parts : 1;
    if (cut.items / together * cut.parts >= enough) cut.items /= together, cut.heads *= together;
    cut.units = cut.items * cut.parts;
    return cut;
}

ts_cut_rows ts_cut_item(const ts_cut *cut, int64_t item) {
    ts_cut_rows r;
    r.head = item / (cut->tiles * cut->pieces) * cut->heads;
    item %= cut->tiles * cut->pieces;
    r.tile = item / cut->pieces;
    r.i.first = r.tile * cut->q + item % cut->pieces * cut->queries + 1;
    r.i.last = ts_least(r.i.first + cut->queries - 1, ts_least((r.tile + 1) * cut->q, cut->n_q));
    return r;
}
