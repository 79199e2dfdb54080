/* instruction_limit.c -- lanes of integers against a float of the row. */
#include "instruction.h"

#include "arith.h"

/* The comparison of x with f as one with a whole number: f itself, or f rounded so that the answer
 * stays the same. False, with *all, where every x gets that answer. */
static bool whole_limit(ts_op op, double f, int64_t *limit, bool *all) {
    const bool up = op == TS_OP_iflt || op == TS_OP_file;
    const double rounded = up ? ceil(f) : floor(f);
    if (op == TS_OP_ifeq && !ts_fits(f)) return *all = false, false;
    if (!ts_in_range(rounded)) {
        *all = op == TS_OP_iflt || op == TS_OP_ifle ? f > 0 : f < 0;
        return false;
    }
    *limit = (int64_t)rounded;
    return true;
}

/* Beyond the lanes' range every x is on one side. */
static bool lane_limit(const ts_plan *plan, ts_op op, int64_t limit, bool *all) {
    if (plan->wide || (limit >= INT32_MIN && limit <= INT32_MAX)) return true;
    *all = op != TS_OP_ifeq && (op == TS_OP_iflt || op == TS_OP_ifle) == (limit > 0);
    return false;
}

static void run_limit(ts_plan *plan, ts_instruction *in) {
    const ts_node *node = ts_plan_node(plan, in->node);
    const int k = ts_float_operand(node->op);
    int64_t limit;
    bool all;
    if (!whole_limit(node->op, plan->value[node->operand[k]].f, &limit, &all) ||
        !lane_limit(plan, node->op, limit, &all)) {
        ts_fill_words(plan, all, in->out);
        return;
    }
    in->splat[k] = ts_splat_whole(plan, limit);
    in->loop(plan->n, in->operand, in->out);
}

void ts_make_limit(ts_plan *plan, ts_instruction *in) {
    const ts_node *node = ts_plan_node(plan, in->node);
    const int k = ts_float_operand(node->op);
    ts_op op = node->op == TS_OP_ifeq                             ? TS_OP_ieq
               : node->op == TS_OP_iflt || node->op == TS_OP_filt ? TS_OP_ilt
                                                                  : TS_OP_ile;
    in->run = run_limit;
    in->loop = plan->loops->op[op][plan->wide][plan->dtype];
    ts_operand_node(plan, in, 1 - k, node->operand[1 - k]);
    ts_operand_splat(in, k, TS_NONE);
}
