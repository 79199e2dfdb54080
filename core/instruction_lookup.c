/* instruction_lookup.c -- lanes of look-ups in the tables of a program. */
#include "instruction.h"

/* 64 bits of a row of a table from column `at` (from 0) on; 0 outside. */
static uint64_t word_from(const ts_table *table, const uint64_t *row, int64_t at) {
    if (at <= -64 || at >= table->cols) return 0;
    int64_t w = at >= 0 ? at / 64 : -1, shift = at - 64 * w;
    uint64_t low = w >= 0 ? row[w] : 0, high = w + 1 < table->words ? row[w + 1] : 0;
    return shift == 0 ? low : low >> shift | high << (64 - shift);
}

void ts_run_bits(ts_plan *plan, ts_instruction *in) {
    const ts_node *node = ts_plan_node(plan, in->node);
    const ts_table *table = &plan->program.tables[node->table];
    int64_t r = plan->value[node->operand[0]].i, h = plan->value[node->operand[2]].i;
    const ts_form *form = &plan->program.forms[node->operand[1]];
    int64_t at = ts_form_of_row(plan, form) + plan->tile.j.first - 1;
    if (r < 1 || r > table->rows || h < 1 || h > table->heads) {
        ts_fill_words(plan, false, in->out);
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
            uint64_t at = (uint64_t)ts_int_lane(plan, index, k) - (uint64_t)l.first;               \
            to[k] = at < (uint64_t)l.count ? (To)from[(int64_t)at * l.step] : 0;                   \
        }                                                                                          \
    } while (0)

static void gather_floats(const ts_plan *plan, list l, const ts_lane *index, ts_dtype stored,
                          void *out) {
    if (stored == TS_F32 && plan->dtype == TS_F32)
        GATHER(float, float);
    else if (stored == TS_F32)
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
    void *out = ts_instruction_out(plan, in);
    ts_instruction_refresh(plan, in);
    if (node->op == TS_OP_matrix) {
        const ts_matrix *m = &t->matrix;
        const int64_t r = plan->value[node->operand[0]].i;
        const bool inside = r >= 1 && r <= m->rows;
        list l = {(const char *)m->data +
                      (inside ? (r - 1) * m->row_stride : 0) * (int64_t)ts_dtype_size(m->dtype),
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

void ts_make_lookup(ts_plan *plan, ts_instruction *in) {
    const ts_node *node = ts_plan_node(plan, in->node);
    in->run = run_lookup;
    in->operands = ts_op_kinds[node->op].arity;
    for (int k = 0; k < in->operands; k++) ts_operand_node(plan, in, k, node->operand[k]);
}
