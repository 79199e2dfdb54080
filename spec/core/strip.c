/* strip.c -- work on a matrix strip by strip: every cell once, and stopped soon when asked. */
#include "../../core/strip.h"

#include "check.h"

#include "../../core/elementwise.h"
#include "../../core/random.h"
#include "../../core/reduce.h"

enum { ROWS = 300, COLS = 1000 };
static double source[ROWS * COLS], target[ROWS * COLS];

static void walks(void) {
    static const int64_t shapes[][2] = {{0, 5}, {5, 0}, {1, 1}, {3, 256}, {3, 257}, {2, 1000}};
    for (int i = 0; i < 6; i++) {
        ts_matrix m = ts_matrix_packed(TS_F64, shapes[i][0], shapes[i][1], target);
        int64_t seen = 0;
        ts_strips at = ts_strips_of(&m, NULL);
        while (ts_strips_next(&at)) {
            CHECK_INT(at.row * m.cols + at.col, seen);
            CHECK(at.count > 0 && at.count <= TS_STRIP);
            seen += at.count;
        }
        CHECK_INT(seen, m.rows * m.cols);
        CHECK_INT(at.status, TS_OK);
    }
}

static int polls, limit;
static double last_done;

/* Stops at the poll number `limit`; the part done never goes back. */
static bool poll(void *data, double done) {
    (void)data;
    CHECK(done >= last_done && done <= 1);
    last_done = done;
    return ++polls == limit;
}

/* Runs one piece of work to its end, and then stopped at each of its polls. */
static void stops(const char *name, ts_status (*work)(const ts_run *run), int least) {
    ts_run run = {.poll = poll};
    polls = limit = 0;
    last_done = 0;
    CHECK_INT(work(NULL), TS_OK);
    CHECK_INT(work(&run), TS_OK);
    int all = polls;
    if (all < least) printf("%s polls %d times\n", name, all);
    CHECK(all >= least);
    for (limit = 1; limit <= all; limit++) {
        polls = 0;
        last_done = 0;
        CHECK_INT(work(&run), TS_INTERRUPTED);
        CHECK_INT(polls, limit);
    }
}

static ts_matrix a(void) { return ts_matrix_packed(TS_F64, ROWS, COLS, source); }
static ts_matrix b(void) { return ts_matrix_packed(TS_F64, ROWS, COLS, target); }
static ts_matrix turned(void) { return ts_matrix_packed(TS_F64, COLS, ROWS, target); }

static ts_status copy(const ts_run *run) {
    ts_matrix from = a(), to = b();
    return ts_matrix_copy(&from, &to, run);
}

static ts_status transpose(const ts_run *run) {
    ts_matrix from = a(), to = turned();
    from = ts_matrix_transposed(&from);
    return ts_matrix_copy(&from, &to, run);
}

static ts_status fill(const ts_run *run) {
    ts_matrix m = b();
    return ts_matrix_fill(&m, 1, run);
}

static ts_status draw(const ts_run *run) {
    ts_matrix m = a();
    return ts_random_uniform(&m, 1, run);
}

static ts_status negate(const ts_run *run) {
    ts_matrix from = a(), to = b();
    return ts_elementwise_unary(TS_NEG, &from, &to, run);
}

static ts_status add(const ts_run *run) {
    ts_matrix from = a(), to = b();
    return ts_elementwise_binary(TS_ADD, &from, &from, &to, run);
}

static ts_status sum(const ts_run *run) {
    ts_matrix from = a();
    double result;
    return ts_reduce_all(TS_SUM, &from, &result, run);
}

static ts_status sum_rows(const ts_run *run) {
    ts_matrix from = a(), out = ts_matrix_packed(TS_F64, ROWS, 1, target);
    return ts_reduce_rows(TS_SUM, &from, &out, run);
}

static ts_status softmax(const ts_run *run) {
    ts_matrix from = a(), to = b();
    return ts_reduce_softmax(&from, &to, run);
}

int main(void) {
    walks();
    int polled = ROWS * COLS / (TS_STRIP_PACE + TS_STRIP * 8); /* strips of 8 rows at most */
    stops("copy", copy, polled);
    stops("transpose", transpose, polled);
    stops("fill", fill, polled);
    stops("draw", draw, polled);
    stops("negate", negate, polled);
    stops("add", add, polled);
    stops("sum", sum, polled);
    stops("sum_rows", sum_rows, polled);
    stops("softmax", softmax, polled);
    return check_done();
}
