/* interval.c -- bounds of the nodes of a program on a tile. */
#include "interval.h"

#include "interval_math.h"
#include "sizes.h"
#include "table.h"

/* ---- look-ups ---- */

/* The part of a that lies in first .. last; *outside: whether there is another part. */
static ts_range clipped(ts_interval a, int64_t first, int64_t last, bool *outside) {
    *outside = *outside || a.low.i < first || a.high.i > last;
    return (ts_range){ts_most(a.low.i, first), ts_least(a.high.i, last)};
}

static ts_interval bound_itable(const ts_table *table, ts_interval a) {
    bool outside = false;
    ts_range k = clipped(a, table->first, table->first + table->count - 1, &outside);
    if (k.first > k.last) return ts_ints(0, 0);
    int64_t low, high;
    ts_table_int_range(table, k.first, k.last, &low, &high);
    return outside ? ts_ints(ts_least(low, 0), ts_most(high, 0)) : ts_ints(low, high);
}

static ts_interval numbers(double low, double high, bool nan, bool outside) {
    if (outside) low = low < 0 ? low : 0, high = high > 0 ? high : 0;
    return low > high ? ts_any_float() : ts_floats(low, high, nan);
}

static ts_interval bound_ftable(const ts_table *table, ts_interval a) {
    bool outside = false, nan;
    ts_range k = clipped(a, table->first, table->first + table->count - 1, &outside);
    if (k.first > k.last) return ts_floats(0, 0, false);
    double low, high;
    ts_table_float_range(table, k.first, k.last, &low, &high, &nan);
    return numbers(low, high, nan, outside);
}

static ts_interval bound_btable(const ts_table *table, ts_interval a) {
    bool outside = false, some, all;
    ts_range k = clipped(a, table->first, table->first + table->count - 1, &outside);
    if (k.first > k.last) return ts_bools(false, false);
    ts_table_bool_range(table, k.first, k.last, &some, &all);
    return ts_bools(all && !outside, some);
}

static ts_interval bound_matrix(const ts_table *table, ts_interval a, ts_interval b) {
    bool outside = false, nan;
    ts_range rows = clipped(a, 1, table->matrix.rows, &outside);
    ts_range cols = clipped(b, 1, table->matrix.cols, &outside);
    if (rows.first > rows.last || cols.first > cols.last) return ts_floats(0, 0, false);
    double low, high;
    ts_table_matrix_range(table, rows, cols, &low, &high, &nan);
    return numbers(low, high, nan, outside);
}

static ts_interval bound_bits(const ts_table *table, ts_interval a, ts_interval b, ts_interval c) {
    bool outside = false, some, all;
    ts_range rows = clipped(a, 1, table->rows, &outside);
    ts_range cols = clipped(b, 1, table->cols, &outside);
    ts_range heads = clipped(c, 1, table->heads, &outside);
    if (rows.first > rows.last || cols.first > cols.last || heads.first > heads.last)
        return ts_bools(false, false);
    ts_table_bits_range(table, rows, cols, heads, &some, &all);
    return ts_bools(all && !outside, some);
}

/* ---- nodes ---- */

static ts_interval fconst(double x) {
    if (isnan(x)) return ts_any_float();
    ts_interval r = ts_floats(x, x, false);
    r.whole = floor(x) == x;
    return r;
}

bool ts_cells_have_forms(const ts_cells *tile) {
    return tile->i.first > -TS_INDEX_LIMIT && tile->i.last < TS_INDEX_LIMIT &&
           tile->j.first > -TS_INDEX_LIMIT && tile->j.last < TS_INDEX_LIMIT &&
           tile->h.first > -TS_INDEX_LIMIT && tile->h.last < TS_INDEX_LIMIT;
}

static int64_t least_term(int64_t factor, ts_range x) {
    return factor * (factor < 0 ? x.last : x.first);
}

/* Integers, or booleans as 0 and 1. Written word by word, not as a struct: descents spend their
 * time here, and a struct is put together on the stack and copied, which waits for its own stores.
 */
static void set(ts_interval *out, int64_t low, int64_t high) {
    out->low.i = low, out->high.i = high;
    out->nan = 0, out->whole = 1;
}

/* A linear form keeps what an interval loses, that i in one operand is the i in the other: i - j <
 * w is decided exactly. */
static void bound_linear(ts_op op, const ts_form *form, const ts_cells *tile, ts_interval *out) {
    const int64_t low = form->c + least_term(form->ci, tile->i) + least_term(form->cj, tile->j) +
                        least_term(form->ch, tile->h);
    const int64_t high = form->c - least_term(-form->ci, tile->i) - least_term(-form->cj, tile->j) -
                         least_term(-form->ch, tile->h);
    switch (op) {
    case TS_OP_ieq:
        set(out, low == 0 && high == 0, low <= 0 && high >= 0);
        break;
    case TS_OP_ilt:
        set(out, high < 0, low < 0);
        break;
    case TS_OP_ile:
        set(out, high <= 0, low <= 0);
        break;
    default:
        set(out, low, high);
    }
}

static void bound_logic(ts_op op, const ts_interval *a, const ts_interval *b, ts_interval *out) {
    switch (op) {
    case TS_OP_band:
        set(out, a->low.b & b->low.b, a->high.b & b->high.b);
        break;
    case TS_OP_bor:
        set(out, a->low.b | b->low.b, a->high.b | b->high.b);
        break;
    default:
        set(out, !a->high.b, !a->low.b); /* bnot */
    }
}

#define A intervals[node->operand[0]]
#define B intervals[node->operand[1]]
#define C intervals[node->operand[2]]

static ts_interval from_operands(const ts_program *program, const ts_node *node,
                                 const ts_cells *tile, const ts_interval *intervals) {
    const ts_table *table = node->table < 0 ? NULL : &program->tables[node->table];
    switch ((ts_op)node->op) {
    case TS_OP_iconst:
        return ts_ints(node->constant.i, node->constant.i);
    case TS_OP_fconst:
        return fconst(node->constant.f);
    case TS_OP_bconst:
        return ts_bools(node->constant.i != 0, node->constant.i != 0);
    case TS_OP_i:
        return ts_ints(tile->i.first, tile->i.last);
    case TS_OP_j:
        return ts_ints(tile->j.first, tile->j.last);
    case TS_OP_h:
        return ts_ints(tile->h.first, tile->h.last);
    case TS_OP_s:
        return ts_any_float();
    case TS_OP_itable:
        return bound_itable(table, A);
    case TS_OP_ftable:
        return bound_ftable(table, A);
    case TS_OP_btable:
        return bound_btable(table, A);
    case TS_OP_matrix:
        return bound_matrix(table, A, B);
    case TS_OP_bits:
        return bound_bits(table, A, B, C);
    default:
        return ts_interval_of(node, intervals);
    }
}

static bool is_logic(ts_op op) { return op == TS_OP_band || op == TS_OP_bor || op == TS_OP_bnot; }

static void bound_node(const ts_program *program, int64_t at, const ts_cells *tile, bool use_forms,
                       ts_interval *intervals) {
    const ts_node *node = &program->nodes[at];
    if (use_forms && program->forms[at].linear)
        bound_linear(node->op, &program->forms[at], tile, &intervals[at]);
    else if (is_logic(node->op))
        bound_logic(node->op, &A, node->op == TS_OP_bnot ? NULL : &B, &intervals[at]);
    else if (tile->any_float && node->type == TS_FLOAT)
        intervals[at] = ts_any_float();
    else
        intervals[at] = from_operands(program, node, tile, intervals);
}

void ts_program_bounds(const ts_program *program, const ts_cells *tile, ts_interval *intervals) {
    const bool use_forms = program->forms && ts_cells_have_forms(tile);
    for (int64_t at = 0; at < program->count; at++)
        bound_node(program, at, tile, use_forms, intervals);
}

const ts_interval *ts_program_bound(const ts_program *program, const ts_cells *tile,
                                    ts_interval *intervals) {
    const bool use_forms = program->forms && ts_cells_have_forms(tile);
    for (int64_t at = 0; at < program->count; at++)
        if (!use_forms || program->forms[at].needed)
            bound_node(program, at, tile, use_forms, intervals);
    return &intervals[program->count - 1];
}
