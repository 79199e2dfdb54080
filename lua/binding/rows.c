/* rows.c -- a list of query rows, as Lua gives it. */
#include "problem.h"

static int64_t row_at(lua_State *L, int arg, int64_t n, int64_t n_q) {
    int whole;
    lua_rawgeti(L, -2, n);
    int64_t row = lua_tointegerx(L, -1, &whole);
    if (!whole)
        ts_lua_arg_error(L, arg, NULL, "field 'rows': whole numbers expected, got %s",
                         ts_lua_kind(L, -1));
    if (row < 1 || row > n_q)
        ts_lua_arg_error(L, arg, NULL, "field 'rows': row %I, there are %I", I(row), I(n_q));
    lua_pop(L, 1);
    return row - 1;
}

const int64_t *ts_lua_read_rows(lua_State *L, int arg, int64_t n_q, int64_t *count) {
    *count = n_q;
    if (lua_isnil(L, -1)) return NULL;
    if (!ts_lua_is_plain_table(L, -1))
        ts_lua_arg_error(L, arg, NULL, "field 'rows': a list expected, got %s", ts_lua_kind(L, -1));
    *count = (int64_t)lua_rawlen(L, -1);
    int64_t *rows = lua_newuserdatauv(L, (size_t)(*count + 1) * sizeof *rows, 0);
    for (int64_t n = 0; n < *count; n++) rows[n] = row_at(L, arg, n + 1, n_q);
    return rows;
}
