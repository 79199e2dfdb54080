/* instruction.h -- what instructions of every manner are made with; plan.h is the door to them. */
#ifndef TS_INSTRUCTION_H
#define TS_INSTRUCTION_H

#include "plan.h"

#include <string.h>

/* ---- lanes ---- */

static inline ts_splat ts_splat_of(const ts_plan *plan, ts_type type, ts_value value) {
    ts_splat x = {.word = 0};
    if (type == TS_BOOL)
        x.word = value.b ? ~(uint64_t)0 : 0;
    else if (type == TS_INT && plan->wide)
        x.i64 = value.i;
    else if (type == TS_INT)
        x.i32 = (int32_t)value.i;
    else if (plan->dtype == TS_F32)
        x.f32 = (float)value.f;
    else
        x.f64 = value.f;
    return x;
}

static inline ts_splat ts_splat_whole(const ts_plan *plan, int64_t x) {
    return ts_splat_of(plan, TS_INT, (ts_value){.i = x});
}

static inline int64_t ts_int_lane(const ts_plan *plan, const ts_lane *lane, int64_t k) {
    k = lane->splat ? 0 : k;
    return plan->wide ? ((const int64_t *)lane->at)[k] : ((const int32_t *)lane->at)[k];
}

/* Where the instruction writes its lanes. */
static inline void *ts_instruction_out(const ts_plan *plan, const ts_instruction *in) {
    return in->out ? in->out : plan->scores;
}

static inline void ts_fill_words(const ts_plan *plan, bool value, uint64_t *words) {
    memset(words, value ? 0xff : 0, (size_t)plan->n / 8);
}

/* first, first + step, .., as numbers of this type, which has them exactly. */
void ts_fill_steps(const ts_plan *plan, ts_type type, int64_t first, int64_t step, void *out);

/* ---- operands ---- */

/* Operand k: these lanes; or one number, that of node `source` in the row at hand (TS_NONE: what
 * `run` puts there); or node `at`, wherever it is. */
static inline void ts_operand_lanes(ts_instruction *in, int k, const void *at) {
    in->operand[k] = (ts_lane){at, false};
    in->source[k] = TS_NONE;
}
static inline void ts_operand_splat(ts_instruction *in, int k, int32_t source) {
    in->operand[k] = (ts_lane){&in->splat[k], true};
    in->source[k] = source;
}
void ts_operand_node(ts_plan *plan, ts_instruction *in, int k, int32_t at);

/* Takes the operands of the row at hand: splats, and the scores. */
void ts_instruction_refresh(ts_plan *plan, ts_instruction *in);

/* ---- manners ---- */

/* What fills in an instruction whose `node` and `out` are there. */
void ts_make_plain(ts_plan *plan, ts_instruction *in);
void ts_make_keyed(ts_plan *plan, ts_instruction *in); /* REMAINDER, QUOTIENT, RAMP */
void ts_make_match(ts_plan *plan, ts_instruction *in);
void ts_make_limit(ts_plan *plan, ts_instruction *in);
void ts_make_lookup(ts_plan *plan, ts_instruction *in);
/* What runs one with neither operands nor a loop. */
void ts_run_range(ts_plan *plan, ts_instruction *in);
void ts_run_bits(ts_plan *plan, ts_instruction *in);

#endif
