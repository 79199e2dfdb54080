/* program.h -- what the files of programs and masks share: building programs in Lua's memory. */
#ifndef TS_BINDING_PROGRAM_H
#define TS_BINDING_PROGRAM_H

#include "../../core/builder.h"
#include "binding.h"

/* Larger programs are refused: what calls of calls would else double without end. */
enum { TS_LUA_MOST_NODES = 1 << 20 };

/* Pushes, as one value, room for a builder of as many nodes and tables, open, and for `numbers`
 * int32_t behind it. */
typedef struct {
    ts_builder builder;
    int32_t *numbers;
} ts_lua_build;
ts_lua_build *ts_lua_new_build(lua_State *L, int64_t nodes, int64_t tables, int64_t numbers);

/* Pushes the program with this result; `anchors` is the stack index of a table that keeps the
 * memory of its tables alive, or 0 where it has none. */
ts_program *ts_lua_finish_build(lua_State *L, ts_lua_build *build, int32_t result, int anchors);

/* Whether a node of the program is such a leaf: s, i, j or h. */
bool ts_lua_reads(const ts_program *program, ts_op op);

/* Pushes a table that keeps alive what the programs at the `count` indices keep alive. */
void ts_lua_push_anchors(lua_State *L, const int *programs, int count);

/* [..., anchors] -> the same: what the program at `index` keeps alive is kept alive by it too. */
void ts_lua_add_anchor(lua_State *L, int index);

/* program_table.c. Pushes the storage of dense bits, zeroed, with room for an index, which
 * ts_lua_index_bits builds once they are there. Raises "too large" or "not enough memory". */
ts_table *ts_lua_new_bits(lua_State *L, int64_t rows, int64_t cols, int64_t heads);
void ts_lua_index_bits(ts_table *table);
/* [..., spec] -> [..., storage] of table number `at`, as Lua writes it: {kind = "ints" | "floats" |
 * "bools", first =, values =}, {kind = "matrix", matrix =} or {kind = "bits", mask =}. */
const ts_table *ts_lua_push_table(lua_State *L, int64_t at);

/* Pushes the program that looks (i, j, h) up in the bits at stack index `storage`; h is 1 where it
 * has one head only. */
ts_program *ts_lua_push_bits_program(lua_State *L, int storage);

/* The program's text as infix Lua; pushes the string. program_text.c. */
void ts_lua_push_program_text(lua_State *L, const ts_program *program);

/* mask_dense.c: evaluates the mask at `index` into dense bits and pushes their storage. */
ts_table *ts_lua_push_mask_bits(lua_State *L, int index);

/* What the module shows of programs. program_read.c, program_run.c, program_bytes.c. */
int ts_lua_read_program(lua_State *L);
int ts_lua_run_program(lua_State *L);
int ts_lua_bound_program(lua_State *L);
int ts_lua_score_program(lua_State *L);
int ts_lua_program_bytes(lua_State *L);

/* What a Lua table holds behind its integer keys. survey.c. */
int ts_lua_survey(lua_State *L);

#endif
