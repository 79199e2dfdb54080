/* mask_make.c -- masks made from programs, by calling a predicate, from matrices, from drawings. */
#include "../../core/strip.h"
#include "mask.h"

#include <string.h>

static int64_t opt_heads(lua_State *L, int arg) {
    return lua_isnoneornil(L, arg) ? 0 : ts_lua_check_range(L, arg, "heads", 1, TS_LUA_MOST_INDEX);
}

/* [rows, cols, heads | nil, program [, why]] -> [mask] */
static int from_program(lua_State *L) {
    int64_t rows = ts_lua_check_range(L, 1, "rows", 0, INT64_MAX),
            cols = ts_lua_check_range(L, 2, "cols", 0, INT64_MAX);
    int64_t heads = opt_heads(L, 3);
    const ts_program *program = ts_lua_check_program(L, 4);
    lua_settop(L, 5);
    luaL_argcheck(L, program->nodes[program->count - 1].type == TS_BOOL, 4,
                  "the result is no boolean");
    luaL_argcheck(L, !ts_lua_reads(program, TS_OP_s), 4, "the program reads a score");
    luaL_argcheck(L, heads || !ts_lua_reads(program, TS_OP_h), 4,
                  "the program reads h, but has no heads");
    ts_lua_check_mask_shape(L, rows, cols, heads);
    lua_pushvalue(L, 4);
    ts_lua_push_mask(L, rows, cols, heads, false);
    lua_pushvalue(L, 5);
    lua_setiuservalue(L, -2, 2);
    return 1;
}

/* [..., bits storage] -> [..., mask] */
static ts_lua_mask *push_from_bits(lua_State *L, int64_t heads, bool called) {
    ts_table *table = lua_touserdata(L, -1);
    ts_lua_index_bits(table);
    int64_t rows = table->rows, cols = table->cols;
    ts_lua_push_bits_program(L, -1);
    ts_lua_mask *m = ts_lua_push_mask(L, rows, cols, heads, called);
    lua_remove(L, -2);
    return m;
}

/* ---- called ---- */

enum { PREDICATE = 4, WHY };
static const int64_t MOST_CALLS = (int64_t)1 << 32;

static void refuse_calls(lua_State *L, int64_t rows, int64_t cols, int64_t heads) {
    int64_t cells = rows * cols * (heads ? heads : 1); /* fits: the shape is checked */
    if (cells <= MOST_CALLS) return;
    lua_pushfstring(L, "the predicate would have to be called for %I cells, more than 2^32",
                    I(cells));
    ts_lua_error(L);
}

/* [..., answer] */
static int refuse_answer(lua_State *L, const ts_detail *cell) {
    const char *got = ts_lua_kind(L, -1);
    if (cell->head)
        lua_pushfstring(L,
                        "the predicate gave a %s for query %I, key %I, head %I (boolean expected)",
                        got, I(cell->row), I(cell->key), I(cell->head));
    else
        lua_pushfstring(L, "the predicate gave a %s for query %I, key %I (boolean expected)", got,
                        I(cell->row), I(cell->key));
    return ts_lua_error(L);
}

/* Calls the predicate at `index` for a cell (head 0: without heads); its errors arrive unchanged.
 * The hook of Ctrl-C fires in it. */
static bool ask(lua_State *L, int index, const ts_detail *cell) {
    lua_pushvalue(L, index);
    lua_pushinteger(L, cell->row);
    lua_pushinteger(L, cell->key);
    if (cell->head) lua_pushinteger(L, cell->head);
    lua_call(L, cell->head ? 3 : 2, 1);
    int type = lua_type(L, -1);
    if (type != LUA_TBOOLEAN && type != LUA_TNIL) refuse_answer(L, cell);
    bool kept = lua_toboolean(L, -1);
    lua_pop(L, 1);
    return kept;
}

/* [predicate, i, j, h | nil] -> [boolean] */
static int asked(lua_State *L) {
    ts_lua_check_type(L, 1, LUA_TFUNCTION);
    ts_detail cell = {.row = ts_lua_check_range(L, 2, "query", 1, INT64_MAX),
                      .key = ts_lua_check_range(L, 3, "key", 1, INT64_MAX),
                      .head = opt_heads(L, 4)};
    lua_pushboolean(L, ask(L, 1, &cell));
    return 1;
}

static void call_row(lua_State *L, ts_detail cell, int64_t cols, uint64_t *row) {
    for (int64_t j = 0; j < cols; j++) {
        cell.key = j + 1;
        if (ask(L, PREDICATE, &cell)) row[j / 64] |= (uint64_t)1 << (j % 64);
    }
}

/* [rows, cols, heads | nil, predicate [, why]] -> [mask]: calls predicate(i, j [, h]), row by row
 * and head by head. */
static int called(lua_State *L) {
    int64_t rows = ts_lua_check_range(L, 1, "rows", 0, INT64_MAX),
            cols = ts_lua_check_range(L, 2, "cols", 0, INT64_MAX);
    int64_t heads = opt_heads(L, 3), most = heads ? heads : 1;
    ts_lua_check_type(L, PREDICATE, LUA_TFUNCTION);
    lua_settop(L, WHY);
    ts_lua_check_mask_shape(L, rows, cols, heads);
    refuse_calls(L, rows, cols, heads);
    ts_table *table = ts_lua_new_bits(L, rows, cols, most);
    uint64_t *bits = (uint64_t *)table->bits;
    ts_run run = ts_lua_run(L, 0);
    for (int64_t h = 1; h <= most; h++)
        for (int64_t i = 1; i <= rows; i++) {
            int64_t row = (h - 1) * rows + i - 1;
            call_row(L, (ts_detail){.row = i, .head = heads ? h : 0}, cols,
                     bits + row * table->words);
            if (run.poll(run.poll_data, (double)(row + 1) / ((double)most * (double)rows)))
                ts_lua_raise(L, TS_INTERRUPTED, NULL, NULL);
        }
    ts_lua_run_done(L);
    push_from_bits(L, heads, true);
    lua_pushvalue(L, WHY);
    lua_setiuservalue(L, -2, 2);
    return 1;
}

/* ---- from ---- */

/* [M] -> [mask]: keeps what is not 0 */
static int from(lua_State *L) {
    const ts_matrix *m = ts_lua_check_matrix(L, 1);
    ts_lua_check_mask_shape(L, m->rows, m->cols, 0);
    ts_table *table = ts_lua_new_bits(L, m->rows, m->cols, 1);
    uint64_t *bits = (uint64_t *)table->bits;
    double room[TS_STRIP];
    ts_run run = ts_lua_run(L, 0);
    ts_strips at = ts_strips_of(m, &run);
    while (ts_strips_next(&at)) {
        const double *x = ts_strip_load(m, at.row, at.col, at.count, room);
        for (int64_t n = 0; n < at.count; n++) {
            const int64_t c = at.col + n;
            if (x[n] != x[n])
                ts_lua_arg_error(L, 1, NULL, "element (%I, %I) is nan", I(at.row + 1), I(c + 1));
            bits[at.row * table->words + c / 64] |= (uint64_t)(x[n] != 0) << (c % 64);
        }
    }
    ts_lua_raise(L, at.status, NULL, NULL);
    push_from_bits(L, 0, false);
    return 1;
}

/* ---- parse ---- */

static bool keeps(char c) { return c == '1' || c == '#' || c == 'x'; }
static bool drops(char c) { return c == '0' || c == '.' || c == '-'; }
static bool blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

static void refuse_character(lua_State *L, const char *text, const char *end, int64_t line) {
    const char *next = text + 1;
    while (next < end && ts_lua_goes_on(*next)) next++;
    lua_pushlstring(L, text, (size_t)(next - text));
    ts_lua_arg_error(L, 1, NULL, "line %I has a '%s', none of 1 # x 0 . -", I(line),
                     lua_tostring(L, -1));
}

/* The cells of the line at `text` (blanks between them are skipped), into row where it is not NULL;
 * returns where the next line starts. */
static const char *parse_line(lua_State *L, const char *text, const char *end, int64_t line,
                              int64_t *cells, uint64_t *row, ts_pace *pace) {
    for (*cells = 0; text < end && *text != '\n'; text++) {
        if (ts_pace_stops(pace, 1, -1)) ts_lua_raise(L, TS_INTERRUPTED, NULL, NULL);
        if (blank(*text)) continue;
        if (!keeps(*text) && !drops(*text)) refuse_character(L, text, end, line);
        if (row) row[*cells / 64] |= (uint64_t)keeps(*text) << (*cells % 64);
        ++*cells;
    }
    return text < end ? text + 1 : end;
}

/* [text] -> [mask]; empty lines do not count. */
static int parse(lua_State *L) {
    size_t length;
    ts_lua_check_type(L, 1, LUA_TSTRING);
    const char *text = lua_tolstring(L, 1, &length), *end = text + length;
    int64_t rows = 0, cols = 0, cells, line = 0, r = 0;
    ts_run run = ts_lua_run(L, 0);
    ts_pace pace = {&run, 0};
    for (const char *at = text; at < end;) {
        at = parse_line(L, at, end, ++line, &cells, NULL, &pace);
        if (cells && rows && cells != cols)
            return ts_lua_arg_error(L, 1, NULL, "line %I has %I cell%s, the first one %I", I(line),
                                    I(cells), ts_lua_plural(cells), I(cols));
        if (cells) cols = cells, rows++;
    }
    ts_table *table = ts_lua_new_bits(L, rows, cols, 1);
    uint64_t *bits = (uint64_t *)table->bits;
    line = 0;
    for (const char *at = text; at < end;) {
        parse_line(L, at, end, ++line, &cells, NULL, &pace);
        at = parse_line(L, at, end, line, &cells, cells ? bits + r * table->words : NULL, &pace);
        r += cells > 0;
    }
    ts_lua_run_done(L);
    push_from_bits(L, 0, false);
    return 1;
}

const ts_lua_function ts_lua_mask_makers[] = {{"new", from_program, 5}, {"called", called, 5},
                                              {"ask", asked, 4},        {"from", from, 1},
                                              {"parse", parse, 1},      {NULL, NULL, 0}};
