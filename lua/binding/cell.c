/* cell.c -- the cell that a function of the user's was asked about, told by the error it raised. */
#include "binding.h"

#include <string.h>

/* Ctrl-C and lack of memory are not the function's, as tessera/attempt.lua has it. */
static bool is_of_function(const char *message) {
    return !strstr(message, "interrupted!") && !strstr(message, "not enough memory");
}

int ts_lua_error_in_cell(lua_State *L, const char *where, const ts_detail *cell) {
    if (lua_type(L, -1) != LUA_TSTRING || !is_of_function(lua_tostring(L, -1))) return lua_error(L);
    luaL_checkstack(L, 4, NULL);
    lua_pushfstring(L, ", in the %s query %I, key %I", where, I(cell->row), I(cell->key));
    if (cell->head) lua_pushfstring(L, ", head %I", I(cell->head));
    lua_concat(L, cell->head ? 3 : 2);
    return lua_error(L);
}
