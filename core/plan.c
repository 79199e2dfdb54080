/* plan.c -- what a program comes to on one tile: the nodes that it needs, each with a place for its
 * lanes. */
#include "plan.h"

#include "kernel/kernel.h"

/* ---- work space ---- */

/* Not a multiple of a page, or all slots would lie in the same places of the first cache. */
enum { SLOT = TS_LANES * 8 + 64 };

static int64_t slots_of(const ts_program *program) {
    int64_t slots = program->count + 1;
    for (int64_t at = 0; at < program->count; at++) {
        ts_op op = program->nodes[at].op;
        if (op == TS_OP_imod || op == TS_OP_idiv || op == TS_OP_ffrom) slots += 2;
    }
    return slots;
}

size_t ts_plan_scratch(const ts_program *program) {
    const size_t count = (size_t)program->count, slots = (size_t)slots_of(program);
    const size_t node = sizeof(ts_interval) + sizeof(ts_value) + sizeof(ts_planned) +
                        sizeof(ts_instruction) + sizeof(int32_t);
    return 64 + slots * (SLOT + sizeof(int32_t)) + count * node;
}

static void place_scratch(ts_plan *plan, void *scratch) {
    const int64_t count = plan->program.count;
    plan->memory = (char *)(((uintptr_t)scratch + 63) / 64 * 64);
    plan->bound = (ts_interval *)(plan->memory + slots_of(&plan->program) * SLOT);
    plan->value = (ts_value *)(plan->bound + count);
    plan->code = (ts_instruction *)(plan->value + count);
    plan->nodes = (ts_planned *)(plan->code + count);
    plan->rows = (int32_t *)(plan->nodes + count);
    plan->free = plan->rows + count;
}

void *ts_plan_slot(const ts_plan *plan, int32_t slot) {
    return plan->memory + (int64_t)slot * SLOT;
}

static int32_t new_slot(ts_plan *plan) {
    if (plan->free_count > 0) return plan->free[--plan->free_count];
    return (int32_t)plan->slots++;
}

/* ---- what is needed ---- */

static void need(ts_plan *plan, int32_t operand) { plan->nodes[operand].needed = true; }

static void need_operands(ts_plan *plan, int32_t at) {
    const ts_node *node = ts_plan_node(plan, at);
    ts_planned *p = &plan->nodes[at];
    switch (p->manner) {
    case TS_RANGE:
        break;
    case TS_REMAINDER:
    case TS_QUOTIENT:
    case TS_RAMP:
        p->keyed = true;
        break;
    case TS_MATCH:
        plan->nodes[node->operand[ts_matched(plan, node)]].keyed = true;
        need(plan, node->operand[1 - ts_matched(plan, node)]);
        break;
    case TS_BITS:
        need(plan, node->operand[0]);
        need(plan, node->operand[2]);
        break;
    default:
        for (int k = 0; k < ts_op_kinds[node->op].arity; k++) need(plan, node->operand[k]);
    }
}

/* From the result back. */
static void mark_needed(ts_plan *plan) {
    need(plan, (int32_t)plan->program.count - 1);
    for (int32_t at = (int32_t)plan->program.count - 1; at >= 0; at--) {
        ts_planned *p = &plan->nodes[at];
        if (!p->needed || p->place == TS_POINT) continue;
        if (p->alias != at) {
            need(plan, p->alias);
            continue;
        }
        p->manner = (uint8_t)(ts_has_lanes(plan, at) ? ts_plan_manner(plan, at) : TS_PLAIN);
        need_operands(plan, at);
    }
}

static void list_rows(ts_plan *plan) {
    for (int32_t at = 0; at < plan->program.count; at++)
        if (plan->nodes[at].needed && plan->nodes[at].place == TS_ROW)
            plan->rows[plan->row_count++] = at;
}

/* Whether the plan makes lanes of this node itself. */
static bool is_made(const ts_plan *plan, int32_t at) {
    const ts_planned *p = &plan->nodes[at];
    return p->needed && p->place >= TS_COLUMN && p->alias == at;
}

/* Whether it uses the lanes of its operands. */
static bool uses_lanes(const ts_plan *plan, int32_t at) {
    const ts_manner manner = plan->nodes[at].manner;
    return manner == TS_PLAIN || manner == TS_LIMIT || manner == TS_LOOKUP;
}

/* ---- how wide integers are ---- */

static bool fits_narrow(const ts_plan *plan, int32_t at) {
    return ts_plan_node(plan, at)->type != TS_INT ||
           (plan->bound[at].low.i >= INT32_MIN && plan->bound[at].high.i <= INT32_MAX);
}

/* Whether the loops of this node need wide integers; what it makes is asked where it is used. */
static bool wants_wide(const ts_plan *plan, int32_t at) {
    const ts_node *node = ts_plan_node(plan, at);
    if (!is_made(plan, at) || !uses_lanes(plan, at)) return false;
    for (int k = 0; k < ts_op_kinds[node->op].arity; k++)
        if (!fits_narrow(plan, node->operand[k])) return true;
    return node->op == TS_OP_ishl || node->op == TS_OP_ishr; /* those loops are wide only */
}

static bool any_wide(const ts_plan *plan) {
    for (int32_t at = 0; at < plan->program.count; at++)
        if (wants_wide(plan, at)) return true;
    return false;
}

/* ---- where lanes lie ---- */

static void find_last_uses(ts_plan *plan) {
    const int32_t count = (int32_t)plan->program.count;
    for (int32_t at = 0; at < count; at++) {
        const ts_node *node = ts_plan_node(plan, at);
        if (!is_made(plan, at) || !uses_lanes(plan, at)) continue;
        for (int k = 0; k < ts_op_kinds[node->op].arity; k++)
            plan->nodes[plan->nodes[node->operand[k]].alias].last = at;
    }
    plan->nodes[plan->nodes[count - 1].alias].last = count;
}

/* Slots of a CELL node's operands that nobody uses behind it. */
static void free_operands(ts_plan *plan, int32_t at) {
    const ts_node *node = ts_plan_node(plan, at);
    for (int k = 0; uses_lanes(plan, at) && k < ts_op_kinds[node->op].arity; k++) {
        ts_planned *p = &plan->nodes[plan->nodes[node->operand[k]].alias];
        if (p->place != TS_CELL || p->last != at || p->slot == TS_NONE) continue;
        plan->free[plan->free_count++] = p->slot;
        p->last = TS_NONE; /* an operand may stand twice */
    }
}

/* The scores stay where the caller has them, unless their rows have no room for whole words of
 * lanes. */
static void plan_node(ts_plan *plan, int32_t at) {
    ts_planned *p = &plan->nodes[at];
    if (at == plan->s) {
        if (plan->n != plan->keys) p->slot = new_slot(plan);
        return;
    }
    p->slot = new_slot(plan);
    if (p->place == TS_CELL) free_operands(plan, at);
    ts_instruction_make(plan, &plan->code[plan->columns + plan->cells++], at);
}

static void plan_nodes(ts_plan *plan, ts_place place) {
    for (int32_t at = 0; at < plan->program.count; at++)
        if (is_made(plan, at) && plan->nodes[at].place == place) plan_node(plan, at);
}

static void plan_keys(ts_plan *plan) {
    for (int32_t at = 0; at < plan->program.count; at++) {
        ts_planned *p = &plan->nodes[at];
        if (!p->keyed) continue;
        for (int k = 0; k < 2; k++) p->keys[k] = new_slot(plan);
        ts_fill_keys(plan, at);
    }
}

static void run_columns(ts_plan *plan) {
    plan->row = plan->tile.i.first;
    for (int64_t c = 0; c < plan->cells; c++) plan->code[c].run(plan, &plan->code[c]);
    plan->columns = plan->cells;
    plan->cells = 0;
}

void ts_plan_tile(ts_plan *plan, const ts_program *program, ts_dtype dtype, bool score,
                  const ts_cells *tile, void *scratch) {
    *plan = (ts_plan){.program = *program,
                      .loops = ts_kernel_get()->lanes,
                      .dtype = dtype,
                      .score = score,
                      .s = TS_NONE,
                      .tile = *tile};
    plan->keys = tile->j.last - tile->j.first + 1;
    plan->n = (plan->keys + 63) / 64 * 64;
    if (!ts_cells_have_forms(tile)) plan->program.forms = NULL;
    place_scratch(plan, scratch);
    ts_program_bounds(&plan->program, tile, plan->bound);
    for (int32_t at = 0; at < program->count; at++) ts_plan_place(plan, at);
    mark_needed(plan);
    list_rows(plan);
    plan->wide = any_wide(plan);
    find_last_uses(plan);
    plan_keys(plan);
    plan_nodes(plan, TS_COLUMN);
    run_columns(plan);
    plan_nodes(plan, TS_CELL);
}

/* ---- rows ---- */

static void evaluate_row(ts_plan *plan) {
    for (int64_t r = 0; r < plan->row_count; r++) {
        const int32_t at = plan->rows[r], alias = plan->nodes[at].alias;
        const ts_node *node = ts_plan_node(plan, at);
        if (alias != at)
            plan->value[at] = plan->value[alias];
        else if (node->op == TS_OP_i)
            plan->value[at].i = plan->row;
        else
            plan->value[at] = ts_plan_evaluate(plan, node, plan->value);
    }
}

void ts_plan_row(ts_plan *plan, int64_t row) {
    plan->row = row;
    evaluate_row(plan);
    ts_instruction *in = plan->code + plan->columns;
    for (int64_t c = 0; c < plan->cells; c++, in++) in->run(plan, in);
}
