/* lanes.c -- programs run on tiles: masks into bits, scores in place. */
#include "lanes.h"

#include "kernel/kernel.h"
#include "plan.h"

#include <string.h>

bool ts_lanes_ready(const ts_program *program) { return program->count <= TS_LANES_MOST_NODES; }

size_t ts_lanes_scratch(const ts_program *program) {
    return program->count <= TS_LANES_MOST_NODES ? ts_plan_scratch(program) : 0;
}

static const ts_planned *result_of(const ts_plan *plan) {
    return &plan->nodes[plan->nodes[plan->program.count - 1].alias];
}
static ts_value value_of(const ts_plan *plan) {
    return plan->value[plan->nodes[plan->program.count - 1].alias];
}
static bool varies_with_query(const ts_planned *p) {
    return p->place == TS_ROW || p->place == TS_CELL;
}

/* What makes the result where it is lanes of each row: it can write them where they are wanted. */
static ts_instruction *last_instruction(ts_plan *plan) {
    return &plan->code[plan->columns + plan->cells - 1];
}

void ts_lanes_mask(const ts_program *program, int64_t h, ts_range i, ts_range j, uint64_t *bits,
                   int64_t words, void *scratch) {
    ts_plan plan;
    const ts_cells tile = {.i = i, .j = j, .h = {h, h}};
    ts_plan_tile(&plan, program, TS_F64, false, &tile, scratch);
    const ts_planned *result = result_of(&plan);
    const uint64_t *lanes = result->place == TS_COLUMN ? ts_plan_slot(&plan, result->slot) : NULL;
    const uint64_t last = ~(uint64_t)0 >> (plan.n - plan.keys);
    for (int64_t row = i.first; row <= i.last; row++, bits += words) {
        if (result->place == TS_CELL) last_instruction(&plan)->out = bits;
        if (varies_with_query(result)) ts_plan_row(&plan, row);
        for (int64_t w = 0; w < plan.n / 64 && result->place != TS_CELL; w++)
            bits[w] = lanes ? lanes[w] : value_of(&plan).b ? ~(uint64_t)0 : 0;
        if (plan.keys < plan.n) bits[plan.n / 64 - 1] &= last;
    }
}

/* The scores of a row whose words of lanes are not whole are copied to where there is room. */
static void copy_scores(const ts_plan *plan, const void *scores) {
    const size_t size = ts_dtype_size(plan->dtype), bytes = (size_t)plan->keys * size;
    if (plan->s == TS_NONE || plan->nodes[plan->s].slot == TS_NONE) return;
    char *copy = ts_plan_slot(plan, plan->nodes[plan->s].slot);
    memcpy(copy, scores, bytes);
    memset(copy + bytes, 0, (size_t)plan->n * size - bytes);
}

void ts_lanes_score(const ts_program *program, ts_dtype dtype, int64_t h, ts_range i, ts_range j,
                    void *scores, int64_t stride, void *scratch) {
    ts_plan plan;
    const ts_cells tile = {.i = i, .j = j, .h = {h, h}, .any_float = true};
    const size_t size = ts_dtype_size(dtype);
    ts_plan_tile(&plan, program, dtype, true, &tile, scratch);
    const ts_planned *result = result_of(&plan);
    if (plan.s != TS_NONE && result == &plan.nodes[plan.s]) return; /* the identity */
    /* The scores themselves, if there is room for whole words of lanes. */
    const bool direct = result->place == TS_CELL && plan.n == plan.keys;
    if (direct) last_instruction(&plan)->out = NULL;
    char *at = scores;
    for (int64_t row = i.first; row <= i.last; row++, at += stride * (int64_t)size) {
        plan.scores = at;
        copy_scores(&plan, at);
        if (varies_with_query(result)) ts_plan_row(&plan, row);
        if (result->place < TS_COLUMN)
            for (int64_t k = 0; k < plan.keys; k++)
                ts_set_lane(&plan, TS_FLOAT, at, k, value_of(&plan));
        else if (!direct)
            memcpy(at, ts_plan_slot(&plan, result->slot), (size_t)plan.keys * size);
    }
}
