/* program.c -- the program userdata: made from lists of nodes, run and bounded for tests. */
#include "program.h"

#include "../../core/interval.h"
#include "../../core/table.h"

#include <string.h>

#define I(x) ((LUAI_UACINT)(x))

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

/* [..., anchors] -> the same: what the program at `index` keeps alive is kept alive by it too. */
static void add_anchor(lua_State *L, int index) {
    if (lua_getiuservalue(L, index, 1) == LUA_TTABLE)
        lua_rawseti(L, -2, (lua_Integer)lua_rawlen(L, -2) + 1);
    else
        lua_pop(L, 1);
}

void ts_lua_push_anchors(lua_State *L, const int *programs, int count) {
    lua_createtable(L, count, 0);
    for (int k = 0; k < count; k++) add_anchor(L, programs[k]);
}

/* ---- tables ---- */

static size_t rounded(size_t bytes) { return (bytes + 63) / 64 * 64; }

ts_table *ts_lua_new_table(lua_State *L, const ts_table *shape, size_t bytes, void **memory) {
    size_t payload = rounded(bytes) + ts_table_index_size(shape);
    ts_table *table = ts_lua_new_block(L, sizeof *table, payload, 0, memory);
    *table = *shape;
    memset(*memory, 0, payload);
    table->ints = *memory, table->floats = *memory, table->bools = *memory, table->bits = *memory;
    table->matrix.data = *memory; /* in any case: what owns the elements */
    return table;
}

void ts_lua_index_table(ts_table *table, size_t bytes) {
    ts_table_index(table, (char *)table->matrix.data + rounded(bytes));
}

ts_table *ts_lua_new_bits(lua_State *L, int64_t rows, int64_t cols, int64_t heads) {
    int64_t words = cols / 64 + (cols % 64 != 0), bytes;
    void *memory;
    if (__builtin_mul_overflow(rows, heads, &bytes) ||
        __builtin_mul_overflow(bytes, words, &bytes) || __builtin_mul_overflow(bytes, 8, &bytes) ||
        bytes > PTRDIFF_MAX / 2)
        luaL_error(L, "dense bits of %I x %I x %I are too large", I(rows), I(cols), I(heads));
    ts_table shape = {
        .kind = TS_TABLE_BITS, .rows = rows, .cols = cols, .heads = heads, .words = words};
    return ts_lua_new_table(L, &shape, (size_t)bytes, &memory);
}

void ts_lua_index_bits(ts_table *table) {
    ts_lua_index_table(table, (size_t)(table->rows * table->heads * table->words) * 8);
}

static int number_error(lua_State *L, int64_t table, int64_t at, const char *want) {
    return luaL_error(L, "table %I: value %I is not %s", I(table), I(at), want);
}

/* [..., value] -> [...]; element k (from 0) of table number `at` */
static void take_value(lua_State *L, int64_t at, ts_table_kind kind, int64_t k, void *memory) {
    const int type = lua_type(L, -1);
    if (kind == TS_TABLE_INTS && !lua_isinteger(L, -1)) number_error(L, at, k + 1, "an integer");
    if (kind == TS_TABLE_FLOATS && type != LUA_TNUMBER) number_error(L, at, k + 1, "a number");
    if (kind == TS_TABLE_BOOLS && type != LUA_TBOOLEAN) number_error(L, at, k + 1, "a boolean");
    if (kind == TS_TABLE_INTS) ((int64_t *)memory)[k] = lua_tointeger(L, -1);
    if (kind == TS_TABLE_FLOATS) ((double *)memory)[k] = lua_tonumber(L, -1);
    if (kind == TS_TABLE_BOOLS) ((uint8_t *)memory)[k] = (uint8_t)lua_toboolean(L, -1);
    lua_pop(L, 1);
}

/* [..., spec] -> [..., spec, storage] of the list spec.values, whose first element is spec.first */
static void push_list(lua_State *L, int64_t at, ts_table_kind kind) {
    void *memory;
    lua_getfield(L, -1, "first");
    if (!lua_isinteger(L, -1)) luaL_error(L, "table %I: 'first' is not an integer", I(at));
    ts_table shape = {.kind = kind, .first = lua_tointeger(L, -1)};
    lua_pop(L, 1);
    if (lua_getfield(L, -1, "values") != LUA_TTABLE)
        luaL_error(L, "table %I: 'values' is not a table", I(at));
    shape.count = (int64_t)lua_rawlen(L, -1);
    if (shape.first > INT64_MAX - shape.count)
        luaL_error(L, "table %I: 'first' is too large", I(at));
    size_t bytes = (size_t)shape.count * (kind == TS_TABLE_BOOLS ? 1 : 8);
    ts_table *table = ts_lua_new_table(L, &shape, bytes, &memory);
    for (int64_t k = 0; k < shape.count; k++) {
        lua_rawgeti(L, -2, k + 1);
        take_value(L, at, kind, k, memory);
    }
    ts_lua_index_table(table, bytes);
    lua_remove(L, -2);
}

static void push_matrix(lua_State *L, int64_t at) {
    void *memory;
    size_t bytes;
    lua_getfield(L, -1, "matrix");
    const ts_matrix *m = ts_lua_test_matrix(L, -1);
    if (!m) luaL_error(L, "table %I: 'matrix' is not a matrix", I(at));
    ts_status status = ts_matrix_size(m->dtype, m->rows, m->cols, &bytes, NULL);
    if (status != TS_OK) ts_lua_raise(L, status, NULL, NULL);
    ts_table shape = {.kind = TS_TABLE_MATRIX,
                      .matrix = ts_matrix_packed(m->dtype, m->rows, m->cols, NULL)};
    ts_table *table = ts_lua_new_table(L, &shape, bytes, &memory);
    ts_matrix_copy(m, &table->matrix, NULL);
    ts_lua_index_table(table, bytes);
    lua_remove(L, -2);
}

/* [..., spec] -> [..., storage] */
static const ts_table *push_table(lua_State *L, int64_t at) {
    static const char *const kinds[] = {"ints", "floats", "bools", "matrix", "bits"};
    if (lua_type(L, -1) != LUA_TTABLE) luaL_error(L, "table %I is not a table", I(at));
    const char *kind = lua_getfield(L, -1, "kind") == LUA_TSTRING ? lua_tostring(L, -1) : "";
    int k = 0;
    while (k < 5 && strcmp(kinds[k], kind) != 0) k++;
    lua_pop(L, 1);
    if (k == 5) luaL_error(L, "table %I: 'kind' is unknown", I(at));
    if (k == TS_TABLE_MATRIX) {
        push_matrix(L, at);
    } else if (k == TS_TABLE_BITS) {
        lua_getfield(L, -1, "mask");
        if (!ts_lua_test_mask(L, -1)) luaL_error(L, "table %I: 'mask' is not a mask", I(at));
        ts_lua_push_mask_bits(L, lua_gettop(L));
        lua_remove(L, -2);
    } else {
        push_list(L, at, k);
    }
    lua_remove(L, -2);
    return lua_touserdata(L, -1);
}

/* ---- nodes ---- */

/* The stack of `new`: nodes, tables, anchors, then the build. */
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

bool ts_lua_reads(const ts_program *program, ts_op op) {
    for (int64_t at = 0; at < program->count; at++)
        if (program->nodes[at].op == op) return true;
    return false;
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
    add_anchor(L, at);
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
static int new_program(lua_State *L) {
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
        r.table_number[t] = ts_builder_table(r.builder, push_table(L, t + 1));
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

/* ---- for tests ---- */

static void push_value(lua_State *L, ts_type type, ts_value value) {
    if (type == TS_INT) lua_pushinteger(L, value.i);
    if (type == TS_FLOAT) lua_pushnumber(L, value.f);
    if (type == TS_BOOL) lua_pushboolean(L, value.b);
}

static ts_type result_type(const ts_program *program) {
    return program->nodes[program->count - 1].type;
}

static const uint64_t MOST_ROWS = 1 << 20;

/* [P, i1, i2, j1, j2 [, h [, s]]] -> a list of rows, each a list of values */
static int run(lua_State *L) {
    const ts_program *program = ts_lua_check_program(L, 1);
    int64_t i1 = luaL_checkinteger(L, 2), i2 = luaL_checkinteger(L, 3);
    int64_t j1 = luaL_checkinteger(L, 4), j2 = luaL_checkinteger(L, 5);
    luaL_argcheck(L, i1 > i2 || (uint64_t)i2 - (uint64_t)i1 < MOST_ROWS, 3, "too many rows");
    luaL_argcheck(L, j1 > j2 || (uint64_t)j2 - (uint64_t)j1 < MOST_ROWS, 5, "too many keys");
    int64_t h = luaL_optinteger(L, 6, 1);
    double s = luaL_optnumber(L, 7, 0);
    ts_value *values = lua_newuserdatauv(L, (size_t)program->count * sizeof *values, 0);
    lua_newtable(L);
    for (int64_t i = i1; i <= i2; i++) {
        lua_newtable(L);
        for (int64_t j = j1; j <= j2; j++) {
            push_value(L, result_type(program), ts_program_eval(program, s, i, j, h, values));
            lua_rawseti(L, -2, j - j1 + 1);
            if (j == INT64_MAX) break;
        }
        lua_rawseti(L, -2, i - i1 + 1);
        if (i == INT64_MAX) break;
    }
    return 1;
}

/* [P, i1, i2, j1, j2 [, h]] -> low, high, nan: all values lie between, or are NaN
 * where `nan`; booleans are false, false or true, true where decided, else false, true */
static int bound(lua_State *L) {
    const ts_program *program = ts_lua_check_program(L, 1);
    int64_t h = luaL_optinteger(L, 6, 1);
    ts_tile tile = {.i = {luaL_checkinteger(L, 2), luaL_checkinteger(L, 3)},
                    .j = {luaL_checkinteger(L, 4), luaL_checkinteger(L, 5)},
                    .h = {h, h}};
    luaL_argcheck(L, tile.i.first <= tile.i.last, 3, "no rows");
    luaL_argcheck(L, tile.j.first <= tile.j.last, 5, "no keys");
    ts_interval *intervals = lua_newuserdatauv(L, (size_t)program->count * sizeof *intervals, 0);
    const ts_interval *result = ts_program_bound(program, &tile, intervals);
    push_value(L, result_type(program), result->low);
    push_value(L, result_type(program), result->high);
    lua_pushboolean(L, result_type(program) == TS_FLOAT && result->nan);
    return 3;
}

/* [P, dtype, i, j, h, scores] -> the program's scores of keys j, j + 1, .., as a list */
static int score(lua_State *L) {
    static const char *const dtypes[] = {"f32", "f64", NULL};
    const ts_program *program = ts_lua_check_program(L, 1);
    luaL_argcheck(L, result_type(program) == TS_FLOAT, 1, "its result is no float");
    int dtype = luaL_checkoption(L, 2, NULL, dtypes);
    int64_t index[3];
    for (int n = 0; n < 3; n++)
        index[n] = ts_lua_check_range(L, 3 + n, -TS_INDEX_LIMIT, TS_INDEX_LIMIT);
    const int64_t i = index[0], j = index[1], h = index[2];
    luaL_checktype(L, 6, LUA_TTABLE);
    int64_t count = (int64_t)lua_rawlen(L, 6);
    void *memory, *scratch = lua_newuserdatauv(L, ts_program_scratch(program), 0);
    ts_lua_new_block(L, 0, (size_t)count * 8 + 8, 0, &memory);
    double *f64 = memory;
    float *f32 = memory;
    for (int64_t k = 0; k < count; k++) {
        lua_rawgeti(L, 6, k + 1);
        double s = lua_tonumber(L, -1);
        if (dtype == TS_F32)
            f32[k] = (float)s;
        else
            f64[k] = s;
        lua_pop(L, 1);
    }
    if (dtype == TS_F32)
        ts_program_score_f32(program, h, i, j, count, f32, scratch);
    else
        ts_program_score_f64(program, h, i, j, count, f64, scratch);
    lua_createtable(L, (int)count, 0);
    for (int64_t k = 0; k < count; k++) {
        lua_pushnumber(L, dtype == TS_F32 ? f32[k] : f64[k]);
        lua_rawseti(L, -2, k + 1);
    }
    return 1;
}

static int text(lua_State *L) {
    ts_lua_push_program_text(L, ts_lua_check_program(L, 1));
    return 1;
}

static int length(lua_State *L) {
    lua_pushinteger(L, ts_lua_check_program(L, 1)->count);
    return 1;
}

static int to_string(lua_State *L) {
    lua_pushfstring(L, "program of %I nodes", I(ts_lua_check_program(L, 1)->count));
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

static const luaL_Reg functions[] = {{"new", new_program},      {"run", run},
                                     {"bound", bound},          {"score", score},
                                     {"survey", ts_lua_survey}, {NULL, NULL}};
static const luaL_Reg methods[] = {{"text", text}, {NULL, NULL}};
static const luaL_Reg metamethods[] = {{"__len", length}, {"__tostring", to_string}, {NULL, NULL}};

int ts_lua_open_program(lua_State *L) {
    luaL_newlib(L, functions);
    push_ops(L);
    lua_setfield(L, -2, "ops");
    luaL_newlib(L, methods);
    lua_pushvalue(L, -1);
    lua_setfield(L, -3, "methods");
    luaL_newmetatable(L, TS_PROGRAM);
    luaL_setfuncs(L, metamethods, 0);
    lua_pushboolean(L, 0);
    lua_setfield(L, -2, "__metatable");
    lua_pushvalue(L, -2);
    lua_setfield(L, -2, "__index");
    lua_pop(L, 2);
    return 1;
}
