/* program.c -- random programs: bounds hold what is computed, lanes compute what single numbers do,
 * and simplified programs mean what they did. */
#include "builder.h"
#include "check.h"
#include "interval.h"
#include "kernel/kernel.h"
#include "lanes.h"
#include "mask.h"
#include "table.h"

#include <stdlib.h>

/* ---- random programs ---- */

static uint64_t state;
static uint64_t draw(void) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return state >> 33;
}
static int64_t below(int64_t n) { return (int64_t)(draw() % (uint64_t)n); }

static const int64_t ints[] = {0,          1,          -1,        2,        -2,   3,       5,
                               7,          8,          -8,        13,       64,   -64,     100,
                               255,        1000,       512,       4096,     1024, 1000003, 1 << 30,
                               -(1 << 30), 4294967296, INT64_MAX, INT64_MIN};
static const double floats[] = {0.0, -0.0, 0.5, 1,  -1,   2,     -2,       3,         0.25, 1.5,
                                7,   10,   16,  64, 1e-3, 1e300, INFINITY, -INFINITY, NAN,  5e-324};
enum { INTS = sizeof ints / sizeof *ints, FLOATS = sizeof floats / sizeof *floats };

enum { MOST = 40, TABLE = 40 };
static int64_t table_ints[TABLE];
static double table_floats[TABLE];
static uint8_t table_bools[TABLE];
static double matrix_numbers[12 * 20];
static uint64_t bit_words[2 * 50 * 2];
static ts_table tables[5];
static char index_memory[5][1 << 14];

static void make_tables(void) {
    for (int k = 0; k < TABLE; k++) {
        table_ints[k] = below(4) ? k / 3 : ints[below(INTS)];
        table_floats[k] = below(4) ? k / 4.0 : floats[below(FLOATS)];
        table_bools[k] = (uint8_t)(k / 7 % 2);
    }
    for (int k = 0; k < 12 * 20; k++) matrix_numbers[k] = k % 31 ? k % 5 : NAN;
    for (int k = 0; k < 2 * 50; k++) {
        bit_words[2 * k] = k % 3 ? ~(uint64_t)0 << (k % 64) : draw() << 31 ^ draw();
        bit_words[2 * k + 1] = k % 5 ? 0x3f : 0;
    }
    tables[0] = (ts_table){.kind = TS_TABLE_INTS, .first = -3, .count = TABLE, .ints = table_ints};
    tables[1] =
        (ts_table){.kind = TS_TABLE_FLOATS, .first = 1, .count = TABLE, .floats = table_floats};
    tables[2] =
        (ts_table){.kind = TS_TABLE_BOOLS, .first = 0, .count = TABLE, .bools = table_bools};
    tables[3] = (ts_table){.kind = TS_TABLE_MATRIX,
                           .matrix = ts_matrix_packed(TS_F64, 12, 20, matrix_numbers)};
    tables[4] = (ts_table){
        .kind = TS_TABLE_BITS, .rows = 50, .cols = 70, .heads = 2, .words = 2, .bits = bit_words};
    for (int t = 0; t < 5 && below(2); t++) {
        if (ts_table_index_size(&tables[t]) > sizeof index_memory[t]) abort();
        ts_table_index(&tables[t], index_memory[t]);
    }
}

static ts_type type_of(char letter) {
    return letter == 'i' ? TS_INT : letter == 'f' ? TS_FLOAT : TS_BOOL;
}

/* A node of this type before `count`, mostly a late one; NONE where there is none. */
static int32_t pick(const ts_node *nodes, int64_t count, ts_type type) {
    for (int tries = 0; tries < 20; tries++) {
        int64_t at = below(2) ? below(count) : count - 1 - below(count < 4 ? count : 4);
        if (nodes[at].type == type) return (int32_t)at;
    }
    return -1;
}

static bool random_node(ts_node *nodes, int64_t count, bool score, ts_node *node) {
    static const int table_of[] = {[TS_OP_itable] = 0,
                                   [TS_OP_ftable] = 1,
                                   [TS_OP_btable] = 2,
                                   [TS_OP_matrix] = 3,
                                   [TS_OP_bits] = 4};
    ts_op op = (ts_op)below(TS_OP_COUNT);
    if (op == TS_OP_s && !score) return false;
    const ts_op_kind *kind = &ts_op_kinds[op];
    *node = (ts_node){.op = (uint8_t)op,
                      .type = (uint8_t)kind->result,
                      .operand = {-1, -1, -1},
                      .table = op >= TS_OP_itable ? table_of[op] : -1};
    for (int k = 0; k < kind->arity; k++) {
        node->operand[k] = pick(nodes, count, type_of(kind->operands[k]));
        if (node->operand[k] < 0) return false;
    }
    if (op == TS_OP_iconst) node->constant.i = ints[below(INTS)];
    if (op == TS_OP_fconst) node->constant.f = floats[below(FLOATS)];
    if (op == TS_OP_bconst) node->constant.i = below(2);
    return true;
}

static ts_form forms[MOST];

/* A program of this result type; small whole constants and i, j are there from the start. */
static ts_program random_program(ts_node *nodes, ts_type result, bool score) {
    int64_t count = 0;
    for (; count < 3; count++)
        nodes[count] = (ts_node){
            .op = (uint8_t)(TS_OP_i + count), .type = TS_INT, .operand = {-1, -1, -1}, .table = -1};
    if (score)
        nodes[count++] =
            (ts_node){.op = TS_OP_s, .type = TS_FLOAT, .operand = {-1, -1, -1}, .table = -1};
    int64_t wanted = 5 + below(MOST - 6);
    while (count < wanted || nodes[count - 1].type != result) {
        if (count == MOST) count = score ? 4 : 3;
        count += random_node(nodes, count, score, &nodes[count]);
    }
    ts_program_forms(nodes, count, forms);
    return (ts_program){count, 5, nodes, tables, forms};
}

/* ---- what is checked ---- */

static char scratch[1 << 20];
static ts_interval intervals[MOST];
static ts_value values[MOST];

static bool inside(const ts_node *node, const ts_interval *bound, ts_value x) {
    if (node->type == TS_INT) return bound->low.i <= x.i && x.i <= bound->high.i;
    if (node->type == TS_BOOL) return bound->low.b <= x.b && x.b <= bound->high.b;
    if (isnan(x.f)) return bound->nan;
    return bound->low.f <= x.f && x.f <= bound->high.f && (!bound->whole || floor(x.f) == x.f);
}

static void random_tile(ts_range *i, ts_range *j) {
    int64_t rows = 1 + below(below(2) ? 4 : 60), keys = 1 + below(below(2) ? 8 : TS_LANES);
    i->first = 1 + below(below(2) ? 20 : 2000);
    j->first = 1 + below(below(2) ? 20 : 2000);
    i->last = i->first + rows - 1, j->last = j->first + keys - 1;
}

/* Each node of each cell lies in the bound of that node. */
static void check_bounds(uint64_t seed) {
    ts_node nodes[MOST];
    ts_cells tile = {.h = {1 + below(2), 0}};
    ts_program program = random_program(nodes, (ts_type)below(3), false);
    random_tile(&tile.i, &tile.j);
    tile.h.last = tile.h.first;
    ts_interval result = *ts_program_bound(&program, &tile, intervals);
    ts_program_bounds(&program, &tile, intervals);
    CHECK(memcmp(&result, &intervals[program.count - 1], sizeof result) == 0);
    bool held = true;
    for (int64_t n = 0; n < 300 && held; n++) {
        int64_t i = tile.i.first + below(tile.i.last - tile.i.first + 1);
        int64_t j = tile.j.first + below(tile.j.last - tile.j.first + 1);
        ts_program_eval(&program, 0, i, j, tile.h.first, values);
        for (int64_t at = 0; at < program.count && held; at++) {
            held = inside(&nodes[at], &intervals[at], values[at]);
            if (!held)
                printf("seed %" PRIu64 ": %s at (%" PRId64 ", %" PRId64 ") is outside its bound\n",
                       seed, ts_op_kinds[nodes[at].op].name, i, j);
        }
    }
    CHECK(held);
}

/* Every bit of a tile is what the cell alone gives. */
static void check_mask_lanes(uint64_t seed) {
    ts_node nodes[MOST];
    ts_program program = random_program(nodes, TS_BOOL, false);
    ts_range i, j;
    enum { WORDS = TS_LANES / 64 };
    uint64_t bits[64 * WORDS];
    int64_t h = 1 + below(2);
    random_tile(&i, &j);
    if (ts_lanes_scratch(&program) > sizeof scratch) abort();
    ts_lanes_mask(&program, h, i, j, bits, WORDS, scratch);
    bool same = true;
    for (int64_t r = i.first; r <= i.last && same; r++)
        for (int64_t k = 0; k < (j.last - j.first + 64) / 64 * 64 && same; k++) {
            bool want =
                j.first + k <= j.last && ts_program_eval(&program, 0, r, j.first + k, h, values).b;
            same = (bits[(r - i.first) * WORDS + k / 64] >> (k % 64) & 1) == want;
            if (!same)
                printf("seed %" PRIu64 ": cell (%" PRId64 ", %" PRId64 ") should be %d\n", seed, r,
                       j.first + k, want);
        }
    CHECK(same);
}

static bool uses_libm(const ts_program *program) {
    for (int64_t at = 0; at < program->count; at++) {
        ts_op op = program->nodes[at].op;
        if ((op >= TS_OP_fexp && op <= TS_OP_ftanh) || op == TS_OP_fpow) return true;
    }
    return false;
}

static bool same_bits(double a, double b) {
    return (isnan(a) && isnan(b)) || (a == b && signbit(a) == signbit(b));
}

static const double scores[] = {0.0, 1.5, -2.25, 1e-3, 100, -0.0, 3, -1e30, 7, 0.1};

/* Without functions scores in lanes are those of single numbers, bit for bit; with them, those of a
 * tile of one cell. */
static void check_score_lanes(uint64_t seed) {
    ts_node nodes[MOST];
    ts_program program = random_program(nodes, TS_FLOAT, true);
    ts_range i, j;
    double tile[60 * TS_LANES], one;
    int64_t h = 1 + below(2), keys;
    random_tile(&i, &j);
    keys = j.last - j.first + 1;
    for (int64_t k = 0; k < 60 * TS_LANES; k++) tile[k] = scores[k % 10];
    ts_program_score(&program, TS_F64, h, i, j, tile, TS_LANES, scratch);
    bool same = true, functions = uses_libm(&program);
    for (int64_t n = 0; n < 300 && same; n++) {
        int64_t r = below(i.last - i.first + 1), k = below(keys), at = r * TS_LANES + k;
        one = scores[at % 10];
        if (functions)
            ts_program_score_f64(&program, h, i.first + r, j.first + k, 1, &one, scratch);
        else
            one = ts_program_eval(&program, one, i.first + r, j.first + k, h, values).f;
        same = same_bits(one, tile[at]);
        if (!same)
            printf("seed %" PRIu64 ": score (%" PRId64 ", %" PRId64 ") is %a, not %a\n", seed,
                   i.first + r, j.first + k, tile[at], one);
    }
    for (int64_t k = keys; k < TS_LANES && same; k++) same = tile[k] == scores[k % 10];
    CHECK(same);
}

static double program_f32(const ts_program *program, float s, int64_t i, int64_t j, int64_t h) {
    ts_program_score_f32(program, h, i, j, 1, &s, scratch);
    return s;
}

/* A score of f32 in a tile is that of one cell. */
static void check_narrow_scores(uint64_t seed) {
    ts_node nodes[MOST];
    ts_program program = random_program(nodes, TS_FLOAT, true);
    ts_range i, j;
    float tile[60 * TS_LANES];
    random_tile(&i, &j);
    for (int64_t k = 0; k < 60 * TS_LANES; k++) tile[k] = (float)scores[k % 10];
    ts_program_score(&program, TS_F32, 1, i, j, tile, TS_LANES, scratch);
    bool same = true;
    for (int64_t n = 0; n < 100 && same; n++) {
        int64_t r = below(i.last - i.first + 1), k = below(j.last - j.first + 1);
        int64_t at = r * TS_LANES + k;
        double want = program_f32(&program, (float)scores[at % 10], i.first + r, j.first + k, 1);
        same = same_bits(want, tile[at]);
        if (!same)
            printf("seed %" PRIu64 ": f32 score (%" PRId64 ", %" PRId64 ") is %a, not %a\n", seed,
                   i.first + r, j.first + k, tile[at], want);
    }
    CHECK(same);
}

/* A program put through the builder gives the same result in every cell. */
static void check_builder(uint64_t seed) {
    static char memory[1 << 20];
    ts_node nodes[MOST];
    int32_t numbers[4 * MOST];
    ts_builder builder;
    ts_program program = random_program(nodes, (ts_type)below(3), true);
    ts_builder_open(&builder, memory, program.count, 5);
    int32_t result = ts_builder_inline(&builder, &program, -1, -1, -1, numbers);
    ts_builder_finish(&builder, result, numbers);
    ts_program simple = {builder.count, builder.table_count, builder.nodes, builder.tables, NULL};
    ts_detail detail;
    CHECK(ts_program_check(&simple, &detail) == TS_OK);
    bool same = true;
    for (int n = 0; n < 200 && same; n++) {
        int64_t i = 1 + below(100), j = 1 + below(100), h = 1 + below(2);
        double s = scores[below(10)];
        ts_value want = ts_program_eval(&program, s, i, j, h, values);
        ts_value got = ts_program_eval(&simple, s, i, j, h, values);
        ts_type type = nodes[program.count - 1].type;
        same = type == TS_INT    ? got.i == want.i
               : type == TS_BOOL ? got.b == want.b
                                 : same_bits(got.f, want.f);
    }
    if (!same) printf("seed %" PRIu64 ": simplified differs\n", seed);
    CHECK(same);
}

/* ---- what random programs seldom hit ---- */

static ts_node list[32];
static int64_t listed;

static int32_t node(ts_op op, int32_t a, int32_t b, int32_t c) {
    list[listed] = (ts_node){.op = (uint8_t)op,
                             .type = (uint8_t)ts_op_kinds[op].result,
                             .operand = {a, b, c},
                             .table = -1};
    return (int32_t)listed++;
}
static int32_t whole(int64_t x) {
    int32_t at = node(TS_OP_iconst, -1, -1, -1);
    list[at].constant.i = x;
    return at;
}
static int32_t real(double x) {
    int32_t at = node(TS_OP_fconst, -1, -1, -1);
    list[at].constant.f = x;
    return at;
}

/* The tile's bits, and its bound, against its cells. */
static void check_listed(const char *what, int64_t x, double y) {
    ts_cells tile = {.i = {41, 47}, .j = {30, 170}, .h = {1, 1}};
    ts_program_forms(list, listed, forms);
    ts_program program = {listed, 0, list, NULL, forms};
    uint64_t bits[7 * 4];
    bool right = true;
    int64_t count = 0;
    ts_lanes_mask(&program, 1, tile.i, tile.j, bits, 4, scratch);
    for (int64_t i = tile.i.first; i <= tile.i.last; i++)
        for (int64_t j = tile.j.first; j <= tile.j.last; j++) {
            bool want = ts_program_eval(&program, 0, i, j, 1, values).b;
            int64_t r = i - tile.i.first, k = j - tile.j.first;
            right = right && (bits[4 * r + k / 64] >> (k % 64) & 1) == want;
            count += want;
        }
    const ts_interval *bound = ts_program_bound(&program, &tile, intervals);
    right = right && (bound->low.b ? count == 7 * 141 : true) && (bound->high.b || count == 0);
    if (!right) printf("%s with %" PRId64 " and %g\n", what, x, y);
    CHECK(right);
    listed = 0;
}

/* i, j, i - j, |i - j| and products that are not narrow, as nodes from 2 on. */
static int32_t some_integer(int kind) {
    int32_t i = node(TS_OP_i, -1, -1, -1), j = node(TS_OP_j, -1, -1, -1);
    int32_t d = node(TS_OP_isub, i, j, -1);
    switch (kind) {
    case 0:
        return j;
    case 1:
        return d;
    case 2:
        return node(TS_OP_iabs, d, -1, -1);
    case 3:
        return node(TS_OP_imul, i, j, -1);
    case 4:
        return node(TS_OP_imul, d, whole(1 << 26), -1);
    default:
        return node(TS_OP_imul, node(TS_OP_iabs, d, -1, -1), whole(1 << 26), -1);
    }
}

static void check_mixed_comparisons(void) {
    static const double limits[] = {-2.5, -2,      0.5,   3,      7.25,         60,
                                    60.5, 1e4,     1e300, -1e300, 2147483648.0, -2147483649.5,
                                    6e9,  -6e9,    0.0,   -0.0,   INFINITY,     -INFINITY,
                                    NAN,  67108864};
    for (int op = TS_OP_ifeq; op <= TS_OP_file; op++)
        for (int kind = 0; kind < 6; kind++)
            for (size_t n = 0; n < sizeof limits / sizeof *limits; n++) {
                int32_t x = some_integer(kind), y = real(limits[n]);
                bool first = op == TS_OP_filt || op == TS_OP_file;
                if (n % 3 == 0) { /* varies with the query */
                    int32_t row = node(TS_OP_isub, 0, whole(44), -1);
                    y = node(TS_OP_fmul, node(TS_OP_ffrom, row, -1, -1), y, -1);
                }
                node((ts_op)op, first ? y : x, first ? x : y, -1);
                check_listed(ts_op_kinds[op].name, kind, limits[n]);
            }
}

static void check_divisions(void) {
    static const int64_t divisors[] = {
        1, 2, 3, 5, 7, 8, 16, 63, 64, 65, 100, 1 << 20, -1, -3, -8, 0, (int64_t)1 << 33};
    for (int op = TS_OP_idiv; op <= TS_OP_icmod; op++)
        for (int kind = 0; kind < 6; kind++)
            for (size_t n = 0; n < sizeof divisors / sizeof *divisors; n++)
                for (int64_t want = -1; want <= 4; want++) {
                    int32_t x = some_integer(kind);
                    int32_t part = node((ts_op)op, x, whole(divisors[n]), -1);
                    node(want % 2 ? TS_OP_ieq : TS_OP_ile, part, whole(want), -1);
                    check_listed(ts_op_kinds[op].name, kind, (double)divisors[n]);
                }
}

/* Where adding to j wraps there is no linear form. */
static void check_wrapping(void) {
    static const int64_t far[] = {INT64_MAX,        INT64_MIN,        INT64_MAX - 100,
                                  (int64_t)1 << 60, (int64_t)1 << 62, -((int64_t)1 << 62),
                                  INT64_MIN + 50};
    for (int op = TS_OP_ieq; op <= TS_OP_ile; op++)
        for (size_t n = 0; n < sizeof far / sizeof *far; n++)
            for (size_t m = 0; m < sizeof far / sizeof *far; m++) {
                int32_t sum = node(TS_OP_iadd, some_integer(0), whole(far[n]), -1);
                node((ts_op)op, sum, m == 0 ? whole(5) : whole(far[m]), -1);
                check_listed("sum", far[n], (double)far[m]);
            }
}

/* What f64 would decide on this tile is not so in f32: 3 * 0.1 <= 0.3. */
static void check_decided_in_f32(void) {
    int32_t j = node(TS_OP_j, -1, -1, -1);
    int32_t tenth = node(TS_OP_fmul, node(TS_OP_ffrom, j, -1, -1), real(0.1), -1);
    int32_t below = node(TS_OP_fle, tenth, real(0.3), -1);
    node(TS_OP_fselect, below, real(1), real(2));
    ts_program_forms(list, listed, forms);
    ts_program program = {listed, 0, list, NULL, forms};
    float s = 0;
    double wide = 0;
    ts_program_score_f32(&program, 1, 1, 3, 1, &s, scratch);
    ts_program_score_f64(&program, 1, 1, 3, 1, &wide, scratch);
    CHECK_NUMBER(s, 3 * 0.1f <= 0.3f ? 1 : 2);
    CHECK_NUMBER(wide, 2);
    listed = 0;
}

/* Whole numbers beyond 2^24 round once, from the number itself. */
static void check_large_ramps(void) {
    int32_t i = node(TS_OP_i, -1, -1, -1), j = node(TS_OP_j, -1, -1, -1);
    int32_t far = node(TS_OP_imul, i, whole(123457), -1);
    node(TS_OP_ffrom, node(TS_OP_iadd, far, node(TS_OP_imul, j, whole(-77), -1), -1), -1, -1);
    ts_program_forms(list, listed, forms);
    ts_program program = {listed, 0, list, NULL, forms};
    float s[128];
    ts_program_score_f32(&program, 1, 400, 5, 128, s, scratch);
    bool right = true;
    for (int64_t k = 0; k < 128; k++) right = right && s[k] == (float)(400 * 123457 - 77 * (5 + k));
    CHECK(right);
    listed = 0;
}

/* Every assignment of three booleans through random formulas. */
static void check_logic(uint64_t seed) {
    static const ts_op ops[] = {TS_OP_band, TS_OP_bor, TS_OP_bxor, TS_OP_bnot, TS_OP_bselect};
    static char memory[1 << 16];
    int32_t numbers[128];
    ts_builder builder;
    listed = 0;
    int32_t three[3] = {node(TS_OP_i, -1, -1, -1), node(TS_OP_j, -1, -1, -1),
                        node(TS_OP_h, -1, -1, -1)};
    int32_t two = whole(2), first = (int32_t)listed;
    for (int k = 0; k < 3; k++) node(TS_OP_ilt, three[k], two, -1);
    if (seed % 3 == 0) node(TS_OP_bconst, -1, -1, -1);
    for (int n = 0; n < 12; n++) {
        int32_t operand[3];
        ts_op op = ops[below(5)];
        for (int k = 0; k < 3; k++) operand[k] = first + (int32_t)below(listed - first);
        for (int k = ts_op_kinds[op].arity; k < 3; k++) operand[k] = -1;
        node(op, operand[0], operand[1], operand[2]);
    }
    ts_program program = {listed, 0, list, NULL, NULL};
    ts_builder_open(&builder, memory, listed, 0);
    int32_t result = ts_builder_inline(&builder, &program, -1, -1, -1, numbers);
    ts_builder_finish(&builder, result, numbers);
    ts_program simple = {builder.count, 0, builder.nodes, NULL, NULL};
    bool same = true;
    for (int64_t n = 0; n < 8; n++) {
        bool want =
            ts_program_eval(&program, 0, 1 + (n & 1), 1 + (n >> 1 & 1), 1 + (n >> 2), values).b;
        same =
            same &&
            want ==
                ts_program_eval(&simple, 0, 1 + (n & 1), 1 + (n >> 1 & 1), 1 + (n >> 2), values).b;
    }
    if (!same) printf("seed %" PRIu64 ": formulas differ\n", seed);
    CHECK(same);
    listed = 0;
}

/* A program too long for lanes is evaluated cell by cell, to the same end. */
static void check_long_programs(void) {
    enum { LONG = TS_LANES_MOST_NODES + 10 };
    static ts_node nodes[LONG];
    static ts_value room[LONG];
    static char work[LONG * 64];
    for (int32_t at = 0; at < LONG; at++)
        nodes[at] = (ts_node){
            .op = TS_OP_ixor, .type = TS_INT, .operand = {at - 1, at % 2, -1}, .table = -1};
    nodes[0].op = TS_OP_i, nodes[1].op = TS_OP_j;
    for (int32_t at = 2; at < LONG; at += 3) nodes[at].op = TS_OP_iadd;
    nodes[LONG - 1].op = TS_OP_ilt, nodes[LONG - 1].type = TS_BOOL;
    ts_program program = {.count = LONG, .nodes = nodes};
    ts_mask mask = {50, 90, 0, &program};
    uint64_t bits[20 * 2];
    ts_detail detail;
    CHECK_INT(ts_program_check(&program, &detail), TS_OK);
    CHECK(!ts_lanes_ready(&program));
    if (ts_mask_scratch(&mask) > sizeof work) abort();
    ts_mask_tile(&mask, 1, (ts_range){11, 30}, (ts_range){5, 80}, bits, 2, work);
    bool same = true;
    for (int64_t r = 0; r < 20; r++)
        for (int64_t k = 0; k < 76; k++)
            same = same && (int64_t)(bits[2 * r + k / 64] >> (k % 64) & 1) ==
                               ts_program_eval(&program, 0, 11 + r, 5 + k, 1, room).b;
    CHECK(same);
}

/* A row of a matrix that lies outside of it gives 0, however far. */
static void check_far_rows(void) {
    static const int64_t rows[] = {INT64_MIN, INT64_MIN + 1, -1, 0, 1, 12, 13, INT64_MAX};
    ts_table table = {.kind = TS_TABLE_MATRIX,
                      .matrix = ts_matrix_packed(TS_F64, 12, 20, matrix_numbers)};
    for (int k = 0; k < 12 * 20; k++) matrix_numbers[k] = 1 + k;
    for (size_t n = 0; n < sizeof rows / sizeof *rows; n++) {
        ts_node nodes[] = {
            {.op = TS_OP_iconst, .type = TS_INT, .operand = {-1, -1, -1}, .table = -1},
            {.op = TS_OP_j, .type = TS_INT, .operand = {-1, -1, -1}, .table = -1},
            {.op = TS_OP_matrix, .type = TS_FLOAT, .operand = {0, 1, -1}, .table = 0}};
        nodes[0].constant.i = rows[n];
        ts_program_forms(nodes, 3, forms);
        const ts_program program = {3, 1, nodes, &table, forms};
        double tile[TS_LANES];
        ts_program_score(&program, TS_F64, 1, (ts_range){1, 1}, (ts_range){1, 21}, tile, TS_LANES,
                         scratch);
        const bool is_row = rows[n] >= 1 && rows[n] <= 12;
        bool same = true;
        for (int k = 0; k < 21; k++)
            same = same && tile[k] == (is_row && k < 20 ? (double)(20 * (rows[n] - 1) + k + 1) : 0);
        CHECK(same);
    }
}

static void check_malformed(void) {
    ts_detail detail;
    ts_node nodes[2] = {{.op = TS_OP_i, .type = TS_INT, .operand = {-1, -1, -1}, .table = -1},
                        {.op = TS_OP_ineg, .type = TS_INT, .operand = {0, -1, -1}, .table = -1}};
    ts_program program = {.count = 2, .nodes = nodes};
    CHECK_INT(ts_program_check(&program, &detail), TS_OK);
    nodes[1].operand[0] = 1;
    CHECK_INT(ts_program_check(&program, &detail), TS_MALFORMED);
    CHECK_INT(detail.key, 2);
    nodes[1].operand[0] = 0, nodes[1].type = TS_BOOL;
    CHECK_INT(ts_program_check(&program, &detail), TS_MALFORMED);
    nodes[1].type = TS_INT, nodes[1].op = TS_OP_bnot;
    CHECK_INT(ts_program_check(&program, &detail), TS_MALFORMED);
    nodes[1].op = TS_OP_COUNT;
    CHECK_INT(ts_program_check(&program, &detail), TS_MALFORMED);
    nodes[1].op = TS_OP_itable, nodes[1].table = 0;
    CHECK_INT(ts_program_check(&program, &detail), TS_MALFORMED);
    program.count = 0;
    CHECK_INT(ts_program_check(&program, &detail), TS_MALFORMED);
}

/* Runs f on `count` seeds. */
static void each_seed(void (*f)(uint64_t seed), uint64_t first, uint64_t count) {
    for (uint64_t seed = first; seed < first + count; seed++) {
        state = seed * 0x9e3779b97f4a7c15u;
        draw();
        make_tables();
        f(seed);
    }
}

int main(int argc, char **argv) {
    uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    uint64_t count = argc > 2 ? strtoull(argv[2], NULL, 10) : 500;
    if (ts_kernel_select(getenv("TESSERA_ISA")) != TS_OK) return 1;
    check_malformed();
    check_far_rows();
    check_long_programs();
    check_mixed_comparisons();
    check_divisions();
    check_wrapping();
    check_decided_in_f32();
    check_large_ramps();
    each_seed(check_bounds, first, 4 * count);
    each_seed(check_builder, first, 2 * count);
    each_seed(check_logic, first, 4 * count);
    each_seed(check_mask_lanes, first, 4 * count);
    each_seed(check_score_lanes, first, 2 * count);
    each_seed(check_narrow_scores, first, count);
    return check_done();
}
