/* argument.c -- what an argument must be, else the user's line is blamed. */
#include "binding.h"

void ts_lua_check_type(lua_State *L, int arg, int type) {
    if (lua_type(L, arg) != type) ts_lua_type_error(L, arg, NULL, lua_typename(L, type));
}

int64_t ts_lua_check_whole(lua_State *L, int arg, const char *what) {
    int whole;
    int64_t value = lua_tointegerx(L, arg, &whole);
    if (!whole && lua_isnumber(L, arg))
        ts_lua_arg_error(L, arg, NULL, "%s: number has no integer representation", what);
    if (!whole)
        ts_lua_arg_error(L, arg, NULL, "%s: number expected, got %s", what, ts_lua_kind(L, arg));
    return value;
}

int64_t ts_lua_check_range(lua_State *L, int arg, const char *what, int64_t low, int64_t high) {
    int64_t value = ts_lua_check_whole(L, arg, what);
    if (value < low && high == INT64_MAX)
        ts_lua_arg_error(L, arg, NULL, "%s %I is less than %I", what, I(value), I(low));
    if (value < low || value > high)
        ts_lua_arg_error(L, arg, NULL, "%s %I is outside %I..%I", what, I(value), I(low), I(high));
    return value;
}
