/* tiling.h -- what the files that read a tiling share: one file for each of its larger fields. */
#ifndef TS_BINDING_TILING_H
#define TS_BINDING_TILING_H

#include "problem.h"

/* Memory for `count` things on the Lua stack: an error at any point leaks nothing. */
void *ts_lua_hold(lua_State *L, int64_t count, size_t size);

/* Is the value on the top of the stack the string `name`? */
bool ts_lua_is_option(lua_State *L, const char *name);
/* Raises: the value on the top of the stack is none that `field` may have; `expected` says which
 * may. */
void ts_lua_invalid_option(lua_State *L, int arg, const char *field, const char *expected);
/* Entry n of the table, which is the value of `field`, as a whole number. */
int64_t ts_lua_whole_at(lua_State *L, int arg, const char *field, int table, int64_t n);
static inline int32_t ts_lua_narrow(int64_t x) {
    return x < 0 ? -1 : x > INT32_MAX ? INT32_MAX : (int32_t)x;
}

/* Numbers drawn in turn from stream `seed`: number n depends on (seed, n) alone. */
typedef struct {
    uint64_t seed, drawn;
} ts_lua_chance;

/* A whole number from 0 to bound - 1; the bias, bound / 2^64, is beyond notice. */
int64_t ts_lua_draw(ts_lua_chance *chance, int64_t bound);

/* tiling_blocks.c: reads the list of blocks on the top of the stack, which stays. partial: they
 * need not hold every key. */
void ts_lua_read_blocks(lua_State *L, int arg, ts_schedule *schedule, bool partial);
/* Pushes {first, last} of block b, or the list of its ranges. */
void ts_lua_push_block(lua_State *L, const ts_schedule *schedule, int64_t b);

/* tiling_order.c: reads the field `order`; blocks and query tiles are known by then. */
void ts_lua_read_order(lua_State *L, int arg, const ts_problem *problem, ts_tiling *tiling,
                       ts_lua_chance *chance);
/* Raises where the list is no arrangement of 1 .. n. thing: "block" or "position". */
void ts_lua_check_each_once(lua_State *L, int arg, const char *field, const char *thing,
                            const int32_t *list, int64_t count, int64_t n);

/* tiling_merge.c: reads the value of `merge` on the top of the stack. */
void ts_lua_read_merge(lua_State *L, int arg, ts_schedule *schedule, ts_lua_chance *chance);

#endif
