/* mask_count.c -- how many keys a mask keeps, and in which rows none. */
#include "mask.h"

static int64_t count_cells(lua_State *L, const ts_mask *mask, int64_t h1, int64_t h2, ts_range i,
                           ts_range j) {
    void *scratch = ts_lua_push_mask_scratch(L, mask);
    ts_run run = ts_lua_run(L, 0);
    ts_status status = TS_OK;
    int64_t total = 0, count = 0;
    for (int64_t h = h1; h <= h2 && status == TS_OK; h++) {
        status = ts_mask_count(mask, h, i, j, &run, &count, scratch);
        total += count;
    }
    ts_lua_raise(L, status, NULL, NULL);
    lua_pop(L, 1);
    return total;
}

/* The range at arg and arg + 1 of an axis of n. */
static ts_range check_part(lua_State *L, int arg, const char *what, int64_t n) {
    int64_t first = ts_lua_check_range(L, arg, what, 1, n);
    return (ts_range){first, ts_lua_check_range(L, arg + 1, what, first, n)};
}

/* [m [, i1, i2, j1, j2 [, h]]] -> [integer]: allowed cells of these queries and keys, over all
 * heads unless one is named */
static int count(lua_State *L) {
    const ts_mask *mask = ts_lua_check_mask(L, 1);
    ts_range i = ts_lua_axis(mask->rows), j = ts_lua_axis(mask->cols);
    int64_t h1 = 1, h2 = ts_lua_heads_of(mask);
    if (!lua_isnoneornil(L, 2))
        i = check_part(L, 2, "query", mask->rows), j = check_part(L, 4, "key", mask->cols);
    if (mask->heads && !lua_isnoneornil(L, 6)) h1 = h2 = ts_lua_check_head(L, 6, mask);
    lua_pushinteger(L, count_cells(L, mask, h1, h2, i, j));
    return 1;
}

/* [m] -> [number]: the allowed part of all cells; 0 where there are none */
static int density(lua_State *L) {
    const ts_mask *mask = ts_lua_check_mask(L, 1);
    double cells = (double)mask->rows * (double)mask->cols * (double)ts_lua_heads_of(mask);
    double kept = (double)count_cells(L, mask, 1, ts_lua_heads_of(mask), ts_lua_axis(mask->rows),
                                      ts_lua_axis(mask->cols));
    lua_pushnumber(L, cells > 0 ? kept / cells : 0);
    return 1;
}

/* [m, i [, h]] -> [integer]: the keys of query i, over all heads unless one is named */
static int row_count(lua_State *L) {
    const ts_mask *mask = ts_lua_check_mask(L, 1);
    int64_t i = ts_lua_check_range(L, 2, "query", 1, mask->rows), h1 = 1,
            h2 = ts_lua_heads_of(mask);
    if (mask->heads && !lua_isnoneornil(L, 3)) h1 = h2 = ts_lua_check_head(L, 3, mask);
    lua_pushinteger(L, count_cells(L, mask, h1, h2, (ts_range){i, i}, ts_lua_axis(mask->cols)));
    return 1;
}

/* [..., list] -> [..., list with the rows whose bits are set] */
static void append_rows(lua_State *L, const ts_mask *mask, int64_t h, const uint64_t *rows,
                        const ts_run *run) {
    for (int64_t r = 0; r < mask->rows; r++) {
        if (r % 4096 == 0 && run->poll(run->poll_data, -1))
            ts_lua_raise(L, TS_INTERRUPTED, NULL, NULL);
        if (r % 64 == 0 && rows[r / 64] == 0) r += 63; /* a word of none */
        if (r >= mask->rows || !(rows[r / 64] >> (r % 64) & 1)) continue;
        if (mask->heads) {
            lua_createtable(L, 2, 0);
            lua_pushinteger(L, r + 1);
            lua_rawseti(L, -2, 1);
            lua_pushinteger(L, h);
            lua_rawseti(L, -2, 2);
        } else {
            lua_pushinteger(L, r + 1);
        }
        lua_rawseti(L, -2, (lua_Integer)lua_rawlen(L, -2) + 1);
    }
}

/* [m] -> [list]: numbers of the queries without a key; {i, h} with heads */
static int empty_rows(lua_State *L) {
    const ts_mask *mask = ts_lua_check_mask(L, 1);
    void *memory, *scratch = ts_lua_push_mask_scratch(L, mask);
    ts_lua_new_block(L, 0, (size_t)(mask->rows / 64 + 1) * 8, 0, &memory);
    lua_newtable(L);
    ts_run run = ts_lua_run(L, 0);
    for (int64_t h = 1; h <= ts_lua_heads_of(mask); h++) {
        ts_status status = ts_mask_empty_rows(mask, h, ts_lua_axis(mask->rows),
                                              ts_lua_axis(mask->cols), &run, memory, scratch);
        if (status != TS_OK) ts_lua_raise(L, status, NULL, NULL);
        append_rows(L, mask, h, memory, &run);
    }
    ts_lua_run_done(L);
    return 1;
}

const ts_lua_function ts_lua_mask_counts[] = {{"count", count, 6},
                                              {"density", density, 1},
                                              {"row_count", row_count, 3},
                                              {"empty_rows", empty_rows, 1},
                                              {NULL, NULL, 0}};
