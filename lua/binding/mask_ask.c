/* mask_ask.c -- what a mask can be asked: counts, rows, tiles, its matrix, its drawing, its powers.
 */
#include "mask.h"

#include <string.h>

#define I(x) ((LUAI_UACINT)(x))

static ts_range all(int64_t n) { return (ts_range){1, n}; }
static int64_t heads_of(const ts_mask *mask) { return mask->heads ? mask->heads : 1; }

/* The argument as a head of the mask: 1 where it has none. */
static int64_t check_head(lua_State *L, int arg, const ts_mask *mask) {
    if (mask->heads == 0) return 1;
    return ts_lua_check_range(L, arg, 1, mask->heads);
}

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
static ts_range check_part(lua_State *L, int arg, int64_t n) {
    int64_t first = ts_lua_check_range(L, arg, 1, n);
    return (ts_range){first, ts_lua_check_range(L, arg + 1, first, n)};
}

/* [m [, i1, i2, j1, j2 [, h]]] -> [integer]: allowed cells of these queries and keys, over all
 * heads unless one is named */
static int count(lua_State *L) {
    const ts_mask *mask = ts_lua_check_mask(L, 1);
    ts_range i = all(mask->rows), j = all(mask->cols);
    int64_t h1 = 1, h2 = heads_of(mask);
    if (!lua_isnoneornil(L, 2)) i = check_part(L, 2, mask->rows), j = check_part(L, 4, mask->cols);
    if (mask->heads && !lua_isnoneornil(L, 6)) h1 = h2 = check_head(L, 6, mask);
    lua_pushinteger(L, count_cells(L, mask, h1, h2, i, j));
    return 1;
}

/* [m] -> [number]: the allowed part of all cells; 0 where there are none */
static int density(lua_State *L) {
    const ts_mask *mask = ts_lua_check_mask(L, 1);
    double cells = (double)mask->rows * (double)mask->cols * (double)heads_of(mask);
    double kept = (double)count_cells(L, mask, 1, heads_of(mask), all(mask->rows), all(mask->cols));
    lua_pushnumber(L, cells > 0 ? kept / cells : 0);
    return 1;
}

/* [m, i [, h]] -> [integer]: the keys of query i, over all heads unless one is named */
static int row_count(lua_State *L) {
    const ts_mask *mask = ts_lua_check_mask(L, 1);
    int64_t i = ts_lua_check_range(L, 2, 1, mask->rows), h1 = 1, h2 = heads_of(mask);
    if (mask->heads && !lua_isnoneornil(L, 3)) h1 = h2 = check_head(L, 3, mask);
    lua_pushinteger(L, count_cells(L, mask, h1, h2, (ts_range){i, i}, all(mask->cols)));
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
    for (int64_t h = 1; h <= heads_of(mask); h++) {
        ts_status status =
            ts_mask_empty_rows(mask, h, all(mask->rows), all(mask->cols), &run, memory, scratch);
        if (status != TS_OK) ts_lua_raise(L, status, NULL, NULL);
        append_rows(L, mask, h, memory, &run);
    }
    ts_lua_run_done(L);
    return 1;
}

/* ---- dense forms ---- */

/* [...] -> [..., storage] */
ts_table *ts_lua_push_mask_bits(lua_State *L, int index) {
    const ts_mask *mask = ts_lua_test_mask(L, index);
    index = lua_absindex(L, index);
    ts_table *table = ts_lua_new_bits(L, mask->rows, mask->cols, heads_of(mask));
    uint64_t *bits = (uint64_t *)table->bits;
    void *scratch = ts_lua_push_mask_scratch(L, mask);
    ts_run run = ts_lua_run(L, 0);
    int64_t done = 0, band = 64;
    for (int64_t h = 1; h <= table->heads; h++)
        for (int64_t i = 1; i <= mask->rows && mask->cols > 0; i += band, done += band) {
            ts_range rows = {i, i + band - 1 < mask->rows ? i + band - 1 : mask->rows};
            uint64_t *at = bits + ((h - 1) * mask->rows + i - 1) * table->words;
            ts_mask_tile(mask, h, rows, all(mask->cols), at, table->words, scratch);
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
    int64_t h = check_head(L, 2, mask), words = mask->cols / 64 + 1;
    ts_matrix *m = ts_lua_new_matrix(L, TS_F64, mask->rows, mask->cols);
    void *memory, *scratch = ts_lua_push_mask_scratch(L, mask);
    ts_lua_new_block(L, 0, (size_t)words * 8, 0, &memory);
    const uint64_t *row = memory;
    double *out = m->data;
    ts_run run = ts_lua_run(L, 0);
    for (int64_t i = 1; i <= mask->rows; i++) {
        ts_mask_tile(mask, h, (ts_range){i, i}, all(mask->cols), memory, words, scratch);
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
    int64_t h = check_head(L, 2, mask), words = mask->cols / 64 + 1;
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
        ts_mask_tile(mask, h, (ts_range){i, i}, all(mask->cols), memory, words, scratch);
        for (int64_t c = 0; c < mask->cols; c++)
            luaL_addchar(&out, row[c / 64] >> (c % 64) & 1 ? '1' : '.');
        luaL_addchar(&out, '\n');
        if (run.poll(run.poll_data, -1)) ts_lua_raise(L, TS_INTERRUPTED, NULL, NULL);
    }
    luaL_pushresult(&out);
    ts_lua_run_done(L);
    return 1;
}

/* ---- tiles ---- */

static ts_range part(int64_t number, int64_t size, int64_t n) {
    int64_t first = number * size + 1;
    return (ts_range){first, size < n - first + 1 ? first + size - 1 : n};
}

/* What `tiles` works with: the mask, the size of a tile, and how many there are. */
typedef struct {
    const ts_mask *mask;
    int64_t q, k, rows, cols;
    int32_t *list; /* of the tiles of a row that may not be empty */
    uint8_t *cover;
    void *scratch;
    const ts_run *run;
} tiling;

/* Row r of head h's tiles, into out, which is all 0. */
static ts_status tile_row(const tiling *t, int64_t h, int64_t r, double *out, int64_t counts[3]) {
    const ts_range i = part(r, t->q, t->mask->rows);
    int64_t found = ts_mask_visit(t->mask, h, i, 1, t->mask->cols, t->k, t->cols, t->list, t->cover,
                                  t->scratch);
    ts_status status = TS_OK;
    counts[TS_EMPTY] += t->cols - found;
    for (int64_t n = 0; n < found && status == TS_OK; n++) {
        ts_cover cover = t->cover[n];
        if (cover == TS_PARTIAL)
            status = ts_mask_settle(t->mask, h, i, part(t->list[n], t->k, t->mask->cols), t->run,
                                    &cover, t->scratch);
        counts[cover]++;
        out[t->list[n]] = cover;
    }
    return status;
}

static int64_t parts_of(int64_t n, int64_t size) { return n / size + (n % size != 0); }

/* [m, q, k] -> [{q, k, empty, partial, full, map}]; the map's rows are tiles of q queries, those of
 * head 2 behind those of head 1, and so on */
static int tiles(lua_State *L) {
    static const char *const names[3] = {"empty", "partial", "full"};
    const ts_mask *mask = ts_lua_check_mask(L, 1);
    tiling t = {.mask = mask};
    t.q = ts_lua_check_range(L, 2, 1, INT64_MAX), t.k = ts_lua_check_range(L, 3, 1, INT64_MAX);
    t.rows = parts_of(mask->rows, t.q), t.cols = parts_of(mask->cols, t.k);
    int64_t counts[3] = {0, 0, 0};
    void *memory;
    ts_matrix *map = ts_lua_new_matrix(L, TS_F64, t.rows * heads_of(mask), t.cols);
    double *out = map->data;
    memset(out, 0, (size_t)(map->rows * map->cols) * sizeof *out);
    t.scratch = ts_lua_push_mask_scratch(L, mask);
    ts_lua_new_block(L, 0, (size_t)t.cols * 5, 0, &memory);
    t.list = memory, t.cover = (uint8_t *)(t.list + t.cols);
    ts_run run = ts_lua_run(L, 0);
    t.run = &run;
    for (int64_t r = 0; r < map->rows; r++, out += t.cols) {
        ts_status status = tile_row(&t, r / t.rows + 1, r % t.rows, out, counts);
        if (run.poll(run.poll_data, -1)) status = TS_INTERRUPTED;
        if (status != TS_OK) ts_lua_raise(L, status, NULL, NULL);
    }
    ts_lua_run_done(L);
    lua_pop(L, 2);
    lua_createtable(L, 0, 6);
    lua_insert(L, -2);
    lua_setfield(L, -2, "map");
    lua_pushinteger(L, t.q);
    lua_setfield(L, -2, "q");
    lua_pushinteger(L, t.k);
    lua_setfield(L, -2, "k");
    for (int cover = 0; cover < 3; cover++) {
        lua_pushinteger(L, counts[cover]);
        lua_setfield(L, -2, names[cover]);
    }
    return 1;
}

/* ---- compose ---- */

/* out = a b, square boolean matrices of n rows: row i of out is the union of the rows of b that row
 * i of a names. */
static ts_status boolean_product(const uint64_t *a, const uint64_t *b, uint64_t *out, int64_t n,
                                 int64_t words, const ts_run *run) {
    memset(out, 0, (size_t)(n * words) * sizeof *out);
    for (int64_t i = 0; i < n; i++) {
        for (int64_t w = 0; w < words; w++)
            for (uint64_t bits = a[i * words + w]; bits; bits &= bits - 1) {
                const uint64_t *row = b + (w * 64 + __builtin_ctzll(bits)) * words;
                for (int64_t x = 0; x < words; x++) out[i * words + x] |= row[x];
            }
        if (run->poll(run->poll_data, (double)i / (double)n)) return TS_INTERRUPTED;
    }
    return TS_OK;
}

/* [m, n] -> [mask]: what n layers reach; dense bits */
static int compose(lua_State *L) {
    const ts_lua_mask *m = (const ts_lua_mask *)ts_lua_check_mask(L, 1);
    int64_t layers = ts_lua_check_range(L, 2, 1, INT64_MAX), n = m->mask.rows;
    if (n != m->mask.cols)
        return ts_lua_arg_error(L, 1, "compose", "a %Ix%I mask is not square", I(n),
                                I(m->mask.cols));
    lua_settop(L, 1);
    if (layers == 1) return 1;
    int64_t heads = heads_of(&m->mask), words = n / 64 + (n % 64 != 0);
    const ts_table *square = ts_lua_push_mask_bits(L, 1); /* m to the powers of two, at 2 */
    uint64_t *power = (uint64_t *)square->bits;
    ts_table *result = ts_lua_new_bits(L, n, n, heads); /* at 3 */
    uint64_t *reached = (uint64_t *)result->bits;
    ts_table *spare = ts_lua_new_bits(L, n, n, 1);
    uint64_t *product = (uint64_t *)spare->bits;
    size_t bytes = (size_t)(n * words) * sizeof *product;
    ts_run run = ts_lua_run(L, 0);
    ts_status status = TS_OK;
    for (int64_t h = 0; h < heads; h++, power += n * words, reached += n * words) {
        bool any = false;
        for (int64_t left = layers; left > 0 && status == TS_OK; left /= 2) {
            if (left % 2 && any) {
                status = boolean_product(reached, power, product, n, words, &run);
                memcpy(reached, product, bytes);
            } else if (left % 2) {
                memcpy(reached, power, bytes);
                any = true;
            }
            if (left == 1 || status != TS_OK) break;
            status = boolean_product(power, power, product, n, words, &run);
            memcpy(power, product, bytes);
        }
    }
    ts_lua_raise(L, status, NULL, NULL);
    lua_settop(L, 3);
    ts_lua_index_bits(result);
    ts_lua_push_bits_program(L, 3);
    ts_lua_push_mask(L, n, n, m->mask.heads, m->called);
    lua_getiuservalue(L, 1, 2);
    lua_setiuservalue(L, -2, 2);
    return 1;
}

const luaL_Reg ts_lua_mask_questions[] = {
    {"count", count},           {"density", density}, {"row_count", row_count},
    {"empty_rows", empty_rows}, {"matrix", matrix},   {"text", text},
    {"tiles", tiles},           {"compose", compose}, {NULL, NULL}};
