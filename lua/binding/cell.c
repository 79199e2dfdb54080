/* cell.c -- the cell that a function of the user's was asked about, told by the error it raised. */
#include "binding.h"

#include <string.h>

/* Is the error, on the top of the stack, a message of the function's own? Ctrl-C and lack of memory
 * are not, as tessera/attempt.lua has it. */
static bool is_message(lua_State *L) {
    if (lua_type(L, -1) != LUA_TSTRING) return false;
    const char *message = lua_tostring(L, -1);
    return !strstr(message, "interrupted!") && !strstr(message, "not enough memory");
}

int ts_lua_error_in_cell(lua_State *L, const char *where, const ts_detail *cell) {
    if (!is_message(L)) return lua_error(L);
    luaL_checkstack(L, 4, NULL);
    lua_pushfstring(L, ", in the %s query %I, key %I", where, I(cell->row), I(cell->key));
    if (cell->head) lua_pushfstring(L, ", head %I", I(cell->head));
    lua_concat(L, cell->head ? 3 : 2);
    return lua_error(L);
}

void ts_lua_call_for_number(lua_State *L, int arguments, int arg, int64_t row, int64_t column) {
    if (lua_pcall(L, arguments, 1, 0) != LUA_OK) {
        if (is_message(L)) {
            lua_pushfstring(L, ", in the number for row %I, column %I", I(row + 1), I(column + 1));
            lua_concat(L, 2);
        }
        lua_error(L);
    }
    if (lua_type(L, -1) != LUA_TNUMBER)
        ts_lua_arg_error(L, arg, NULL,
                         "the function must return a number, not %s, for row %I, column %I",
                         ts_lua_kind(L, -1), I(row + 1), I(column + 1));
}
