/* mask.h -- what the files of the mask userdata share. */
#ifndef TS_BINDING_MASK_H
#define TS_BINDING_MASK_H

#include "program.h"

/* User value 1 is the program, user value 2 what m:explain() says, or nil. */
typedef struct {
    ts_mask mask; /* first, so that a pointer to it is one to this */
    bool called;
} ts_lua_mask;

/* Axes and cells that a mask can have: indices whose linear forms never wrap, counts that fit. */
#define TS_LUA_MOST_INDEX (TS_INDEX_LIMIT - 1)
#define TS_LUA_MOST_CELLS ((int64_t)1 << 62)

/* Raises where a mask of this shape cannot be. */
void ts_lua_check_mask_shape(lua_State *L, int64_t rows, int64_t cols, int64_t heads);

/* [..., program] -> [..., mask] */
ts_lua_mask *ts_lua_push_mask(lua_State *L, int64_t rows, int64_t cols, int64_t heads, bool called);

/* Pushes work space for asking the mask. */
void *ts_lua_push_mask_scratch(lua_State *L, const ts_mask *mask);

/* All queries, or all keys, of n. */
static inline ts_range ts_lua_axis(int64_t n) { return (ts_range){1, n}; }
/* How many heads to go through: 1 where the mask has none. */
static inline int64_t ts_lua_heads_of(const ts_mask *mask) { return mask->heads ? mask->heads : 1; }
/* The argument as a head of the mask: 1 where it has none. */
int64_t ts_lua_check_head(lua_State *L, int arg, const ts_mask *mask);

extern const ts_lua_function ts_lua_mask_makers[];  /* mask_make.c: of the module's table */
extern const luaL_Reg ts_lua_mask_operators[];      /* mask_algebra.c: of the metatable */
extern const ts_lua_function ts_lua_mask_algebra[]; /* mask_algebra.c: methods */
extern const ts_lua_function ts_lua_mask_counts[];  /* mask_count.c: methods */
extern const ts_lua_function ts_lua_mask_forms[];   /* mask_dense.c: methods */
int ts_lua_mask_tiles(lua_State *L);                /* mask_tiles.c: a method */
int ts_lua_mask_compose(lua_State *L);              /* mask_compose.c: a method */

#endif
