/* matrix_join.c -- matrices side by side, or one above the other. */
#include "matrix.h"

/* [A, B, ..] or [{A, B, ..}] -> a list of our own at 1, which no one else can change. */
static int64_t gather(lua_State *L, bool listed) {
    if (lua_isnone(L, 1)) ts_lua_type_error(L, 1, NULL, "matrix");
    int64_t count = listed ? (int64_t)lua_rawlen(L, 1) : lua_gettop(L);
    lua_newtable(L);
    for (int64_t k = 1; k <= count; k++) {
        if (listed)
            lua_rawgeti(L, 1, k);
        else
            lua_pushvalue(L, (int)k);
        const ts_matrix *m = ts_lua_test_matrix(L, -1);
        if (!m && listed)
            ts_lua_arg_error(L, 1, NULL, "matrix expected at %I, got %s", I(k), ts_lua_kind(L, -1));
        if (!m) ts_lua_type_error(L, (int)k, NULL, "matrix");
        lua_rawseti(L, -2, k);
    }
    if (count == 0) ts_lua_arg_error(L, 1, NULL, "a matrix expected in the list");
    lua_replace(L, 1);
    lua_settop(L, 1);
    return count;
}

static const ts_matrix *member(lua_State *L, int64_t k) {
    lua_rawgeti(L, 1, k);
    const ts_matrix *m = ts_lua_test_matrix(L, -1);
    lua_pop(L, 1); /* the list keeps it */
    return m;
}

/* Joins along the rows, or, all seen transposed, along the columns. */
static int join(lua_State *L, bool by_rows) {
    bool listed = ts_lua_is_plain_table(L, 1);
    int64_t count = gather(L, listed), length = 0, at = 0;
    const ts_matrix *first = member(L, 1);
    for (int64_t k = 1; k <= count; k++) {
        const ts_matrix *m = member(L, k);
        int arg = listed ? 1 : (int)k;
        ts_lua_check_dtype(L, arg, first->dtype, m->dtype);
        if (by_rows ? m->cols != first->cols : m->rows != first->rows)
            return ts_lua_arg_error(L, arg, NULL, "shape %Ix%I does not join with %Ix%I",
                                    I(m->rows), I(m->cols), I(first->rows), I(first->cols));
        if (__builtin_add_overflow(length, by_rows ? m->rows : m->cols, &length))
            return luaL_error(L, "the joined matrix is too large");
    }
    ts_matrix whole = by_rows ? *ts_lua_new_matrix(L, first->dtype, length, first->cols)
                              : *ts_lua_new_matrix(L, first->dtype, first->rows, length);
    if (!by_rows) whole = ts_matrix_transposed(&whole);
    for (int64_t k = 1; k <= count; k++) {
        const ts_matrix *m = member(L, k);
        ts_matrix part = by_rows ? *m : ts_matrix_transposed(m);
        ts_matrix target = ts_matrix_slice(&whole, at, 0, part.rows, part.cols);
        ts_lua_copy(L, &part, &target);
        at += part.rows;
    }
    return 1;
}

static int hcat(lua_State *L) { return join(L, false); }
static int vcat(lua_State *L) { return join(L, true); }

const ts_lua_function ts_lua_matrix_joins[] = {
    {"hcat", hcat, TS_LUA_ANY}, {"vcat", vcat, TS_LUA_ANY}, {NULL, NULL, 0}};
