/* matrix.c -- the matrix userdata: its memory, its parent, its fields. */
#include "matrix.h"

#include <string.h>

const char *const ts_lua_dtype_names[] = {"f32", "f64", NULL};

ts_matrix *ts_lua_test_matrix(lua_State *L, int index) {
    return luaL_testudata(L, index, TS_MATRIX);
}

ts_matrix *ts_lua_check_matrix(lua_State *L, int arg) {
    ts_matrix *m = ts_lua_test_matrix(L, arg);
    if (!m) ts_lua_type_error(L, arg, NULL, "matrix");
    return m;
}

ts_matrix *ts_lua_new_matrix(lua_State *L, ts_dtype dtype, int64_t rows, int64_t cols) {
    size_t bytes = 0;
    void *memory;
    if (ts_matrix_size(dtype, rows, cols, &bytes, NULL) != TS_OK) {
        lua_pushfstring(L, "a %Ix%I matrix is too large", I(rows), I(cols));
        ts_lua_error(L); /* on the user's line, also where a module of ours asked for it */
    }
    ts_matrix *m = ts_lua_new_block(L, sizeof *m, bytes, 0, &memory);
    *m = ts_matrix_packed(dtype, rows, cols, memory);
    luaL_setmetatable(L, TS_MATRIX);
    return m;
}

/* Pushes what owns the memory of the value at `index`: the matrix behind a view, else itself. */
static void push_owner(lua_State *L, int index) {
    if (ts_lua_test_matrix(L, index)) {
        if (lua_getiuservalue(L, index, 1) == LUA_TUSERDATA) return;
        lua_pop(L, 1);
    }
    lua_pushvalue(L, index);
}

ts_matrix *ts_lua_new_view(lua_State *L, int index, const ts_matrix *view) {
    void *memory;
    index = lua_absindex(L, index);
    ts_matrix *m = ts_lua_new_block(L, sizeof *m, 0, 1, &memory);
    *m = *view;
    luaL_setmetatable(L, TS_MATRIX);
    push_owner(L, index);
    lua_setiuservalue(L, -2, 1);
    return m;
}

enum { SHORT = 1 << 17 }; /* cells whose exponentials take a millisecond */

const ts_run *ts_lua_matrix_run(lua_State *L, const ts_matrix *m, ts_run *run) {
    if (m->cols == 0 || m->rows < SHORT / m->cols) return NULL;
    *run = ts_lua_run(L, 0);
    return run;
}

void ts_lua_matrix_done(lua_State *L, const ts_run *run, ts_status status) {
    if (status != TS_OK) ts_lua_raise(L, status, &(ts_detail){0}, NULL);
    if (run) ts_lua_run_done(L);
}

void ts_lua_copy(lua_State *L, const ts_matrix *from, ts_matrix *to) {
    ts_run room;
    const ts_run *run = ts_lua_matrix_run(L, to, &room);
    ts_lua_matrix_done(L, run, ts_matrix_copy(from, to, run));
}

void ts_lua_fill(lua_State *L, ts_matrix *m, double x) {
    ts_run room;
    const ts_run *run = ts_lua_matrix_run(L, m, &room);
    ts_lua_matrix_done(L, run, ts_matrix_fill(m, x, run));
}

int64_t ts_lua_check_index(lua_State *L, int arg, int64_t n, const char *what) {
    int64_t i = ts_lua_check_whole(L, arg, what);
    int64_t at = ts_lua_place(i, n);
    if (at < 0 || at >= n)
        ts_lua_arg_error(L, arg, NULL, "%s %I of a matrix with %I%s", what, I(i), I(n),
                         i == 0 ? ", which count from 1" : "");
    return at;
}

double ts_lua_check_number(lua_State *L, int arg) {
    int number;
    double x = lua_tonumberx(L, arg, &number);
    if (!number) ts_lua_type_error(L, arg, NULL, "number");
    return x;
}

ts_dtype ts_lua_check_dtype_name(lua_State *L, int arg) {
    if (lua_type(L, arg) != LUA_TSTRING) ts_lua_type_error(L, arg, NULL, "\"f64\" or \"f32\"");
    const char *name = lua_tostring(L, arg);
    for (int dtype = 0; ts_lua_dtype_names[dtype]; dtype++)
        if (strcmp(name, ts_lua_dtype_names[dtype]) == 0) return (ts_dtype)dtype;
    return (ts_dtype)ts_lua_arg_error(L, arg, NULL, "\"f64\" or \"f32\" expected, got '%s'", name);
}

void ts_lua_check_dtype(lua_State *L, int arg, ts_dtype want, ts_dtype got) {
    if (want != got)
        ts_lua_arg_error(L, arg, NULL, "%s expected, got %s; convert with m:to(dtype)",
                         ts_lua_dtype_names[want], ts_lua_dtype_names[got]);
}

int ts_lua_opt_axis(lua_State *L, int arg, int otherwise) {
    static const char *const axes[] = {"rows", "cols", NULL};
    if (lua_isnoneornil(L, arg)) return otherwise;
    const char *name = lua_type(L, arg) == LUA_TSTRING ? lua_tostring(L, arg) : "";
    for (int axis = 0; axes[axis]; axis++)
        if (strcmp(axes[axis], name) == 0) return axis;
    return ts_lua_arg_error(L, arg, NULL, "\"rows\" or \"cols\" expected, got %s",
                            *name ? name : ts_lua_kind(L, arg));
}

/* [m, i, j] -> [number]. m is put behind i and j, so that an error numbers them as the user did. */
static int element(lua_State *L) {
    const ts_matrix *m = ts_lua_check_matrix(L, 1);
    ts_lua_no_more(L, 3, 1);
    lua_settop(L, 3);
    lua_rotate(L, 1, -1);
    int64_t row = ts_lua_check_index(L, 1, m->rows, "row");
    int64_t col = ts_lua_check_index(L, 2, m->cols, "column");
    lua_pushnumber(L, ts_matrix_get(m, row, col));
    return 1;
}

static bool push_field(lua_State *L, const char *name) {
    const ts_matrix *m = ts_lua_check_matrix(L, 1);
    if (strcmp(name, "rows") == 0)
        lua_pushinteger(L, m->rows);
    else if (strcmp(name, "cols") == 0)
        lua_pushinteger(L, m->cols);
    else if (strcmp(name, "dtype") == 0)
        lua_pushstring(L, ts_lua_dtype_names[m->dtype]);
    else
        return false;
    return true;
}

static int get_field(lua_State *L) { return ts_lua_index(L, push_field); }

static int refuse_field(lua_State *L) {
    return luaL_error(L, "a matrix has no fields to set: m:set(i, j, x) writes an element");
}

static int length(lua_State *L) {
    lua_pushinteger(L, ts_lua_check_matrix(L, 1)->rows);
    return 1;
}

static int to_string(lua_State *L) {
    const ts_matrix *m = ts_lua_check_matrix(L, 1);
    if (!ts_lua_tostring_method(L))
        lua_pushfstring(L, "matrix %Ix%I %s", I(m->rows), I(m->cols), ts_lua_dtype_names[m->dtype]);
    return 1;
}

static const luaL_Reg metamethods[] = {{"__call", element},          {"__index", get_field},
                                       {"__newindex", refuse_field}, {"__len", length},
                                       {"__tostring", to_string},    {NULL, NULL}};

int ts_lua_open_matrix(lua_State *L) {
    static const ts_lua_function *const functions[] = {ts_lua_matrix_makers,    ts_lua_matrix_joins,
                                                       ts_lua_matrix_functions, ts_lua_matrix_bytes,
                                                       ts_lua_matrix_hash,      NULL};
    static const ts_lua_function *const methods[] = {ts_lua_matrix_views, ts_lua_matrix_arithmetic,
                                                     ts_lua_matrix_reductions, NULL};
    static const luaL_Reg *const both[] = {metamethods, ts_lua_matrix_operators, NULL};
    ts_lua_push_lib(L, functions);
    ts_lua_push_lib(L, methods);
    ts_lua_set_kind(
        L, TS_MATRIX, both,
        "matrices have '+', '-', '*' and '/'; A:mul(B), A:div(B) and A:map(f) take each cell");
    return 1;
}
