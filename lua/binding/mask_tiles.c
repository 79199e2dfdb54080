/* mask_tiles.c -- which tiles of a mask are empty, partial and full. */
#include "mask.h"

#include <string.h>

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

/* [..., map] -> [..., {q, k, empty, partial, full, map}] */
static void push_record(lua_State *L, const tiling *t, const int64_t counts[3]) {
    static const char *const names[3] = {"empty", "partial", "full"};
    lua_createtable(L, 0, 6);
    lua_insert(L, -2);
    lua_setfield(L, -2, "map");
    lua_pushinteger(L, t->q);
    lua_setfield(L, -2, "q");
    lua_pushinteger(L, t->k);
    lua_setfield(L, -2, "k");
    for (int cover = 0; cover < 3; cover++) {
        lua_pushinteger(L, counts[cover]);
        lua_setfield(L, -2, names[cover]);
    }
}

/* [m, q, k] -> [{q, k, empty, partial, full, map}]; the map's rows are tiles of q queries, those of
 * head 2 behind those of head 1, and so on */
int ts_lua_mask_tiles(lua_State *L) {
    const ts_mask *mask = ts_lua_check_mask(L, 1);
    tiling t = {.mask = mask};
    t.q = ts_lua_check_range(L, 2, "q", 1, INT64_MAX),
    t.k = ts_lua_check_range(L, 3, "k", 1, INT64_MAX);
    t.rows = parts_of(mask->rows, t.q), t.cols = parts_of(mask->cols, t.k);
    int64_t counts[3] = {0, 0, 0};
    void *memory;
    ts_matrix *map = ts_lua_new_matrix(L, TS_F64, t.rows * ts_lua_heads_of(mask), t.cols);
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
    push_record(L, &t, counts);
    return 1;
}
