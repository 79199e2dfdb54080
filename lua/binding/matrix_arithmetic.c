/* matrix_arithmetic.c -- the operators of matrices, and functions of every cell. */
#include "matrix.h"

/* An operand of an elementwise operation: a matrix, or a number as a 1 x 1 one. */
typedef struct {
    const ts_matrix *matrix; /* NULL: a number */
    double x;
} operand;

static operand check_operand(lua_State *L, int arg) {
    if (lua_isnumber(L, arg)) return (operand){NULL, lua_tonumber(L, arg)};
    const ts_matrix *m = ts_lua_test_matrix(L, arg);
    if (!m) ts_lua_type_error(L, arg, NULL, "matrix or number");
    return (operand){m, 0};
}

static int shapes_error(lua_State *L, int arg, const ts_matrix *a, const ts_matrix *b) {
    return ts_lua_arg_error(L, arg, NULL, "shapes %Ix%I and %Ix%I do not fit", I(a->rows),
                            I(a->cols), I(b->rows), I(b->cols));
}

/* The operand as a matrix of `dtype`, a number being rounded to it in *cell. */
static ts_matrix as_matrix(operand x, ts_dtype dtype, double *cell) {
    if (x.matrix) return *x.matrix;
    ts_matrix one = ts_matrix_packed(dtype, 1, 1, cell);
    ts_matrix_set(&one, 0, 0, x.x);
    return one;
}

/* [a, b], one of them a matrix at least */
static int binary(lua_State *L, ts_binary operation) {
    operand x = check_operand(L, 1), y = check_operand(L, 2);
    if (x.matrix && y.matrix) ts_lua_check_dtype(L, 2, x.matrix->dtype, y.matrix->dtype);
    ts_dtype dtype = (x.matrix ? x.matrix : y.matrix)->dtype;
    double cells[2];
    ts_matrix a = as_matrix(x, dtype, &cells[0]), b = as_matrix(y, dtype, &cells[1]);
    int64_t rows, cols;
    ts_detail detail = {0};
    if (ts_elementwise_shape(&a, &b, &rows, &cols, &detail) != TS_OK)
        return shapes_error(L, 2, &a, &b);
    ts_matrix *out = ts_lua_new_matrix(L, dtype, rows, cols);
    ts_run room;
    const ts_run *run = ts_lua_matrix_run(L, out, &room);
    ts_lua_matrix_done(L, run, ts_elementwise_binary(operation, &a, &b, out, run));
    return 1;
}

static int add(lua_State *L) { return binary(L, TS_ADD); }
static int subtract(lua_State *L) { return binary(L, TS_SUB); }

static int method_mul(lua_State *L) {
    ts_lua_check_matrix(L, 1);
    return binary(L, TS_MUL);
}

static int method_div(lua_State *L) {
    ts_lua_check_matrix(L, 1);
    return binary(L, TS_DIV);
}

/* `/`: by a number, or of one; two matrices would leave it open which quotient is meant. */
static int divide(lua_State *L) {
    if (ts_lua_test_matrix(L, 1) && ts_lua_test_matrix(L, 2))
        return ts_lua_arg_error(L, 2, NULL, "number expected, got matrix; A:div(B) is elementwise");
    return binary(L, TS_DIV);
}

/* `*`: the matrix product, or a multiple. */
static int multiply(lua_State *L) {
    const ts_matrix *a = ts_lua_test_matrix(L, 1), *b = ts_lua_test_matrix(L, 2);
    if (!a || !b) return binary(L, TS_MUL);
    ts_lua_check_dtype(L, 2, a->dtype, b->dtype);
    if (a->cols != b->rows)
        return ts_lua_arg_error(L, 2, NULL,
                                "shapes %Ix%I and %Ix%I do not fit: the product of rows and "
                                "columns; A:mul(B) is elementwise",
                                I(a->rows), I(a->cols), I(b->rows), I(b->cols));
    ts_matrix *c = ts_lua_new_matrix(L, a->dtype, a->rows, b->cols);
    ts_run run = ts_lua_run(L, 0);
    ts_lua_matrix_done(L, &run, ts_product(a, b, c, &run));
    return 1;
}

/* Other userdata is never equal to a matrix. */
static int equal(lua_State *L) {
    const ts_matrix *a = ts_lua_test_matrix(L, 1), *b = ts_lua_test_matrix(L, 2);
    bool same = false;
    if (a && b) {
        ts_run room;
        const ts_run *run = ts_lua_matrix_run(L, a, &room);
        ts_lua_matrix_done(L, run, ts_matrix_equal(a, b, run, &same));
    }
    lua_pushboolean(L, same);
    return 1;
}

/* [x]: of a number a number, of a matrix a matrix */
static int unary(lua_State *L, ts_unary function) {
    operand x = check_operand(L, 1);
    if (!x.matrix) {
        lua_pushnumber(L, ts_unary_of(function, x.x));
        return 1;
    }
    ts_matrix *out = ts_lua_new_matrix(L, x.matrix->dtype, x.matrix->rows, x.matrix->cols);
    ts_run room;
    const ts_run *run = ts_lua_matrix_run(L, out, &room);
    ts_lua_matrix_done(L, run, ts_elementwise_unary(function, x.matrix, out, run));
    return 1;
}

/* The same of [x, ...]: behind a number, numbers are dropped, as math's functions do, since a score
 * is called with (s, i, j, h). */
static int unary_of_score(lua_State *L, ts_unary function) {
    int most = 1;
    while (lua_type(L, 1) == LUA_TNUMBER && lua_type(L, most + 1) == LUA_TNUMBER) most++;
    ts_lua_no_more(L, most, 0);
    return unary(L, function);
}

static int unary_minus(lua_State *L) { return unary(L, TS_NEG); }
static int absolute(lua_State *L) { return unary_of_score(L, TS_ABS); }
static int square_root(lua_State *L) { return unary_of_score(L, TS_SQRT); }
static int exponential(lua_State *L) { return unary_of_score(L, TS_EXP); }
static int hyperbolic_tangent(lua_State *L) { return unary_of_score(L, TS_TANH); }
static int sine(lua_State *L) { return unary_of_score(L, TS_SIN); }
static int cosine(lua_State *L) { return unary_of_score(L, TS_COS); }
/* math.log's second argument is a base: to drop that would be wrong. */
static int logarithm(lua_State *L) { return unary(L, TS_LOG); }

/* [m, f] */
static int map(lua_State *L) {
    const ts_matrix *m = ts_lua_check_matrix(L, 1);
    ts_lua_check_type(L, 2, LUA_TFUNCTION);
    ts_matrix *out = ts_lua_new_matrix(L, m->dtype, m->rows, m->cols);
    for (int64_t cell = 0; cell < m->rows * m->cols; cell++) {
        int64_t r = cell / m->cols, c = cell % m->cols;
        lua_pushvalue(L, 2);
        lua_pushnumber(L, ts_matrix_get(m, r, c));
        lua_call(L, 1, 1);
        if (lua_type(L, -1) != LUA_TNUMBER)
            ts_lua_arg_error(L, 2, NULL, "the function must return a number, not %s, at (%I, %I)",
                             ts_lua_kind(L, -1), I(r + 1), I(c + 1));
        ts_matrix_set(out, r, c, lua_tonumber(L, -1));
        lua_pop(L, 1);
    }
    return 1;
}

const luaL_Reg ts_lua_matrix_operators[] = {
    {"__add", add},         {"__sub", subtract}, {"__mul", multiply}, {"__div", divide},
    {"__unm", unary_minus}, {"__eq", equal},     {NULL, NULL}};

const ts_lua_function ts_lua_matrix_functions[] = {{"abs", absolute, TS_LUA_ANY},
                                                   {"sqrt", square_root, TS_LUA_ANY},
                                                   {"exp", exponential, TS_LUA_ANY},
                                                   {"log", logarithm, 1},
                                                   {"tanh", hyperbolic_tangent, TS_LUA_ANY},
                                                   {"sin", sine, TS_LUA_ANY},
                                                   {"cos", cosine, TS_LUA_ANY},
                                                   {NULL, NULL, 0}};

const ts_lua_function ts_lua_matrix_arithmetic[] = {
    {"mul", method_mul, 2}, {"div", method_div, 2}, {"map", map, 2}, {NULL, NULL, 0}};
