/* blame.c -- errors in Lua's usual form, blamed on the line of the user who called. */
#include "binding.h"

#include <stdarg.h>
#include <string.h>

static char home_key; /* its address names the registry field: "@…/tessera/", where our Lua lies */

/* core.home(prefix): sources that begin so are ours, and never blamed. */
int ts_lua_home(lua_State *L) {
    luaL_checkstring(L, 1);
    lua_settop(L, 1);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &home_key);
    return 0;
}

static bool is_ours(lua_State *L, const char *source) {
    size_t length = 0;
    lua_rawgetp(L, LUA_REGISTRYINDEX, &home_key);
    const char *home = lua_tolstring(L, -1, &length);
    bool ours = home && strncmp(source, home, length) == 0;
    lua_pop(L, 1);
    return ours;
}

/* Does our Lua call the C function at that level, as it does pcall? */
static bool serves_us(lua_State *L, int level) {
    lua_Debug ar;
    if (!lua_getstack(L, level + 1, &ar)) return false;
    lua_getinfo(L, "S", &ar);
    return is_ours(L, ar.source);
}

/* Pushes "file:line: " of the user's line: the first function on the stack that is not the running
 * one nor in our Lua files; "" where that is a C function that the user called. */
static void push_where(lua_State *L) {
    lua_Debug ar;
    for (int level = 1; lua_getstack(L, level, &ar); level++) {
        lua_getinfo(L, "Sln", &ar);
        /* Metamethods in C are ours, too. */
        if (is_ours(L, ar.source) || strcmp(ar.namewhat, "metamethod") == 0) continue;
        if (ar.currentline < 1) {
            if (serves_us(L, level)) continue;
            break;
        }
        lua_pushfstring(L, "%s:%d: ", ar.short_src, ar.currentline);
        return;
    }
    lua_pushliteral(L, "");
}

int ts_lua_error(lua_State *L) {
    push_where(L);
    lua_insert(L, -2);
    lua_concat(L, 2);
    return lua_error(L);
}

/* Registry field: our C function -> its name; ":name" for a method, "__name" for a metamethod. */
static char names_key;

void ts_lua_name_functions(lua_State *L, bool are_methods) {
    if (lua_rawgetp(L, LUA_REGISTRYINDEX, &names_key) == LUA_TNIL) {
        lua_pop(L, 1);
        lua_newtable(L);
        lua_pushvalue(L, -1);
        lua_rawsetp(L, LUA_REGISTRYINDEX, &names_key);
    }
    lua_pushnil(L);
    while (lua_next(L, -3)) {
        if (lua_iscfunction(L, -1) && lua_type(L, -2) == LUA_TSTRING) {
            lua_pushfstring(L, are_methods ? ":%s" : "%s", lua_tostring(L, -2));
            lua_rawset(L, -4); /* names[function] = name; the key stays */
        } else {
            lua_pop(L, 1);
        }
    }
    lua_pop(L, 1);
}

/* The name of the running function; a method's arguments are counted without self. Called through
 * pcall a function has no name in the eyes of Lua, but still has ours. */
const char *ts_lua_running(lua_State *L, int *arg) {
    lua_Debug ar;
    if (!lua_getstack(L, 0, &ar)) return "?";
    lua_getinfo(L, "fn", &ar);
    lua_rawgetp(L, LUA_REGISTRYINDEX, &names_key);
    lua_insert(L, -2);
    const char *ours = lua_istable(L, -2) && lua_rawget(L, -2) ? lua_tostring(L, -1) : NULL;
    lua_pop(L, 2); /* the registry's table holds the name */
    if (ours && strncmp(ours, "__", 2) == 0) ours = ar.name ? NULL : ours + 2;
    const char *name = ours ? ours + (*ours == ':') : ar.name ? ar.name : "?";
    bool is_method = ours ? *ours == ':' : ar.name && strcmp(ar.namewhat, "method") == 0;
    if (is_method && arg) --*arg;
    return name;
}

int ts_lua_arg_error(lua_State *L, int arg, const char *name, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    const char *message = lua_pushvfstring(L, format, arguments);
    va_end(arguments);
    if (!name) name = ts_lua_running(L, &arg);
    if (arg == 0)
        lua_pushfstring(L, "calling '%s' on bad self (%s)", name, message);
    else
        lua_pushfstring(L, "bad argument #%d to '%s' (%s)", arg, name, message);
    return ts_lua_error(L);
}

/* Kinds that are userdata; a table that calls itself one of them is the user's joke. */
static bool is_userdata_kind(const char *kind) {
    static const char *const kinds[] = {"matrix", "mask", "summary", "program", "problem"};
    for (size_t n = 0; n < sizeof kinds / sizeof *kinds; n++)
        if (strcmp(kind, kinds[n]) == 0) return true;
    return false;
}

const char *ts_lua_kind(lua_State *L, int index) {
    static const char ours[] = "tessera.";
    bool is_table = lua_istable(L, index);
    if (!is_table && !lua_isuserdata(L, index)) return luaL_typename(L, index);
    int type = luaL_getmetafield(L, index, "__name");
    if (type == LUA_TNIL) return luaL_typename(L, index);
    const char *name = type == LUA_TSTRING ? lua_tostring(L, -1) : "";
    lua_pop(L, 1); /* the metatable holds it */
    if (strncmp(name, ours, sizeof ours - 1) != 0) return luaL_typename(L, index);
    name += sizeof ours - 1;
    return is_table && is_userdata_kind(name) ? luaL_typename(L, index) : name;
}

bool ts_lua_is_plain_table(lua_State *L, int index) {
    return lua_istable(L, index) && strcmp(ts_lua_kind(L, index), "table") == 0;
}

int ts_lua_type_error(lua_State *L, int arg, const char *name, const char *expected) {
    return ts_lua_arg_error(L, arg, name, "%s expected, got %s", expected, ts_lua_kind(L, arg));
}

/* core.fail(message): error() with the position of the user's line. */
int ts_lua_fail(lua_State *L) {
    luaL_checkstring(L, 1);
    lua_settop(L, 1);
    return ts_lua_error(L);
}

/* core.fail_arg(n, fname, message) */
int ts_lua_fail_arg(lua_State *L) {
    return ts_lua_arg_error(L, (int)luaL_checkinteger(L, 1), luaL_checkstring(L, 2), "%s",
                            luaL_checkstring(L, 3));
}
