/* program.c -- a straight-line program: checked, and evaluated cell by cell. */
#include "program.h"

#include "arith.h"
#include "lanes.h"
#include "table.h"

const ts_op_kind ts_op_kinds[TS_OP_COUNT] = {
#define X(name, result, arity, operands) {#name, TS_##result, arity, #operands},
    TS_OPS(X)
#undef X
};

static bool type_of(char letter, ts_type *type) {
    switch (letter) {
    case 'i':
        return *type = TS_INT, true;
    case 'f':
        return *type = TS_FLOAT, true;
    case 'b':
        return *type = TS_BOOL, true;
    default:
        return false;
    }
}

static bool operands_fit(const ts_program *program, int64_t at) {
    const ts_node *node = &program->nodes[at];
    const ts_op_kind *kind = &ts_op_kinds[node->op];
    for (int k = 0; k < kind->arity; k++) {
        int32_t operand = node->operand[k];
        ts_type want;
        if (operand < 0 || operand >= at || !type_of(kind->operands[k], &want)) return false;
        if (program->nodes[operand].type != want) return false;
    }
    return true;
}

int ts_op_table(ts_op op) {
    switch (op) {
    case TS_OP_itable:
        return TS_TABLE_INTS;
    case TS_OP_ftable:
        return TS_TABLE_FLOATS;
    case TS_OP_btable:
        return TS_TABLE_BOOLS;
    case TS_OP_matrix:
        return TS_TABLE_MATRIX;
    case TS_OP_bits:
        return TS_TABLE_BITS;
    default:
        return -1;
    }
}

static bool table_fits(const ts_program *program, const ts_node *node) {
    int want = ts_op_table(node->op);
    if (want < 0) return true;
    if (node->table < 0 || node->table >= program->table_count) return false;
    return (int)program->tables[node->table].kind == want;
}

ts_status ts_program_check(const ts_program *program, ts_detail *detail) {
    detail->key = 0;
    if (program->count < 1 || program->count > INT32_MAX) return TS_MALFORMED;
    for (int64_t at = 0; at < program->count; at++) {
        const ts_node *node = &program->nodes[at];
        detail->key = at + 1;
        if (node->op >= TS_OP_COUNT || node->type != ts_op_kinds[node->op].result ||
            !operands_fit(program, at) || !table_fits(program, node))
            return TS_MALFORMED;
    }
    return TS_OK;
}

static const ts_form no_form = {.linear = false};

/* Coefficients are kept below 2^20 and constants below 2^60, so that a form never wraps for indices
 * below TS_INDEX_LIMIT = 2^40: 3 * 2^60 + 2^60 < 2^63. */
static ts_form linear(int64_t ci, int64_t cj, int64_t ch, int64_t c) {
    const int64_t most = (int64_t)1 << 20, most_c = (int64_t)1 << 60;
    if (ci <= -most || ci >= most || cj <= -most || cj >= most || ch <= -most || ch >= most ||
        c <= -most_c || c >= most_c)
        return no_form;
    return (ts_form){
        .linear = true, .ci = (int32_t)ci, .cj = (int32_t)cj, .ch = (int32_t)ch, .c = c};
}

static ts_form combined(const ts_form *a, const ts_form *b, int64_t sign) {
    if (!a->linear || !b->linear) return no_form;
    return linear(a->ci + sign * b->ci, a->cj + sign * b->cj, a->ch + sign * b->ch,
                  a->c + sign * b->c);
}

static ts_form scaled(const ts_form *a, int64_t by) {
    int64_t c;
    if (!a->linear || by <= -((int64_t)1 << 20) || by >= (int64_t)1 << 20) return no_form;
    if (__builtin_mul_overflow(a->c, by, &c)) return no_form;
    return linear(a->ci * by, a->cj * by, a->ch * by, c);
}

static bool is_constant(const ts_form *form) {
    return form->linear && form->ci == 0 && form->cj == 0 && form->ch == 0;
}

static ts_form multiplied(const ts_form *a, const ts_form *b) {
    if (is_constant(b)) return scaled(a, b->c);
    if (is_constant(a)) return scaled(b, a->c);
    return no_form;
}

static ts_form form_of(const ts_node *node, const ts_form *forms) {
    const ts_form *a = node->operand[0] < 0 ? NULL : &forms[node->operand[0]];
    const ts_form *b = node->operand[1] < 0 ? NULL : &forms[node->operand[1]];
    switch (node->op) {
    case TS_OP_iconst:
        return linear(0, 0, 0, node->constant.i);
    case TS_OP_i:
        return linear(1, 0, 0, 0);
    case TS_OP_j:
        return linear(0, 1, 0, 0);
    case TS_OP_h:
        return linear(0, 0, 1, 0);
    case TS_OP_iadd:
        return combined(a, b, 1);
    case TS_OP_isub:
        return combined(a, b, -1);
    case TS_OP_ineg:
        return scaled(a, -1);
    case TS_OP_imul:
        return multiplied(a, b);
    case TS_OP_ieq:
    case TS_OP_ilt:
    case TS_OP_ile:
        return combined(a, b, -1);
    default:
        return no_form;
    }
}

void ts_program_forms(const ts_node *nodes, int64_t count, ts_form *forms) {
    for (int64_t at = 0; at < count; at++) forms[at] = form_of(&nodes[at], forms);
    forms[count - 1].needed = true;
    for (int64_t at = count - 1; at >= 0; at--)
        for (int k = 0; k < ts_op_kinds[nodes[at].op].arity; k++)
            if (forms[at].needed && !forms[at].linear) forms[nodes[at].operand[k]].needed = true;
}

/* How an operation finds its operands among the values of earlier nodes, by its signature. */
#define A(member) values[node->operand[0]].member
#define B(member) values[node->operand[1]].member
#define C(member) values[node->operand[2]].member
#define WITH_i(op) op(A(i))
#define WITH_f(op) op(A(f))
#define WITH_b(op) op(A(b))
#define WITH_ii(op) op(A(i), B(i))
#define WITH_ff(op) op(A(f), B(f))
#define WITH_if(op) op(A(i), B(f))
#define WITH_fi(op) op(A(f), B(i))
#define WITH_bb(op) op(A(b), B(b))
#define WITH_bii(op) op(A(b), B(i), C(i))
#define WITH_bff(op) op(A(b), B(f), C(f))
#define WITH_bbb(op) op(A(b), B(b), C(b))
#define AS_INT(x) ((ts_value){.i = (x)})
#define AS_FLOAT(x) ((ts_value){.f = (x)})
#define AS_BOOL(x) ((ts_value){.b = (x)})

ts_value ts_node_eval(const ts_program *program, const ts_node *node, const ts_value *values) {
    const ts_table *table = node->table < 0 ? NULL : &program->tables[node->table];
    switch ((ts_op)node->op) {
    case TS_OP_iconst:
        return AS_INT(node->constant.i);
    case TS_OP_fconst:
        return AS_FLOAT(node->constant.f);
    case TS_OP_bconst:
        return AS_BOOL(node->constant.i != 0);
#define X(name, result, arity, operands)                                                           \
    case TS_OP_##name:                                                                             \
        return AS_##result(WITH_##operands(ts_##name));
        TS_ARITH(X)
#undef X
    case TS_OP_itable:
        return AS_INT(ts_table_int(table, A(i)));
    case TS_OP_ftable:
        return AS_FLOAT(ts_table_float(table, A(i)));
    case TS_OP_btable:
        return AS_BOOL(ts_table_bool(table, A(i)));
    case TS_OP_matrix:
        return AS_FLOAT(ts_table_matrix(table, A(i), B(i)));
    case TS_OP_bits:
        return AS_BOOL(ts_table_bit(table, A(i), B(i), C(i)));
    default:
        return AS_INT(0); /* i, j, h, s: the caller's */
    }
}

/* Computed in double and rounded once more, a sum, product, quotient or root is the number that
 * computing in f32 gives, since 53 >= 2 * 24 + 2 (Figueroa 1995). The others say so themselves. */
ts_value ts_node_score(const ts_program *program, const ts_node *node, ts_dtype dtype,
                       const ts_value *values) {
    ts_value value = ts_node_eval(program, node, values);
    if (dtype == TS_F64 || node->type != TS_FLOAT) return value;
    if (node->op == TS_OP_ffrom) return AS_FLOAT((float)A(i));
    if (node->op == TS_OP_ffloordiv) return AS_FLOAT(floorf((float)A(f) / (float)B(f)));
    return AS_FLOAT((float)value.f);
}

/* One cell; floats are rounded to `dtype` once an operation, which for f64 is no rounding at all.
 */
static ts_value run_cell(const ts_program *program, ts_dtype dtype, double s, int64_t i, int64_t j,
                         int64_t h, ts_value *values) {
    for (int64_t at = 0; at < program->count; at++) {
        const ts_node *node = &program->nodes[at];
        switch (node->op) {
        case TS_OP_i:
            values[at].i = i;
            break;
        case TS_OP_j:
            values[at].i = j;
            break;
        case TS_OP_h:
            values[at].i = h;
            break;
        case TS_OP_s:
            values[at].f = s;
            break;
        default:
            values[at] = ts_node_score(program, node, dtype, values);
            break;
        }
    }
    return values[program->count - 1];
}

ts_value ts_program_eval(const ts_program *program, double s, int64_t i, int64_t j, int64_t h,
                         ts_value *values) {
    return run_cell(program, TS_F64, s, i, j, h, values);
}

size_t ts_program_scratch(const ts_program *program) {
    size_t cells = (size_t)program->count * sizeof(ts_value), lanes = ts_lanes_scratch(program);
    return cells > lanes ? cells : lanes;
}

/* Cell by cell, where there are no lanes. */
static void score_row(const ts_program *program, ts_dtype dtype, int64_t h, int64_t i, ts_range j,
                      void *scores, void *scratch) {
    float *f32 = scores;
    double *f64 = scores;
    for (int64_t k = 0; k <= j.last - j.first; k++)
        if (dtype == TS_F32)
            f32[k] = (float)run_cell(program, dtype, f32[k], i, j.first + k, h, scratch).f;
        else
            f64[k] = run_cell(program, dtype, f64[k], i, j.first + k, h, scratch).f;
}

void ts_program_score(const ts_program *program, ts_dtype dtype, int64_t h, ts_range i, ts_range j,
                      void *scores, int64_t stride, void *scratch) {
    const int64_t size = (int64_t)ts_dtype_size(dtype);
    char *at = scores;
    if (i.first > i.last) return;
    if (!ts_lanes_ready(program)) {
        for (int64_t row = i.first; row <= i.last; row++, at += stride * size)
            score_row(program, dtype, h, row, j, at, scratch);
        return;
    }
    for (int64_t first = j.first; first <= j.last; first += TS_LANES, at += TS_LANES * size) {
        int64_t last = j.last - first < TS_LANES ? j.last : first + TS_LANES - 1;
        ts_lanes_score(program, dtype, h, i, (ts_range){first, last}, at, stride, scratch);
    }
}

void ts_program_score_f32(const ts_program *program, int64_t h, int64_t i, int64_t j, int64_t count,
                          float *s, void *scratch) {
    ts_program_score(program, TS_F32, h, (ts_range){i, i}, (ts_range){j, j + count - 1}, s, 0,
                     scratch);
}

void ts_program_score_f64(const ts_program *program, int64_t h, int64_t i, int64_t j, int64_t count,
                          double *s, void *scratch) {
    ts_program_score(program, TS_F64, h, (ts_range){i, i}, (ts_range){j, j + count - 1}, s, 0,
                     scratch);
}
