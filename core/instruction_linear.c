/* instruction_linear.c -- lanes of linear forms of the key: ranges, remainders, quotients, ramps.
 */
#include "instruction.h"

#include "arith.h"
#include "sizes.h"

/* ---- ranges of keys ---- */

/* The keys j (of a tile's row) from first to last, as bits: words that are not read again, since
 * the processor would wait until what was written beside them has left its queue. */
static void fill_range(const ts_plan *plan, int64_t first, int64_t last, uint64_t *words) {
    first = ts_most(first - plan->tile.j.first, 0);
    last = ts_least(last - plan->tile.j.first, plan->n - 1);
    ts_fill_words(plan, false, words);
    if (first > last) return;
    const int64_t from = first / 64, to = last / 64;
    const uint64_t behind = ~(uint64_t)0 << first % 64, before = ~(uint64_t)0 >> (63 - last % 64);
    words[from] = behind;
    for (int64_t w = from + 1; w < to; w++) words[w] = ~(uint64_t)0;
    words[to] = from < to ? before : before & behind;
}

static int64_t floor_div(int64_t a, int64_t b) { return b == 1 ? a : ts_idiv(a, b); }

/* left - right = r + cj j against 0. */
void ts_run_range(ts_plan *plan, ts_instruction *in) {
    const ts_form *form = &plan->program.forms[in->node];
    const int64_t r = ts_form_of_row(plan, form), cj = form->cj;
    int64_t first = plan->tile.j.first, last = first + plan->n - 1;
    ts_op op = ts_plan_node(plan, in->node)->op;
    if (op == TS_OP_ieq) {
        int64_t j = ts_idiv(-r, cj);
        first = j, last = j * cj == -r ? j : j - 1;
    } else if (cj > 0) {
        last = floor_div(op == TS_OP_ilt ? -r - 1 : -r, cj);
    } else {
        first = op == TS_OP_ilt ? floor_div(r, -cj) + 1 : -floor_div(-r, -cj);
    }
    fill_range(plan, first, last, in->out);
}

/* ---- remainders, quotients and ramps ---- */

/* The divisor of a REMAINDER or QUOTIENT node, and the row's part in both. */
static int64_t divide_row(const ts_plan *plan, const ts_node *node, int64_t *remainder,
                          int64_t *quotient) {
    const ts_form *form = &plan->program.forms[node->operand[0]];
    int64_t x = ts_form_of_row(plan, form) + form->cj * plan->tile.j.first;
    int64_t divisor = plan->value[node->operand[1]].i;
    *quotient = ts_idiv(x, divisor);
    *remainder = x - *quotient * divisor;
    return divisor;
}

static void run_remainder(ts_plan *plan, ts_instruction *in) {
    int64_t remainder, quotient;
    int64_t divisor = divide_row(plan, ts_plan_node(plan, in->node), &remainder, &quotient);
    in->splat[1] = ts_splat_whole(plan, remainder);
    in->splat[2] = ts_splat_whole(plan, divisor);
    in->loop(plan->n, in->operand, in->out);
}

static void run_quotient(ts_plan *plan, ts_instruction *in) {
    int64_t remainder, quotient;
    int64_t divisor = divide_row(plan, ts_plan_node(plan, in->node), &remainder, &quotient);
    in->splat[2] = ts_splat_whole(plan, remainder);
    in->splat[3] = ts_splat_whole(plan, divisor);
    in->splat[4] = ts_splat_whole(plan, quotient);
    in->loop(plan->n, in->operand, in->out);
}

/* Few remainders make few different rows: each is kept, behind the keys' remainders, once it has
 * been made. splat[2] has a bit for each that has. */
enum { KEPT_ROWS = 64, KEPT_WORDS = TS_LANES / 64 };

static void keep_match(ts_plan *plan, ts_instruction *in, int64_t target) {
    uint64_t *kept = (uint64_t *)in->operand[2].at + target * KEPT_WORDS;
    if (!(in->splat[2].word >> target & 1)) {
        in->splat[1] = ts_splat_whole(plan, target);
        in->loop(plan->n, in->operand, kept);
        in->splat[2].word |= (uint64_t)1 << target;
    }
    memcpy(in->out, kept, (size_t)plan->n / 8);
}

/* (row + keys) mod c == want where keys mod c == (want - row) mod c. */
static void run_match(ts_plan *plan, ts_instruction *in) {
    const ts_node *node = ts_plan_node(plan, in->node);
    int k = ts_matched(plan, node);
    int64_t remainder, quotient, want = plan->value[node->operand[1 - k]].i;
    int64_t divisor = divide_row(plan, ts_plan_node(plan, node->operand[k]), &remainder, &quotient);
    int64_t target = want - remainder + (want < remainder ? divisor : 0);
    if (want < 0 || want >= divisor) {
        ts_fill_words(plan, false, in->out);
    } else if (divisor <= KEPT_ROWS) {
        keep_match(plan, in, target);
    } else {
        in->splat[1] = ts_splat_whole(plan, target);
        in->loop(plan->n, in->operand, in->out);
    }
}

static void run_ramp(ts_plan *plan, ts_instruction *in) {
    const ts_form *form = &plan->program.forms[ts_plan_node(plan, in->node)->operand[0]];
    int64_t x = ts_form_of_row(plan, form) + form->cj * plan->tile.j.first;
    in->splat[0] = ts_splat_of(plan, TS_FLOAT, (ts_value){.f = (double)x});
    in->loop(plan->n, in->operand, ts_instruction_out(plan, in));
}

void ts_make_keyed(ts_plan *plan, ts_instruction *in) {
    const ts_planned *p = &plan->nodes[in->node];
    const void *first = ts_plan_slot(plan, p->keys[0]), *second = ts_plan_slot(plan, p->keys[1]);
    if (p->manner == TS_RAMP) {
        in->run = run_ramp;
        in->loop = plan->loops->op[TS_OP_fadd][plan->wide][plan->dtype];
        ts_operand_splat(in, 0, TS_NONE);
        ts_operand_lanes(in, 1, first);
    } else if (p->manner == TS_REMAINDER) {
        in->run = run_remainder;
        in->loop = plan->loops->residue[plan->wide];
        ts_operand_lanes(in, 0, first);
        for (int k = 1; k < 3; k++) ts_operand_splat(in, k, TS_NONE);
    } else {
        in->run = run_quotient;
        in->loop = plan->loops->quotient[plan->wide];
        ts_operand_lanes(in, 0, first);
        ts_operand_lanes(in, 1, second);
        for (int k = 2; k < 5; k++) ts_operand_splat(in, k, TS_NONE);
    }
}

void ts_make_match(ts_plan *plan, ts_instruction *in) {
    const ts_node *node = ts_plan_node(plan, in->node);
    const ts_planned *remainder = &plan->nodes[node->operand[ts_matched(plan, node)]];
    in->run = run_match;
    in->loop = plan->loops->op[TS_OP_ieq][plan->wide][plan->dtype];
    ts_operand_lanes(in, 0, ts_plan_slot(plan, remainder->keys[0]));
    ts_operand_splat(in, 1, TS_NONE);
    ts_operand_lanes(in, 2, ts_plan_slot(plan, remainder->keys[1]));
}

/* Remainders and quotients of cj k, or cj k itself, for keys k = 0 .. n - 1 behind the first. */
void ts_fill_keys(ts_plan *plan, int32_t at) {
    const ts_node *node = ts_plan_node(plan, at);
    void *first = ts_plan_slot(plan, plan->nodes[at].keys[0]);
    void *second = ts_plan_slot(plan, plan->nodes[at].keys[1]);
    const int64_t cj = plan->program.forms[node->operand[0]].cj;
    if (node->op == TS_OP_ffrom) {
        ts_fill_steps(plan, TS_FLOAT, 0, cj, first);
        return;
    }
    const int64_t divisor = plan->value[node->operand[1]].i;
    const int64_t step = ts_imod(cj, divisor), quotients = ts_idiv(cj, divisor);
    int64_t remainder = 0, quotient = 0;
    for (int64_t k = 0; k < plan->n; k++) {
        ts_set_lane(plan, TS_INT, first, k, (ts_value){.i = remainder});
        if (node->op == TS_OP_idiv) ts_set_lane(plan, TS_INT, second, k, (ts_value){.i = quotient});
        remainder += step, quotient += quotients;
        if (remainder >= divisor) remainder -= divisor, quotient++;
    }
}
