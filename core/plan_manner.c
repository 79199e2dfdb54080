/* plan_manner.c -- how the lanes of a node are made on a tile. */
#include "plan.h"

const ts_form *ts_linear_in_j(const ts_plan *plan, int32_t at) {
    const ts_form *form = plan->program.forms ? &plan->program.forms[at] : NULL;
    return form && form->linear && form->cj != 0 ? form : NULL;
}

int64_t ts_form_of_row(const ts_plan *plan, const ts_form *form) {
    return form->ci * plan->row + form->ch * plan->tile.h.first + form->c;
}

/* Remainders and quotients of sums are those of the parts and a carry, for divisors like these. */
static bool divides(const ts_plan *plan, const ts_node *node) {
    const int32_t divisor = node->operand[1];
    return ts_linear_in_j(plan, node->operand[0]) && plan->nodes[divisor].place == TS_POINT &&
           plan->value[divisor].i >= 1 && plan->value[divisor].i <= 1 << 30;
}

int ts_matched(const ts_plan *plan, const ts_node *node) {
    for (int k = 0; k < 2; k++) {
        int32_t x = node->operand[k], y = node->operand[1 - k];
        const ts_node *remainder = ts_plan_node(plan, x);
        if (remainder->op == TS_OP_imod && ts_has_lanes(plan, x) && !ts_has_lanes(plan, y) &&
            divides(plan, remainder))
            return k;
    }
    return TS_NONE;
}

/* Whole numbers below 2^23, or 2^52, are floats, and so are their sums and differences. */
static bool makes_ramp(const ts_plan *plan, const ts_node *node) {
    const int64_t most = (int64_t)1 << (plan->dtype == TS_F32 ? 23 : 52);
    const ts_interval *bound = &plan->bound[node->operand[0]];
    return ts_linear_in_j(plan, node->operand[0]) && bound->low.i > -most && bound->high.i < most;
}

static bool is_row_of_bits(const ts_plan *plan, const ts_node *node) {
    const ts_form *key = ts_linear_in_j(plan, node->operand[1]);
    return key && key->cj == 1 && !ts_has_lanes(plan, node->operand[0]) &&
           !ts_has_lanes(plan, node->operand[2]);
}

int ts_float_operand(ts_op op) { return op == TS_OP_filt || op == TS_OP_file ? 0 : 1; }

ts_manner ts_plan_manner(const ts_plan *plan, int32_t at) {
    const ts_node *node = ts_plan_node(plan, at);
    switch (node->op) {
    case TS_OP_ieq:
        if (ts_linear_in_j(plan, at)) return TS_RANGE;
        return ts_matched(plan, node) != TS_NONE ? TS_MATCH : TS_PLAIN;
    case TS_OP_ilt:
    case TS_OP_ile:
        return ts_linear_in_j(plan, at) ? TS_RANGE : TS_PLAIN;
    case TS_OP_imod:
        return divides(plan, node) ? TS_REMAINDER : TS_PLAIN;
    case TS_OP_idiv:
        return divides(plan, node) ? TS_QUOTIENT : TS_PLAIN;
    case TS_OP_ffrom:
        return makes_ramp(plan, node) ? TS_RAMP : TS_PLAIN;
    case TS_OP_ifeq:
    case TS_OP_iflt:
    case TS_OP_ifle:
    case TS_OP_filt:
    case TS_OP_file:
        return ts_has_lanes(plan, node->operand[ts_float_operand(node->op)]) ? TS_PLAIN : TS_LIMIT;
    case TS_OP_bits:
        return is_row_of_bits(plan, node) ? TS_BITS : TS_PLAIN;
    case TS_OP_itable:
    case TS_OP_ftable:
        return TS_LOOKUP;
    case TS_OP_matrix:
        return ts_has_lanes(plan, node->operand[0]) ? TS_PLAIN : TS_LOOKUP;
    default:
        return TS_PLAIN;
    }
}
