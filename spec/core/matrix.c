/* matrix.c -- views, copies and comparisons against plain loops. */
#include "../../core/matrix.h"

#include "check.h"

#include "../../core/random.h"

enum { ROOM = 4096 };

static void sizes(void) {
    size_t bytes = 0;
    ts_detail detail = {0};
    CHECK_INT(ts_matrix_size(TS_F64, 3, 5, &bytes, &detail), TS_OK);
    CHECK_INT((int64_t)bytes, 120);
    CHECK_INT(ts_matrix_size(TS_F32, 0, INT64_MAX, &bytes, &detail), TS_OK);
    CHECK_INT((int64_t)bytes, 0);
    static const int64_t wrong[][2] = {
        {INT64_C(1) << 32, INT64_C(1) << 32},
        {INT64_C(1) << 61, 1},
        {-1, 5},
        {5, -1},
        {INT64_MAX, 2},
        {INT64_MIN, 0},
    };
    for (int i = 0; i < 6; i++) {
        bytes = 77;
        CHECK_INT(ts_matrix_size(TS_F64, wrong[i][0], wrong[i][1], &bytes, &detail), TS_TOO_LARGE);
        CHECK_INT((int64_t)bytes, 77);
        CHECK_INT(detail.want[0], wrong[i][0]);
    }
    CHECK_INT(ts_matrix_size(TS_F64, 65536, 65536, &bytes, &detail), TS_OK); /* 2^32 cells */
    CHECK_INT((int64_t)bytes, INT64_C(1) << 35);
}

/* Layouts of a rows x cols matrix in a room: packed, transposed, spread, and backwards. */
static ts_matrix layout(int kind, ts_dtype dtype, int64_t rows, int64_t cols, void *room) {
    ts_matrix m = ts_matrix_packed(dtype, rows, cols, room);
    if (kind == 1) {
        m.row_stride = 1;
        m.col_stride = rows;
    } else if (kind == 2) {
        m.row_stride = 3 * cols + 1;
        m.col_stride = 3;
    } else if (kind == 3 && rows > 0) {
        m.data = (char *)room + (size_t)((rows - 1) * cols) * ts_dtype_size(dtype);
        m.row_stride = -cols;
    }
    return m;
}

/* Every pair of layouts and dtypes, at sizes around the squares in which copies go. */
static void copies(void) {
    static double source[ROOM], target[ROOM];
    static const int64_t shapes[][2] = {{0, 3},  {3, 0},   {1, 1},  {1, 40},
                                        {40, 1}, {31, 33}, {33, 32}};
    for (int shape = 0; shape < 7; shape++)
        for (int pair = 0; pair < 64; pair++) {
            int64_t rows = shapes[shape][0], cols = shapes[shape][1];
            ts_matrix a = layout(pair & 3, pair & 16 ? TS_F32 : TS_F64, rows, cols, source);
            ts_matrix b = layout(pair >> 2 & 3, pair & 32 ? TS_F32 : TS_F64, rows, cols, target);
            memset(target, 0xff, sizeof target);
            ts_random_normal(&a, (uint64_t)pair, NULL);
            ts_matrix_copy(&a, &b, NULL);
            bool same = true;
            for (int64_t r = 0; r < rows; r++)
                for (int64_t c = 0; c < cols; c++) {
                    double x = ts_matrix_get(&a, r, c);
                    if (b.dtype == TS_F32) x = (float)x;
                    same = same && ts_matrix_get(&b, r, c) == x;
                }
            CHECK(same);
        }
}

/* No elements, but rows beyond counting: over at once. */
static void copies_of_nothing(void) {
    double none;
    ts_matrix wide = ts_matrix_packed(TS_F64, 0, INT64_MAX, &none);
    ts_matrix tall = ts_matrix_transposed(&wide),
              target = ts_matrix_packed(TS_F64, INT64_MAX, 0, &none);
    CHECK_INT(ts_matrix_copy(&tall, &target, NULL), TS_OK);
    CHECK_INT(ts_matrix_fill(&tall, 1, NULL), TS_OK);
}

/* Nothing beside the view is written. */
static void guards(void) {
    double room[49];
    ts_matrix all = ts_matrix_packed(TS_F64, 7, 7, room);
    ts_matrix_fill(&all, 5, NULL);
    ts_matrix middle = ts_matrix_slice(&all, 2, 1, 3, 4);
    ts_matrix_fill(&middle, 1, NULL);
    for (int r = 0; r < 7; r++)
        for (int c = 0; c < 7; c++)
            CHECK_NUMBER(room[7 * r + c], r >= 2 && r < 5 && c >= 1 && c < 5 ? 1 : 5);
}

static void overlaps(void) {
    double room[36];
    ts_matrix all = ts_matrix_packed(TS_F64, 6, 6, room);
    ts_matrix top = ts_matrix_slice(&all, 0, 0, 3, 6), bottom = ts_matrix_slice(&all, 3, 0, 3, 6);
    ts_matrix turned = ts_matrix_transposed(&all), none = ts_matrix_slice(&all, 3, 0, 0, 6);
    ts_matrix up = layout(3, TS_F64, 3, 6, room), first = ts_matrix_slice(&all, 0, 0, 1, 6);
    CHECK(!ts_matrix_overlap(&top, &bottom));
    CHECK(ts_matrix_overlap(&all, &turned));
    CHECK(ts_matrix_overlap(&bottom, &turned));
    CHECK(!ts_matrix_overlap(&none, &all));
    CHECK(ts_matrix_overlap(&up, &top));
    CHECK(ts_matrix_overlap(&up, &first)); /* which up, from below, comes to last */
    CHECK(!ts_matrix_overlap(&up, &bottom));
}

static void broadcasts(void) {
    double room[3] = {1, 2, 3};
    ts_matrix row = ts_matrix_packed(TS_F64, 1, 3, room), wide;
    ts_detail detail = {0};
    CHECK_INT(ts_matrix_broadcast(&row, 4, 3, &wide, &detail), TS_OK);
    for (int r = 0; r < 4; r++)
        for (int c = 0; c < 3; c++) CHECK_NUMBER(ts_matrix_get(&wide, r, c), c + 1);
    CHECK_INT(ts_matrix_broadcast(&row, 0, 3, &wide, &detail), TS_OK);
    CHECK_INT(wide.rows, 0);
    CHECK_INT(ts_matrix_broadcast(&row, 3, 1, &wide, &detail), TS_SHAPE);
    CHECK_INT(detail.want[0] * 10 + detail.want[1], 31);
    CHECK_INT(detail.got[0] * 10 + detail.got[1], 13);
}

static bool equal(const ts_matrix *a, const ts_matrix *b) {
    bool result = false;
    CHECK_INT(ts_matrix_equal(a, b, NULL, &result), TS_OK);
    return result;
}

static bool identical(const ts_matrix *a, const ts_matrix *b) {
    bool result = false;
    CHECK_INT(ts_matrix_identical(a, b, NULL, &result), TS_OK);
    return result;
}

static double worst(const ts_matrix *a, const ts_matrix *b, int64_t *row, int64_t *col) {
    double ulps = -1;
    CHECK_INT(ts_matrix_ulps(a, b, NULL, row, col, &ulps), TS_OK);
    return ulps;
}

static void comparisons(void) {
    double zeros[2] = {0, NAN}, minus[2] = {-0.0, NAN};
    ts_matrix a = ts_matrix_packed(TS_F64, 1, 1, zeros), b = ts_matrix_packed(TS_F64, 1, 1, minus);
    CHECK(equal(&a, &b));
    CHECK(!identical(&a, &b));
    a.cols = b.cols = 2;
    CHECK(!equal(&a, &a));
    CHECK(identical(&a, &a));
    CHECK(!identical(&a, &b));
    a.rows = b.rows = 0;
    CHECK(equal(&a, &b));
    b.cols = 1;
    CHECK(!equal(&a, &b));
}

static bool stops(void *data, double done) {
    ++*(int *)data;
    return done >= 0;
}

/* Whoever runs a long comparison may stop it, and then has no answer. */
static void interrupted_comparisons(void) {
    double cell = 1, ulps = -1;
    int polls = 0;
    int64_t row, col;
    bool answer = true;
    ts_run run = {.poll = stops, .poll_data = &polls};
    for (int long_row = 0; long_row < 2; long_row++) {
        ts_matrix m = {TS_F64, long_row ? 1 : 1000, long_row ? 100000 : 100, 0, 0, &cell};
        CHECK_INT(ts_matrix_equal(&m, &m, &run, &answer), TS_INTERRUPTED);
        CHECK_INT(ts_matrix_identical(&m, &m, &run, &answer), TS_INTERRUPTED);
        CHECK_INT(ts_matrix_ulps(&m, &m, &run, &row, &col, &ulps), TS_INTERRUPTED);
        CHECK_INT(polls, 3 * (long_row + 1));
    }
    CHECK(answer);
}

static void distances(void) {
    CHECK_NUMBER(ts_ulps(TS_F64, 1, 1 + 0x1p-52), 1);
    CHECK_NUMBER(ts_ulps(TS_F64, 1, 1 - 0x1p-53), 1);
    CHECK_NUMBER(ts_ulps(TS_F32, 1, 1 + 0x1p-20), 8);
    CHECK_NUMBER(ts_ulps(TS_F64, -0.0, 0), 0);
    CHECK_NUMBER(ts_ulps(TS_F64, -5e-324, 5e-324), 2);
    CHECK_NUMBER(ts_ulps(TS_F32, -0x1p-149, 0x1p-149), 2);
    CHECK_NUMBER(ts_ulps(TS_F64, -1, 1), 2 * (double)0x3ff0000000000000);
    CHECK_NUMBER(ts_ulps(TS_F64, -0x1.fffffffffffffp1023, 0x1.fffffffffffffp1023), 0x1.ffcp63);
    CHECK_NUMBER(ts_ulps(TS_F64, NAN, NAN), 0);
    CHECK_NUMBER(ts_ulps(TS_F64, NAN, 1), INFINITY);
    CHECK_NUMBER(ts_ulps(TS_F64, 1, NAN), INFINITY);
    CHECK_NUMBER(ts_ulps(TS_F64, INFINITY, INFINITY), 0);
    CHECK_NUMBER(ts_ulps(TS_F64, INFINITY, -INFINITY), INFINITY);
    CHECK_NUMBER(ts_ulps(TS_F64, INFINITY, 0x1.fffffffffffffp1023), INFINITY);

    double x[6] = {1, 2, NAN, 4, 5, 6}, y[6] = {1, 2, NAN, 4 + 0x1p-50, 5, 6 + 0x1p-50};
    int64_t row, col;
    ts_matrix a = ts_matrix_packed(TS_F64, 2, 3, x), b = ts_matrix_packed(TS_F64, 2, 3, y);
    CHECK_NUMBER(worst(&a, &b, &row, &col), 1); /* both are one ulp: the first counts */
    CHECK_INT(10 * row + col, 10);
    x[2] = 3;
    CHECK_NUMBER(worst(&a, &b, &row, &col), INFINITY);
    CHECK_INT(10 * row + col, 2);
    a.rows = b.rows = 0;
    CHECK_NUMBER(worst(&a, &b, &row, &col), 0);
    CHECK_INT(row, -1);
}

int main(void) {
    sizes();
    copies();
    copies_of_nothing();
    guards();
    overlaps();
    broadcasts();
    comparisons();
    interrupted_comparisons();
    distances();
    return check_done();
}
