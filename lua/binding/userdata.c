/* userdata.c -- what our kinds of userdata have in common: u.name, tostring, and a metatable that
 * no one can reach. */
#include "binding.h"

int ts_lua_index(lua_State *L, bool (*push_field)(lua_State *L, const char *name)) {
    lua_settop(L, 2);
    lua_pushvalue(L, 2);
    if (lua_rawget(L, lua_upvalueindex(1)) != LUA_TNIL) return 1;
    if (lua_type(L, 2) == LUA_TSTRING && push_field(L, lua_tostring(L, 2))) return 1;
    lua_pushvalue(L, 2);
    lua_gettable(L, lua_upvalueindex(1));
    return 1;
}

bool ts_lua_tostring_method(lua_State *L) {
    lua_pushliteral(L, "tostring");
    if (lua_rawget(L, lua_upvalueindex(1)) != LUA_TFUNCTION) return false;
    lua_pushvalue(L, 1);
    lua_call(L, 1, 1);
    return true;
}

void ts_lua_push_lib(lua_State *L, const luaL_Reg *const parts[]) {
    lua_newtable(L);
    for (; *parts; parts++) luaL_setfuncs(L, *parts, 0);
}

void ts_lua_set_kind(lua_State *L, const char *type, const luaL_Reg *const metamethods[]) {
    luaL_newmetatable(L, type);
    for (; *metamethods; metamethods++) {
        lua_pushvalue(L, -2);
        luaL_setfuncs(L, *metamethods, 1);
    }
    lua_pushboolean(L, 0);
    lua_setfield(L, -2, "__metatable");
    lua_pop(L, 1);
    lua_setfield(L, -2, "methods");
}
