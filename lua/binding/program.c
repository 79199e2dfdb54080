/* program.c -- the program userdata: what owns its nodes and keeps its tables alive. */
#include "program.h"

#include <string.h>

ts_program *ts_lua_test_program(lua_State *L, int index) {
    return luaL_testudata(L, index, TS_PROGRAM);
}

ts_program *ts_lua_check_program(lua_State *L, int arg) {
    ts_program *program = ts_lua_test_program(L, arg);
    if (!program) ts_lua_type_error(L, arg, NULL, "program");
    return program;
}

/* ---- building ---- */

ts_lua_build *ts_lua_new_build(lua_State *L, int64_t nodes, int64_t tables, int64_t numbers) {
    void *memory;
    size_t room = ts_builder_size(nodes, tables);
    if (numbers < 2 * nodes + 2) numbers = 2 * nodes + 2; /* finishing needs them */
    ts_lua_build *build =
        ts_lua_new_block(L, sizeof *build, room + (size_t)numbers * 4, 0, &memory);
    ts_builder_open(&build->builder, memory, nodes, tables);
    build->numbers = (int32_t *)((char *)memory + room);
    return build;
}

ts_program *ts_lua_finish_build(lua_State *L, ts_lua_build *build, int32_t result, int anchors) {
    ts_builder *b = &build->builder;
    void *memory;
    if (anchors) anchors = lua_absindex(L, anchors);
    ts_builder_finish(b, result, build->numbers);
    size_t nodes = (size_t)b->count * sizeof(ts_node), forms = (size_t)b->count * sizeof(ts_form);
    size_t tables = (size_t)b->table_count * sizeof(ts_table);
    ts_program *program = ts_lua_new_block(L, sizeof *program, nodes + forms + tables, 1, &memory);
    ts_form *form = (ts_form *)((char *)memory + nodes);
    ts_table *table = (ts_table *)((char *)memory + nodes + forms);
    memcpy(memory, b->nodes, nodes);
    memcpy(table, b->tables, tables);
    ts_program_forms(memory, b->count, form);
    *program = (ts_program){b->count, b->table_count, memory, table, form};
    luaL_setmetatable(L, TS_PROGRAM);
    if (b->table_count && anchors) {
        lua_pushvalue(L, anchors);
        lua_setiuservalue(L, -2, 1);
    }
    return program;
}

void ts_lua_add_anchor(lua_State *L, int index) {
    if (lua_getiuservalue(L, index, 1) == LUA_TTABLE)
        lua_rawseti(L, -2, (lua_Integer)lua_rawlen(L, -2) + 1);
    else
        lua_pop(L, 1);
}

void ts_lua_push_anchors(lua_State *L, const int *programs, int count) {
    lua_createtable(L, count, 0);
    for (int k = 0; k < count; k++) ts_lua_add_anchor(L, programs[k]);
}

bool ts_lua_reads(const ts_program *program, ts_op op) {
    for (int64_t at = 0; at < program->count; at++)
        if (program->nodes[at].op == op) return true;
    return false;
}

ts_program *ts_lua_push_bits_program(lua_State *L, int storage) {
    storage = lua_absindex(L, storage);
    const ts_table *table = lua_touserdata(L, storage);
    lua_createtable(L, 1, 0);
    lua_pushvalue(L, storage);
    lua_rawseti(L, -2, 1);
    ts_lua_build *build = ts_lua_new_build(L, 4, 1, 0);
    ts_builder *b = &build->builder;
    ts_node bits = {.op = TS_OP_bits, .type = TS_BOOL, .table = ts_builder_table(b, table)};
    bits.operand[0] = ts_builder_op(b, TS_OP_i, -1, -1, -1);
    bits.operand[1] = ts_builder_op(b, TS_OP_j, -1, -1, -1);
    bits.operand[2] =
        table->heads == 1 ? ts_builder_int(b, 1) : ts_builder_op(b, TS_OP_h, -1, -1, -1);
    int32_t result = ts_builder_node(b, bits);
    ts_program *program = ts_lua_finish_build(L, build, result, -2);
    lua_replace(L, -3);
    lua_pop(L, 1);
    return program;
}

/* ---- the userdata ---- */

static int text(lua_State *L) {
    ts_lua_push_program_text(L, ts_lua_check_program(L, 1));
    return 1;
}

static int length(lua_State *L) {
    lua_pushinteger(L, ts_lua_check_program(L, 1)->count);
    return 1;
}

static int to_string(lua_State *L) {
    const ts_program *program = ts_lua_check_program(L, 1);
    lua_pushfstring(L, "program of %I node%s", I(program->count), ts_lua_plural(program->count));
    return 1;
}

/* op -> {result = "i", operands = "ii"} */
static void push_ops(lua_State *L) {
    lua_createtable(L, 0, TS_OP_COUNT);
    for (int op = 0; op < TS_OP_COUNT; op++) {
        const ts_op_kind *kind = &ts_op_kinds[op];
        lua_createtable(L, 0, 2);
        lua_pushlstring(L, &"ifb"[kind->result], 1);
        lua_setfield(L, -2, "result");
        lua_pushlstring(L, kind->operands, (size_t)kind->arity);
        lua_setfield(L, -2, "operands");
        lua_setfield(L, -2, kind->name);
    }
}

static const luaL_Reg functions[] = {{"new", ts_lua_read_program},
                                     {"run", ts_lua_run_program},
                                     {"bound", ts_lua_bound_program},
                                     {"score", ts_lua_score_program},
                                     {"bytes", ts_lua_program_bytes},
                                     {"survey", ts_lua_survey},
                                     {NULL, NULL}};
static const luaL_Reg methods[] = {{"text", text}, {NULL, NULL}};
static bool push_field(lua_State *L, const char *name) {
    (void)L, (void)name;
    return false; /* it has none */
}
static int get_field(lua_State *L) { return ts_lua_index(L, push_field); }

static const luaL_Reg metamethods[] = {
    {"__index", get_field}, {"__len", length}, {"__tostring", to_string}, {NULL, NULL}};

int ts_lua_open_program(lua_State *L) {
    static const luaL_Reg *const parts[] = {metamethods, NULL};
    luaL_newlib(L, functions);
    push_ops(L);
    lua_setfield(L, -2, "ops");
    luaL_newlib(L, methods);
    ts_lua_set_kind(L, TS_PROGRAM, parts, NULL);
    return 1;
}
