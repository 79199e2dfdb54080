/* builder_node.c -- nodes asked for, as simple as what is known of their operands makes them. */
#include "builder.h"

#include "table.h"

static ts_node make(ts_op op, int32_t a, int32_t b, int32_t c) {
    ts_node node = {.op = (uint8_t)op,
                    .type = (uint8_t)ts_op_kinds[op].result,
                    .operand = {a, b, c},
                    .table = -1};
    return node;
}

static bool is(const ts_builder *builder, int32_t at, ts_op op) {
    return at >= 0 && builder->nodes[at].op == op;
}
static bool is_bool(const ts_builder *builder, int32_t at, bool value) {
    return is(builder, at, TS_OP_bconst) && (builder->nodes[at].constant.i != 0) == value;
}
static bool is_int(const ts_builder *builder, int32_t at, int64_t value) {
    return is(builder, at, TS_OP_iconst) && builder->nodes[at].constant.i == value;
}
static bool is_constant(const ts_builder *builder, int32_t at) {
    return is(builder, at, TS_OP_iconst) || is(builder, at, TS_OP_fconst) ||
           is(builder, at, TS_OP_bconst);
}
/* a is x < y and b is y <= x. */
static bool crossed(const ts_builder *builder, int32_t a, int32_t b) {
    return is(builder, a, TS_OP_ilt) && is(builder, b, TS_OP_ile) &&
           builder->nodes[a].operand[0] == builder->nodes[b].operand[1] &&
           builder->nodes[a].operand[1] == builder->nodes[b].operand[0];
}
/* One is `not` the other. */
static bool opposite(const ts_builder *builder, int32_t a, int32_t b) {
    return (is(builder, a, TS_OP_bnot) && builder->nodes[a].operand[0] == b) ||
           (is(builder, b, TS_OP_bnot) && builder->nodes[b].operand[0] == a) ||
           crossed(builder, a, b) || crossed(builder, b, a);
}
/* Whether x is an operand of node `at`, an `op`. */
static bool among(const ts_builder *builder, int32_t x, int32_t at, ts_op op) {
    return is(builder, at, op) &&
           (builder->nodes[at].operand[0] == x || builder->nodes[at].operand[1] == x);
}

static int32_t boolean(ts_builder *builder, bool value) {
    ts_node node = make(TS_OP_bconst, -1, -1, -1);
    node.constant.i = value;
    return ts_builder_intern(builder, &node);
}

int32_t ts_builder_int(ts_builder *builder, int64_t value) {
    ts_node node = make(TS_OP_iconst, -1, -1, -1);
    node.constant.i = value;
    return ts_builder_intern(builder, &node);
}

/* An operation on constants is the constant that it gives. False for others. */
static bool fold(ts_builder *builder, const ts_node *node, int32_t *folded) {
    int arity = ts_op_kinds[node->op].arity;
    ts_value values[3];
    ts_node on_values = *node;
    if (arity == 0) return false;
    for (int k = 0; k < arity; k++) {
        if (!is_constant(builder, node->operand[k])) return false;
        const ts_node *operand = &builder->nodes[node->operand[k]];
        if (operand->op == TS_OP_bconst)
            values[k].b = operand->constant.i != 0;
        else
            values[k].i = operand->constant.i; /* the bits of a float too */
        on_values.operand[k] = k;
    }
    ts_program tables = {.table_count = builder->table_count, .tables = builder->tables};
    ts_value value = ts_node_eval(&tables, &on_values, values);
    static const ts_op constants[] = {TS_OP_iconst, TS_OP_fconst, TS_OP_bconst};
    ts_node result = make(constants[node->type], -1, -1, -1);
    if (node->type == TS_BOOL)
        result.constant.i = value.b;
    else if (node->type == TS_INT)
        result.constant.i = value.i;
    else
        result.constant.f = value.f;
    *folded = ts_builder_intern(builder, &result);
    return true;
}

/* and, or: `unit` leaves the other operand, its opposite decides. */
static bool junction(ts_builder *builder, ts_op op, int32_t a, int32_t b, int32_t *simple) {
    bool unit = op == TS_OP_band;
    ts_op other = op == TS_OP_band ? TS_OP_bor : TS_OP_band;
    if (a == b || is_bool(builder, b, unit) || is_bool(builder, a, !unit) ||
        among(builder, b, a, op) || among(builder, a, b, other))
        return *simple = a, true; /* with a among b's `or`: a and (a or x) is a */
    if (is_bool(builder, a, unit) || is_bool(builder, b, !unit) || among(builder, a, b, op) ||
        among(builder, b, a, other))
        return *simple = b, true;
    if (opposite(builder, a, b)) return *simple = boolean(builder, !unit), true;
    return false;
}

static bool exclusive(ts_builder *builder, int32_t a, int32_t b, int32_t *simple) {
    if (a == b) return *simple = boolean(builder, false), true;
    if (opposite(builder, a, b)) return *simple = boolean(builder, true), true;
    if (is_bool(builder, a, false)) return *simple = b, true;
    if (is_bool(builder, b, false)) return *simple = a, true;
    if (is_bool(builder, a, true))
        return *simple = ts_builder_op(builder, TS_OP_bnot, b, -1, -1), true;
    if (is_bool(builder, b, true))
        return *simple = ts_builder_op(builder, TS_OP_bnot, a, -1, -1), true;
    return false;
}

static bool negation(ts_builder *builder, int32_t a, int32_t *simple) {
    const ts_node *node = &builder->nodes[a];
    if (node->op == TS_OP_bnot) return *simple = node->operand[0], true;
    if (node->op != TS_OP_ilt && node->op != TS_OP_ile) return false;
    ts_op flipped = node->op == TS_OP_ilt ? TS_OP_ile : TS_OP_ilt; /* integers only: NaN */
    *simple = ts_builder_op(builder, flipped, node->operand[1], node->operand[0], -1);
    return true;
}

static bool selection(ts_builder *builder, const ts_node *node, int32_t *simple) {
    int32_t c = node->operand[0], a = node->operand[1], b = node->operand[2];
    if (a == b || is_bool(builder, c, true)) return *simple = a, true;
    if (is_bool(builder, c, false)) return *simple = b, true;
    if (node->op != TS_OP_bselect) return false;
    if (is_bool(builder, a, true))
        return *simple = ts_builder_op(builder, TS_OP_bor, c, b, -1), true;
    if (is_bool(builder, b, false))
        return *simple = ts_builder_op(builder, TS_OP_band, c, a, -1), true;
    if (!is_bool(builder, a, false) && !is_bool(builder, b, true)) return false;
    ts_op op = is_bool(builder, a, false) ? TS_OP_band : TS_OP_bor;
    int32_t not_c = ts_builder_op(builder, TS_OP_bnot, c, -1, -1);
    return *simple = ts_builder_op(builder, op, not_c, op == TS_OP_band ? b : a, -1), true;
}

static bool arithmetic(ts_builder *builder, const ts_node *node, int32_t *simple) {
    int32_t a = node->operand[0], b = node->operand[1];
    switch (node->op) {
    case TS_OP_iadd:
        if (is_int(builder, a, 0)) return *simple = b, true;
        return is_int(builder, b, 0) ? (*simple = a, true) : false;
    case TS_OP_isub:
        if (a == b) return *simple = ts_builder_int(builder, 0), true;
        return is_int(builder, b, 0) ? (*simple = a, true) : false;
    case TS_OP_imul:
        if (is_int(builder, a, 1)) return *simple = b, true;
        return is_int(builder, b, 1) ? (*simple = a, true) : false;
    case TS_OP_ieq:
    case TS_OP_ile:
        return a == b ? (*simple = boolean(builder, true), true) : false;
    case TS_OP_ilt:
        return a == b ? (*simple = boolean(builder, false), true) : false;
    default:
        return false;
    }
}

static bool simplify(ts_builder *builder, const ts_node *node, int32_t *simple) {
    int32_t a = node->operand[0], b = node->operand[1];
    if (fold(builder, node, simple)) return true;
    switch (node->op) {
    case TS_OP_band:
    case TS_OP_bor:
        return junction(builder, node->op, a, b, simple);
    case TS_OP_bxor:
        return exclusive(builder, a, b, simple);
    case TS_OP_bnot:
        return negation(builder, a, simple);
    case TS_OP_iselect:
    case TS_OP_fselect:
    case TS_OP_bselect:
        return selection(builder, node, simple);
    default:
        return arithmetic(builder, node, simple);
    }
}

static bool commutes(ts_op op) {
    return op == TS_OP_iadd || op == TS_OP_imul || op == TS_OP_ieq || op == TS_OP_band ||
           op == TS_OP_bor || op == TS_OP_bxor || op == TS_OP_iand || op == TS_OP_ior ||
           op == TS_OP_ixor || op == TS_OP_imin || op == TS_OP_imax;
}

/* Of a op b and b op a the one that was there first stands for both. */
int32_t ts_builder_node(ts_builder *builder, ts_node node) {
    int32_t simple;
    if (simplify(builder, &node, &simple)) return simple;
    if (commutes(node.op)) {
        ts_node turned = node;
        turned.operand[0] = node.operand[1], turned.operand[1] = node.operand[0];
        int32_t there = ts_builder_find(builder, &turned);
        if (there >= 0) return there;
    }
    return ts_builder_intern(builder, &node);
}

int32_t ts_builder_op(ts_builder *builder, ts_op op, int32_t a, int32_t b, int32_t c) {
    return ts_builder_node(builder, make(op, a, b, c));
}

int32_t ts_builder_inline(ts_builder *builder, const ts_program *program, int32_t i, int32_t j,
                          int32_t h, int32_t *numbers) {
    for (int64_t at = 0; at < program->count; at++) {
        ts_node node = program->nodes[at];
        int32_t given = node.op == TS_OP_i   ? i
                        : node.op == TS_OP_j ? j
                        : node.op == TS_OP_h ? h
                                             : -1;
        for (int k = 0; k < ts_op_kinds[node.op].arity; k++)
            node.operand[k] = numbers[node.operand[k]];
        if (node.table >= 0) node.table = ts_builder_table(builder, &program->tables[node.table]);
        numbers[at] = given >= 0 ? given : ts_builder_node(builder, node);
    }
    return numbers[program->count - 1];
}
