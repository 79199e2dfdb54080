/* matrix_bytes.c -- what files and comparisons need: elements as bytes, and distances in ulps. */
#include "../../core/strip.h"
#include "matrix.h"

/* The name of a kind of element, and whether its bytes are swapped (big-endian). */
static ts_codec check_kind(lua_State *L, int arg, int swapped) {
    ts_codec kind;
    const char *name = luaL_checkstring(L, arg);
    if (!ts_codec_named(name, lua_toboolean(L, swapped), &kind))
        ts_lua_arg_error(L, arg, NULL, "invalid kind of element '%s'", name);
    return kind;
}

/* core.matrix.decode(m, first, bytes, kind [, swapped]) -> count, inexact: writes the elements in
 * the string `bytes` to m, from its element `first` on (from 0, row by row; decode into m:t() for
 * column by column), so that a file can be read in pieces. kind is f2 bf16 f4 f8 i1 i2 i4 i8 u1 u2
 * u4 u8 b1 or ?. `inexact`: which of these elements, from 0, is the first that a double cannot
 * hold, or nil. */
static int decode(lua_State *L) {
    ts_matrix *m = ts_lua_check_matrix(L, 1);
    int64_t cells = m->rows * m->cols, first = ts_lua_check_range(L, 2, "first", 0, cells);
    size_t length;
    const char *bytes = luaL_checklstring(L, 3, &length);
    ts_codec kind = check_kind(L, 4, 5);
    if (length % (size_t)kind.size != 0)
        return ts_lua_arg_error(L, 3, NULL, "%I bytes are no whole number of elements of %d",
                                I(length), kind.size);
    int64_t count = (int64_t)length / kind.size;
    if (count > cells - first)
        return ts_lua_arg_error(L, 3, NULL, "%I elements for %I cells", I(count), I(cells - first));
    int64_t exact = ts_codec_decode(kind, bytes, count, m, first);
    lua_pushinteger(L, count);
    if (exact == count) return 1;
    lua_pushinteger(L, exact);
    return 2;
}

/* core.matrix.encode(m, first, count, kind [, swapped]) -> string: `count` elements of m from
 * `first` on (from 0, row by row), as f2, bf16, f4 or f8. */
static int encode(lua_State *L) {
    const ts_matrix *m = ts_lua_check_matrix(L, 1);
    int64_t cells = m->rows * m->cols, first = ts_lua_check_range(L, 2, "first", 0, cells);
    int64_t count = ts_lua_check_range(L, 3, "count", 0, cells - first);
    ts_codec kind = check_kind(L, 4, 5);
    if (kind.class > TS_CODEC_F64) return ts_lua_arg_error(L, 4, NULL, "a kind of float expected");
    luaL_Buffer buffer;
    size_t bytes = (size_t)count * (size_t)kind.size;
    ts_codec_encode(kind, m, first, count, luaL_buffinitsize(L, &buffer, bytes));
    luaL_pushresultsize(&buffer, bytes);
    return 1;
}

/* core.matrix.from_bytes(dtype, rows, cols, bytes, offset, kind [, swapped [, by_columns]]) ->
 * matrix, inexact: of the string behind `offset` bytes. */
static int from_bytes(lua_State *L) {
    ts_dtype dtype = ts_lua_check_dtype_name(L, 1);
    int64_t rows = ts_lua_check_range(L, 2, "rows", 0, INT64_MAX);
    int64_t cols = ts_lua_check_range(L, 3, "cols", 0, INT64_MAX), cells;
    size_t length;
    const char *bytes = luaL_checklstring(L, 4, &length);
    int64_t offset = ts_lua_check_range(L, 5, "offset", 0, (int64_t)length);
    ts_codec kind = check_kind(L, 6, 7);
    if (__builtin_mul_overflow(rows, cols, &cells) ||
        cells > ((int64_t)length - offset) / kind.size)
        return ts_lua_arg_error(L, 4, NULL, "%I bytes do not hold a %Ix%I matrix",
                                I((int64_t)length - offset), I(rows), I(cols));
    ts_matrix m = *ts_lua_new_matrix(L, dtype, rows, cols);
    if (lua_toboolean(L, 8)) m = ts_matrix_transposed(&m);
    int64_t exact = ts_codec_decode(kind, bytes + offset, cells, &m, 0);
    if (exact == cells) return 1;
    lua_pushinteger(L, exact);
    return 2;
}

/* Two matrices of one shape and dtype. */
static const ts_matrix *check_pair(lua_State *L) {
    const ts_matrix *a = ts_lua_check_matrix(L, 1), *b = ts_lua_check_matrix(L, 2);
    ts_lua_check_dtype(L, 2, a->dtype, b->dtype);
    if (a->rows != b->rows || a->cols != b->cols)
        ts_lua_arg_error(L, 2, NULL, "shapes differ: %Ix%I against %Ix%I", I(a->rows), I(a->cols),
                         I(b->rows), I(b->cols));
    return a;
}

/* core.matrix.worst(A, B) -> i, j, ulps: the first cell of most ulps; nil, nil, 0 without cells. */
static int worst(lua_State *L) {
    int64_t row, col;
    double ulps;
    const ts_matrix *a = check_pair(L);
    ts_run room;
    const ts_run *run = ts_lua_matrix_run(L, a, &room);
    ts_status status = ts_matrix_ulps(a, ts_lua_check_matrix(L, 2), run, &row, &col, &ulps);
    ts_lua_matrix_done(L, run, status);
    for (int axis = 0; axis < 2; axis++)
        if (row < 0)
            lua_pushnil(L);
        else
            lua_pushinteger(L, (axis == 0 ? row : col) + 1);
    lua_pushnumber(L, ulps);
    return 3;
}

/* core.matrix.ulps(A, B) -> an f64 matrix of the distances, cell by cell. */
static int ulps(lua_State *L) {
    const ts_matrix *a = check_pair(L), *b = ts_lua_check_matrix(L, 2);
    ts_matrix *out = ts_lua_new_matrix(L, TS_F64, a->rows, a->cols);
    ts_run room;
    const ts_run *run = ts_lua_matrix_run(L, out, &room);
    ts_strips at = ts_strips_of(out, run);
    while (ts_strips_next(&at))
        for (int64_t r = at.row, c = at.col; c < at.col + at.count; c++) {
            double x = ts_matrix_get(a, r, c), y = ts_matrix_get(b, r, c);
            ts_matrix_set(out, r, c, ts_ulps(a->dtype, x, y));
        }
    ts_lua_matrix_done(L, run, at.status);
    return 1;
}

const ts_lua_function ts_lua_matrix_bytes[] = {
    {"decode", decode, 5}, {"encode", encode, 5}, {"from_bytes", from_bytes, 8},
    {"worst", worst, 2},   {"ulps", ulps, 2},     {NULL, NULL, 0}};
