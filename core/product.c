/* product.c -- C = A B: blocks of C over threads, each summed over the depth block by block. */
#include "product.h"

#include "arena.h"
#include "items.h"
#include "kernel/kernel.h"
#include "threads.h"

#include <string.h>

/* Sizes of a block: of B, packed, half a second-level cache; of C, as many rows as pay for packing,
 * unless that leaves threads without work; of A, a band near the first cache. */
enum { MOST_ROWS = 512, FEWEST_ROWS = 64, DEPTH = 256, COLUMNS = 256, BAND = 48 };

typedef struct {
    const ts_loops *loops;
    const ts_matrix *a, *b;
    ts_matrix *c;
    int64_t rows;          /* of a block of C */
    int64_t across, items; /* blocks of columns; blocks */
} product;

/* One thread's work space: a block of B packed, and of A, B or C copied where its numbers do not
 * lie side by side. */
typedef struct {
    void *panels, *a, *b, *c;
} worker;

static void *element(const ts_loops *loops, const ts_matrix *m, int64_t row, int64_t column) {
    return ts_at(loops, m->data, row * m->row_stride + column * m->col_stride);
}

/* Between memory of any two strides. */
static void copy_block(size_t size, int64_t rows, int64_t columns, const char *from,
                       int64_t from_row, int64_t from_column, char *to, int64_t to_row,
                       int64_t to_column) {
    for (int64_t r = 0; r < rows; r++)
        for (int64_t c = 0; c < columns; c++)
            memcpy(to + (r * to_row + c * to_column) * (int64_t)size,
                   from + (r * from_row + c * from_column) * (int64_t)size, size);
}

/* A band of A, its rows one behind the other: rows a power of two apart would fight for the same
 * places of the cache. */
static void copy_a(const product *p, const worker *w, int64_t row, int64_t rows, int64_t first,
                   int64_t depth) {
    const size_t size = ts_dtype_size(p->loops->dtype);
    if (p->a->col_stride != 1) {
        copy_block(size, rows, depth, element(p->loops, p->a, row, first), p->a->row_stride,
                   p->a->col_stride, w->a, depth, 1);
        return;
    }
    for (int64_t r = 0; r < rows && depth > 0; r++)
        memcpy(ts_at(p->loops, w->a, r * depth), element(p->loops, p->a, row + r, first),
               (size_t)depth * size);
}

static void pack_b(const product *p, const worker *w, int64_t first, int64_t depth, int64_t column,
                   int64_t columns) {
    const ts_matrix *b = p->b;
    const void *from = element(p->loops, b, first, column);
    if (b->col_stride == 1) {
        p->loops->pack_rows(from, b->row_stride, depth, columns, w->panels);
    } else if (b->row_stride == 1) {
        p->loops->pack_columns(from, b->col_stride, depth, columns, w->panels);
    } else {
        copy_block(ts_dtype_size(p->loops->dtype), depth, columns, from, b->row_stride,
                   b->col_stride, w->b, columns, 1);
        p->loops->pack_rows(w->b, columns, depth, columns, w->panels);
    }
}

/* One block of C; in place unless whole vectors would not fit there. */
static void answer(const void *asked, int64_t item, void *work, ts_outcome *outcome) {
    const product *p = asked;
    const worker *w = work;
    const ts_loops *loops = p->loops;
    ts_matrix *c = p->c;
    (void)outcome;
    const int64_t row = item / p->across * p->rows, rows = ts_least(p->rows, c->rows - row);
    const int64_t column = item % p->across * COLUMNS,
                  columns = ts_least(COLUMNS, c->cols - column);
    const int64_t width = ts_round_up(columns, loops->lanes);
    const bool in_place = c->col_stride == 1 && width == columns;
    void *to = in_place ? element(loops, c, row, column) : w->c;
    const int64_t stride = in_place ? c->row_stride : COLUMNS;
    int64_t first = 0;
    do {
        const int64_t depth = ts_least(DEPTH, p->b->rows - first);
        const ts_panels b = {.numbers = w->panels, .depth = depth, .width = width};
        pack_b(p, w, first, depth, column, columns);
        for (int64_t r = 0; r < rows; r += BAND) {
            copy_a(p, w, row + r, ts_least(BAND, rows - r), first, depth);
            loops->product(ts_least(BAND, rows - r), depth, w->a, depth, &b, 0, 0, width,
                           ts_at(loops, to, r * stride), stride, first > 0);
        }
        first += depth;
    } while (first < p->b->rows);
    if (!in_place)
        copy_block(ts_dtype_size(loops->dtype), rows, columns, w->c, COLUMNS, 1,
                   element(loops, c, row, column), c->row_stride, c->col_stride);
}

static void place_worker(const product *p, ts_arena *arena) {
    worker unused, *w = ts_arena_take(arena, 1, sizeof *w);
    const size_t size = ts_dtype_size(p->loops->dtype);
    const int64_t depth = ts_least(DEPTH, p->b->rows), columns = ts_least(COLUMNS, p->c->cols);
    const int64_t rows = ts_least(p->rows, p->c->rows),
                  width = ts_round_up(columns, p->loops->lanes);
    if (!w) w = &unused;
    w->panels = ts_arena_take(arena, depth * width, size);
    w->a = ts_arena_take(arena, BAND * depth, size);
    w->b = ts_arena_take(arena, depth * columns, size);
    w->c = ts_arena_take(arena, rows * COLUMNS, size);
}

static void enter(const void *asked, void *work) {
    ts_arena arena = {work, 0};
    place_worker(asked, &arena);
}

/* Blocks of C, `wanted` of them if there are rows for that. */
static void cut(product *p, int64_t wanted) {
    p->across = ts_quotient_up(p->c->cols, COLUMNS);
    p->rows = 2 * MOST_ROWS;
    do {
        p->rows /= 2;
        p->items = ts_quotient_up(p->c->rows, p->rows) * p->across;
    } while (p->items < wanted && p->rows > FEWEST_ROWS);
}

ts_status ts_product(const ts_matrix *a, const ts_matrix *b, ts_matrix *c, const ts_run *run) {
    product p = {.loops = ts_kernel_get()->loops[a->dtype], .a = a, .b = b, .c = c};
    ts_arena arena = {NULL, 0};
    ts_outcome whole;
    ts_detail detail;
    cut(&p, 2 * (int64_t)(run->threads > 0 ? run->threads : ts_threads_default()));
    place_worker(&p, &arena);
    const ts_items items = {.job = &p,
                            .count = p.items,
                            .work = arena.used,
                            .cost = (double)c->rows * (double)c->cols * (double)b->rows,
                            .enter = enter,
                            .answer = answer};
    return ts_items_run(&items, run, &whole, &detail);
}
