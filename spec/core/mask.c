/* mask.c -- covers, tiles and descents against counting; extremes of tables against looking. */
#include "mask.h"
#include "builder.h"
#include "check.h"
#include "interval.h"
#include "kernel/kernel.h"
#include "table.h"

#include <stdlib.h>

static uint64_t state = 1;
static int64_t below(int64_t n) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (int64_t)((state >> 33) % (uint64_t)n);
}

/* ---- masks to ask ---- */

enum { ROWS = 300, COLS = 700, KINDS = 11 };
static char builder_memory[1 << 16], scratch[1 << 20], index_memory[1 << 20];
static ts_builder b;
static ts_form forms[256];
static int32_t numbers[512];
static uint64_t dense[ROWS * (COLS / 64 + 1)];
static int64_t ids[1024];

static int32_t op(ts_op name, int32_t x, int32_t y) { return ts_builder_op(&b, name, x, y, -1); }
static int32_t number(int64_t x) { return ts_builder_int(&b, x); }

static ts_table bits_table(void) {
    return (ts_table){.kind = TS_TABLE_BITS,
                      .rows = ROWS,
                      .cols = COLS,
                      .heads = 1,
                      .words = COLS / 64 + 1,
                      .bits = dense};
}

static ts_table ids_table(void) {
    return (ts_table){.kind = TS_TABLE_INTS, .first = 1, .count = 1024, .ints = ids};
}

static int32_t id_of(int32_t at) {
    ts_table table = ids_table();
    ts_node node = {.op = TS_OP_itable, .type = TS_INT, .operand = {at, -1, -1}};
    node.table = ts_builder_table(&b, &table);
    return ts_builder_node(&b, node);
}

static int32_t bit_of(int32_t i, int32_t j) {
    ts_table table = bits_table();
    ts_node node = {.op = TS_OP_bits, .type = TS_BOOL, .operand = {i, j, number(1)}};
    node.table = ts_builder_table(&b, &table);
    return ts_builder_node(&b, node);
}

static int32_t node_of_kind(int kind) {
    int32_t i = op(TS_OP_i, -1, -1), j = op(TS_OP_j, -1, -1), d = op(TS_OP_isub, i, j);
    int32_t causal = op(TS_OP_ile, j, i);
    int32_t sevens = op(TS_OP_iadd, op(TS_OP_imul, i, number(7)), op(TS_OP_imul, j, number(13)));
    switch (kind) {
    case 0:
        return causal;
    case 1:
        return op(TS_OP_band, causal, op(TS_OP_ilt, d, number(37)));
    case 2:
        return op(TS_OP_ieq, op(TS_OP_imod, sevens, number(5)), number(2));
    case 3:
        return op(TS_OP_ieq, op(TS_OP_idiv, op(TS_OP_isub, i, number(1)), number(100)),
                  op(TS_OP_idiv, op(TS_OP_isub, j, number(1)), number(100)));
    case 4:
        return op(TS_OP_ieq, id_of(i), id_of(j));
    case 5:
        return bit_of(i, op(TS_OP_iadd, j, number(-3)));
    case 6:
        return op(TS_OP_ilt, op(TS_OP_iabs, op(TS_OP_isub, op(TS_OP_imul, i, number(2)), j), -1),
                  number(9));
    case 7:
        return op(TS_OP_band, bit_of(i, j), op(TS_OP_bnot, causal, -1));
    case 8:
        return op(TS_OP_ilt, op(TS_OP_imul, i, j), number(5000));
    case 9: /* the first row is on the right, and a later one on the left */
        return op(TS_OP_bor, op(TS_OP_ile, number(600), j), op(TS_OP_ieq, i, number(60)));
    default:
        return op(TS_OP_ieq, op(TS_OP_idiv, sevens, number(64)), op(TS_OP_imod, d, number(50)));
    }
}

static ts_program program_of_kind(int kind) {
    ts_builder_open(&b, builder_memory, 60, 2);
    ts_builder_finish(&b, node_of_kind(kind), numbers);
    ts_program_forms(b.nodes, b.count, forms);
    return (ts_program){b.count, b.table_count, b.nodes, b.tables, forms};
}

static void fill_dense(void) {
    for (int64_t r = 0; r < ROWS; r++)
        for (int64_t c = 0; c < COLS; c++) {
            bool keep = r / 70 % 2 ? c / 130 % 2 : below(5) == 0;
            if (keep) dense[r * (COLS / 64 + 1) + c / 64] |= (uint64_t)1 << (c % 64);
        }
    for (int k = 0; k < 1024; k++) ids[k] = k / 45 % 9;
}

/* ---- the checks ---- */

static bool holds(const ts_mask *mask, int64_t i, int64_t j) {
    ts_value values[256];
    return ts_program_eval(mask->program, 0, i, j, 1, values).b;
}

static int64_t count_cells(const ts_mask *mask, ts_range i, ts_range j) {
    int64_t count = 0;
    for (int64_t r = i.first; r <= i.last; r++)
        for (int64_t k = j.first; k <= j.last; k++) count += holds(mask, r, k);
    return count;
}

static ts_range random_range(int64_t most) {
    int64_t first = 1 + below(most), last = first + below(most - first + 1);
    return (ts_range){first, last};
}

static ts_cover cover_of(int64_t count, ts_range i, ts_range j) {
    int64_t cells = (i.last - i.first + 1) * (j.last - j.first + 1);
    return count == 0 ? TS_EMPTY : count == cells ? TS_FULL : TS_PARTIAL;
}

/* A cover is right or PARTIAL; a tile's is exact, and its bits are the cells. */
static void check_tile(const ts_mask *mask, ts_range i, ts_range j) {
    static uint64_t bits[ROWS * (COLS / 64 + 2)];
    const int64_t words = COLS / 64 + 2, count = count_cells(mask, i, j);
    ts_cover want = cover_of(count, i, j), cover = ts_mask_cover(mask, 1, i, j, scratch);
    CHECK(cover == want || cover == TS_PARTIAL);
    CHECK_INT(ts_mask_tile(mask, 1, i, j, bits, words, scratch), want);
    bool same = true;
    for (int64_t r = i.first; r <= i.last; r++)
        for (int64_t k = 0; k < (j.last - j.first + 64) / 64 * 64; k++)
            same = same && (bits[(r - i.first) * words + k / 64] >> (k % 64) & 1) ==
                               (j.first + k <= j.last && holds(mask, r, j.first + k));
    CHECK(same);
    int64_t got;
    CHECK_INT(ts_mask_count(mask, 1, i, j, NULL, &got, scratch), TS_OK);
    CHECK_INT(got, count);
    CHECK_INT(ts_mask_settle(mask, 1, i, j, NULL, &cover, scratch), TS_OK);
    CHECK_INT(cover, want);
}

static void check_first(const ts_mask *mask, ts_range i, ts_range j) {
    int64_t row = 0, key = 0, got_row, got_key;
    for (int64_t r = i.first; r <= i.last && !row; r++)
        for (int64_t k = j.first; k <= j.last && !row; k++)
            if (holds(mask, r, k)) row = r, key = k;
    CHECK_INT(ts_mask_first(mask, 1, i, j, NULL, &got_row, &got_key, scratch), TS_OK);
    CHECK_INT(got_row, row);
    if (row) CHECK_INT(got_key, key);
}

static void check_empty_rows(const ts_mask *mask, ts_range i, ts_range j) {
    uint64_t rows[ROWS / 64 + 1];
    CHECK_INT(ts_mask_empty_rows(mask, 1, i, j, NULL, rows, scratch), TS_OK);
    bool same = true;
    for (int64_t r = i.first; r <= i.last; r++) {
        bool empty = count_cells(mask, (ts_range){r, r}, j) == 0;
        int64_t at = r - i.first;
        same = same && (rows[at / 64] >> (at % 64) & 1) == empty;
    }
    CHECK(same);
}

/* Blocks that are left out are empty, those called full are, and the order ascends. */
static void check_visit(const ts_mask *mask, ts_range i, int64_t first, int64_t end, int64_t k,
                        int64_t blocks) {
    int32_t list[COLS];
    uint8_t cover[COLS];
    int64_t n = 0;
    int64_t found = ts_mask_visit(mask, 1, i, first, end, k, blocks, list, cover, scratch);
    bool right = true;
    for (int64_t block = 0; block < blocks; block++) {
        ts_range j = {first + block * k, first + block * k + k - 1};
        if (j.last > end) j.last = end;
        ts_cover want = cover_of(count_cells(mask, i, j), i, j);
        if (n < found && list[n] == block) {
            right = right && cover[n] != TS_EMPTY && (cover[n] == TS_PARTIAL || want == TS_FULL);
            n++;
        } else {
            right = right && want == TS_EMPTY;
        }
    }
    CHECK(right && n == found);
}

static void check_mask(const ts_mask *mask) {
    for (int round = 0; round < 12; round++) {
        ts_range i = random_range(ROWS), j = random_range(COLS);
        check_tile(mask, i, j);
        check_first(mask, i, j);
        check_empty_rows(mask, i, j);
        int64_t k = 1 + below(100), width = j.last - j.first + 1;
        check_visit(mask, i, j.first, j.last, k, (width + k - 1) / k);
    }
    check_first(mask, (ts_range){1, 64}, (ts_range){1, COLS});
    const ts_range none = {5, 4}, some = {1, 3};
    CHECK_INT(ts_mask_cover(mask, 1, none, some, scratch), TS_EMPTY);
    CHECK_INT(ts_mask_cover(mask, 1, some, none, scratch), TS_EMPTY);
}

/* Tiles of a diagonal band are decided exactly: no tile without its cells is PARTIAL, no full one.
 */
static void check_exact_diagonals(void) {
    for (int kind = 0; kind <= 1; kind++) {
        ts_program program = program_of_kind(kind);
        ts_mask mask = {ROWS, COLS, 0, &program};
        for (int64_t i = 1; i <= 96; i += 16)
            for (int64_t j = 1; j <= 96; j += 8) {
                ts_range rows = {i, i + 15}, keys = {j, j + 7};
                CHECK_INT(ts_mask_cover(&mask, 1, rows, keys, scratch),
                          cover_of(count_cells(&mask, rows, keys), rows, keys));
            }
    }
}

static bool stop(void *data, double done) {
    (void)done;
    return ++*(int *)data >= 3;
}

static void check_stop(void) {
    ts_program program = program_of_kind(2);
    ts_mask mask = {1 << 20, 1 << 20, 0, &program};
    ts_range all = {1, 1 << 20};
    int polls = 0;
    int64_t count;
    ts_run run = {.poll = stop, .poll_data = &polls};
    CHECK_INT(ts_mask_count(&mask, 1, all, all, &run, &count, scratch), TS_INTERRUPTED);
    CHECK_INT(polls, 3);
}

/* ---- tables ---- */

static double float_of(int64_t k, int kind) {
    if (kind == 0) return (double)(k / 3);
    if (kind == 1) return k % 97 == 0 ? NAN : (double)below(1000);
    return NAN;
}

/* An index changes no extreme. */
static void check_lists(void) {
    static int64_t ints[5000];
    static double floats[5000];
    static uint8_t bools[5000];
    for (int round = 0; round < 200; round++) {
        int64_t count = 1 + below(round % 2 ? 5000 : 40), sorted = below(3);
        for (int64_t k = 0; k < count; k++) {
            ints[k] = sorted ? k / 7 : below(100) - 50;
            floats[k] = float_of(k, round % 3);
            bools[k] = (uint8_t)(k / 400 % 2);
        }
        ts_table table = {
            .first = below(5) - 2, .count = count, .ints = ints, .floats = floats, .bools = bools};
        ts_range r = random_range(count);
        r.first += table.first - 1, r.last += table.first - 1;
        int64_t low[2], high[2];
        double flow[2], fhigh[2];
        bool nan[2], some[2], all[2];
        for (int n = 0; n < 2; n++) {
            for (int kind = TS_TABLE_INTS; kind <= TS_TABLE_BOOLS; kind++) {
                table.kind = (ts_table_kind)kind, table.index = NULL;
                if (ts_table_index_size(&table) > sizeof index_memory) abort();
                if (n) ts_table_index(&table, index_memory);
                if (kind == TS_TABLE_INTS)
                    ts_table_int_range(&table, r.first, r.last, &low[n], &high[n]);
                if (kind == TS_TABLE_FLOATS)
                    ts_table_float_range(&table, r.first, r.last, &flow[n], &fhigh[n], &nan[n]);
                if (kind == TS_TABLE_BOOLS)
                    ts_table_bool_range(&table, r.first, r.last, &some[n], &all[n]);
            }
        }
        CHECK(low[0] == low[1] && high[0] == high[1]);
        CHECK(flow[0] == flow[1] && fhigh[0] == fhigh[1] && nan[0] == nan[1]);
        CHECK(some[0] == some[1] && all[0] == all[1]);
    }
}

static void check_matrices(void) {
    static double cells[70 * 90];
    for (int round = 0; round < 200; round++) {
        int64_t rows = 1 + below(70), cols = 1 + below(90);
        for (int k = 0; k < 70 * 90; k++) cells[k] = below(500) ? (double)below(1000) : NAN;
        ts_table table = {.kind = TS_TABLE_MATRIX,
                          .matrix = ts_matrix_packed(TS_F64, rows, cols, cells)};
        ts_range r = random_range(rows), c = random_range(cols);
        double low[2], high[2];
        bool nan[2];
        ts_table_matrix_range(&table, r, c, &low[0], &high[0], &nan[0]);
        ts_table_index(&table, index_memory);
        ts_table_matrix_range(&table, r, c, &low[1], &high[1], &nan[1]);
        CHECK(low[0] == low[1] && high[0] == high[1] && nan[0] == nan[1]);
    }
}

/* One odd bit among others that are all alike: seen exactly where the range holds it. */
static void check_odd_bits(void) {
    const int64_t words = COLS / 64 + 1;
    ts_table table = bits_table();
    for (int round = 0; round < 2000; round++) {
        const bool odd = round % 2;
        ts_range r = random_range(ROWS), c = random_range(COLS), h = {1, 1};
        int64_t row = round % 3 ? r.first + below(r.last - r.first + 1) : 1 + below(ROWS);
        int64_t col = round % 3 ? c.first + below(c.last - c.first + 1) : 1 + below(COLS);
        if (round % 5 == 0) row = r.last, col = c.last;
        memset(dense, odd ? 0 : 0xff, sizeof dense);
        for (int64_t k = 0; k < ROWS; k++) dense[k * words + words - 1] &= ((uint64_t)1 << 60) - 1;
        dense[(row - 1) * words + (col - 1) / 64] ^= (uint64_t)1 << ((col - 1) % 64);
        bool held = row >= r.first && row <= r.last && col >= c.first && col <= c.last;
        bool lone = held && r.first == r.last && c.first == c.last, some, all;
        ts_table_index(&table, index_memory);
        ts_table_bits_range(&table, r, c, h, &some, &all);
        CHECK(odd ? some == held : lone ? !some : some);
        if (!(some && odd && !lone)) CHECK(all == (odd ? lone : !held));
    }
}

static void check_odd_numbers(void) {
    static double cells[70 * 90];
    ts_table table = {.kind = TS_TABLE_MATRIX, .matrix = ts_matrix_packed(TS_F64, 70, 90, cells)};
    for (int round = 0; round < 1000; round++) {
        ts_range r = random_range(70), c = random_range(90);
        int64_t row = r.first + below(r.last - r.first + 1);
        int64_t col = c.first + below(c.last - c.first + 1);
        if (round % 3 == 0) row = r.last, col = c.last;
        if (round % 3 == 1) row = 1 + below(70), col = 1 + below(90);
        double low, high;
        bool nan, held = row >= r.first && row <= r.last && col >= c.first && col <= c.last;
        cells[(row - 1) * 90 + col - 1] = 1;
        ts_table_index(&table, index_memory);
        ts_table_matrix_range(&table, r, c, &low, &high, &nan);
        CHECK(high == held && !nan);
        cells[(row - 1) * 90 + col - 1] = 0;
    }
}

/* The last block ends where the keys do: it is full if they are all allowed. */
static void check_ragged_block(void) {
    ts_program program = program_of_kind(0); /* j <= i */
    ts_mask mask = {ROWS, COLS, 0, &program};
    int32_t list[3];
    uint8_t cover[3];
    CHECK_INT(ts_mask_visit(&mask, 1, (ts_range){245, 300}, 1, 245, 100, 3, list, cover, scratch),
              3);
    CHECK_INT(cover[2], TS_FULL);
}

static void check_dense(void) {
    ts_table table = bits_table();
    if (ts_table_index_size(&table) > sizeof index_memory) abort();
    for (int round = 0; round < 500; round++) {
        ts_range r = random_range(ROWS), c = random_range(COLS), h = {1, 1};
        if (round % 2) {
            r.first = 71 + below(10), r.last = 131 + below(10); /* in a patch of one value */
            c.first = 131 + below(10), c.last = 251 + below(10);
        }
        bool some[2], all[2];
        table.index = NULL;
        ts_table_bits_range(&table, r, c, h, &some[0], &all[0]);
        ts_table_index(&table, index_memory);
        ts_table_bits_range(&table, r, c, h, &some[1], &all[1]);
        CHECK(some[0] == some[1] && (all[0] == all[1] || (some[0] && !all[0] == !all[1])));
    }
}

int main(void) {
    if (ts_kernel_select(getenv("TESSERA_ISA")) != TS_OK) return 1;
    fill_dense();
    for (int kind = 0; kind < KINDS; kind++) {
        ts_program program = program_of_kind(kind);
        ts_mask mask = {ROWS, COLS, 0, &program};
        if (ts_mask_scratch(&mask) > sizeof scratch) abort();
        check_mask(&mask);
    }
    check_exact_diagonals();
    check_stop();
    check_lists();
    check_matrices();
    check_dense();
    check_odd_bits();
    check_odd_numbers();
    check_ragged_block();
    return check_done();
}
