/* mask_dense.c -- a mask cell by cell: as bits, as a matrix, as text. */
#include "mask.h"

/* [...] -> [..., storage] */
ts_table *ts_lua_push_mask_bits(lua_State *L, int index) {
    const ts_mask *mask = ts_lua_test_mask(L, index);
    index = lua_absindex(L, index);
    ts_table *table = ts_lua_new_bits(L, mask->rows, mask->cols, ts_lua_heads_of(mask));
    uint64_t *bits = (uint64_t *)table->bits;
    void *scratch = ts_lua_push_mask_scratch(L, mask);
    ts_run run = ts_lua_run(L, 0);
    int64_t done = 0, band = 64;
    for (int64_t h = 1; h <= table->heads; h++)
        for (int64_t i = 1; i <= mask->rows && mask->cols > 0; i += band, done += band) {
            ts_range rows = {i, i + band - 1 < mask->rows ? i + band - 1 : mask->rows};
            uint64_t *at = bits + ((h - 1) * mask->rows + i - 1) * table->words;
            ts_mask_tile(mask, h, rows, ts_lua_axis(mask->cols), at, table->words, scratch);
            if (run.poll(run.poll_data, -1)) ts_lua_raise(L, TS_INTERRUPTED, NULL, NULL);
        }
    ts_lua_run_done(L);
    ts_lua_index_bits(table);
    lua_pop(L, 1);
    return table;
}

/* [m [, h]] -> [matrix]: 1 where the key is allowed, else 0 */
static int matrix(lua_State *L) {
    const ts_mask *mask = ts_lua_check_mask(L, 1);
    int64_t h = ts_lua_check_head(L, 2, mask), words = mask->cols / 64 + 1;
    ts_matrix *m = ts_lua_new_matrix(L, TS_F64, mask->rows, mask->cols);
    void *memory, *scratch = ts_lua_push_mask_scratch(L, mask);
    ts_lua_new_block(L, 0, (size_t)words * 8, 0, &memory);
    const uint64_t *row = memory;
    double *out = m->data;
    ts_run run = ts_lua_run(L, 0);
    for (int64_t i = 1; i <= mask->rows; i++) {
        ts_mask_tile(mask, h, (ts_range){i, i}, ts_lua_axis(mask->cols), memory, words, scratch);
        for (int64_t c = 0; c < mask->cols; c++) *out++ = (double)(row[c / 64] >> (c % 64) & 1);
        if (run.poll(run.poll_data, -1)) ts_lua_raise(L, TS_INTERRUPTED, NULL, NULL);
    }
    ts_lua_run_done(L);
    lua_pop(L, 2);
    return 1;
}

/* [m [, h]] -> [string]: a line a row, `1` keeps and `.` drops, as parse reads it */
static int text(lua_State *L) {
    const ts_mask *mask = ts_lua_check_mask(L, 1);
    int64_t h = ts_lua_check_head(L, 2, mask), words = mask->cols / 64 + 1;
    if ((double)mask->rows * ((double)mask->cols + 1) > 0x1p31)
        return luaL_error(L, "a drawing of %I x %I cells is too large", I(mask->rows),
                          I(mask->cols));
    void *memory, *scratch = ts_lua_push_mask_scratch(L, mask);
    ts_lua_new_block(L, 0, (size_t)words * 8, 0, &memory);
    const uint64_t *row = memory;
    ts_run run = ts_lua_run(L, 0);
    luaL_Buffer out;
    luaL_buffinit(L, &out);
    for (int64_t i = 1; i <= mask->rows; i++) {
        ts_mask_tile(mask, h, (ts_range){i, i}, ts_lua_axis(mask->cols), memory, words, scratch);
        for (int64_t c = 0; c < mask->cols; c++)
            luaL_addchar(&out, row[c / 64] >> (c % 64) & 1 ? '1' : '.');
        luaL_addchar(&out, '\n');
        if (run.poll(run.poll_data, -1)) ts_lua_raise(L, TS_INTERRUPTED, NULL, NULL);
    }
    luaL_pushresult(&out);
    ts_lua_run_done(L);
    return 1;
}

const ts_lua_function ts_lua_mask_forms[] = {
    {"matrix", matrix, 2}, {"text", text, 2}, {NULL, NULL, 0}};
