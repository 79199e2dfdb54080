/* instruction.c -- how the lanes of one node are made. */
#include "plan.h"

#include "arith.h"
#include "sizes.h"
#include "table.h"

#include <string.h>

static const ts_planned *planned(const ts_plan *plan, int32_t at) { return &plan->nodes[at]; }

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

static ts_splat splat_of(const ts_plan *plan, ts_type type, ts_value value) {
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

static ts_splat whole(const ts_plan *plan, int64_t x) {
    return splat_of(plan, TS_INT, (ts_value){.i = x});
}

static int64_t int_lane(const ts_plan *plan, const ts_lane *lane, int64_t k) {
    k = lane->splat ? 0 : k;
    return plan->wide ? ((const int64_t *)lane->at)[k] : ((const int32_t *)lane->at)[k];
}

static ts_value get_lane(const ts_plan *plan, ts_type type, const ts_lane *lane, int64_t k) {
    if (type == TS_INT) return (ts_value){.i = int_lane(plan, lane, k)};
    k = lane->splat ? 0 : k;
    if (type == TS_BOOL)
        return (ts_value){.b = ((const uint64_t *)lane->at)[k / 64] >> (k % 64) & 1};
    return (ts_value){.f = plan->dtype == TS_F32 ? (double)((const float *)lane->at)[k]
                                                 : ((const double *)lane->at)[k]};
}

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

static void *out_of(const ts_plan *plan, const ts_instruction *in) {
    return in->out ? in->out : plan->scores;
}

/* Operands of the row: splats, and the scores. */
static void refresh(ts_plan *plan, ts_instruction *in) {
    for (int k = 0; k < in->operands; k++) {
        int32_t source = in->source[k];
        if (source == TS_NONE) continue;
        if (in->operand[k].splat)
            in->splat[k] = splat_of(plan, ts_plan_node(plan, source)->type, plan->value[source]);
        else
            in->operand[k].at = plan->scores;
    }
}

static void set_lanes(ts_instruction *in, int k, const void *at) {
    in->operand[k] = (ts_lane){at, false};
    in->source[k] = TS_NONE;
}
static void set_splat(ts_instruction *in, int k, int32_t source) {
    in->operand[k] = (ts_lane){&in->splat[k], true};
    in->source[k] = source;
}

/* Operand k is node `at`, wherever it is. */
static void set_operand(ts_plan *plan, ts_instruction *in, int k, int32_t at) {
    at = planned(plan, at)->alias;
    if (!ts_has_lanes(plan, at)) {
        set_splat(in, k, at);
    } else if (planned(plan, at)->slot == TS_NONE) { /* the caller's scores */
        in->operand[k] = (ts_lane){NULL, false};
        in->source[k] = at;
    } else {
        set_lanes(in, k, ts_plan_slot(plan, planned(plan, at)->slot));
    }
}

/* ---- plain operations ---- */

static void run_loop(ts_plan *plan, ts_instruction *in) {
    refresh(plan, in);
    in->loop(plan->n, in->operand, out_of(plan, in));
}

/* Lane by lane, by the operation on single numbers; lanes behind the last key become 0. */
static void run_each(ts_plan *plan, ts_instruction *in) {
    const ts_node *node = ts_plan_node(plan, in->node);
    ts_node on_values = *node;
    ts_value values[3];
    void *out = out_of(plan, in);
    refresh(plan, in);
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

/* first, first + step, .., as numbers of this type, which has them exactly. */
#define STEPS(T)                                                                                   \
    for (int32_t k = 0; k < n; k++) ((T *)out)[k] = (T)first + (T)step * (T)k

static void fill_steps(const ts_plan *plan, ts_type type, int64_t first, int64_t step, void *out) {
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

static void run_keys(ts_plan *plan, ts_instruction *in) {
    fill_steps(plan, TS_INT, plan->tile.j.first, 1, in->out);
}

/* A power of 2 is a product, in masks too. */
static bool is_square(const ts_plan *plan, const ts_node *node) {
    return node->op == TS_OP_fpow && planned(plan, node->operand[1])->place == TS_POINT &&
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
    if (node->op != TS_OP_imod || planned(plan, node->operand[1])->place != TS_POINT) return false;
    const int64_t divisor = plan->value[node->operand[1]].i;
    return divisor > 0 && (divisor & (divisor - 1)) == 0;
}

static void make_plain(ts_plan *plan, ts_instruction *in) {
    const ts_node *node = ts_plan_node(plan, in->node);
    in->operands = ts_op_kinds[node->op].arity;
    in->loop = loop_for(plan, node);
    in->run = node->op == TS_OP_j ? run_keys : in->loop ? run_loop : run_each;
    for (int k = 0; k < in->operands; k++) set_operand(plan, in, k, node->operand[k]);
    if (!is_mask(plan, node)) return;
    in->loop = plan->loops->op[TS_OP_iand][plan->wide][plan->dtype];
    in->run = run_loop;
    set_splat(in, 1, TS_NONE);
    in->splat[1] = whole(plan, plan->value[node->operand[1]].i - 1);
}

/* ---- ranges of keys ---- */

static void fill_words(const ts_plan *plan, bool value, uint64_t *words) {
    memset(words, value ? 0xff : 0, (size_t)plan->n / 8);
}

/* The keys j (of a tile's row) from first to last, as bits. */
static void fill_range(const ts_plan *plan, int64_t first, int64_t last, uint64_t *words) {
    first = ts_most(first - plan->tile.j.first, 0);
    last = ts_least(last - plan->tile.j.first, plan->n - 1);
    fill_words(plan, false, words);
    if (first > last) return;
    for (int64_t w = first / 64; w <= last / 64; w++) words[w] = ~(uint64_t)0;
    words[first / 64] &= ~(uint64_t)0 << first % 64;
    words[last / 64] &= ~(uint64_t)0 >> (63 - last % 64);
}

static int64_t floor_div(int64_t a, int64_t b) { return b == 1 ? a : ts_idiv(a, b); }

/* left - right = r + cj j against 0. */
static void run_range(ts_plan *plan, ts_instruction *in) {
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
    in->splat[1] = whole(plan, remainder);
    in->splat[2] = whole(plan, divisor);
    in->loop(plan->n, in->operand, in->out);
}

static void run_quotient(ts_plan *plan, ts_instruction *in) {
    int64_t remainder, quotient;
    int64_t divisor = divide_row(plan, ts_plan_node(plan, in->node), &remainder, &quotient);
    in->splat[2] = whole(plan, remainder);
    in->splat[3] = whole(plan, divisor);
    in->splat[4] = whole(plan, quotient);
    in->loop(plan->n, in->operand, in->out);
}

/* Few remainders make few different rows: each is kept, behind the keys' remainders, once it has
 * been made. splat[2] has a bit for each that has. */
enum { KEPT_ROWS = 64, KEPT_WORDS = TS_LANES / 64 };

static void keep_match(ts_plan *plan, ts_instruction *in, int64_t target) {
    uint64_t *kept = (uint64_t *)in->operand[2].at + target * KEPT_WORDS;
    if (!(in->splat[2].word >> target & 1)) {
        in->splat[1] = whole(plan, target);
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
        fill_words(plan, false, in->out);
    } else if (divisor <= KEPT_ROWS) {
        keep_match(plan, in, target);
    } else {
        in->splat[1] = whole(plan, target);
        in->loop(plan->n, in->operand, in->out);
    }
}

static void run_ramp(ts_plan *plan, ts_instruction *in) {
    const ts_form *form = &plan->program.forms[ts_plan_node(plan, in->node)->operand[0]];
    int64_t x = ts_form_of_row(plan, form) + form->cj * plan->tile.j.first;
    in->splat[0] = splat_of(plan, TS_FLOAT, (ts_value){.f = (double)x});
    in->loop(plan->n, in->operand, out_of(plan, in));
}

static void make_keyed(ts_plan *plan, ts_instruction *in, ts_manner manner) {
    const ts_planned *p = planned(plan, in->node);
    const void *first = ts_plan_slot(plan, p->keys[0]), *second = ts_plan_slot(plan, p->keys[1]);
    if (manner == TS_RAMP) {
        in->run = run_ramp;
        in->loop = plan->loops->op[TS_OP_fadd][plan->wide][plan->dtype];
        set_splat(in, 0, TS_NONE);
        set_lanes(in, 1, first);
    } else if (manner == TS_REMAINDER) {
        in->run = run_remainder;
        in->loop = plan->loops->residue[plan->wide];
        set_lanes(in, 0, first);
        for (int k = 1; k < 3; k++) set_splat(in, k, TS_NONE);
    } else {
        in->run = run_quotient;
        in->loop = plan->loops->quotient[plan->wide];
        set_lanes(in, 0, first);
        set_lanes(in, 1, second);
        for (int k = 2; k < 5; k++) set_splat(in, k, TS_NONE);
    }
}

static void make_match(ts_plan *plan, ts_instruction *in) {
    const ts_node *node = ts_plan_node(plan, in->node);
    const ts_planned *remainder = planned(plan, node->operand[ts_matched(plan, node)]);
    in->run = run_match;
    in->loop = plan->loops->op[TS_OP_ieq][plan->wide][plan->dtype];
    set_lanes(in, 0, ts_plan_slot(plan, remainder->keys[0]));
    set_splat(in, 1, TS_NONE);
    set_lanes(in, 2, ts_plan_slot(plan, remainder->keys[1]));
}

/* Remainders and quotients of cj k, or cj k itself, for keys k = 0 .. n - 1 behind the first. */
void ts_fill_keys(ts_plan *plan, int32_t at) {
    const ts_node *node = ts_plan_node(plan, at);
    void *first = ts_plan_slot(plan, planned(plan, at)->keys[0]);
    void *second = ts_plan_slot(plan, planned(plan, at)->keys[1]);
    const int64_t cj = plan->program.forms[node->operand[0]].cj;
    if (node->op == TS_OP_ffrom) {
        fill_steps(plan, TS_FLOAT, 0, cj, first);
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

/* ---- integers against floats of the row ---- */

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
    const int k = in->operand[0].splat ? 0 : 1; /* where the float is */
    int64_t limit;
    bool all;
    if (!whole_limit(node->op, plan->value[node->operand[k]].f, &limit, &all) ||
        !lane_limit(plan, node->op, limit, &all)) {
        fill_words(plan, all, in->out);
        return;
    }
    in->splat[k] = whole(plan, limit);
    in->loop(plan->n, in->operand, in->out);
}

static void make_limit(ts_plan *plan, ts_instruction *in) {
    const ts_node *node = ts_plan_node(plan, in->node);
    const bool below =
        node->op == TS_OP_filt || node->op == TS_OP_file; /* the float stands first */
    ts_op op = node->op == TS_OP_ifeq                             ? TS_OP_ieq
               : node->op == TS_OP_iflt || node->op == TS_OP_filt ? TS_OP_ilt
                                                                  : TS_OP_ile;
    in->run = run_limit;
    in->loop = plan->loops->op[op][plan->wide][plan->dtype];
    set_operand(plan, in, below ? 1 : 0, node->operand[below ? 1 : 0]);
    set_splat(in, below ? 0 : 1, TS_NONE);
}

/* ---- look-ups ---- */

/* 64 bits of a row of a table from column `at` (from 0) on; 0 outside. */
static uint64_t word_from(const ts_table *table, const uint64_t *row, int64_t at) {
    if (at <= -64 || at >= table->cols) return 0;
    int64_t w = at >= 0 ? at / 64 : -1, shift = at - 64 * w;
    uint64_t low = w >= 0 ? row[w] : 0, high = w + 1 < table->words ? row[w + 1] : 0;
    return shift == 0 ? low : low >> shift | high << (64 - shift);
}

static void run_bits(ts_plan *plan, ts_instruction *in) {
    const ts_node *node = ts_plan_node(plan, in->node);
    const ts_table *table = &plan->program.tables[node->table];
    int64_t r = plan->value[node->operand[0]].i, h = plan->value[node->operand[2]].i;
    const ts_form *form = &plan->program.forms[node->operand[1]];
    int64_t at = ts_form_of_row(plan, form) + plan->tile.j.first - 1;
    if (r < 1 || r > table->rows || h < 1 || h > table->heads) {
        fill_words(plan, false, in->out);
        return;
    }
    const uint64_t *row = table->bits + ((h - 1) * table->rows + r - 1) * table->words;
    for (int64_t w = 0; w < plan->n / 64; w++)
        ((uint64_t *)in->out)[w] = word_from(table, row, at + 64 * w);
}

/* `count` elements, `step` apart, the first of them number `first`. */
typedef struct {
    const void *at;
    int64_t first, count, step;
} list;

/* out[k] = element index[k], or 0 outside: a loop for each type of both. */
#define GATHER(From, To)                                                                           \
    do {                                                                                           \
        const From *from = l.at;                                                                   \
        To *to = out;                                                                              \
        for (int64_t k = 0; k < plan->n; k++) {                                                    \
            uint64_t at = (uint64_t)int_lane(plan, index, k) - (uint64_t)l.first;                  \
            to[k] = at < (uint64_t)l.count ? (To)from[(int64_t)at * l.step] : 0;                   \
        }                                                                                          \
    } while (0)

static void gather_floats(const ts_plan *plan, list l, const ts_lane *index, ts_dtype from,
                          void *out) {
    if (from == TS_F32 && plan->dtype == TS_F32)
        GATHER(float, float);
    else if (from == TS_F32)
        GATHER(float, double);
    else if (plan->dtype == TS_F32)
        GATHER(double, float);
    else
        GATHER(double, double);
}

static void run_lookup(ts_plan *plan, ts_instruction *in) {
    const ts_node *node = ts_plan_node(plan, in->node);
    const ts_table *t = &plan->program.tables[node->table];
    const ts_lane *index = &in->operand[in->operands - 1];
    void *out = out_of(plan, in);
    refresh(plan, in);
    if (node->op == TS_OP_matrix) {
        const ts_matrix *m = &t->matrix;
        const int64_t r = plan->value[node->operand[0]].i - 1;
        const bool inside = r >= 0 && r < m->rows;
        list l = {(const char *)m->data +
                      (inside ? r * m->row_stride : 0) * (int64_t)ts_dtype_size(m->dtype),
                  1, inside ? m->cols : 0, m->col_stride};
        gather_floats(plan, l, index, m->dtype, out);
        return;
    }
    list l = {t->floats, t->first, t->count, 1};
    if (node->op == TS_OP_ftable) {
        gather_floats(plan, l, index, TS_F64, out);
        return;
    }
    l.at = t->ints;
    if (plan->wide)
        GATHER(int64_t, int64_t);
    else
        GATHER(int64_t, int32_t);
}

static void make_lookup(ts_plan *plan, ts_instruction *in) {
    const ts_node *node = ts_plan_node(plan, in->node);
    in->run = run_lookup;
    in->operands = ts_op_kinds[node->op].arity;
    for (int k = 0; k < in->operands; k++) set_operand(plan, in, k, node->operand[k]);
}

void ts_instruction_make(ts_plan *plan, ts_instruction *in, int32_t node) {
    const ts_planned *p = planned(plan, node);
    *in = (ts_instruction){.node = node, .out = ts_plan_slot(plan, p->slot)};
    switch ((ts_manner)p->manner) {
    case TS_PLAIN:
        make_plain(plan, in);
        break;
    case TS_RANGE:
        in->run = run_range;
        break;
    case TS_REMAINDER:
    case TS_QUOTIENT:
    case TS_RAMP:
        make_keyed(plan, in, p->manner);
        break;
    case TS_MATCH:
        make_match(plan, in);
        break;
    case TS_LIMIT:
        make_limit(plan, in);
        break;
    case TS_BITS:
        in->run = run_bits;
        break;
    case TS_LOOKUP:
        make_lookup(plan, in);
        break;
    }
}
