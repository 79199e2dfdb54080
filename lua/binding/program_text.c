/* program_text.c -- a program as infix Lua: one expression, behind a line for each part used twice.
 */
#include "program.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* How an operation is written: an operator with Lua's precedence, or (precedence 0) a function. */
typedef struct {
    const char *sign;
    int precedence;
} notation;

enum { OR = 1, AND, COMPARISON, BOR, BXOR, BAND, SHIFT, SUM, PRODUCT, UNARY, POWER, ATOM };

static const notation notations[TS_OP_COUNT] = {
    [TS_OP_iadd] = {"+", SUM},         [TS_OP_isub] = {"-", SUM},
    [TS_OP_imul] = {"*", PRODUCT},     [TS_OP_ineg] = {"-", UNARY},
    [TS_OP_idiv] = {"//", PRODUCT},    [TS_OP_imod] = {"%", PRODUCT},
    [TS_OP_icmod] = {"fmod", 0},       [TS_OP_iabs] = {"abs", 0},
    [TS_OP_imin] = {"min", 0},         [TS_OP_imax] = {"max", 0},
    [TS_OP_iand] = {"&", BAND},        [TS_OP_ior] = {"|", BOR},
    [TS_OP_ixor] = {"~", BXOR},        [TS_OP_inot] = {"~", UNARY},
    [TS_OP_ishl] = {"<<", SHIFT},      [TS_OP_ishr] = {">>", SHIFT},
    [TS_OP_fadd] = {"+", SUM},         [TS_OP_fsub] = {"-", SUM},
    [TS_OP_fmul] = {"*", PRODUCT},     [TS_OP_fdiv] = {"/", PRODUCT},
    [TS_OP_fneg] = {"-", UNARY},       [TS_OP_ffloordiv] = {"//", PRODUCT},
    [TS_OP_fmod] = {"%", PRODUCT},     [TS_OP_fcmod] = {"fmod", 0},
    [TS_OP_fpow] = {"^", POWER},       [TS_OP_fabs] = {"abs", 0},
    [TS_OP_ffloor] = {"floor", 0},     [TS_OP_fceil] = {"ceil", 0},
    [TS_OP_fsqrt] = {"sqrt", 0},       [TS_OP_fexp] = {"exp", 0},
    [TS_OP_flog] = {"log", 0},         [TS_OP_flog2] = {"log2", 0},
    [TS_OP_flog10] = {"log10", 0},     [TS_OP_fsin] = {"sin", 0},
    [TS_OP_fcos] = {"cos", 0},         [TS_OP_ftan] = {"tan", 0},
    [TS_OP_ftanh] = {"tanh", 0},       [TS_OP_ffrom] = {"float", 0},
    [TS_OP_ifrom] = {"integer", 0},    [TS_OP_fits] = {"is_integer", 0},
    [TS_OP_ieq] = {"==", COMPARISON},  [TS_OP_ilt] = {"<", COMPARISON},
    [TS_OP_ile] = {"<=", COMPARISON},  [TS_OP_iult] = {"ult", 0},
    [TS_OP_feq] = {"==", COMPARISON},  [TS_OP_flt] = {"<", COMPARISON},
    [TS_OP_fle] = {"<=", COMPARISON},  [TS_OP_ifeq] = {"==", COMPARISON},
    [TS_OP_iflt] = {"<", COMPARISON},  [TS_OP_ifle] = {"<=", COMPARISON},
    [TS_OP_filt] = {"<", COMPARISON},  [TS_OP_file] = {"<=", COMPARISON},
    [TS_OP_band] = {"and", AND},       [TS_OP_bor] = {"or", OR},
    [TS_OP_bxor] = {"~=", COMPARISON}, [TS_OP_bnot] = {"not ", UNARY},
    [TS_OP_iselect] = {"select", 0},   [TS_OP_fselect] = {"select", 0},
    [TS_OP_bselect] = {"select", 0},   [TS_OP_itable] = {"ints", 0},
    [TS_OP_ftable] = {"floats", 0},    [TS_OP_btable] = {"bools", 0},
    [TS_OP_matrix] = {"matrix", 0},    [TS_OP_bits] = {"mask", 0},
};

/* Expressions are cut by a line of their own where they would nest deeper. */
enum { DEEPEST = 12 };

typedef struct {
    const ts_program *program;
    luaL_Buffer *out;
    const int32_t *line; /* of each node: 0, or the number of the line that names it */
} writer;

static int precedence_of(const writer *w, int32_t at) {
    const ts_node *node = &w->program->nodes[at];
    if (w->line[at]) return ATOM;
    bool minus = (node->op == TS_OP_iconst && node->constant.i < 0) ||
                 (node->op == TS_OP_fconst && signbit(node->constant.f));
    if (minus) return UNARY;
    int precedence = notations[node->op].precedence;
    return precedence ? precedence : ATOM;
}

static void write_node(const writer *w, int32_t at);

/* The operand, in brackets where it binds less than `least`. */
static void write_operand(const writer *w, int32_t at, int least) {
    char name[24];
    bool brackets = precedence_of(w, at) < least;
    if (brackets) luaL_addchar(w->out, '(');
    if (w->line[at]) {
        snprintf(name, sizeof name, "t%" PRId32, w->line[at]);
        luaL_addstring(w->out, name);
    } else {
        write_node(w, at);
    }
    if (brackets) luaL_addchar(w->out, ')');
}

static bool is_list(ts_op op) {
    return op == TS_OP_itable || op == TS_OP_ftable || op == TS_OP_btable;
}

/* f(a, b), list1[a], matrix1(a, b): tables have their number behind their name. */
static void write_call(const writer *w, const ts_node *node) {
    char number[24];
    luaL_addstring(w->out, notations[node->op].sign);
    if (node->table >= 0) {
        snprintf(number, sizeof number, "%" PRId32, node->table + 1);
        luaL_addstring(w->out, number);
    }
    luaL_addchar(w->out, is_list(node->op) ? '[' : '(');
    for (int k = 0; k < ts_op_kinds[node->op].arity; k++) {
        if (k > 0) luaL_addstring(w->out, ", ");
        write_operand(w, node->operand[k], 0);
    }
    luaL_addchar(w->out, is_list(node->op) ? ']' : ')');
}

static void write_leaf(const writer *w, const ts_node *node) {
    char text[40];
    switch (node->op) {
    case TS_OP_iconst:
        snprintf(text, sizeof text, "%" PRId64, node->constant.i);
        break;
    case TS_OP_fconst:
        if (isnan(node->constant.f))
            snprintf(text, sizeof text, "nan");
        else
            snprintf(text, sizeof text, "%.14g", node->constant.f);
        if (strspn(text, "-0123456789") == strlen(text)) strcat(text, ".0");
        break;
    case TS_OP_bconst:
        snprintf(text, sizeof text, node->constant.i ? "true" : "false");
        break;
    default:
        snprintf(text, sizeof text, "%s", ts_op_kinds[node->op].name);
        break;
    }
    luaL_addstring(w->out, text);
}

/* x + -1 reads better as x - 1. */
static bool is_subtraction(const writer *w, const ts_node *node) {
    const ts_node *right = &w->program->nodes[node->operand[1]];
    return node->op == TS_OP_iadd && right->op == TS_OP_iconst && right->constant.i < 0 &&
           right->constant.i > INT64_MIN;
}

static void write_subtraction(const writer *w, const ts_node *node) {
    char text[32];
    write_operand(w, node->operand[0], SUM);
    snprintf(text, sizeof text, " - %" PRId64, -w->program->nodes[node->operand[1]].constant.i);
    luaL_addstring(w->out, text);
}

/* Operators of one precedence group to the left, ^ to the right. */
static void write_node(const writer *w, int32_t at) {
    const ts_node *node = &w->program->nodes[at];
    const notation *how = &notations[node->op];
    int arity = ts_op_kinds[node->op].arity, p = how->precedence;
    if (arity == 0) {
        write_leaf(w, node);
    } else if (p == 0) {
        write_call(w, node);
    } else if (is_subtraction(w, node)) {
        write_subtraction(w, node);
    } else if (arity == 1) {
        luaL_addstring(w->out, how->sign);
        write_operand(w, node->operand[0], p + 1);
    } else {
        write_operand(w, node->operand[0], p == POWER ? p + 1 : p);
        luaL_addchar(w->out, ' ');
        luaL_addstring(w->out, how->sign);
        luaL_addchar(w->out, ' ');
        write_operand(w, node->operand[1], p == POWER ? UNARY : p + 1);
    }
}

/* Gives a line to each node that is used twice or nests too deep. depth and line: one a node. */
static void divide(const ts_program *program, int32_t *depth, int32_t *line) {
    int32_t lines = 0;
    memset(line, 0, (size_t)program->count * sizeof *line);
    for (int64_t at = 0; at < program->count; at++)
        for (int k = 0; k < ts_op_kinds[program->nodes[at].op].arity; k++)
            line[program->nodes[at].operand[k]]++;
    for (int64_t at = 0; at < program->count; at++) {
        const ts_node *node = &program->nodes[at];
        int arity = ts_op_kinds[node->op].arity;
        depth[at] = arity > 0;
        for (int k = 0; k < arity; k++)
            if (depth[at] <= depth[node->operand[k]]) depth[at] = depth[node->operand[k]] + 1;
        bool named = arity > 0 && (line[at] > 1 || depth[at] > DEEPEST);
        line[at] = named && at < program->count - 1 ? ++lines : 0;
        if (line[at]) depth[at] = 0;
    }
}

void ts_lua_push_program_text(lua_State *L, const ts_program *program) {
    luaL_Buffer out;
    char name[40];
    int32_t *depth = lua_newuserdatauv(L, (size_t)program->count * 2 * sizeof *depth, 0);
    int32_t *line = depth + program->count;
    writer w = {program, &out, line};
    divide(program, depth, line);
    luaL_buffinit(L, &out);
    for (int64_t at = 0; at < program->count; at++) {
        if (!line[at] && at < program->count - 1) continue;
        if (line[at]) snprintf(name, sizeof name, "local t%" PRId32 " = ", line[at]);
        luaL_addstring(&out, line[at] ? name : "return ");
        write_node(&w, (int32_t)at);
        if (line[at]) luaL_addchar(&out, '\n');
    }
    luaL_pushresult(&out);
    lua_remove(L, -2);
}
