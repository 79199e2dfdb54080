/* program.c -- libFuzzer on programs: any list of nodes is refused or runs, the same on every path.
 */
#include "../../core/builder.h"
#include "../../core/enclose.h"
#include "../../core/interval.h"
#include "../../core/kernel/kernel.h"
#include "../../core/lanes.h"
#include "../../core/table.h"
#include "bytes.h"

#include <math.h>

enum { MOST = 48, TABLE = 24, ROWS = 8, WORDS = TS_LANES / 64, CELLS = 40 };

/* ---- tables ---- */

static int64_t table_ints[TABLE];
static double table_floats[TABLE], numbers[6 * 7];
static uint8_t table_bools[TABLE];
static uint64_t bit_words[2 * 20 * 2];
static ts_table tables[5];

static void read_tables(bytes *in) {
    for (int k = 0; k < TABLE; k++) {
        table_ints[k] = bytes_number(in);
        table_floats[k] = bytes_below(in, 4) ? (double)bytes_number(in) / 4 : bytes_double(in);
        table_bools[k] = (uint8_t)bytes_below(in, 2);
    }
    for (int k = 0; k < 6 * 7; k++) numbers[k] = bytes_below(in, 8) ? k % 5 : bytes_double(in);
    for (int k = 0; k < 2 * 20; k++) {
        bit_words[2 * k] = (uint64_t)bytes_number(in);
        bit_words[2 * k + 1] = (uint64_t)bytes_one(in) & 0x3f; /* 70 columns */
    }
    int64_t first = bytes_number(in) / 2;
    tables[0] =
        (ts_table){.kind = TS_TABLE_INTS, .first = first, .count = TABLE, .ints = table_ints};
    tables[1] =
        (ts_table){.kind = TS_TABLE_FLOATS, .first = 1, .count = TABLE, .floats = table_floats};
    tables[2] =
        (ts_table){.kind = TS_TABLE_BOOLS, .first = -3, .count = TABLE, .bools = table_bools};
    tables[3] = (ts_table){.kind = TS_TABLE_MATRIX, .matrix = {TS_F64, 6, 7, 7, 1, numbers}};
    tables[4] = (ts_table){
        .kind = TS_TABLE_BITS, .rows = 20, .cols = 70, .heads = 2, .words = 2, .bits = bit_words};
    static _Alignas(64) char memory[5][1 << 14];
    for (int t = 0; t < 5; t++) {
        if (bytes_below(in, 2) == 0) continue;
        FUZZ_CHECK(ts_table_index_size(&tables[t]) <= sizeof memory[t]);
        ts_table_index(&tables[t], memory[t]);
    }
}

/* ---- programs ---- */

/* An earlier node of this type, or now and then any number at all. */
static int32_t read_operand(bytes *in, const ts_node *nodes, int64_t count, char type) {
    int64_t from = bytes_one(in);
    if (from == 255) return (int32_t)bytes_number(in);
    for (int64_t n = 0; n < count; n++) {
        int64_t at = (from + n) % count;
        if ("ifb"[nodes[at].type] == type) return (int32_t)at;
    }
    return -1;
}

static ts_node read_node(bytes *in, const ts_node *nodes, int64_t count, bool score) {
    ts_op op = (ts_op)(bytes_one(in) % (TS_OP_COUNT + (bytes_one(in) == 255)));
    if (op == TS_OP_s && !score) op = TS_OP_i; /* masks have no s; the binding refuses it */
    const ts_op_kind *kind = &ts_op_kinds[op < TS_OP_COUNT ? op : 0];
    ts_node node = {
        .op = (uint8_t)op, .type = (uint8_t)kind->result, .operand = {-1, -1, -1}, .table = -1};
    for (int k = 0; k < kind->arity; k++)
        node.operand[k] = read_operand(in, nodes, count, kind->operands[k]);
    if (op == TS_OP_iconst) node.constant.i = bytes_number(in);
    if (op == TS_OP_fconst)
        node.constant.f = bytes_below(in, 3) ? (double)bytes_number(in) / 4 : bytes_double(in);
    if (op == TS_OP_bconst) node.constant.i = bytes_below(in, 2);
    if (op >= TS_OP_itable && op <= TS_OP_bits)
        node.table = bytes_below(in, 16) ? (int32_t)(op - TS_OP_itable) : (int32_t)bytes_number(in);
    return node;
}

static ts_program read_program(bytes *in, ts_node *nodes, ts_form *forms, bool score) {
    int64_t count = 0, wanted = 4 + bytes_below(in, MOST - 4);
    const ts_op given[] = {TS_OP_i, TS_OP_j, TS_OP_h, score ? TS_OP_s : TS_OP_fconst};
    for (; count < 4; count++)
        nodes[count] = (ts_node){.op = (uint8_t)given[count],
                                 .type = count < 3 ? TS_INT : TS_FLOAT,
                                 .operand = {-1, -1, -1},
                                 .table = -1};
    for (; count < wanted; count++) nodes[count] = read_node(in, nodes, count, score);
    return (ts_program){count, 5, nodes, tables, forms};
}

/* ---- what must hold ---- */

static _Alignas(64) char scratch[1 << 21];
static ts_interval intervals[MOST];
static ts_value values[MOST], others[2 * MOST + 8];

static bool same(ts_type type, ts_value a, ts_value b) {
    if (type == TS_INT) return a.i == b.i;
    if (type == TS_BOOL) return a.b == b.b;
    return (isnan(a.f) && isnan(b.f)) || (a.f == b.f && signbit(a.f) == signbit(b.f));
}

static bool holds(const ts_node *node, const ts_interval *bound, ts_value x) {
    if (node->type == TS_INT) return bound->low.i <= x.i && x.i <= bound->high.i;
    if (node->type == TS_BOOL) return bound->low.b <= x.b && x.b <= bound->high.b;
    if (isnan(x.f)) return bound->nan;
    return bound->low.f <= x.f && x.f <= bound->high.f && (!bound->whole || floor(x.f) == x.f);
}

static ts_cells read_tile(bytes *in) {
    int64_t far = bytes_below(in, 4) ? 0 : (int64_t)1 << bytes_below(in, 40);
    ts_cells tile = {.i = {1 + bytes_one(in) + far, 0}, .j = {1 + bytes_one(in) + far / 2, 0}};
    tile.i.last = tile.i.first + bytes_below(in, ROWS);
    tile.j.last = tile.j.first + bytes_below(in, TS_LANES);
    tile.h.first = tile.h.last = 1 + bytes_below(in, 2);
    return tile;
}

typedef struct {
    int64_t row, key;
} cell;
static cell read_cell(bytes *in, const ts_cells *tile) {
    return (cell){bytes_one(in) % (tile->i.last - tile->i.first + 1),
                  bytes_one(in) % (tile->j.last - tile->j.first + 1)};
}

/* Every node of every cell lies in its bound. */
static void check_bounds(bytes *in, const ts_program *p, const ts_cells *tile) {
    ts_interval result = *ts_program_bound(p, tile, intervals);
    ts_program_bounds(p, tile, intervals);
    FUZZ_CHECK(memcmp(&result, &intervals[p->count - 1], sizeof result) == 0);
    for (int n = 0; n < CELLS; n++) {
        cell c = read_cell(in, tile);
        ts_program_eval(p, 0, tile->i.first + c.row, tile->j.first + c.key, tile->h.first, values);
        for (int64_t at = 0; at < p->count; at++)
            FUZZ_CHECK(holds(&p->nodes[at], &intervals[at], values[at]));
    }
}

/* Every bit of the tile is what its cell alone gives. */
static void check_mask(const ts_program *p, const ts_cells *tile) {
    uint64_t bits[ROWS * WORDS];
    FUZZ_CHECK(ts_lanes_scratch(p) <= sizeof scratch);
    ts_lanes_mask(p, tile->h.first, tile->i, tile->j, bits, WORDS, scratch);
    for (int64_t i = tile->i.first; i <= tile->i.last; i++)
        for (int64_t j = tile->j.first; j <= tile->j.last; j++) {
            int64_t k = j - tile->j.first;
            bool got = bits[(i - tile->i.first) * WORDS + k / 64] >> (k % 64) & 1;
            FUZZ_CHECK(got == ts_program_eval(p, 0, i, j, tile->h.first, values).b);
        }
}

/* A score in a tile is that of one cell, in either dtype. */
static void check_score(bytes *in, const ts_program *p, const ts_cells *tile) {
    static double wide[ROWS * TS_LANES];
    static float narrow[ROWS * TS_LANES];
    FUZZ_CHECK(ts_program_scratch(p) <= sizeof scratch);
    double s = bytes_below(in, 2) ? (double)bytes_number(in) / 8 : bytes_double(in);
    for (int n = 0; n < ROWS * TS_LANES; n++) wide[n] = s, narrow[n] = (float)s;
    ts_program_score(p, TS_F64, tile->h.first, tile->i, tile->j, wide, TS_LANES, scratch);
    ts_program_score(p, TS_F32, tile->h.first, tile->i, tile->j, narrow, TS_LANES, scratch);
    for (int n = 0; n < CELLS; n++) {
        cell c = read_cell(in, tile);
        int64_t i = tile->i.first + c.row, j = tile->j.first + c.key;
        ts_value one = {.f = s}, got = {.f = wide[c.row * TS_LANES + c.key]};
        ts_program_score_f64(p, tile->h.first, i, j, 1, &one.f, scratch);
        FUZZ_CHECK(same(TS_FLOAT, one, got));
        float alone = (float)s;
        ts_program_score_f32(p, tile->h.first, i, j, 1, &alone, scratch);
        one.f = alone, got.f = narrow[c.row * TS_LANES + c.key];
        FUZZ_CHECK(same(TS_FLOAT, one, got));
    }
}

/* Put through the builder, a program means what it did. */
static void check_builder(bytes *in, const ts_program *p, const ts_cells *tile) {
    static _Alignas(64) char memory[1 << 18];
    int32_t room[4 * MOST];
    FUZZ_CHECK(ts_builder_size(p->count, 5) <= sizeof memory);
    ts_builder builder;
    ts_builder_open(&builder, memory, p->count, 5);
    int32_t result = ts_builder_inline(&builder, p, -1, -1, -1, room);
    ts_builder_finish(&builder, result, room);
    ts_program simple = {builder.count, builder.table_count, builder.nodes, builder.tables, NULL};
    ts_detail detail;
    FUZZ_CHECK(ts_program_check(&simple, &detail) == TS_OK);
    for (int n = 0; n < CELLS; n++) {
        cell c = read_cell(in, tile);
        int64_t i = tile->i.first + c.row, j = tile->j.first + c.key;
        double s = (double)bytes_number(in) / 8;
        FUZZ_CHECK(same((ts_type)p->nodes[p->count - 1].type,
                        ts_program_eval(p, s, i, j, tile->h.first, values),
                        ts_program_eval(&simple, s, i, j, tile->h.first, others)));
    }
}

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerInitialize(int *argc, char ***argv) {
    (void)argc, (void)argv;
    return ts_kernel_select(getenv("TESSERA_ISA")) == TS_OK ? 0 : -1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static ts_node nodes[MOST];
    static ts_form forms[MOST];
    bytes in = {data, size};
    bool score = bytes_below(&in, 3) == 0;
    ts_program p = read_program(&in, nodes, forms, score);
    ts_cells tile = read_tile(&in);
    read_tables(&in);
    ts_detail detail;
    if (ts_program_check(&p, &detail) != TS_OK) {
        FUZZ_CHECK(detail.key >= 1 && detail.key <= p.count);
        return 0;
    }
    ts_program_forms(nodes, p.count, forms);
    const int type = nodes[p.count - 1].type;
    if (!score) check_bounds(&in, &p, &tile);
    if (!score && type == TS_BOOL) check_mask(&p, &tile);
    if (score && type == TS_FLOAT) check_score(&in, &p, &tile);
    check_builder(&in, &p, &tile);
    return 0;
}
