/* mask.c -- the mask userdata: its program, its shape, its cells. */
#include "mask.h"

#include <string.h>

ts_mask *ts_lua_test_mask(lua_State *L, int index) { return luaL_testudata(L, index, TS_MASK); }

ts_mask *ts_lua_check_mask(lua_State *L, int arg) {
    ts_mask *mask = ts_lua_test_mask(L, arg);
    if (!mask) ts_lua_type_error(L, arg, NULL, "mask");
    return mask;
}

void ts_lua_check_mask_shape(lua_State *L, int64_t rows, int64_t cols, int64_t heads) {
    int64_t cells;
    if (rows > TS_LUA_MOST_INDEX || cols > TS_LUA_MOST_INDEX || heads > TS_LUA_MOST_INDEX ||
        __builtin_mul_overflow(rows, cols, &cells) ||
        (heads > 0 && __builtin_mul_overflow(cells, heads, &cells)) || cells > TS_LUA_MOST_CELLS) {
        lua_pushfstring(L, "a %Ix%I mask is too large", I(rows), I(cols));
        ts_lua_error(L);
    }
}

ts_lua_mask *ts_lua_push_mask(lua_State *L, int64_t rows, int64_t cols, int64_t heads,
                              bool called) {
    void *memory;
    ts_lua_mask *m = ts_lua_new_block(L, sizeof *m, 0, 2, &memory);
    *m = (ts_lua_mask){{rows, cols, heads, ts_lua_test_program(L, -2)}, called};
    luaL_setmetatable(L, TS_MASK);
    lua_insert(L, -2);
    lua_setiuservalue(L, -2, 1);
    return m;
}

void *ts_lua_push_mask_scratch(lua_State *L, const ts_mask *mask) {
    void *memory;
    ts_lua_new_block(L, 0, ts_mask_scratch(mask), 0, &memory);
    return memory;
}

int64_t ts_lua_check_head(lua_State *L, int arg, const ts_mask *mask) {
    if (mask->heads == 0) return 1;
    return ts_lua_check_range(L, arg, "head", 1, mask->heads);
}

static int64_t check_cell(lua_State *L, int arg, int64_t most, const char *what) {
    int64_t at = ts_lua_check_whole(L, arg, what);
    if (at < 1 || at > most) ts_lua_arg_error(L, arg, NULL, "%s %I of %I", what, I(at), I(most));
    return at;
}

/* [m, i, j, h] -> [boolean]. m is put behind the indices, so that an error numbers them as the user
 * did. A mask without heads ignores h. */
static int cell(lua_State *L) {
    enum { FEW = 32 };
    const ts_mask *mask = ts_lua_check_mask(L, 1);
    ts_value few[FEW], *values = few;
    ts_lua_no_more(L, 4, 1);
    lua_settop(L, 4);
    lua_rotate(L, 1, -1);
    int64_t i = check_cell(L, 1, mask->rows, "query");
    int64_t j = check_cell(L, 2, mask->cols, "key");
    int64_t h = mask->heads ? check_cell(L, 3, mask->heads, "head") : 1;
    if (mask->program->count > FEW)
        values = lua_newuserdatauv(L, (size_t)mask->program->count * sizeof *values, 0);
    lua_pushboolean(L, ts_program_eval(mask->program, 0, i, j, h, values).b);
    return 1;
}

static bool push_field(lua_State *L, const char *name) {
    const ts_lua_mask *m = (const ts_lua_mask *)ts_lua_check_mask(L, 1);
    if (strcmp(name, "rows") == 0)
        lua_pushinteger(L, m->mask.rows);
    else if (strcmp(name, "cols") == 0)
        lua_pushinteger(L, m->mask.cols);
    else if (strcmp(name, "kind") == 0)
        lua_pushstring(L, m->called ? "called" : "lifted");
    else if (strcmp(name, "heads") != 0)
        return false;
    else if (m->mask.heads)
        lua_pushinteger(L, m->mask.heads);
    else
        lua_pushnil(L);
    return true;
}

static int get_field(lua_State *L) { return ts_lua_index(L, push_field); }

static int refuse_field(lua_State *L) {
    return luaL_error(L, "a mask has no fields to set: masks are made, and combined");
}

static int to_string(lua_State *L) {
    const ts_lua_mask *m = (const ts_lua_mask *)ts_lua_check_mask(L, 1);
    if (ts_lua_tostring_method(L)) return 1;
    lua_pushfstring(L, "mask %Ix%I", I(m->mask.rows), I(m->mask.cols));
    if (m->mask.heads)
        lua_pushfstring(L, " of %I head%s", I(m->mask.heads), ts_lua_plural(m->mask.heads));
    else
        lua_pushliteral(L, "");
    lua_pushfstring(L, " (%s)", m->called ? "called" : "lifted");
    lua_concat(L, 3);
    return 1;
}

/* [m] -> [program] */
static int program(lua_State *L) {
    ts_lua_check_mask(L, 1);
    lua_getiuservalue(L, 1, 1);
    return 1;
}

/* [m] -> [string | nil]: the reason that the maker gave */
static int why(lua_State *L) {
    ts_lua_check_mask(L, 1);
    lua_getiuservalue(L, 1, 2);
    return 1;
}

static const ts_lua_function methods[] = {{"program", program, 1},
                                          {"why", why, 1},
                                          {"tiles", ts_lua_mask_tiles, 3},
                                          {"compose", ts_lua_mask_compose, 2},
                                          {NULL, NULL, 0}};
static const luaL_Reg metamethods[] = {{"__call", cell},
                                       {"__index", get_field},
                                       {"__newindex", refuse_field},
                                       {"__tostring", to_string},
                                       {NULL, NULL}};

int ts_lua_open_mask(lua_State *L) {
    static const ts_lua_function *const functions[] = {ts_lua_mask_makers, NULL};
    static const ts_lua_function *const all[] = {methods, ts_lua_mask_algebra, ts_lua_mask_counts,
                                                 ts_lua_mask_forms, NULL};
    static const luaL_Reg *const both[] = {metamethods, ts_lua_mask_operators, NULL};
    ts_lua_push_lib(L, functions);
    ts_lua_push_lib(L, all);
    ts_lua_set_kind(L, TS_MASK, both, "masks combine by '&', '|', '~' and '-'");
    return 1;
}
