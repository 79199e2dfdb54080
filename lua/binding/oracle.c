/* oracle.c -- P:oracle: road 3, asked from Lua. */
#include "problem.h"

/* P:oracle([{bits = 256, rows=, empty=}]) -> O, lse [, what it is good to] */
int ts_lua_problem_oracle(lua_State *L) {
    static const char *const fields[] = {"bits", "rows", "empty", NULL};
    ts_lua_problem *p = ts_lua_check_problem(L, 1);
    const ts_problem *problem = &p->problem;
    int64_t count;
    ts_lua_check_fields(L, 2, fields);
    int64_t bits = ts_lua_integer_field(L, 2, "bits", 256);
    if (bits < 64 || bits > 65536)
        ts_lua_arg_error(L, 2, NULL, "field 'bits': 64 to 65536 expected, got %I", I(bits));
    int empty = ts_lua_empty_field(L, 2);
    bool zero = empty < 0 ? p->zero_empty : empty > 0;
    if (lua_istable(L, 2))
        lua_getfield(L, 2, "rows");
    else
        lua_pushnil(L);
    const int64_t *rows = ts_lua_read_rows(L, 2, problem->n_q, &count);
    ts_matrix *o = ts_lua_new_matrix(L, problem->dtype, count, problem->heads * problem->d_v);
    ts_matrix *lse = ts_lua_new_matrix(L, problem->dtype, count, problem->heads);
    int results = lua_gettop(L) - 1;
    ts_run run = ts_lua_run(L, 0);
    ts_detail detail = {0};
    ts_lua_call call = ts_lua_begin(L, p);
    ts_status status = ts_oracle(problem, bits, rows, count, zero || !rows, &run, o, lse, &detail);
    ts_lua_end(L, p, call, status, &detail);
    if (!zero && !rows) ts_lua_check_empty(L, lse); /* names all of them */
    lua_pushvalue(L, results);
    lua_pushvalue(L, results + 1);
    if (!ts_problem_calls(problem, 0, problem->heads)) return 2;
    lua_pushliteral(L, "good to double only: a score is called, not lifted");
    return 3;
}
