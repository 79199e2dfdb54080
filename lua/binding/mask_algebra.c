/* mask_algebra.c -- masks combined into masks, and compared. */
#include "mask.h"

/* The shape of both operands together: a mask without heads combines with one that has them. */
static bool common_heads(const ts_mask *a, const ts_mask *b, int64_t *heads) {
    *heads = a->heads ? a->heads : b->heads;
    return a->rows == b->rows && a->cols == b->cols &&
           (a->heads == b->heads || a->heads == 0 || b->heads == 0);
}

static const char *shape_text(lua_State *L, const ts_mask *m) {
    if (m->heads == 0) return lua_pushfstring(L, "%Ix%I", I(m->rows), I(m->cols));
    return lua_pushfstring(L, "%Ix%I with %I head%s", I(m->rows), I(m->cols), I(m->heads),
                           ts_lua_plural(m->heads));
}

static int64_t check_shapes(lua_State *L, const ts_mask *a, const ts_mask *b, const char *sign) {
    int64_t heads;
    if (common_heads(a, b, &heads)) return heads;
    const char *left = shape_text(L, a), *right = shape_text(L, b);
    lua_pushfstring(L, "masks of two shapes: %s %s %s", left, sign, right);
    return ts_lua_error(L);
}

/* Both operands of a binary operator. */
static ts_lua_mask *operand(lua_State *L, int arg, const char *sign) {
    ts_lua_mask *m = (ts_lua_mask *)ts_lua_test_mask(L, arg);
    if (m) return m;
    lua_pushfstring(L, "attempt to combine a mask with a %s (by '%s')", ts_lua_kind(L, arg), sign);
    ts_lua_error(L);
    return NULL;
}

/* How a and b, nodes of a builder, are combined. */
typedef int32_t combination(ts_builder *builder, int32_t a, int32_t b);

static int32_t both(ts_builder *builder, int32_t a, int32_t b) {
    return ts_builder_op(builder, TS_OP_band, a, b, -1);
}
static int32_t either(ts_builder *builder, int32_t a, int32_t b) {
    return ts_builder_op(builder, TS_OP_bor, a, b, -1);
}
static int32_t one_of(ts_builder *builder, int32_t a, int32_t b) {
    return ts_builder_op(builder, TS_OP_bxor, a, b, -1);
}
static int32_t without(ts_builder *builder, int32_t a, int32_t b) {
    return both(builder, a, ts_builder_op(builder, TS_OP_bnot, b, -1, -1));
}

static int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }

/* [..., program a, program b] -> [..., program] */
static void combine_programs(lua_State *L, combination *how) {
    int at[2] = {lua_gettop(L) - 1, lua_gettop(L)};
    const ts_program *a = ts_lua_test_program(L, at[0]), *b = ts_lua_test_program(L, at[1]);
    int64_t nodes = a->count + b->count + 2;
    if (nodes > TS_LUA_MOST_NODES) luaL_error(L, "a mask of %I operations is too large", I(nodes));
    ts_lua_push_anchors(L, at, 2);
    ts_lua_build *build = ts_lua_new_build(L, nodes, a->table_count + b->table_count,
                                           2 * nodes + 2 + most(a->count, b->count));
    ts_builder *builder = &build->builder;
    int32_t left = ts_builder_inline(builder, a, -1, -1, -1, build->numbers);
    int32_t right = ts_builder_inline(builder, b, -1, -1, -1, build->numbers);
    ts_lua_finish_build(L, build, how(builder, left, right), -2);
    lua_replace(L, at[0]);
    lua_settop(L, at[0]);
}

/* [a, b] -> [mask] */
static int combine(lua_State *L, combination *how, const char *sign) {
    const ts_lua_mask *a = operand(L, 1, sign), *b = operand(L, 2, sign);
    int64_t heads = check_shapes(L, &a->mask, &b->mask, sign);
    lua_getiuservalue(L, 1, 1);
    lua_getiuservalue(L, 2, 1);
    combine_programs(L, how);
    ts_lua_push_mask(L, a->mask.rows, a->mask.cols, heads, a->called || b->called);
    if (!a->called && !b->called) return 1;
    lua_getiuservalue(L, a->called ? 1 : 2, 2);
    lua_setiuservalue(L, -2, 2);
    return 1;
}

static int intersection(lua_State *L) { return combine(L, both, "&"); }
static int union_of(lua_State *L) { return combine(L, either, "|"); }
static int exclusive(lua_State *L) { return combine(L, one_of, "~"); }
static int difference(lua_State *L) { return combine(L, without, "-"); }

/* [m, ..] -> [m, its program, anchors, the build]: begins a mask made of m alone. */
static ts_lua_build *begin_from(lua_State *L, const ts_lua_mask *m) {
    const ts_program *program = m->mask.program;
    lua_settop(L, 1);
    lua_getiuservalue(L, 1, 1);
    ts_lua_push_anchors(L, (const int[]){2}, 1);
    return ts_lua_new_build(L, program->count + 1, program->table_count, 3 * program->count + 8);
}

/* [m, its program, anchors, the build] -> [.., mask] */
static int finish_from(lua_State *L, const ts_lua_mask *m, ts_lua_build *build, int32_t result,
                       int64_t heads) {
    ts_lua_finish_build(L, build, result, 3);
    ts_lua_push_mask(L, m->mask.rows, m->mask.cols, heads, m->called);
    lua_getiuservalue(L, 1, 2);
    lua_setiuservalue(L, -2, 2);
    return 1;
}

/* [a] -> [mask] */
static int complement(lua_State *L) {
    const ts_lua_mask *m = (const ts_lua_mask *)ts_lua_check_mask(L, 1);
    ts_lua_build *build = begin_from(L, m);
    ts_builder *builder = &build->builder;
    int32_t all = ts_builder_inline(builder, m->mask.program, -1, -1, -1, build->numbers);
    int32_t none = ts_builder_op(builder, TS_OP_bnot, all, -1, -1);
    return finish_from(L, m, build, none, m->mask.heads);
}

/* [m, h] -> [mask without heads]: what head h may use */
static int head(lua_State *L) {
    const ts_lua_mask *m = (const ts_lua_mask *)ts_lua_check_mask(L, 1);
    int64_t h =
        ts_lua_check_range(L, 2, "head", 1, m->mask.heads ? m->mask.heads : TS_LUA_MOST_INDEX);
    ts_lua_build *build = begin_from(L, m);
    ts_builder *builder = &build->builder;
    int32_t number = ts_builder_int(builder, h);
    int32_t result = ts_builder_inline(builder, m->mask.program, -1, -1, number, build->numbers);
    return finish_from(L, m, build, result, 0);
}

/* ---- comparisons ---- */

/* [..., program] of a mask of this shape -> [...]; its first cell (i, j, h), h by h; false: none.
 */
static bool first_cell(lua_State *L, int64_t rows, int64_t cols, int64_t heads, int64_t *i,
                       int64_t *j, int64_t *h) {
    ts_mask mask = {rows, cols, heads, ts_lua_test_program(L, -1)};
    void *scratch = ts_lua_push_mask_scratch(L, &mask);
    ts_run run = ts_lua_run(L, 0);
    ts_status status = TS_OK;
    *i = 0;
    for (*h = 1; status == TS_OK && *h <= (heads ? heads : 1); ++*h) {
        status =
            ts_mask_first(&mask, *h, (ts_range){1, rows}, (ts_range){1, cols}, &run, i, j, scratch);
        if (*i) break;
    }
    ts_lua_raise(L, status, NULL, NULL);
    lua_pop(L, 2);
    return *i != 0;
}

/* Whether how(a, b) of the masks at stack indices x and y, of one shape, keeps a cell. */
static bool keeps_any(lua_State *L, int x, int y, int64_t heads, combination *how, int64_t *i,
                      int64_t *j, int64_t *h) {
    const ts_mask *a = ts_lua_test_mask(L, x);
    lua_getiuservalue(L, x, 1);
    lua_getiuservalue(L, y, 1);
    combine_programs(L, how);
    return first_cell(L, a->rows, a->cols, heads, i, j, h);
}

/* [a, b] -> [i, j [, h]] of the first cell (head by head, row by row) where they differ, or nil */
static int differs(lua_State *L) {
    const ts_mask *a = ts_lua_check_mask(L, 1), *b = ts_lua_check_mask(L, 2);
    int64_t i, j, h, heads = check_shapes(L, a, b, "and");
    if (!keeps_any(L, 1, 2, heads, one_of, &i, &j, &h)) return lua_pushnil(L), 1;
    lua_pushinteger(L, i);
    lua_pushinteger(L, j);
    if (heads) lua_pushinteger(L, h);
    return heads ? 3 : 2;
}

/* Never raises for shapes. */
static int equal(lua_State *L) {
    const ts_mask *a = ts_lua_test_mask(L, 1), *b = ts_lua_test_mask(L, 2);
    int64_t i, j, h, heads;
    bool same = a && b && a->heads == b->heads && common_heads(a, b, &heads);
    lua_pushboolean(L, same && !keeps_any(L, 1, 2, a->heads, one_of, &i, &j, &h));
    return 1;
}

static int subset(lua_State *L) {
    const ts_lua_mask *a = operand(L, 1, "<="), *b = operand(L, 2, "<=");
    int64_t i, j, h, heads = check_shapes(L, &a->mask, &b->mask, "<=");
    lua_pushboolean(L, !keeps_any(L, 1, 2, heads, without, &i, &j, &h));
    return 1;
}

static int proper_subset(lua_State *L) {
    const ts_lua_mask *a = operand(L, 1, "<"), *b = operand(L, 2, "<");
    int64_t i, j, h, heads = check_shapes(L, &a->mask, &b->mask, "<");
    lua_pushboolean(L, !keeps_any(L, 1, 2, heads, without, &i, &j, &h) &&
                           keeps_any(L, 2, 1, heads, without, &i, &j, &h));
    return 1;
}

const luaL_Reg ts_lua_mask_operators[] = {
    {"__band", intersection}, {"__bor", union_of},     {"__bxor", exclusive},
    {"__sub", difference},    {"__bnot", complement},  {"__eq", equal},
    {"__le", subset},         {"__lt", proper_subset}, {NULL, NULL}};
const ts_lua_function ts_lua_mask_algebra[] = {
    {"differs", differs, 2}, {"head", head, 2}, {NULL, NULL, 0}};
