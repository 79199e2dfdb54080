/* program_read.c -- programs from the lists of nodes and tables that Lua writes. */
#include "../../core/table.h"
#include "program.h"

#include <string.h>

/* The stack of ts_lua_read_program: nodes, tables, anchors, then the build. */
enum { NODES = 1, TABLES, ANCHORS, BUILD };

typedef struct {
    ts_builder *builder;
    int64_t count;                 /* nodes read so far */
    int32_t *number;               /* of each: where it stands in the builder */
    int32_t *inlined;              /* room for the numbers of a called program */
    int64_t called, called_tables; /* nodes and tables of called programs: how many more may come */
    int64_t table_count;           /* of the list of tables */
    int32_t *table_number;         /* of each */
} reader;

static int malformed(lua_State *L, const reader *r, const char *what) {
    return luaL_error(L, "node %I: %s", I(r->count + 1), what);
}

static int find_op(const char *name) {
    int op = 0;
    while (op < TS_OP_COUNT && strcmp(ts_op_kinds[op].name, name) != 0) op++;
    return op;
}

/* Element k of the node on top of the stack, as the number of an earlier node of this type. */
static int32_t operand(lua_State *L, const reader *r, int k, ts_type type) {
    int whole;
    lua_rawgeti(L, -1, k);
    int64_t at = lua_tointegerx(L, -1, &whole);
    lua_pop(L, 1);
    if (!whole || at < 1 || at > r->count) malformed(L, r, "an operand is no earlier node");
    int32_t number = r->number[at - 1];
    if (r->builder->nodes[number].type != type) malformed(L, r, "an operand is of another type");
    return number;
}

static ts_type type_of(char letter) {
    return letter == 'i' ? TS_INT : letter == 'f' ? TS_FLOAT : TS_BOOL;
}

static void read_constant(lua_State *L, const reader *r, ts_node *node) {
    int type = lua_rawgeti(L, -1, 2);
    if (node->op == TS_OP_iconst) {
        if (!lua_isinteger(L, -1)) malformed(L, r, "iconst needs an integer");
        node->constant.i = lua_tointeger(L, -1);
    } else if (node->op == TS_OP_fconst) {
        if (type != LUA_TNUMBER) malformed(L, r, "fconst needs a number");
        node->constant.f = lua_tonumber(L, -1);
    } else if (node->op == TS_OP_bconst) {
        if (type != LUA_TBOOLEAN) malformed(L, r, "bconst needs a boolean");
        node->constant.i = lua_toboolean(L, -1);
    }
    lua_pop(L, 1);
}

static void read_table(lua_State *L, const reader *r, int k, ts_node *node) {
    int want = ts_op_table(node->op), whole;
    if (want < 0) return;
    lua_rawgeti(L, -1, k);
    int64_t at = lua_tointegerx(L, -1, &whole);
    lua_pop(L, 1);
    if (!whole || at < 1 || at > r->table_count) malformed(L, r, "there is no such table");
    node->table = r->table_number[at - 1];
    if ((int)r->builder->tables[node->table].kind != want)
        malformed(L, r, "the table is of another kind");
}

/* {"call", a, b, c, P} on top of the stack. */
static int32_t read_call(lua_State *L, reader *r) {
    int32_t i = operand(L, r, 2, TS_INT), j = operand(L, r, 3, TS_INT), h = -1;
    lua_rawgeti(L, -1, 5);
    const ts_program *program = ts_lua_test_program(L, -1);
    if (!program) malformed(L, r, "the fifth element of a call is no program");
    r->called -= program->count, r->called_tables -= program->table_count;
    if (r->called < 0 || r->called_tables < 0) malformed(L, r, "the list changed as it was read");
    lua_rawgeti(L, -2, 4);
    bool headless = !lua_toboolean(L, -1);
    lua_pop(L, 1);
    if (headless && ts_lua_reads(program, TS_OP_h))
        malformed(L, r, "the program called needs a head");
    int at = lua_gettop(L);
    lua_pushvalue(L, ANCHORS);
    ts_lua_add_anchor(L, at);
    lua_pop(L, 2);
    if (!headless) h = operand(L, r, 4, TS_INT);
    return ts_builder_inline(r->builder, program, i, j, h, r->inlined);
}

/* The node on top of the stack. */
static int32_t read_node(lua_State *L, reader *r) {
    if (lua_type(L, -1) != LUA_TTABLE) malformed(L, r, "not a table");
    const char *name = lua_rawgeti(L, -1, 1) == LUA_TSTRING ? lua_tostring(L, -1) : "";
    lua_pop(L, 1); /* the node keeps the string */
    if (strcmp(name, "call") == 0) return read_call(L, r);
    int op = find_op(name);
    if (op == TS_OP_COUNT) malformed(L, r, "there is no such operation");
    const ts_op_kind *kind = &ts_op_kinds[op];
    ts_node node = {
        .op = (uint8_t)op, .type = (uint8_t)kind->result, .operand = {-1, -1, -1}, .table = -1};
    for (int k = 0; k < kind->arity; k++)
        node.operand[k] = operand(L, r, 2 + k, type_of(kind->operands[k]));
    read_constant(L, r, &node);
    read_table(L, r, 2 + kind->arity, &node);
    return ts_builder_node(r->builder, node);
}

/* What the list of nodes can come to, called programs included. */
static void measure(lua_State *L, int64_t *nodes, int64_t *tables) {
    *nodes = (int64_t)lua_rawlen(L, NODES);
    for (int64_t k = 1; k <= (int64_t)lua_rawlen(L, NODES); k++) {
        if (lua_rawgeti(L, NODES, k) == LUA_TTABLE) {
            lua_rawgeti(L, -1, 5);
            const ts_program *called = ts_lua_test_program(L, -1);
            lua_pop(L, 1);
            *nodes += called ? called->count : 0;
            *tables += called ? called->table_count : 0;
        }
        lua_pop(L, 1);
        if (*nodes > TS_LUA_MOST_NODES)
            luaL_error(L, "a program of %I nodes is too large", I(*nodes));
    }
}

/* [nodes, tables] -> [program] */
int ts_lua_read_program(lua_State *L) {
    luaL_checktype(L, 1, LUA_TTABLE);
    if (!lua_isnoneornil(L, 2)) luaL_checktype(L, 2, LUA_TTABLE);
    lua_settop(L, 2);
    int64_t lists = lua_isnil(L, TABLES) ? 0 : (int64_t)lua_rawlen(L, TABLES);
    int64_t own = (int64_t)lua_rawlen(L, NODES), nodes = 0, tables = lists;
    if (own == 0) return luaL_error(L, "a program needs a node");
    lua_newtable(L);
    measure(L, &nodes, &tables);
    ts_lua_build *build = ts_lua_new_build(L, nodes, tables, 3 * nodes + 2 + lists);
    reader r = {.builder = &build->builder,
                .called = nodes - own,
                .table_count = lists,
                .called_tables = tables - lists};
    r.number = build->numbers, r.inlined = r.number + own, r.table_number = r.inlined + r.called;
    for (int64_t t = 0; t < lists; t++) {
        lua_rawgeti(L, TABLES, t + 1);
        r.table_number[t] = ts_builder_table(r.builder, ts_lua_push_table(L, t + 1));
        lua_rawseti(L, ANCHORS, (lua_Integer)lua_rawlen(L, ANCHORS) + 1);
    }
    for (; r.count < own; r.count++) {
        lua_rawgeti(L, NODES, r.count + 1);
        r.number[r.count] = read_node(L, &r);
        lua_pop(L, 1);
    }
    ts_lua_finish_build(L, build, r.number[own - 1], ANCHORS);
    return 1;
}
