/* product.c -- C = A B against plain loops: exact on integers, at any shape, stride and thread
 * count. */
#include "sample.h"

static double small_integer(void) { return (double)(sample_draw(9) - 4); }

static ts_matrix transposed(ts_matrix m) {
    return (ts_matrix){m.dtype, m.cols, m.rows, m.col_stride, m.row_stride, m.data};
}
/* Every second row and column. */
static ts_matrix thinned(ts_matrix m) {
    return (ts_matrix){m.dtype, m.rows / 2, m.cols / 2, 2 * m.row_stride, 2 * m.col_stride, m.data};
}

/* A view of `rows` x `cols` integers, laid out in one of three ways. */
static ts_matrix view(ts_dtype dtype, int64_t rows, int64_t cols, int kind) {
    ts_matrix m = kind == 0   ? sample_matrix(dtype, rows, cols)
                  : kind == 1 ? transposed(sample_matrix(dtype, cols, rows))
                              : thinned(sample_matrix(dtype, 2 * rows, 2 * cols));
    sample_fill(&m, small_integer);
    return m;
}

static bool is_product(const ts_matrix *a, const ts_matrix *b, const ts_matrix *c) {
    for (int64_t i = 0; i < c->rows; i++)
        for (int64_t j = 0; j < c->cols; j++) {
            double sum = 0;
            for (int64_t k = 0; k < a->cols; k++) sum += sample_get(a, i, k) * sample_get(b, k, j);
            if (sample_get(c, i, j) != sum) return false;
        }
    return true;
}

static void check_product(ts_dtype dtype, int64_t rows, int64_t depth, int64_t cols, int kind) {
    const ts_matrix a = view(dtype, rows, depth, kind % 3),
                    b = view(dtype, depth, cols, kind / 3 % 3);
    ts_matrix c = sample_matrix(dtype, kind / 9 ? cols : rows, kind / 9 ? rows : cols);
    const ts_matrix guarded = c;
    if (kind / 9) c = transposed(c);
    const ts_run run = sample_run(1 + kind % 3);
    CHECK_INT(ts_product(&a, &b, &c, &run), TS_OK);
    CHECK(is_product(&a, &b, &c));
    CHECK(sample_guarded(&guarded));
}

static double normal(void) { return sample_normal(); }

/* The same bits for any number of threads, and for any part of C by itself. */
static void check_bits_of_parts(ts_dtype dtype) {
    ts_matrix a = sample_matrix(dtype, 400, 2100), b = sample_matrix(dtype, 2100, 300);
    sample_fill(&a, normal), sample_fill(&b, normal);
    ts_matrix one = sample_matrix(dtype, 400, 300), three = sample_matrix(dtype, 400, 300);
    const ts_run run1 = sample_run(1), run3 = sample_run(3);
    CHECK_INT(ts_product(&a, &b, &one, &run1), TS_OK);
    CHECK_INT(ts_product(&a, &b, &three, &run3), TS_OK);
    CHECK(sample_same_bits(&one, &three));
    ts_matrix row = a, column = b, cell = sample_matrix(dtype, 1, 1);
    row.data = (char *)a.data + (size_t)(399 * a.row_stride) * ts_dtype_size(dtype), row.rows = 1;
    column.data = (char *)b.data + 299 * ts_dtype_size(dtype), column.cols = 1;
    CHECK_INT(ts_product(&row, &column, &cell, &run1), TS_OK);
    CHECK_NUMBER(sample_get(&cell, 0, 0), sample_get(&one, 399, 299));
}

typedef struct {
    int count, last; /* polls so far, and the one that stops */
    double done[8];
} polls;

static bool note(void *data, double done) {
    polls *p = data;
    p->done[p->count++ % 8] = done;
    return p->count == p->last;
}

/* One block of C, four deep: asked behind each of them, and left there. */
static void check_stops(void) {
    const ts_matrix a = view(TS_F32, 8, 4096, 0), b = view(TS_F32, 4096, 8, 0);
    ts_matrix c = sample_matrix(TS_F32, 8, 8);
    for (int last = 1; last <= 5; last++) {
        polls asked = {.last = last};
        ts_run run = sample_run(1);
        run.poll = note, run.poll_data = &asked;
        CHECK_INT(ts_product(&a, &b, &c, &run), last < 5 ? TS_INTERRUPTED : TS_OK);
        CHECK_INT(asked.count, last < 5 ? last : 4);
        for (int n = 0; n < asked.count; n++) CHECK_NUMBER(asked.done[n], 0.25 * (n + 1));
    }
    CHECK(is_product(&a, &b, &c));
}

int main(void) {
    for (int isa = 0; isa < SAMPLE_ISAS; isa++) {
        if (ts_kernel_select(sample_isas[isa])) continue;
        for (int dtype = TS_F32; dtype <= TS_F64; dtype++) {
            for (int n = 0; n < 90; n++)
                check_product((ts_dtype)dtype, sample_draw(70), sample_draw(70), sample_draw(70),
                              n % 18);
            for (int n = 0; n < 18; n += 5) { /* each axis longer than a block */
                check_product((ts_dtype)dtype, 1020 + sample_draw(90), 10 + sample_draw(30),
                              20 + sample_draw(60), n);
                check_product((ts_dtype)dtype, 20 + sample_draw(60), 1020 + sample_draw(1100), 30,
                              n);
                check_product((ts_dtype)dtype, 30, 10 + sample_draw(30), 510 + sample_draw(600), n);
            }
            check_bits_of_parts((ts_dtype)dtype);
        }
    }
    check_stops();
    ts_matrix a = sample_matrix(TS_F32, 4, 4), c = sample_matrix(TS_F32, 4, 4);
    const ts_run run = sample_run(1);
    sample_fail_at = 0;
    CHECK_INT(ts_product(&a, &a, &c, &run), TS_NO_MEMORY);
    CHECK_INT(sample_blocks, 0);
    return check_done();
}
