/* product.c -- C = A B: blocks of C over threads, each summed over the depth block by block. */
#include "product.h"

#include "arena.h"
#include "items.h"
#include "kernel/kernel.h"
#include "threads.h"

#include <string.h>

/* Sizes of a block of C, and of what it sums at a time. The larger they are, the less often B is
 * packed, A comes from far away, and C is read and written again; B packed, up to 2 MiB in f32,
 * passes once for each band of A. */
enum { MOST_ROWS = 1024, MOST_COLUMNS = 512, MOST_DEPTH = 1024, FEWEST = 64, BAND = 24 };

enum { LINE = 16 }; /* numbers, in f32, of a line of the cache */

typedef struct {
    const ts_loops *loops;
    const ts_matrix *a, *b;
    ts_matrix *c;
    int64_t rows, columns, depth; /* of a block */
    int64_t across, items;        /* blocks of columns; blocks */
} product;

/* One thread's work space: a block of B packed; and copies, where numbers do not lie side by side:
 * of a band of A, a block of B or of C. */
typedef struct {
    void *panels, *a, *b, *c;
} worker;

static void *element(const ts_loops *loops, const ts_matrix *m, int64_t row, int64_t column) {
    return ts_at(loops, m->data, row * m->row_stride + column * m->col_stride);
}

/* Between memory of any two strides, along what lies closest in `from`. */
static void copy_block(size_t size, int64_t rows, int64_t columns, const char *from,
                       int64_t from_row, int64_t from_column, char *to, int64_t to_row,
                       int64_t to_column) {
    if (from_row < from_column) {
        copy_block(size, columns, rows, from, from_column, from_row, to, to_column, to_row);
        return;
    }
    for (int64_t r = 0; r < rows; r++)
        for (int64_t c = 0; c < columns; c++) {
            char *y = to + (r * to_row + c * to_column) * (int64_t)size;
            const char *x = from + (r * from_row + c * from_column) * (int64_t)size;
            if (size == sizeof(float))
                memcpy(y, x, sizeof(float));
            else
                memcpy(y, x, sizeof(double));
        }
}

/* A band of A, where it lies or copied; *stride: from row to row, in the copy a line more than a
 * power of two, or all rows would fight for the same places of the cache. */
static const void *band_of_a(const product *p, const worker *w, int64_t row, int64_t rows,
                             int64_t first, int64_t depth, int64_t *stride) {
    const ts_matrix *a = p->a;
    const void *from = element(p->loops, a, row, first);
    *stride = a->row_stride;
    if (a->col_stride == 1) return from;
    *stride = p->depth + LINE;
    copy_block(ts_dtype_size(a->dtype), rows, depth, from, a->row_stride, a->col_stride, w->a,
               *stride, 1);
    return w->a;
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

/* Adds to the numbers of C, `stride` apart, what `depth` columns of A and rows of B come to. */
static void add_depth(const product *p, const worker *w, int64_t row, int64_t rows, int64_t first,
                      int64_t width, void *c, int64_t stride) {
    const int64_t depth = ts_least(p->depth, p->b->rows - first);
    const ts_panels b = {.numbers = w->panels, .depth = depth, .width = width};
    for (int64_t r = 0; r < rows; r += BAND) {
        const int64_t height = ts_least(BAND, rows - r);
        int64_t a_stride;
        const void *a = band_of_a(p, w, row + r, height, first, depth, &a_stride);
        p->loops->product(height, depth, a, a_stride, &b, 0, 0, width,
                          ts_at(p->loops, c, r * stride), stride, first > 0);
    }
}

/* One block of C; in place unless whole vectors would not fit there. */
static void answer(const void *asked, int64_t item, void *work, ts_outcome *outcome) {
    const product *p = asked;
    const worker *w = work;
    ts_matrix *c = p->c;
    const int64_t row = item / p->across * p->rows, rows = ts_least(p->rows, c->rows - row);
    const int64_t column = item % p->across * p->columns,
                  columns = ts_least(p->columns, c->cols - column);
    const int64_t width = ts_round_up(columns, p->loops->lanes);
    const bool in_place = c->col_stride == 1 && width == columns;
    void *there = element(p->loops, c, row, column), *to = in_place ? there : w->c;
    const int64_t stride = in_place ? c->row_stride : p->columns;
    int64_t first = 0;
    do {
        pack_b(p, w, first, ts_least(p->depth, p->b->rows - first), column, columns);
        add_depth(p, w, row, rows, first, width, to, stride);
        first += p->depth;
    } while (first < p->b->rows && !ts_items_pause(outcome, (double)first / (double)p->b->rows));
    if (!in_place)
        copy_block(ts_dtype_size(c->dtype), rows, columns, to, stride, 1, there, c->row_stride,
                   c->col_stride);
}

/* What stays where it lies takes no room. */
static void *place_worker(const void *asked, ts_arena *arena) {
    const product *p = asked;
    const bool a_lies = p->a->col_stride == 1,
               b_lies = p->b->col_stride == 1 || p->b->row_stride == 1,
               c_lies = p->c->col_stride == 1 && p->c->cols % p->loops->lanes == 0;
    const size_t size = ts_dtype_size(p->loops->dtype);
    worker w = {0};
    w.panels = ts_arena_take(arena, p->depth * p->columns, size);
    w.a = ts_arena_take(arena, a_lies ? 0 : BAND * (p->depth + LINE), size);
    w.b = ts_arena_take(arena, b_lies ? 0 : p->depth * p->columns, size);
    w.c = ts_arena_take(arena, c_lies ? 0 : p->rows * p->columns, size);
    return ts_arena_keep(arena, &w, sizeof w);
}

/* The size of n's equal pieces, about `most` at most: a multiple of `step`. */
static int64_t piece(int64_t n, int64_t most, int64_t step) {
    return n == 0 ? step : ts_round_up(ts_quotient_up(n, ts_quotient_up(n, most)), step);
}

/* Blocks of C, `wanted` of them if there is work for that. The depth of a block decides bits, so it
 * depends on nothing else. */
static void cut(product *p, int64_t wanted) {
    int64_t rows = MOST_ROWS, columns = MOST_COLUMNS;
    p->depth = piece(p->b->rows, MOST_DEPTH, LINE);
    for (;;) {
        p->rows = piece(p->c->rows, rows, p->loops->rows);
        p->columns = piece(p->c->cols, columns, p->loops->panel);
        p->across = ts_quotient_up(p->c->cols, p->columns);
        p->items = ts_quotient_up(p->c->rows, p->rows) * p->across;
        if (p->items >= wanted || (p->rows <= FEWEST && p->columns <= FEWEST)) return;
        if (p->rows > p->columns)
            rows = p->rows / 2;
        else
            columns = p->columns / 2;
    }
}

ts_status ts_product(const ts_matrix *a, const ts_matrix *b, ts_matrix *c, const ts_run *run) {
    product p = {.loops = ts_kernel_get()->loops[a->dtype], .a = a, .b = b, .c = c};
    ts_outcome whole;
    ts_detail detail;
    cut(&p, 2 * (int64_t)(run->threads > 0 ? run->threads : ts_threads_default()));
    const ts_items items = {.job = &p,
                            .count = p.items,
                            .cost = (double)c->rows * (double)c->cols * (double)b->rows,
                            .place = place_worker,
                            .answer = answer};
    return ts_items_run(&items, run, &whole, &detail);
}
