/* program_run.c -- programs run cell by cell, bounded and scored, for tests and the lifter's check.
 */
#include "../../core/interval.h"
#include "program.h"

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
int ts_lua_run_program(lua_State *L) {
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
int ts_lua_bound_program(lua_State *L) {
    const ts_program *program = ts_lua_check_program(L, 1);
    int64_t h = luaL_optinteger(L, 6, 1);
    ts_cells tile = {.i = {luaL_checkinteger(L, 2), luaL_checkinteger(L, 3)},
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
int ts_lua_score_program(lua_State *L) {
    static const char *const dtypes[] = {"f32", "f64", NULL};
    const ts_program *program = ts_lua_check_program(L, 1);
    luaL_argcheck(L, result_type(program) == TS_FLOAT, 1, "its result is no float");
    int dtype = luaL_checkoption(L, 2, NULL, dtypes);
    int64_t index[3];
    for (int n = 0; n < 3; n++)
        index[n] = ts_lua_check_range(L, 3 + n, "index", -TS_INDEX_LIMIT, TS_INDEX_LIMIT);
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
