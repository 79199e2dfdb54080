/* matrix.h -- what the files of the matrix userdata share. */
#ifndef TS_BINDING_MATRIX_H
#define TS_BINDING_MATRIX_H

#include "binding.h"

/* What each file brings: functions of the module's table, */
extern const ts_lua_function ts_lua_matrix_makers[]; /* matrix_make.c */
extern const ts_lua_function ts_lua_matrix_joins[];  /* matrix_join.c */
extern const ts_lua_function
    ts_lua_matrix_functions[]; /* matrix_arithmetic.c: of numbers or matrices */
extern const ts_lua_function ts_lua_matrix_bytes[]; /* matrix_bytes.c */
extern const ts_lua_function ts_lua_matrix_hash[];  /* hash.c */
/* methods, */
extern const ts_lua_function ts_lua_matrix_views[];      /* matrix_view.c */
extern const ts_lua_function ts_lua_matrix_arithmetic[]; /* matrix_arithmetic.c */
extern const ts_lua_function ts_lua_matrix_reductions[]; /* matrix_reduce.c */
/* and metamethods. */
extern const luaL_Reg ts_lua_matrix_operators[]; /* matrix_arithmetic.c */

extern const char *const ts_lua_dtype_names[]; /* in the order of ts_dtype; NULL ends them */

/* Where index i of an axis of n points to, from 0: negative ones count from the end. */
static inline int64_t ts_lua_place(int64_t i, int64_t n) { return i < 0 ? i + n : i - 1; }

/* The argument as an index of an axis of n, what = "row" or "column"; negative ones count from the
 * end. Returns it from 0. */
int64_t ts_lua_check_index(lua_State *L, int arg, int64_t n, const char *what);

/* How a call on a matrix like m is run: NULL where it is over too soon to be stopped. Afterwards
 * the other one ends it, raising where it was stopped. */
const ts_run *ts_lua_matrix_run(lua_State *L, const ts_matrix *m, ts_run *run);
void ts_lua_matrix_done(lua_State *L, const ts_run *run, ts_status status);

/* Copying and filling so, on matrices that share no element. */
void ts_lua_copy(lua_State *L, const ts_matrix *from, ts_matrix *to);
void ts_lua_fill(lua_State *L, ts_matrix *m, double x);

/* Arguments that the library of Lua would check, too, but whose errors would not have our names. */
double ts_lua_check_number(lua_State *L, int arg);
ts_dtype ts_lua_check_dtype_name(lua_State *L, int arg);

/* Raises for an operand of another dtype, naming both. */
void ts_lua_check_dtype(lua_State *L, int arg, ts_dtype want, ts_dtype got);

/* The argument "rows" or "cols" (else an error), or -1 where there is none. */
enum { TS_LUA_ROWS, TS_LUA_COLS };
int ts_lua_opt_axis(lua_State *L, int arg, int otherwise);

#endif
