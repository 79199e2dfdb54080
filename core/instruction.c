/* instruction.c -- how the lanes of one node are made. */
#include "instruction.h"

void ts_set_lane(const ts_plan *plan, ts_type type, void *lanes, int64_t k, ts_value value) {
    if (type == TS_BOOL)
        ((uint64_t *)lanes)[k / 64] |= (uint64_t)value.b << (k % 64);
    else if (type == TS_INT && plan->wide)
        ((int64_t *)lanes)[k] = value.i;
    else if (type == TS_INT)
        ((int32_t *)lanes)[k] = (int32_t)value.i;
    else if (plan->dtype == TS_F32)
        ((float *)lanes)[k] = (float)value.f;
    else
        ((double *)lanes)[k] = value.f;
}

#define STEPS(T)                                                                                   \
    for (int32_t k = 0; k < n; k++) ((T *)out)[k] = (T)first + (T)step * (T)k

void ts_fill_steps(const ts_plan *plan, ts_type type, int64_t first, int64_t step, void *out) {
    const int32_t n = (int32_t)plan->n;
    if (type == TS_INT && plan->wide)
        STEPS(uint64_t);
    else if (type == TS_INT)
        STEPS(uint32_t);
    else if (plan->dtype == TS_F32)
        STEPS(float);
    else
        STEPS(double);
}

void ts_instruction_refresh(ts_plan *plan, ts_instruction *in) {
    for (int k = 0; k < in->operands; k++) {
        int32_t source = in->source[k];
        if (source == TS_NONE) continue;
        if (in->operand[k].splat)
            in->splat[k] = ts_splat_of(plan, ts_plan_node(plan, source)->type, plan->value[source]);
        else
            in->operand[k].at = plan->scores;
    }
}

void ts_operand_node(ts_plan *plan, ts_instruction *in, int k, int32_t at) {
    at = plan->nodes[at].alias;
    if (!ts_has_lanes(plan, at)) {
        ts_operand_splat(in, k, at);
    } else if (plan->nodes[at].slot == TS_NONE) { /* the caller's scores */
        in->operand[k] = (ts_lane){NULL, false};
        in->source[k] = at;
    } else {
        ts_operand_lanes(in, k, ts_plan_slot(plan, plan->nodes[at].slot));
    }
}

void ts_instruction_make(ts_plan *plan, ts_instruction *in, int32_t node) {
    const ts_planned *p = &plan->nodes[node];
    *in = (ts_instruction){.node = node, .out = ts_plan_slot(plan, p->slot)};
    switch ((ts_manner)p->manner) {
    case TS_PLAIN:
        ts_make_plain(plan, in);
        break;
    case TS_RANGE:
        in->run = ts_run_range;
        break;
    case TS_REMAINDER:
    case TS_QUOTIENT:
    case TS_RAMP:
        ts_make_keyed(plan, in);
        break;
    case TS_MATCH:
        ts_make_match(plan, in);
        break;
    case TS_LIMIT:
        ts_make_limit(plan, in);
        break;
    case TS_BITS:
        in->run = ts_run_bits;
        break;
    case TS_LOOKUP:
        ts_make_lookup(plan, in);
        break;
    }
}
