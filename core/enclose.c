/* enclose.c -- score programs in interval arithmetic: each node's interval holds its exact value
 * and what the engine may compute, for every score in the interval it began with. */
#include "enclose.h"

#include "arith.h"
#include "enclose_math.h"
#include "table.h"

/* Where a program is run. Of floats `range` is known; of integers and booleans, which depend on the
 * score only through questions about floats, the value, unless such a question is open. */
typedef struct {
    const ts_program *program;
    ts_value *value;
    ts_enclosure *range;
    bool *open;
    ts_rounding rounding;
} state;

size_t ts_enclose_scratch(const ts_program *program) {
    return (size_t)program->count * (sizeof(ts_value) + sizeof(ts_enclosure) + sizeof(bool));
}

/* ---- floats ---- */

static ts_enclosure float_node(const state *w, const ts_node *node) {
    int32_t a = node->operand[0], b = node->operand[1], c = node->operand[2];
    switch ((ts_op)node->op) {
    case TS_OP_fconst:
        return ts_enclose_number(&w->rounding, node->constant.f);
    case TS_OP_ftable:
    case TS_OP_matrix:
        if (w->open[a] || (b >= 0 && w->open[b])) return ts_nowhere;
        return ts_enclose_number(&w->rounding, ts_node_eval(w->program, node, w->value).f);
    case TS_OP_ffrom:
        if (w->open[a]) return ts_nowhere;
        return ts_enclose_integer(&w->rounding, w->value[a].i);
    case TS_OP_fselect: /* the exact and the computed score may take different sides */
        if (w->open[a]) return ts_hull(w->range[b], w->range[c]);
        return w->value[a].b ? w->range[b] : w->range[c];
    default: {
        ts_enclosure x = w->range[a];
        return ts_enclose_op(&w->rounding, (ts_op)node->op, x, b >= 0 ? w->range[b] : x);
    }
    }
}

/* ---- questions about floats ---- */

static ts_enclosure as_range(const state *w, int32_t node) {
    if (w->program->nodes[node].type == TS_FLOAT) return w->range[node];
    if (w->open[node]) return ts_nowhere;
    double x = (double)w->value[node].i;
    return (ts_enclosure){x - 0x1p-52 * fabs(x), x + 0x1p-52 * fabs(x)};
}

/* Answers x < y, x <= y or x == y, unless it is open. */
static bool ask(ts_enclosure x, ts_enclosure y, bool less, bool equal, bool *open) {
    if (less && !equal) { /* x < y */
        *open = !(x.high < y.low || x.low >= y.high);
        return x.high < y.low;
    }
    if (less) { /* x <= y */
        *open = !(x.high <= y.low || x.low > y.high);
        return x.high <= y.low;
    }
    bool apart = x.high < y.low || y.high < x.low;
    *open = !apart && !(ts_is_point(x) && ts_is_point(y));
    return !apart;
}

/* The node's answer where it asks about floats; false where it does not. */
static bool question(state *w, int64_t at) {
    const ts_node *node = &w->program->nodes[at];
    ts_enclosure x = as_range(w, node->operand[0]);
    ts_enclosure y = node->operand[1] >= 0 ? as_range(w, node->operand[1]) : x;
    switch ((ts_op)node->op) {
    case TS_OP_feq:
    case TS_OP_ifeq:
        w->value[at].b = ask(x, y, false, true, &w->open[at]);
        return true;
    case TS_OP_flt:
    case TS_OP_iflt:
    case TS_OP_filt:
        w->value[at].b = ask(x, y, true, false, &w->open[at]);
        return true;
    case TS_OP_fle:
    case TS_OP_ifle:
    case TS_OP_file:
        w->value[at].b = ask(x, y, true, true, &w->open[at]);
        return true;
    case TS_OP_fits:
        w->open[at] = !ts_is_point(x);
        w->value[at].b = ts_fits(x.low);
        return true;
    case TS_OP_ifrom:
        w->open[at] = !ts_is_point(x);
        w->value[at].i = ts_ifrom(x.low);
        return true;
    default:
        return false;
    }
}

/* ---- integers and booleans ---- */

static bool is_known(const state *w, int32_t node, bool value) {
    return !w->open[node] && w->value[node].b == value;
}

/* An open operand does not matter where the other one decides. */
static bool decided(state *w, int64_t at) {
    const ts_node *node = &w->program->nodes[at];
    int32_t a = node->operand[0], b = node->operand[1], c = node->operand[2];
    if (node->op == TS_OP_band && (is_known(w, a, false) || is_known(w, b, false)))
        w->value[at].b = false;
    else if (node->op == TS_OP_bor && (is_known(w, a, true) || is_known(w, b, true)))
        w->value[at].b = true;
    else if ((node->op == TS_OP_iselect || node->op == TS_OP_bselect) && !w->open[a] &&
             !w->open[w->value[a].b ? b : c])
        w->value[at] = w->value[w->value[a].b ? b : c];
    else
        return false;
    return true;
}

static void plain_node(state *w, int64_t at) {
    const ts_node *node = &w->program->nodes[at];
    int arity = ts_op_kinds[node->op].arity;
    if (arity > 0 && question(w, at)) return;
    w->open[at] = false;
    for (int k = 0; k < arity; k++) w->open[at] |= w->open[node->operand[k]];
    if (w->open[at])
        w->open[at] = !decided(w, at);
    else
        w->value[at] = ts_node_eval(w->program, node, w->value);
}

static void run(state *w, int64_t h, int64_t i, int64_t j, ts_enclosure s) {
    for (int64_t at = 0; at < w->program->count; at++) {
        const ts_node *node = &w->program->nodes[at];
        w->open[at] = false;
        switch (node->op) {
        case TS_OP_i:
            w->value[at].i = i;
            break;
        case TS_OP_j:
            w->value[at].i = j;
            break;
        case TS_OP_h:
            w->value[at].i = h;
            break;
        case TS_OP_s:
            w->range[at] = s;
            break;
        default:
            if (node->type == TS_FLOAT)
                w->range[at] = float_node(w, node);
            else
                plain_node(w, at);
        }
    }
}

bool ts_program_enclose(const ts_program *program, ts_dtype dtype, int64_t h, int64_t i, int64_t j,
                        double *low, double *high, void *scratch) {
    static const ts_rounding roundings[] = {
        [TS_F32] = {0x1p-24, 0x1p-149, true}, [TS_F64] = {0x1p-53, 0x1p-1074, false}};
    state w = {.program = program, .value = scratch, .rounding = roundings[dtype]};
    w.range = (ts_enclosure *)(w.value + program->count);
    w.open = (bool *)(w.range + program->count);
    run(&w, h, i, j, (ts_enclosure){*low, *high});
    ts_enclosure result = w.range[program->count - 1];
    if (!ts_is_finite(result)) return false;
    *low = result.low, *high = result.high;
    return true;
}
