/* userdata.c -- what our kinds of userdata have in common: u.name, tostring, and a metatable that
 * no one can reach. */
#include "binding.h"

#include <string.h>

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

/* Upvalue 1: what to say. */
static int refuse_operator(lua_State *L) {
    lua_pushvalue(L, lua_upvalueindex(1));
    return ts_lua_error(L);
}

/* [metatable]: gives it the operators that it lacks, which say what there is instead of Lua's
 * "attempt to perform arithmetic on a tessera.summary value". */
static void refuse_operators(lua_State *L, const char *kind, const char *instead) {
    static const struct {
        const char *event, *sign;
    } operators[] = {{"__add", "+"},  {"__sub", "-"}, {"__mul", "*"},  {"__div", "/"},
                     {"__mod", "%"},  {"__pow", "^"}, {"__unm", "-"},  {"__idiv", "//"},
                     {"__band", "&"}, {"__bor", "|"}, {"__bxor", "~"}, {"__bnot", "~"},
                     {"__shl", "<<"}, {"__shr", ">>"}};
    for (size_t n = 0; n < sizeof operators / sizeof *operators; n++) {
        if (lua_getfield(L, -1, operators[n].event) == LUA_TNIL) {
            lua_pushfstring(L, "a %s has no '%s': %s", kind, operators[n].sign, instead);
            lua_pushcclosure(L, refuse_operator, 1);
            lua_setfield(L, -3, operators[n].event);
        }
        lua_pop(L, 1);
    }
}

void ts_lua_set_kind(lua_State *L, const char *type, const luaL_Reg *const metamethods[],
                     const char *instead) {
    luaL_newmetatable(L, type);
    for (; *metamethods; metamethods++) {
        lua_pushvalue(L, -2);
        luaL_setfuncs(L, *metamethods, 1);
    }
    if (instead) refuse_operators(L, type + strlen("tessera."), instead);
    lua_pushboolean(L, 0);
    lua_setfield(L, -2, "__metatable");
    lua_pop(L, 1);
    lua_setfield(L, -2, "methods");
}
