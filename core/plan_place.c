/* plan_place.c -- where the value of a node varies on a tile. */
#include "plan.h"

static bool is_decided(const ts_plan *plan, int32_t at) {
    const ts_interval *bound = &plan->bound[at];
    /* Floats that are equal may still be 0 and -0. */
    return ts_plan_node(plan, at)->type != TS_FLOAT && bound->low.i == bound->high.i;
}

static ts_place place_of(const ts_plan *plan, int32_t at) {
    const ts_node *node = ts_plan_node(plan, at);
    unsigned place = TS_POINT;
    if (node->op == TS_OP_i) return TS_ROW;
    if (node->op == TS_OP_j) return TS_COLUMN;
    for (int k = 0; k < ts_op_kinds[node->op].arity; k++)
        place |= plan->nodes[node->operand[k]].place; /* ROW with COLUMN is CELL */
    return place;
}

/* All scores are one node. */
static void place_score(ts_plan *plan, int32_t at) {
    if (plan->s == TS_NONE) plan->s = at;
    plan->nodes[at].alias = plan->s;
    plan->nodes[at].place = TS_CELL;
}

static void place_as(ts_plan *plan, int32_t at, int32_t operand) {
    ts_planned *p = &plan->nodes[at];
    p->alias = plan->nodes[operand].alias;
    p->place = plan->nodes[p->alias].place;
    if (p->place == TS_POINT) plan->value[at] = plan->value[p->alias];
}

/* A select whose condition is decided is one of its operands. */
static void place_choice(ts_plan *plan, int32_t at) {
    const ts_node *node = ts_plan_node(plan, at);
    place_as(plan, at, node->operand[plan->value[node->operand[0]].b ? 1 : 2]);
}

/* Which operand of a conjunction or disjunction is known; TS_NONE: neither. */
static int known_side(const ts_plan *plan, const ts_node *node) {
    if (node->op != TS_OP_band && node->op != TS_OP_bor) return TS_NONE;
    for (int k = 0; k < 2; k++)
        if (plan->nodes[node->operand[k]].place == TS_POINT) return k;
    return TS_NONE;
}

/* Where one side is known, so is the whole, or it is the other side. */
static void place_junction(ts_plan *plan, int32_t at, int known) {
    const ts_node *node = ts_plan_node(plan, at);
    const bool settles = plan->value[node->operand[known]].b == (node->op == TS_OP_bor);
    place_as(plan, at, node->operand[settles ? known : 1 - known]);
}

void ts_plan_place(ts_plan *plan, int32_t at) {
    const ts_node *node = ts_plan_node(plan, at);
    ts_planned *p = &plan->nodes[at];
    *p = (ts_planned){.alias = at, .last = TS_NONE, .slot = TS_NONE, .keys = {TS_NONE, TS_NONE}};
    if (node->op == TS_OP_s) {
        place_score(plan, at);
    } else if (is_decided(plan, at)) {
        plan->value[at] = plan->bound[at].low;
    } else if ((node->op == TS_OP_iselect || node->op == TS_OP_fselect ||
                node->op == TS_OP_bselect) &&
               plan->nodes[node->operand[0]].place == TS_POINT) {
        place_choice(plan, at);
    } else if (known_side(plan, node) != TS_NONE) {
        place_junction(plan, at, known_side(plan, node));
    } else {
        p->place = (uint8_t)place_of(plan, at);
        if (p->place == TS_POINT) plan->value[at] = ts_plan_evaluate(plan, node, plan->value);
    }
}
