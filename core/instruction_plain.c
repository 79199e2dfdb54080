/* instruction_plain.c -- a node's own operation, on single numbers or on lanes. */
#include "instruction.h"

#include "arith.h"
#include "table.h"

/* ---- single numbers ---- */

static bool is_function(ts_op op) {
    return (op >= TS_OP_fexp && op <= TS_OP_ftanh) || op == TS_OP_fpow;
}

/* A function of a score by its loop, so that the bits are those that it gives in lanes. */
static ts_value evaluate_in_lanes(const ts_plan *plan, const ts_node *node,
                                  const ts_value *values) {
    ts_splat many[2][64], out[64];
    ts_lane operand[2] = {{many[0], false}, {many[1], false}};
    for (int k = 0; k < ts_op_kinds[node->op].arity; k++)
        for (int lane = 0; lane < 64; lane++)
            ts_set_lane(plan, TS_FLOAT, many[k], lane, values[node->operand[k]]);
    plan->loops->op[node->op][0][plan->dtype](64, operand, out);
    return (ts_value){.f = plan->dtype == TS_F32 ? (double)out[0].f32 : out[0].f64};
}

ts_value ts_plan_evaluate(const ts_plan *plan, const ts_node *node, const ts_value *values) {
    if (plan->score && is_function(node->op)) return evaluate_in_lanes(plan, node, values);
    if (node->op == TS_OP_h) return (ts_value){.i = plan->tile.h.first};
    return ts_node_score(&plan->program, node, plan->dtype, values);
}

/* ---- lanes ---- */

static ts_value get_lane(const ts_plan *plan, ts_type type, const ts_lane *lane, int64_t k) {
    if (type == TS_INT) return (ts_value){.i = ts_int_lane(plan, lane, k)};
    k = lane->splat ? 0 : k;
    if (type == TS_BOOL)
        return (ts_value){.b = ((const uint64_t *)lane->at)[k / 64] >> (k % 64) & 1};
    return (ts_value){.f = plan->dtype == TS_F32 ? (double)((const float *)lane->at)[k]
                                                 : ((const double *)lane->at)[k]};
}

static void run_loop(ts_plan *plan, ts_instruction *in) {
    ts_instruction_refresh(plan, in);
    in->loop(plan->n, in->operand, ts_instruction_out(plan, in));
}

/* Lane by lane, by the operation on single numbers; lanes behind the last key become 0. */
static void run_each(ts_plan *plan, ts_instruction *in) {
    const ts_node *node = ts_plan_node(plan, in->node);
    ts_node on_values = *node;
    ts_value values[3];
    void *out = ts_instruction_out(plan, in);
    ts_instruction_refresh(plan, in);
    for (int k = 0; k < in->operands; k++) on_values.operand[k] = k;
    if (node->type == TS_BOOL) memset(out, 0, (size_t)plan->n / 8);
    for (int64_t lane = 0; lane < plan->keys; lane++) {
        for (int k = 0; k < in->operands; k++)
            values[k] =
                get_lane(plan, ts_plan_node(plan, node->operand[k])->type, &in->operand[k], lane);
        ts_set_lane(plan, node->type, out, lane, ts_plan_evaluate(plan, &on_values, values));
    }
    for (int64_t lane = plan->keys; lane < plan->n && node->type != TS_BOOL; lane++)
        ts_set_lane(plan, node->type, out, lane, (ts_value){.i = 0});
}

static void run_keys(ts_plan *plan, ts_instruction *in) {
    ts_fill_steps(plan, TS_INT, plan->tile.j.first, 1, in->out);
}

/* A power of 2 is a product, in masks too. */
static bool is_square(const ts_plan *plan, const ts_node *node) {
    return node->op == TS_OP_fpow && plan->nodes[node->operand[1]].place == TS_POINT &&
           plan->value[node->operand[1]].f == 2;
}

/* Conversion by the processor does for whole numbers that fit. */
static bool converts(const ts_plan *plan, const ts_node *node) {
    const ts_interval *bound = &plan->bound[node->operand[0]];
    return bound->whole && !bound->nan && ts_in_range(bound->low.f) && ts_in_range(bound->high.f);
}

static ts_lane_op *loop_for(const ts_plan *plan, const ts_node *node) {
    if (!plan->score && is_function(node->op) && !is_square(plan, node)) return NULL;
    if (node->op == TS_OP_ifrom && !converts(plan, node)) return NULL;
    return plan->loops->op[node->op][plan->wide][plan->dtype];
}

/* x % 2^n is x & (2^n - 1), for negative x too. */
static bool is_mask(const ts_plan *plan, const ts_node *node) {
    if (node->op != TS_OP_imod || plan->nodes[node->operand[1]].place != TS_POINT) return false;
    const int64_t divisor = plan->value[node->operand[1]].i;
    return divisor > 0 && (divisor & (divisor - 1)) == 0;
}

void ts_make_plain(ts_plan *plan, ts_instruction *in) {
    const ts_node *node = ts_plan_node(plan, in->node);
    in->operands = ts_op_kinds[node->op].arity;
    in->loop = loop_for(plan, node);
    in->run = node->op == TS_OP_j ? run_keys : in->loop ? run_loop : run_each;
    for (int k = 0; k < in->operands; k++) ts_operand_node(plan, in, k, node->operand[k]);
    if (!is_mask(plan, node)) return;
    in->loop = plan->loops->op[TS_OP_iand][plan->wide][plan->dtype];
    in->run = run_loop;
    ts_operand_splat(in, 1, TS_NONE);
    in->splat[1] = ts_splat_whole(plan, plan->value[node->operand[1]].i - 1);
}
