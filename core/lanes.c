/* lanes.c -- plans a program for a tile, and runs the plan row by row. */
#include "lanes.h"

#include "arith.h"
#include "kernel/kernel.h"
#include "table.h"

#include <string.h>

/* Where the value of a node varies on the tile: nowhere, with the query, with the key, with both.
 */
typedef enum { POINT, ROW, COLUMN, CELL } place;

/* How the lanes of a COLUMN or CELL node are made. */
typedef enum {
    PLAIN,     /* by its operation */
    RANGE,     /* a linear comparison: the keys up to, or from, a limit */
    REMAINDER, /* a linear form % constant, or ... */
    QUOTIENT,  /* ... // constant: from those of the row and those of the keys */
    MATCH,     /* a REMAINDER == a number of the row: the keys of one remainder */
    BITS       /* a stretch of a row of dense bits */
} manner;

enum { MOST_OPERANDS = 5, NONE = -1 };

typedef struct {
    uint8_t place, manner;
    bool needed, divided; /* divided: remainders and quotients of the keys are needed */
    int32_t alias;        /* the node that it always equals here, mostly itself */
    int32_t last;         /* the last node that uses its lanes */
    int32_t slot, remainders, quotients; /* where its lanes, and those of the keys, lie */
} plan;

/* One number for all lanes, in the type of the lanes. */
typedef union {
    int32_t i32;
    int64_t i64;
    float f32;
    double f64;
    uint64_t word;
} scalar;

/* What makes the lanes of one node. */
typedef struct instruction instruction;
typedef struct lanes lanes;
struct instruction {
    void (*run)(lanes *l, instruction *in);
    ts_lane_op *loop;
    int32_t node, operands;
    int32_t
        source[MOST_OPERANDS]; /* the node that a splat, or s, is taken from each row; or NONE */
    ts_lane operand[MOST_OPERANDS];
    scalar splat[MOST_OPERANDS];
    void *out; /* NULL: the row of scores itself */
};

struct lanes {
    ts_program program;
    const ts_lane_table *loops;
    bool wide, score;
    ts_dtype dtype; /* of floats */
    ts_tile tile;
    int64_t keys, n;    /* of a row; n rounded up to a multiple of 64 */
    int64_t row;        /* the query at hand */
    void *scores;       /* its scores */
    int32_t s;          /* the node that they are, or NONE */
    ts_interval *bound; /* of each node: */
    ts_value *value;    /* POINT and ROW nodes */
    plan *plan;
    instruction *code; /* those of COLUMN nodes, then those of CELL nodes */
    int64_t columns, cells;
    int32_t *free; /* slots to use again */
    int64_t free_count, slots;
    char *memory;
};

/* ---- work space ---- */

static int64_t slots_of(const ts_program *program) {
    int64_t slots = program->count + 1;
    for (int64_t at = 0; at < program->count; at++) {
        ts_op op = program->nodes[at].op;
        if (op == TS_OP_imod || op == TS_OP_idiv) slots += 2;
    }
    return slots;
}

enum { SLOT = TS_LANES * 8 };

bool ts_lanes_ready(const ts_program *program) {
    return program->count <= TS_LANES_MOST_NODES && ts_kernel_get() != NULL;
}

size_t ts_lanes_scratch(const ts_program *program) {
    if (program->count > TS_LANES_MOST_NODES) return 0;
    size_t count = (size_t)program->count, slots = (size_t)slots_of(program);
    return count * (sizeof(ts_interval) + sizeof(ts_value) + sizeof(plan) + sizeof(instruction)) +
           slots * (SLOT + sizeof(int32_t)) + 128;
}

static void *aligned(void *at) { return (void *)(((uintptr_t)at + 63) / 64 * 64); }

static void place_scratch(lanes *l, void *scratch) {
    int64_t count = l->program.count;
    l->memory = aligned(scratch);
    l->bound = (ts_interval *)(l->memory + slots_of(&l->program) * SLOT);
    l->value = (ts_value *)(l->bound + count);
    l->code = (instruction *)(l->value + count);
    l->plan = (plan *)(l->code + count);
    l->free = (int32_t *)(l->plan + count);
}

/* ---- values of the row ---- */

static const ts_node *node_at(const lanes *l, int32_t at) { return &l->program.nodes[at]; }

static bool is_libm(ts_op op) {
    return (op >= TS_OP_fexp && op <= TS_OP_ftanh) || op == TS_OP_fpow;
}

/* A function of a score by its loop, so that the bits are those that it gives in lanes. */
static ts_value evaluate_in_lanes(const lanes *l, const ts_node *node, const ts_value *values) {
    scalar many[2][64], out[64];
    ts_lane operand[2] = {{many[0], false}, {many[1], false}};
    for (int k = 0; k < ts_op_kinds[node->op].arity; k++) {
        double x = values[node->operand[k]].f;
        for (int lane = 0; lane < 64; lane++)
            if (l->dtype == TS_F32)
                ((float *)many[k])[lane] = (float)x;
            else
                ((double *)many[k])[lane] = x;
    }
    l->loops->op[node->op][0][l->dtype](64, operand, out);
    return (ts_value){.f = l->dtype == TS_F32 ? (double)out[0].f32 : out[0].f64};
}

/* One operation on single numbers. */
static ts_value evaluate(const lanes *l, const ts_node *node, const ts_value *values) {
    if (l->score && is_libm(node->op)) return evaluate_in_lanes(l, node, values);
    return ts_node_score(&l->program, node, l->dtype, values);
}

static void evaluate_row(lanes *l) {
    for (int64_t at = 0; at < l->program.count; at++) {
        const plan *p = &l->plan[at];
        if (p->place != ROW || !p->needed) continue;
        if (p->alias != at)
            l->value[at] = l->value[p->alias];
        else if (node_at(l, at)->op == TS_OP_i)
            l->value[at].i = l->row;
        else
            l->value[at] = evaluate(l, node_at(l, at), l->value);
    }
}

/* The linear form of a node for key 0 of this row. */
static int64_t form_of_row(const lanes *l, const ts_form *form) {
    return form->ci * l->row + form->ch * l->tile.h.first + form->c;
}

/* ---- the plan: places ---- */

static bool decided(const lanes *l, int32_t at, ts_value *value) {
    const ts_interval *bound = &l->bound[at];
    *value = bound->low;
    switch (node_at(l, at)->type) {
    case TS_INT:
        return bound->low.i == bound->high.i;
    case TS_BOOL:
        return bound->low.b == bound->high.b;
    default:
        return false; /* 0 and -0 are equal, and not the same */
    }
}

static bool is_select(ts_op op) {
    return op == TS_OP_iselect || op == TS_OP_fselect || op == TS_OP_bselect;
}

static place place_of(const lanes *l, int32_t at) {
    const ts_node *node = node_at(l, at);
    int place = POINT;
    if (node->op == TS_OP_i) return ROW;
    if (node->op == TS_OP_j) return COLUMN;
    for (int k = 0; k < ts_op_kinds[node->op].arity; k++)
        place |= l->plan[node->operand[k]].place; /* ROW with COLUMN is CELL */
    return place;
}

static void place_nodes(lanes *l) {
    for (int32_t at = 0; at < l->program.count; at++) {
        const ts_node *node = node_at(l, at);
        plan *p = &l->plan[at];
        *p = (plan){.alias = at, .last = NONE, .slot = NONE, .remainders = NONE, .quotients = NONE};
        if (node->op == TS_OP_s) {
            if (l->s == NONE) l->s = at;
            p->alias = l->s;
            p->place = CELL;
            continue;
        }
        if (decided(l, at, &l->value[at])) continue;
        const int32_t condition = node->operand[0];
        if (is_select(node->op) && l->plan[condition].place == POINT) {
            p->alias = l->plan[node->operand[l->value[condition].b ? 1 : 2]].alias;
            p->place = l->plan[p->alias].place;
            if (p->place == POINT) l->value[at] = l->value[p->alias];
            continue;
        }
        p->place = (uint8_t)place_of(l, at);
        if (p->place == POINT && node->op == TS_OP_fconst && l->dtype == TS_F32)
            l->value[at].f = (float)node->constant.f;
        else if (p->place == POINT)
            l->value[at] = evaluate(l, node, l->value);
    }
}

/* ---- the plan: how lanes are made ---- */

static const ts_form *linear_in_j(const lanes *l, int32_t at) {
    const ts_form *form = l->program.forms ? &l->program.forms[at] : NULL;
    return form && form->linear && form->cj != 0 ? form : NULL;
}

static bool in_lanes(const lanes *l, int32_t at) { return l->plan[at].place >= COLUMN; }

/* Remainders and quotients of sums are those of the parts and a carry, for divisors like these. */
static bool divides(const lanes *l, int32_t at) {
    const ts_node *node = node_at(l, at);
    if (node->op != TS_OP_imod && node->op != TS_OP_idiv) return false;
    const int32_t divisor = node->operand[1];
    return linear_in_j(l, node->operand[0]) && l->plan[divisor].place == POINT &&
           l->value[divisor].i >= 1 && l->value[divisor].i <= 1 << 30;
}

/* Of ieq: the operand that is a remainder, where the other is a number of the row; else NONE. */
static int32_t matched(const lanes *l, const ts_node *node) {
    for (int k = 0; k < 2; k++) {
        int32_t x = node->operand[k], y = node->operand[1 - k];
        if (node_at(l, x)->op == TS_OP_imod && in_lanes(l, x) && divides(l, x) && !in_lanes(l, y))
            return x;
    }
    return NONE;
}

static manner manner_of(const lanes *l, int32_t at) {
    const ts_node *node = node_at(l, at);
    const ts_form *key;
    switch (node->op) {
    case TS_OP_ieq:
        if (linear_in_j(l, at)) return RANGE;
        return matched(l, node) != NONE ? MATCH : PLAIN;
    case TS_OP_ilt:
    case TS_OP_ile:
        return linear_in_j(l, at) ? RANGE : PLAIN;
    case TS_OP_imod:
        return divides(l, at) ? REMAINDER : PLAIN;
    case TS_OP_idiv:
        return divides(l, at) ? QUOTIENT : PLAIN;
    case TS_OP_bits:
        key = linear_in_j(l, node->operand[1]);
        return key && key->cj == 1 && !in_lanes(l, node->operand[0]) &&
                       !in_lanes(l, node->operand[2])
                   ? BITS
                   : PLAIN;
    default:
        return PLAIN;
    }
}

static void need(lanes *l, int32_t operand) { l->plan[operand].needed = true; }

static void need_operands(lanes *l, int32_t at) {
    const ts_node *node = node_at(l, at);
    plan *p = &l->plan[at];
    switch (p->manner) {
    case RANGE:
        break;
    case REMAINDER:
    case QUOTIENT:
        p->divided = true;
        break;
    case MATCH: {
        int32_t x = matched(l, node);
        l->plan[x].divided = true;
        need(l, x == node->operand[0] ? node->operand[1] : node->operand[0]);
        break;
    }
    case BITS:
        need(l, node->operand[0]);
        need(l, node->operand[2]);
        break;
    default:
        for (int k = 0; k < ts_op_kinds[node->op].arity; k++) need(l, node->operand[k]);
    }
}

/* From the result back: what is needed, and how it is made. */
static void mark_needed(lanes *l) {
    need(l, (int32_t)l->program.count - 1);
    for (int32_t at = (int32_t)l->program.count - 1; at >= 0; at--) {
        plan *p = &l->plan[at];
        if (!p->needed || p->place == POINT) continue;
        if (p->alias != at) {
            need(l, p->alias);
            continue;
        }
        p->manner = (uint8_t)(in_lanes(l, at) ? manner_of(l, at) : PLAIN);
        need_operands(l, at);
    }
}

/* ---- the plan: how wide integers are ---- */

static bool fits_narrow(const lanes *l, int32_t at) {
    return l->bound[at].low.i >= INT32_MIN && l->bound[at].high.i <= INT32_MAX;
}

static bool wants_wide(const lanes *l, int32_t at) {
    const ts_node *node = node_at(l, at);
    const plan *p = &l->plan[at];
    if (!p->needed || p->alias != at || !in_lanes(l, at)) return false;
    if (node->type == TS_INT && !fits_narrow(l, at)) return true;
    if (p->manner != PLAIN) return false;
    for (int k = 0; k < ts_op_kinds[node->op].arity; k++)
        if (node_at(l, node->operand[k])->type == TS_INT && !fits_narrow(l, node->operand[k]))
            return true;
    return node->op == TS_OP_ishl || node->op == TS_OP_ishr;
}

static bool any_wide(const lanes *l) {
    for (int32_t at = 0; at < l->program.count; at++)
        if (wants_wide(l, at)) return true;
    return false;
}

/* ---- the plan: where lanes lie ---- */

static int32_t new_slot(lanes *l) {
    if (l->free_count > 0) return l->free[--l->free_count];
    return (int32_t)l->slots++;
}

static void *slot_at(const lanes *l, int32_t slot) { return l->memory + (int64_t)slot * SLOT; }

static void use_lanes(lanes *l, int32_t operand, int32_t at) {
    l->plan[l->plan[operand].alias].last = at;
}

static void find_last_uses(lanes *l) {
    for (int32_t at = 0; at < l->program.count; at++) {
        const plan *p = &l->plan[at];
        if (!p->needed || !in_lanes(l, at) || p->alias != at || p->manner != PLAIN) continue;
        for (int k = 0; k < ts_op_kinds[node_at(l, at)->op].arity; k++)
            use_lanes(l, node_at(l, at)->operand[k], at);
    }
    use_lanes(l, (int32_t)l->program.count - 1, (int32_t)l->program.count);
}

/* Lanes of a cell's operands that nobody uses behind it. */
static void free_operands(lanes *l, int32_t at) {
    const ts_node *node = node_at(l, at);
    if (l->plan[at].manner != PLAIN) return;
    for (int k = 0; k < ts_op_kinds[node->op].arity; k++) {
        plan *p = &l->plan[l->plan[node->operand[k]].alias];
        if (p->place != CELL || p->last != at || p->slot == NONE) continue;
        l->free[l->free_count++] = p->slot;
        p->last = NONE; /* an operand may stand twice */
    }
}

/* ---- running one node ---- */

static scalar to_scalar(const lanes *l, ts_type type, ts_value value) {
    scalar x = {.word = 0};
    if (type == TS_BOOL)
        x.word = value.b ? ~(uint64_t)0 : 0;
    else if (type == TS_INT && l->wide)
        x.i64 = value.i;
    else if (type == TS_INT)
        x.i32 = (int32_t)value.i;
    else if (l->dtype == TS_F32)
        x.f32 = (float)value.f;
    else
        x.f64 = value.f;
    return x;
}

/* Operands of the row: splats, and the scores. */
static void refresh(lanes *l, instruction *in) {
    for (int k = 0; k < in->operands; k++) {
        int32_t source = in->source[k];
        if (source == NONE) continue;
        if (in->operand[k].splat)
            in->splat[k] = to_scalar(l, node_at(l, source)->type, l->value[source]);
        else
            in->operand[k].at = l->scores;
    }
}

static void run_loop(lanes *l, instruction *in) {
    refresh(l, in);
    in->loop(l->n, in->operand, in->out ? in->out : l->scores);
}

static ts_value get_lane(const lanes *l, ts_type type, const ts_lane *lane, int64_t k) {
    int64_t at = lane->splat ? 0 : k;
    if (type == TS_BOOL) {
        const uint64_t *words = lane->at;
        return (ts_value){.b = words[at / 64] >> (at % 64) & 1};
    }
    if (type == TS_INT)
        return (ts_value){.i = l->wide ? ((const int64_t *)lane->at)[at]
                                       : ((const int32_t *)lane->at)[at]};
    return (ts_value){.f = l->dtype == TS_F32 ? (double)((const float *)lane->at)[at]
                                              : ((const double *)lane->at)[at]};
}

static void set_lane(const lanes *l, ts_type type, void *out, int64_t k, ts_value value) {
    if (type == TS_BOOL)
        ((uint64_t *)out)[k / 64] |= (uint64_t)value.b << (k % 64);
    else if (type == TS_INT && l->wide)
        ((int64_t *)out)[k] = value.i;
    else if (type == TS_INT)
        ((int32_t *)out)[k] = (int32_t)value.i;
    else if (l->dtype == TS_F32)
        ((float *)out)[k] = (float)value.f;
    else
        ((double *)out)[k] = value.f;
}

/* Lane by lane, by the operation on single numbers; lanes behind the last key become 0. */
static void run_each(lanes *l, instruction *in) {
    const ts_node *node = node_at(l, in->node);
    ts_node on_values = *node;
    ts_value values[3];
    void *out = in->out ? in->out : l->scores;
    refresh(l, in);
    for (int k = 0; k < in->operands; k++) on_values.operand[k] = k;
    if (node->type == TS_BOOL) memset(out, 0, (size_t)l->n / 8);
    for (int64_t lane = 0; lane < l->keys; lane++) {
        for (int k = 0; k < in->operands; k++)
            values[k] = get_lane(l, node_at(l, node->operand[k])->type, &in->operand[k], lane);
        set_lane(l, node->type, out, lane, evaluate(l, &on_values, values));
    }
    for (int64_t lane = l->keys; lane < l->n && node->type != TS_BOOL; lane++)
        set_lane(l, node->type, out, lane, (ts_value){.i = 0});
}

/* The keys j (of a tile's row) from first to last, as bits. */
static void fill_range(const lanes *l, int64_t first, int64_t last, uint64_t *words) {
    first -= l->tile.j.first, last -= l->tile.j.first;
    for (int64_t w = 0; w < l->n / 64; w++, first -= 64, last -= 64) {
        uint64_t from = first <= 0 ? ~(uint64_t)0 : first > 63 ? 0 : ~(uint64_t)0 << first;
        uint64_t to = last >= 63 ? ~(uint64_t)0 : last < 0 ? 0 : ~(uint64_t)0 >> (63 - last);
        words[w] = from & to;
    }
}

static int64_t floor_div(int64_t a, int64_t b) { return b == 1 ? a : ts_idiv(a, b); }

/* left - right = r + cj j against 0. */
static void run_range(lanes *l, instruction *in) {
    const ts_form *form = &l->program.forms[in->node];
    const int64_t r = form_of_row(l, form), cj = form->cj;
    int64_t first = l->tile.j.first, last = first + l->n - 1;
    ts_op op = node_at(l, in->node)->op;
    if (op == TS_OP_ieq) {
        int64_t j = ts_idiv(-r, cj);
        first = j, last = j * cj == -r ? j : j - 1;
    } else if (cj > 0) {
        last = floor_div(op == TS_OP_ilt ? -r - 1 : -r, cj);
    } else {
        first = op == TS_OP_ilt ? floor_div(r, -cj) + 1 : -floor_div(-r, -cj);
    }
    fill_range(l, first, last, in->out);
}

/* The divisor of a REMAINDER or QUOTIENT node, and what the row adds to that of the keys. */
static int64_t divide_row(const lanes *l, int32_t at, int64_t *remainder, int64_t *quotient) {
    const ts_node *node = node_at(l, at);
    const ts_form *form = &l->program.forms[node->operand[0]];
    int64_t x = form_of_row(l, form) + form->cj * l->tile.j.first;
    int64_t divisor = l->value[node->operand[1]].i;
    *quotient = ts_idiv(x, divisor);
    *remainder = x - *quotient * divisor;
    return divisor;
}

static scalar integer(const lanes *l, int64_t x) {
    return to_scalar(l, TS_INT, (ts_value){.i = x});
}

static void run_division(lanes *l, instruction *in) {
    int64_t remainder, quotient;
    int64_t divisor = divide_row(l, in->node, &remainder, &quotient);
    int first = l->plan[in->node].manner == QUOTIENT ? 2 : 1;
    in->splat[first] = integer(l, remainder);
    in->splat[first + 1] = integer(l, divisor);
    if (first == 2) in->splat[4] = integer(l, quotient);
    in->loop(l->n, in->operand, in->out);
}

/* (row + keys) mod c == want where keys mod c == (want - row) mod c. */
static void run_match(lanes *l, instruction *in) {
    const ts_node *node = node_at(l, in->node);
    int32_t x = matched(l, node), y = x == node->operand[0] ? node->operand[1] : node->operand[0];
    int64_t remainder, quotient, want = l->value[y].i;
    int64_t divisor = divide_row(l, x, &remainder, &quotient);
    int64_t target = want < 0 || want >= divisor ? -1 : want - remainder;
    if (target < 0 && want >= 0 && want < divisor) target += divisor;
    in->splat[1] = integer(l, target);
    in->loop(l->n, in->operand, in->out);
}

/* 64 bits of a row of a table from column `at` (from 0) on; 0 outside. */
static uint64_t word_from(const ts_table *table, const uint64_t *row, int64_t at) {
    if (at <= -64 || at >= table->cols) return 0;
    int64_t w = at >= 0 ? at / 64 : -1, shift = at - 64 * w;
    uint64_t low = w >= 0 ? row[w] : 0, high = w + 1 < table->words ? row[w + 1] : 0;
    return shift == 0 ? low : low >> shift | high << (64 - shift);
}

static void run_bits(lanes *l, instruction *in) {
    const ts_node *node = node_at(l, in->node);
    const ts_table *table = &l->program.tables[node->table];
    int64_t r = l->value[node->operand[0]].i, h = l->value[node->operand[2]].i;
    const ts_form *form = &l->program.forms[node->operand[1]];
    int64_t at = form_of_row(l, form) + l->tile.j.first - 1;
    bool inside = r >= 1 && r <= table->rows && h >= 1 && h <= table->heads;
    const uint64_t *row =
        inside ? table->bits + ((h - 1) * table->rows + r - 1) * table->words : NULL;
    for (int64_t w = 0; w < l->n / 64; w++)
        ((uint64_t *)in->out)[w] = inside ? word_from(table, row, at + 64 * w) : 0;
}

static void run_keys(lanes *l, instruction *in) {
    for (int64_t k = 0; k < l->n; k++)
        set_lane(l, TS_INT, in->out, k, (ts_value){.i = l->tile.j.first + k});
}

/* ---- the plan: instructions ---- */

static void lane_operand(lanes *l, instruction *in, int k, int32_t slot) {
    in->operand[k] = (ts_lane){slot_at(l, slot), false};
    in->source[k] = NONE;
}
static void splat_operand(instruction *in, int k, int32_t source) {
    in->operand[k] = (ts_lane){&in->splat[k], true};
    in->source[k] = source;
}

/* Operand k of the node, wherever it is. */
static void plain_operand(lanes *l, instruction *in, int k, int32_t operand) {
    int32_t at = l->plan[operand].alias;
    if (!in_lanes(l, at)) {
        splat_operand(in, k, at);
    } else if (node_at(l, at)->op == TS_OP_s && l->plan[at].slot == NONE) {
        in->operand[k] = (ts_lane){NULL, false};
        in->source[k] = at;
    } else {
        lane_operand(l, in, k, l->plan[at].slot);
    }
}

/* A power of 2 is a product, in masks too. */
static bool is_square(const lanes *l, const ts_node *node) {
    return node->op == TS_OP_fpow && l->plan[node->operand[1]].place == POINT &&
           l->value[node->operand[1]].f == 2;
}

/* Loops take one splat, no more; with two the operation would not be in lanes. Selects do as they
 * like. */
static ts_lane_op *loop_for(const lanes *l, const ts_node *node) {
    if (!l->score && is_libm(node->op) && !is_square(l, node)) return NULL;
    return l->loops->op[node->op][l->wide][l->dtype];
}

static void plan_plain(lanes *l, instruction *in, int32_t at) {
    const ts_node *node = node_at(l, at);
    in->operands = ts_op_kinds[node->op].arity;
    in->loop = loop_for(l, node);
    in->run = in->loop ? run_loop : run_each;
    if (node->op == TS_OP_j) in->run = run_keys;
    for (int k = 0; k < in->operands; k++) plain_operand(l, in, k, node->operand[k]);
}

static void plan_instruction(lanes *l, instruction *in, int32_t at) {
    plan *p = &l->plan[at];
    *in = (instruction){.node = at};
    in->out = slot_at(l, p->slot);
    switch (p->manner) {
    case RANGE:
        in->run = run_range;
        break;
    case BITS:
        in->run = run_bits;
        break;
    case REMAINDER:
        in->run = run_division;
        in->loop = l->loops->residue[l->wide];
        lane_operand(l, in, 0, p->remainders);
        for (int k = 1; k < 3; k++) splat_operand(in, k, NONE);
        break;
    case QUOTIENT:
        in->run = run_division;
        in->loop = l->loops->quotient[l->wide];
        lane_operand(l, in, 0, p->remainders);
        lane_operand(l, in, 1, p->quotients);
        for (int k = 2; k < 5; k++) splat_operand(in, k, NONE);
        break;
    case MATCH:
        in->run = run_match;
        in->loop = l->loops->op[TS_OP_ieq][l->wide][l->dtype];
        lane_operand(l, in, 0, l->plan[matched(l, node_at(l, at))].remainders);
        splat_operand(in, 1, NONE);
        break;
    default:
        plan_plain(l, in, at);
    }
}

/* Remainders and quotients of cj k for keys k = 0 .. n - 1 behind the first. */
static void divide_keys(lanes *l, int32_t at) {
    plan *p = &l->plan[at];
    const ts_node *node = node_at(l, at);
    const int64_t cj = l->program.forms[node->operand[0]].cj;
    const int64_t divisor = l->value[node->operand[1]].i;
    const int64_t step = ts_imod(cj, divisor), whole = ts_idiv(cj, divisor);
    int64_t remainder = 0, quotient = 0;
    p->remainders = new_slot(l), p->quotients = new_slot(l);
    for (int64_t k = 0; k < l->n; k++) {
        set_lane(l, TS_INT, slot_at(l, p->remainders), k, (ts_value){.i = remainder});
        set_lane(l, TS_INT, slot_at(l, p->quotients), k, (ts_value){.i = quotient});
        remainder += step, quotient += whole;
        if (remainder >= divisor) remainder -= divisor, quotient++;
    }
}

/* Lanes of CELL nodes take the slots that others have left. The scores are where the caller has
 * them, unless their rows have no room for a whole word of lanes. */
static void plan_node(lanes *l, int32_t at) {
    plan *p = &l->plan[at];
    if (node_at(l, at)->op == TS_OP_s) {
        if (l->n != l->keys) p->slot = new_slot(l);
        return;
    }
    p->slot = new_slot(l);
    if (p->place == CELL) free_operands(l, at);
    plan_instruction(l, &l->code[l->columns + l->cells++], at);
}

static void run_columns(lanes *l) {
    l->row = l->tile.i.first;
    for (; l->columns < l->cells; l->columns++) l->code[l->columns].run(l, &l->code[l->columns]);
    l->cells = 0;
}

static void plan_tile(lanes *l) {
    ts_program_bounds(&l->program, &l->tile, l->bound);
    place_nodes(l);
    mark_needed(l);
    l->wide = any_wide(l);
    find_last_uses(l);
    for (int32_t at = 0; at < l->program.count; at++)
        if (l->plan[at].divided) divide_keys(l, at);
    for (int place = COLUMN; place <= CELL; place++) {
        for (int32_t at = 0; at < l->program.count; at++) {
            const plan *p = &l->plan[at];
            if (p->needed && p->place == place && p->alias == at) plan_node(l, at);
        }
        if (place == COLUMN) run_columns(l);
    }
}

/* ---- tiles ---- */

static void run_row(lanes *l, int64_t row) {
    l->row = row;
    evaluate_row(l);
    for (int64_t c = l->columns; c < l->columns + l->cells; c++) l->code[c].run(l, &l->code[c]);
}

static lanes open_tile(const ts_program *program, ts_dtype dtype, bool score, int64_t h, ts_range i,
                       ts_range j, void *scratch) {
    lanes l = {.program = *program,
               .loops = ts_kernel_get()->lanes,
               .dtype = dtype,
               .score = score,
               .s = NONE,
               .tile = {.i = i, .j = j, .h = {h, h}, .any_float = score}};
    if (!ts_tile_has_forms(&l.tile)) l.program.forms = NULL;
    l.keys = j.last - j.first + 1;
    l.n = (l.keys + 63) / 64 * 64;
    place_scratch(&l, scratch);
    plan_tile(&l);
    return l;
}

void ts_lanes_mask(const ts_program *program, int64_t h, ts_range i, ts_range j, uint64_t *bits,
                   int64_t words, void *scratch) {
    lanes l = open_tile(program, TS_F64, false, h, i, j, scratch);
    const int32_t result = l.plan[program->count - 1].alias;
    const plan *p = &l.plan[result];
    const uint64_t *lane = p->slot == NONE ? NULL : slot_at(&l, p->slot);
    const uint64_t last = ~(uint64_t)0 >> (l.n - l.keys);
    for (int64_t row = i.first; row <= i.last; row++, bits += words) {
        if (p->place == ROW || p->place == CELL) run_row(&l, row);
        for (int64_t w = 0; w < l.n / 64; w++)
            bits[w] = lane ? lane[w] : l.value[result].b ? ~(uint64_t)0 : 0;
        bits[l.n / 64 - 1] &= last;
    }
}

static void fill_scores(const lanes *l, int32_t result, void *scores) {
    for (int64_t k = 0; k < l->keys; k++) set_lane(l, TS_FLOAT, scores, k, l->value[result]);
}

void ts_lanes_score(const ts_program *program, ts_dtype dtype, int64_t h, ts_range i, ts_range j,
                    void *scores, int64_t stride, void *scratch) {
    lanes l = open_tile(program, dtype, true, h, i, j, scratch);
    const int32_t result = l.plan[program->count - 1].alias;
    const size_t size = ts_dtype_size(dtype), bytes = (size_t)l.keys * size;
    const plan *p = &l.plan[result];
    const bool identity = node_at(&l, result)->op == TS_OP_s;
    /* the last instruction writes where the scores are */
    const bool direct = p->place == CELL && !identity && l.n == l.keys;
    if (direct) l.code[l.columns + l.cells - 1].out = NULL;
    char *copy = l.s != NONE && l.plan[l.s].slot != NONE ? slot_at(&l, l.plan[l.s].slot) : NULL;
    for (int64_t row = i.first; row <= i.last && !identity; row++) {
        l.scores = (char *)scores + (size_t)((row - i.first) * stride) * size;
        if (copy) {
            memcpy(copy, l.scores, bytes);
            memset(copy + bytes, 0, (size_t)l.n * size - bytes);
        }
        if (p->place == ROW || p->place == CELL) run_row(&l, row);
        if (p->place <= ROW)
            fill_scores(&l, result, l.scores);
        else if (!direct)
            memcpy(l.scores, slot_at(&l, p->slot), bytes);
    }
}
