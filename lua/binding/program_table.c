/* program_table.c -- storage for what programs look up: lists, matrices, dense bits. */
#include "../../core/table.h"
#include "program.h"

#include <string.h>

static size_t rounded(size_t bytes) { return (bytes + 63) / 64 * 64; }

/* Pushes the storage of a table of this kind and size, with room for `bytes` of elements, zeroed,
 * and for an index, which index_table builds once they are there. */
static ts_table *new_table(lua_State *L, const ts_table *shape, size_t bytes, void **memory) {
    size_t payload = rounded(bytes) + ts_table_index_size(shape);
    ts_table *table = ts_lua_new_block(L, sizeof *table, payload, 0, memory);
    *table = *shape;
    memset(*memory, 0, payload);
    table->ints = *memory, table->floats = *memory, table->bools = *memory, table->bits = *memory;
    table->matrix.data = *memory; /* in any case: what owns the elements */
    return table;
}

static void index_table(ts_table *table, size_t bytes) {
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
    return new_table(L, &shape, (size_t)bytes, &memory);
}

void ts_lua_index_bits(ts_table *table) {
    index_table(table, (size_t)(table->rows * table->heads * table->words) * 8);
}

/* Whether the value on top of the stack is of the kind; element k (from 0) is then set to it. */
static bool take_value(lua_State *L, ts_table_kind kind, int64_t k, void *memory) {
    const int type = lua_type(L, -1);
    switch (kind) {
    case TS_TABLE_INTS:
        if (!lua_isinteger(L, -1)) return false;
        ((int64_t *)memory)[k] = lua_tointeger(L, -1);
        return true;
    case TS_TABLE_FLOATS:
        if (type != LUA_TNUMBER) return false;
        ((double *)memory)[k] = lua_tonumber(L, -1);
        return true;
    default:
        if (type != LUA_TBOOLEAN) return false;
        ((uint8_t *)memory)[k] = (uint8_t)lua_toboolean(L, -1);
        return true;
    }
}

static int number_error(lua_State *L, int64_t table, int64_t at, ts_table_kind kind) {
    static const char *const wanted[] = {"an integer", "a number", "a boolean"};
    return luaL_error(L, "table %I: value %I is not %s", I(table), I(at), wanted[kind]);
}

/* A list as Lua writes it: its elements are values[1], values[2], ..; or, with `last`,
 * values[first] .. values[last], where what is not of the kind counts as 0. With `holding`, the
 * name of a type, they are booleans that say where values of that type stand. */
typedef struct {
    int64_t at, first, count;
    bool holes;
    const char *holding;
} list;

static int64_t integer_field(lua_State *L, const list *l, const char *field) {
    lua_getfield(L, -1, field);
    if (!lua_isinteger(L, -1)) luaL_error(L, "table %I: '%s' is not an integer", I(l->at), field);
    int64_t x = lua_tointeger(L, -1);
    lua_pop(L, 1);
    return x;
}

/* [..., spec] -> [..., spec, holding, values] */
static list read_list(lua_State *L, int64_t at) {
    list l = {.at = at};
    l.first = integer_field(L, &l, "first");
    l.holes = lua_getfield(L, -1, "last") != LUA_TNIL;
    lua_pop(L, 1);
    if (l.holes) {
        int64_t last = integer_field(L, &l, "last");
        uint64_t behind = (uint64_t)last - (uint64_t)l.first;
        l.count = last < l.first ? 0 : behind >> 40 ? INT64_MAX : (int64_t)behind + 1;
    }
    lua_getfield(L, -1, "holding");
    l.holding = lua_tostring(L, -1);
    if (lua_getfield(L, -2, "values") != LUA_TTABLE)
        luaL_error(L, "table %I: 'values' is not a table", I(at));
    if (!l.holes) l.count = (int64_t)lua_rawlen(L, -1);
    if (l.count == INT64_MAX || l.first > INT64_MAX - l.count)
        luaL_error(L, "table %I: 'first' is too large", I(at));
    return l;
}

static const char *type_name(lua_State *L) {
    if (lua_type(L, -1) != LUA_TNUMBER) return luaL_typename(L, -1);
    return lua_isinteger(L, -1) ? "integer" : "float";
}

/* [..., spec] -> [..., spec, storage] */
static void push_list(lua_State *L, int64_t at, ts_table_kind kind) {
    void *memory;
    const list l = read_list(L, at);
    if (l.holding && kind != TS_TABLE_BOOLS)
        luaL_error(L, "table %I: 'holding' is for bools", I(at));
    const ts_table shape = {.kind = kind, .first = l.first, .count = l.count};
    const size_t bytes = (size_t)l.count * (kind == TS_TABLE_BOOLS ? 1 : 8);
    ts_table *table = new_table(L, &shape, bytes, &memory);
    for (int64_t k = 0; k < l.count; k++) {
        lua_rawgeti(L, -2, l.holes ? l.first + k : k + 1);
        if (l.holding)
            ((uint8_t *)memory)[k] = strcmp(type_name(L), l.holding) == 0;
        else if (!take_value(L, kind, k, memory) && !l.holes)
            number_error(L, at, k + 1, kind);
        lua_pop(L, 1);
    }
    index_table(table, bytes);
    lua_replace(L, -3);
    lua_pop(L, 1);
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
    ts_table *table = new_table(L, &shape, bytes, &memory);
    ts_matrix_copy(m, &table->matrix, NULL);
    index_table(table, bytes);
    lua_remove(L, -2);
}

const ts_table *ts_lua_push_table(lua_State *L, int64_t at) {
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
