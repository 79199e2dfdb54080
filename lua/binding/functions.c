/* functions.c -- functions that refuse an argument more than they take: Lua drops it, and then the
 * call means something else than whoever wrote it thinks. */
#include "binding.h"

/* A matrix behind a matrix in the last place: what a call of two results gives there, as
 * P:attention() does. */
static bool is_second_result(lua_State *L, int index) {
    return index > 1 && index == lua_gettop(L) && ts_lua_test_matrix(L, index) &&
           ts_lua_test_matrix(L, index - 1);
}

/* Refuses what stands from index `first` on, argument `arg` of the function `name` (NULL: the
 * running one). hint: NULL, or what else to say of a number. */
static void refuse_from(lua_State *L, int first, int arg, const char *name, const char *hint) {
    for (int index = first; index <= lua_gettop(L); index++) {
        if (lua_isnil(L, index) || is_second_result(L, index)) continue;
        bool tells = hint && lua_type(L, index) == LUA_TNUMBER;
        ts_lua_arg_error(L, arg + index - first, name, "no argument expected, got %s%s",
                         ts_lua_kind(L, index), tells ? hint : "");
    }
}

void ts_lua_no_more(lua_State *L, int most, int own) {
    refuse_from(L, most + 1, most + 1 - own, NULL, NULL);
}

/* core.no_more(fname, hint | nil, own, most, ...): the same for the function `fname` of Lua, which
 * takes `most` of the arguments `...`; of these errors do not count the first `own`. */
int ts_lua_refuse_more(lua_State *L) {
    const char *name = luaL_checkstring(L, 1), *hint = luaL_optstring(L, 2, NULL);
    const int own = (int)ts_lua_check_range(L, 3, "own", 0, 1);
    const int most = (int)ts_lua_check_range(L, 4, "most", 0, 255); /* Lua's own limit */
    refuse_from(L, 4 + most + 1, most + 1 - own, name, hint);
    return 0;
}

/* Upvalues: the function, and how many arguments it takes. */
static int call(lua_State *L) {
    const int most = (int)lua_tointeger(L, lua_upvalueindex(2));
    if (lua_gettop(L) > most) ts_lua_no_more(L, most, 0);
    return lua_tocfunction(L, lua_upvalueindex(1))(L);
}

void ts_lua_push_lib(lua_State *L, const ts_lua_function *const parts[]) {
    lua_newtable(L);
    for (; *parts; parts++) {
        for (const ts_lua_function *f = *parts; f->name; f++) {
            lua_pushcfunction(L, f->call);
            if (f->most != TS_LUA_ANY) {
                lua_pushinteger(L, f->most);
                lua_pushcclosure(L, call, 2);
            }
            lua_setfield(L, -2, f->name);
        }
    }
}
