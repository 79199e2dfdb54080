/* program_bytes.c -- a program as bytes: programs of the same bytes are the same. */
#include "program.h"

static void add(luaL_Buffer *out, const void *bytes, int64_t count) {
    luaL_addlstring(out, bytes, (size_t)count);
}

/* Field by field, as structures have gaps. */
static void add_node(luaL_Buffer *out, const ts_node *node) {
    luaL_addstring(out, ts_op_kinds[node->op].name);
    luaL_addchar(out, ' ');
    add(out, node->operand, sizeof node->operand);
    add(out, &node->table, sizeof node->table);
    add(out, &node->constant, sizeof node->constant);
}

static void add_table(luaL_Buffer *out, const ts_table *t) {
    const ts_matrix *m = &t->matrix;
    const int64_t shape[] = {(int64_t)t->kind, t->first, t->count, t->rows, t->cols,
                             t->heads,         m->dtype, m->rows,  m->cols};
    add(out, shape, sizeof shape);
    switch (t->kind) {
    case TS_TABLE_INTS:
        add(out, t->ints, t->count * 8);
        break;
    case TS_TABLE_FLOATS:
        add(out, t->floats, t->count * 8);
        break;
    case TS_TABLE_BOOLS:
        add(out, t->bools, t->count);
        break;
    case TS_TABLE_MATRIX: /* a packed copy */
        add(out, m->data, m->rows * m->cols * (int64_t)ts_dtype_size(m->dtype));
        break;
    case TS_TABLE_BITS:
        add(out, t->bits, t->heads * t->rows * t->words * 8);
        break;
    }
}

/* [P] -> [string]: its operations, then what its tables hold */
int ts_lua_program_bytes(lua_State *L) {
    const ts_program *program = ts_lua_check_program(L, 1);
    luaL_Buffer out;
    luaL_buffinit(L, &out);
    for (int64_t at = 0; at < program->count; at++) add_node(&out, &program->nodes[at]);
    for (int64_t t = 0; t < program->table_count; t++) add_table(&out, &program->tables[t]);
    luaL_pushresult(&out);
    return 1;
}
