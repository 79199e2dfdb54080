/* schedule.c -- a tiling as people write it, read into the engine's blocks, order and word. */
#include "problem.h"

#include <limits.h>
#include <string.h>

/* Everything is in userdata on the Lua stack, so that an error at any point leaks nothing. */
static void *hold(lua_State *L, int64_t count, size_t size) {
    luaL_checkstack(L, 8, NULL);
    if (count < 0 || (uint64_t)count > (uint64_t)PTRDIFF_MAX / size) {
        ts_detail detail = {.bytes = UINT64_MAX};
        ts_lua_raise(L, TS_TOO_LARGE, &detail, "attention");
    }
    void *memory;
    ts_lua_new_block(L, 0, (size_t)count * size + 1, 0, &memory);
    return memory;
}

static int64_t whole_at(lua_State *L, int arg, const char *field, int table, int64_t n) {
    lua_rawgeti(L, table, n);
    int whole;
    int64_t value = lua_tointegerx(L, -1, &whole);
    if (!whole)
        ts_lua_arg_error(L, arg, NULL, "field '%s': entry %I is %s, a whole number expected", field,
                         (LUAI_UACINT)n, luaL_tolstring(L, -1, NULL));
    lua_pop(L, 1);
    return value;
}

static bool is_option(lua_State *L, const char *name) {
    return lua_type(L, -1) == LUA_TSTRING && strcmp(lua_tostring(L, -1), name) == 0;
}

static void invalid_option(lua_State *L, int arg, const char *field) {
    if (lua_type(L, -1) == LUA_TSTRING)
        ts_lua_arg_error(L, arg, NULL, "field '%s': invalid option '%s'", field,
                         lua_tostring(L, -1));
    ts_lua_arg_error(L, arg, NULL, "field '%s': invalid %s", field, ts_lua_kind(L, -1));
}

static int64_t positive_field(lua_State *L, int arg, const char *field) {
    int64_t value = ts_lua_integer_field(L, arg, field, 0);
    lua_getfield(L, arg, field);
    if (value < 1 && !lua_isnil(L, -1))
        ts_lua_arg_error(L, arg, NULL, "field '%s': %I is less than 1", field, (LUAI_UACINT)value);
    lua_pop(L, 1);
    return value;
}

int ts_lua_empty_field(lua_State *L, int arg) {
    static const char *const choices[] = {"error", "zero", NULL};
    return ts_lua_choice_field(L, arg, "empty", -1, choices);
}

/* ---- chance ---- */

/* Numbers drawn in turn from stream `seed`: number n depends on (seed, n) alone. */
typedef struct {
    uint64_t seed, drawn;
} chance;

/* A whole number from 0 to bound - 1; the bias, bound / 2^64, is beyond notice. */
static int64_t draw(chance *c, int64_t bound) {
    uint32_t counter[4] = {(uint32_t)c->drawn, (uint32_t)(c->drawn >> 32), 0x7469u, 0x6c65u};
    uint32_t key[2] = {(uint32_t)c->seed, (uint32_t)(c->seed >> 32)}, out[4];
    c->drawn++;
    ts_random_philox(counter, key, out);
    uint64_t x = (uint64_t)out[1] << 32 | out[0];
    return (int64_t)((__uint128_t)x * (uint64_t)bound >> 64);
}

/* ---- blocks ---- */

/* k = {last keys}: block b ends at entry b, and begins behind the one before. */
static void read_last_keys(lua_State *L, int arg, ts_schedule *s, int k) {
    ts_range *ranges = hold(L, s->blocks, sizeof *ranges);
    int64_t *starts = hold(L, s->blocks + 1, sizeof *starts);
    int64_t before = s->first - 1;
    starts[0] = 0;
    for (int64_t b = 0; b < s->blocks; b++) {
        int64_t last = whole_at(L, arg, "k", k, b + 1);
        if (last <= before)
            ts_lua_arg_error(L, arg, NULL, "field 'k': block %I ends at key %I, block %I at key %I",
                             (LUAI_UACINT)b + 1, (LUAI_UACINT)last, (LUAI_UACINT)b,
                             (LUAI_UACINT)before);
        ranges[b] = (ts_range){before + 1, last};
        starts[b + 1] = b + 1;
        before = last;
    }
    s->ranges = ranges;
    s->starts = starts;
}

/* How many ranges the key set on the top of the stack has: {first, last}, or a list of them. */
static int64_t count_ranges(lua_State *L, int arg, int64_t block) {
    if (!lua_istable(L, -1))
        ts_lua_arg_error(L, arg, NULL, "field 'k': block %I is no set of keys, {{first, last}, ..}",
                         (LUAI_UACINT)block);
    bool one = lua_rawgeti(L, -1, 1) == LUA_TNUMBER;
    lua_pop(L, 1);
    return one ? 1 : (int64_t)lua_rawlen(L, -1);
}

/* Writes the ranges of the key set on the top of the stack, sorted; empty ones are left out. */
static int64_t read_key_set(lua_State *L, int arg, const ts_schedule *s, ts_range *out) {
    if (lua_rawgeti(L, -1, 1) == LUA_TNUMBER) { /* {first, last}: as {{first, last}} */
        lua_pop(L, 1);
        lua_createtable(L, 1, 0);
        lua_pushvalue(L, -2);
        lua_rawseti(L, -2, 1);
    } else {
        lua_pop(L, 1);
        lua_pushvalue(L, -1);
    }
    ts_keyset keys = ts_lua_read_keys(L, arg, -1, s->first, s->last);
    memcpy(out, keys.ranges, (size_t)keys.count * sizeof *out);
    lua_pop(L, 2);
    return keys.count;
}

/* k = {key sets} */
static void read_key_sets(lua_State *L, int arg, ts_schedule *s, int k) {
    int64_t count = 0;
    for (int64_t b = 1; b <= s->blocks; b++) {
        lua_rawgeti(L, k, b);
        count += count_ranges(L, arg, b);
        lua_pop(L, 1);
    }
    ts_range *ranges = hold(L, count, sizeof *ranges);
    int64_t *starts = hold(L, s->blocks + 1, sizeof *starts);
    starts[0] = 0;
    for (int64_t b = 1; b <= s->blocks; b++) {
        lua_rawgeti(L, k, b);
        starts[b] = starts[b - 1] + read_key_set(L, arg, s, ranges + starts[b - 1]);
        lua_pop(L, 1);
    }
    s->ranges = ranges;
    s->starts = starts;
}

/* Every key of the problem in one block (partial: at most one), and no other. */
static void check_keys(lua_State *L, int arg, const ts_schedule *s, bool partial) {
    ts_detail detail = {0};
    ts_schedule blocks = *s;
    blocks.order = TS_ORDER_FORWARD;
    blocks.merge = TS_MERGE_ONLINE;
    blocks.parts = 1;
    void *scratch = hold(L, (int64_t)ts_schedule_scratch(&blocks), 1);
    const LUAI_UACINT *key = (const LUAI_UACINT *)&detail.key;
    switch (ts_schedule_check(&blocks, scratch, &detail)) {
    case TS_OK:
        break;
    case TS_OVERLAP:
        ts_lua_arg_error(L, arg, NULL, "field 'k': key %I is in two blocks", *key);
        break;
    case TS_KEY_UNKNOWN:
        ts_lua_arg_error(L, arg, NULL, "field 'k': the problem has no key %I", *key);
        break;
    case TS_KEY_MISSING:
        if (partial) break;
        ts_lua_arg_error(L, arg, NULL, "field 'k': key %I is in no block", *key);
        break;
    default:
        ts_lua_arg_error(L, arg, NULL, "field 'k': these are no blocks");
    }
    lua_pop(L, 1);
}

/* The list of blocks on the top of the stack, which stays. */
static void read_blocks(lua_State *L, int arg, ts_schedule *s, bool partial) {
    int k = lua_gettop(L);
    s->blocks = (int64_t)lua_rawlen(L, k);
    if (s->blocks > INT32_MAX / 2) ts_lua_arg_error(L, arg, NULL, "field 'k': too many blocks");
    bool sets = lua_rawgeti(L, k, 1) == LUA_TTABLE;
    lua_pop(L, 1);
    if (sets)
        read_key_sets(L, arg, s, k);
    else
        read_last_keys(L, arg, s, k);
    check_keys(L, arg, s, partial);
}

/* ---- permutations and words: each of 1..n once ---- */

/* Raises where `list` is no arrangement of 1..n. what: "order" or "merge"; things: "block" or
 * "position". */
static void check_each_once(lua_State *L, int arg, const char *field, const char *thing,
                            const int32_t *list, int64_t count, int64_t n) {
    uint8_t *used = hold(L, n + 1, 1);
    for (int64_t b = 0; b <= n; b++) used[b] = 0;
    for (int64_t e = 0; e < count; e++) {
        if (list[e] < 1 || list[e] > n)
            ts_lua_arg_error(L, arg, NULL, "field '%s': there is no %s %d, only %I", field, thing,
                             (int)list[e], (LUAI_UACINT)n);
        if (used[list[e]]++)
            ts_lua_arg_error(L, arg, NULL, "field '%s': %s %d is used twice", field, thing,
                             (int)list[e]);
    }
    for (int64_t b = 1; b <= n; b++)
        if (!used[b])
            ts_lua_arg_error(L, arg, NULL, "field '%s': %s %I is left out", field, thing,
                             (LUAI_UACINT)b);
    lua_pop(L, 1);
}

static int32_t narrow(int64_t x) { return x < 0 ? -1 : x > INT32_MAX ? INT32_MAX : (int32_t)x; }

/* The permutation on the top of the stack, which stays, into `row`. */
static void read_permutation(lua_State *L, int arg, int64_t blocks, int32_t *row) {
    int table = lua_gettop(L);
    if (!lua_istable(L, table))
        ts_lua_arg_error(L, arg, NULL, "field 'order': a permutation expected, got %s",
                         ts_lua_kind(L, table));
    int64_t count = (int64_t)lua_rawlen(L, table);
    if (count > blocks)
        ts_lua_arg_error(L, arg, NULL, "field 'order': %I entries for %I blocks",
                         (LUAI_UACINT)count, (LUAI_UACINT)blocks);
    for (int64_t n = 0; n < count; n++) row[n] = narrow(whole_at(L, arg, "order", table, n + 1));
    check_each_once(L, arg, "order", "block", row, count, blocks);
}

/* ---- order ---- */

/* Pushes {first, last} of block b, or the list of its ranges. */
static void push_block(lua_State *L, const ts_schedule *s, int64_t b) {
    int64_t count;
    ts_range one;
    const ts_range *ranges = ts_schedule_block(s, b, &one, &count);
    lua_newtable(L);
    for (int64_t r = 0; r < count; r++) {
        if (count > 1) lua_newtable(L);
        lua_pushinteger(L, ranges[r].first);
        lua_rawseti(L, -2, 1);
        lua_pushinteger(L, ranges[r].last);
        lua_rawseti(L, -2, 2);
        if (count > 1) lua_rawseti(L, -2, r + 1);
    }
}

/* order = function(blocks, q_tile): asked once for each tile of queries. It is on the top. */
static void ask_order(lua_State *L, int arg, const ts_problem *p, ts_tiling *t) {
    ts_schedule *s = &t->schedule;
    int function = lua_gettop(L);
    int64_t tiles = p->n_q > 0 ? (p->n_q - 1) / t->q + 1 : 0, entries;
    if (tiles == 0) return;
    if (__builtin_mul_overflow(tiles, s->blocks, &entries)) entries = -1;
    int32_t *rows = hold(L, entries, sizeof *rows);
    lua_createtable(L, (int)s->blocks, 0);
    int blocks = lua_gettop(L);
    for (int64_t b = 1; b <= s->blocks; b++) {
        push_block(L, s, b);
        lua_rawseti(L, blocks, b);
    }
    for (int64_t tile = 0; tile < tiles; tile++) {
        int64_t last = (tile + 1) * t->q;
        lua_pushvalue(L, function);
        lua_pushvalue(L, blocks);
        lua_createtable(L, 2, 0);
        lua_pushinteger(L, tile * t->q + 1);
        lua_rawseti(L, -2, 1);
        lua_pushinteger(L, last < p->n_q ? last : p->n_q);
        lua_rawseti(L, -2, 2);
        lua_call(L, 2, 1);
        read_permutation(L, arg, s->blocks, rows + tile * s->blocks);
        lua_pop(L, 1);
    }
    s->order = TS_ORDER_LISTED;
    s->listed = rows;
    s->order_rows = tiles;
}

static int32_t *listed_once(lua_State *L, ts_schedule *s) {
    int32_t *row = hold(L, s->blocks, sizeof *row);
    s->order = TS_ORDER_LISTED;
    s->listed = row;
    s->order_rows = 1;
    return row;
}

static void shuffle(lua_State *L, ts_schedule *s, chance *c) {
    int32_t *row = listed_once(L, s);
    for (int64_t b = 0; b < s->blocks; b++) row[b] = (int32_t)(b + 1);
    for (int64_t b = s->blocks - 1; b > 0; b--) {
        int64_t other = draw(c, b + 1);
        int32_t kept = row[b];
        row[b] = row[other];
        row[other] = kept;
    }
}

/* The middle block, then the ones beside it in turn: 3 4 2 5 1. */
static void outward(lua_State *L, ts_schedule *s) {
    int32_t *row = listed_once(L, s);
    int64_t middle = (s->blocks + 1) / 2;
    for (int64_t n = 0; n < s->blocks; n++)
        row[n] = (int32_t)(n % 2 ? middle + (n + 1) / 2 : middle - n / 2);
}

static void read_order(lua_State *L, int arg, const ts_problem *p, ts_tiling *t, chance *c) {
    ts_schedule *s = &t->schedule;
    if (lua_getfield(L, arg, "order") == LUA_TNIL || is_option(L, "forward"))
        s->order = TS_ORDER_FORWARD;
    else if (is_option(L, "backward"))
        s->order = TS_ORDER_BACKWARD;
    else if (is_option(L, "diagonal"))
        s->order = TS_ORDER_DIAGONAL;
    else if (is_option(L, "shuffle"))
        shuffle(L, s, c);
    else if (is_option(L, "outward"))
        outward(L, s);
    else if (lua_isfunction(L, -1))
        ask_order(L, arg, p, t);
    else if (lua_istable(L, -1)) {
        int32_t *row = listed_once(L, s);
        lua_pushvalue(L, -2);
        read_permutation(L, arg, s->blocks, row);
    } else
        invalid_option(L, arg, "order");
}

/* ---- merge ---- */

/* A postfix word on its way in; 0 is ⋆. */
typedef struct {
    int32_t *entries;
    int64_t length, room;
} word;

static word new_word(lua_State *L, int64_t blocks) {
    int64_t room = blocks > 0 ? 2 * blocks - 1 : 0;
    return (word){hold(L, room, sizeof(int32_t)), 0, room};
}

static void add(lua_State *L, int arg, word *w, int64_t entry) {
    if (w->length == w->room)
        ts_lua_arg_error(L, arg, NULL, "field 'merge': more leaves than the %I blocks",
                         (LUAI_UACINT)(w->room + 1) / 2);
    w->entries[w->length++] = narrow(entry);
}

static void reverse(word *w) {
    for (int64_t a = 0, b = w->length - 1; a < b; a++, b--) {
        int32_t kept = w->entries[a];
        w->entries[a] = w->entries[b];
        w->entries[b] = kept;
    }
}

/* Pops a node and pushes its sides, or emits its leaf. */
static void unfold(lua_State *L, int arg, word *w) {
    int whole;
    int64_t leaf = lua_tointegerx(L, -1, &whole);
    if (whole) {
        if (leaf < 1) leaf = -1; /* 0 is ⋆ */
        add(L, arg, w, leaf);
        lua_pop(L, 1);
        return;
    }
    size_t sides = lua_istable(L, -1) ? lua_rawlen(L, -1) : 0;
    bool leaf_alone = sides == 1 && lua_rawgeti(L, -1, 1) == LUA_TNUMBER; /* {1}: of one block */
    if (sides == 1) lua_pop(L, 1);
    if (sides != 2 && !leaf_alone)
        ts_lua_arg_error(L, arg, NULL, "field 'merge': a node is {left, right}, not %s",
                         lua_istable(L, -1) ? lua_pushfstring(L, "a list of %d", (int)sides)
                                            : ts_lua_kind(L, -1));
    if (sides == 2) add(L, arg, w, 0);
    luaL_checkstack(L, 4, "bracketing too deep");
    int node = lua_gettop(L);
    for (size_t side = 1; side <= sides; side++) lua_rawgeti(L, node, (lua_Integer)side);
    lua_remove(L, node);
}

/* The nested table on the top of the stack. Node, right side, left side, read backwards, is the
 * postfix word. */
static word word_of_table(lua_State *L, int arg, int64_t blocks) {
    word w = new_word(L, blocks);
    int base = lua_gettop(L);
    lua_pushvalue(L, base - 1);
    while (lua_gettop(L) > base) unfold(L, arg, &w);
    reverse(&w);
    return w;
}

/* "1 2 * 3 *", with * or ⋆. */
static word word_of_text(lua_State *L, int arg, int64_t blocks, const char *text) {
    static const char star[] = "\xE2\x8B\x86"; /* ⋆ */
    word w = new_word(L, blocks);
    for (const char *at = text; *at;) {
        size_t digits = strspn(at, "0123456789");
        if (digits > 0 && digits < 10) {
            int64_t n = 0;
            for (size_t d = 0; d < digits; d++) n = 10 * n + (at[d] - '0');
            add(L, arg, &w, n > 0 ? n : -1);
            at += digits;
        } else if (*at == '*') {
            add(L, arg, &w, 0);
            at++;
        } else if (strncmp(at, star, sizeof star - 1) == 0) {
            add(L, arg, &w, 0);
            at += sizeof star - 1;
        } else if (strchr(" \t\n,", *at)) {
            at++;
        } else
            ts_lua_arg_error(L, arg, NULL, "field 'merge': '%s' is neither a name nor a word",
                             text);
    }
    return w;
}

/* A tree drawn uniformly from the Catalan(blocks - 1): Rémy's algorithm, as R in Knuth 4A,
 * 7.2.1.6. Node 2n - 1 has the children link[2n - 1] and link[2n]; even numbers are leaves. */
static word random_word(lua_State *L, int arg, int64_t blocks, chance *c) {
    word w = new_word(L, blocks);
    if (blocks == 0) return w;
    int64_t inner = blocks - 1;
    int32_t *link = hold(L, 2 * inner + 1, sizeof *link);
    int32_t *todo = hold(L, 2 * blocks, sizeof *todo);
    link[0] = 0;
    for (int64_t n = 1; n <= inner; n++) {
        int64_t x = draw(c, 4 * n - 2), k = x / 2, b = x % 2;
        link[2 * n - b] = (int32_t)(2 * n);
        link[2 * n - 1 + b] = link[k];
        link[k] = (int32_t)(2 * n - 1);
    }
    int64_t top = 0;
    int32_t leaf = (int32_t)blocks; /* met from the right */
    todo[top++] = link[0];
    while (top > 0) {
        int32_t node = todo[--top];
        if (node % 2 == 0) {
            add(L, arg, &w, leaf--);
            continue;
        }
        add(L, arg, &w, 0);
        todo[top++] = link[node];
        todo[top++] = link[node + 1];
    }
    reverse(&w);
    return w;
}

/* Leaves each once, and at each ⋆ two summaries to merge. */
static void check_word(lua_State *L, int arg, const word *w, int64_t blocks) {
    int32_t *leaves = hold(L, blocks + 1, sizeof *leaves);
    int64_t count = 0, depth = 0;
    for (int64_t e = 0; e < w->length; e++) {
        if (w->entries[e] != 0 && count <= blocks) leaves[count++] = w->entries[e];
        depth += w->entries[e] != 0 ? 1 : -1;
        if (depth < 1)
            ts_lua_arg_error(L, arg, NULL, "field 'merge': * number %I merges less than two",
                             (LUAI_UACINT)e + 1);
    }
    check_each_once(L, arg, "merge", "position", leaves, count, blocks);
    if (depth > 1)
        ts_lua_arg_error(L, arg, NULL, "field 'merge': %I summaries are left unmerged",
                         (LUAI_UACINT)depth);
    lua_pop(L, 1);
}

static void use_word(lua_State *L, int arg, ts_schedule *s, const word *w) {
    check_word(L, arg, w, s->blocks);
    s->merge = TS_MERGE_WORD;
    s->word = w->entries;
    void *scratch = hold(L, (int64_t)ts_schedule_scratch(s), 1);
    ts_schedule_deepen(w->entries, s->blocks, scratch);
}

static void read_merge(lua_State *L, int arg, ts_schedule *s, chance *c) {
    if (lua_isfunction(L, -1)) { /* function(n): n counts every block */
        lua_pushvalue(L, -1);
        lua_pushinteger(L, s->blocks);
        lua_call(L, 1, 1);
    }
    word w;
    s->parts = 1;
    if (is_option(L, "online") || is_option(L, "left"))
        s->merge = TS_MERGE_ONLINE;
    else if (is_option(L, "tree"))
        s->merge = TS_MERGE_TREE;
    else if (is_option(L, "right"))
        s->merge = TS_MERGE_RIGHT;
    else if (is_option(L, "random")) {
        w = random_word(L, arg, s->blocks, c);
        use_word(L, arg, s, &w);
    } else if (lua_type(L, -1) == LUA_TSTRING) {
        w = word_of_text(L, arg, s->blocks, lua_tostring(L, -1));
        use_word(L, arg, s, &w);
    } else if (lua_istable(L, -1) || lua_isinteger(L, -1)) {
        w = word_of_table(L, arg, s->blocks);
        use_word(L, arg, s, &w);
    } else
        invalid_option(L, arg, "merge");
}

/* ---- the whole ---- */

static const char *const fields[] = {"q",      "k",       "order", "merge", "split", "exp",
                                     "degree", "threads", "empty", "seed",  NULL};

static void read_sizes(lua_State *L, int arg, bool partial, ts_lua_tiling *out) {
    static const char *const exps[] = {"sleef", "poly", NULL}; /* in the order of ts_exp */
    ts_tiling *t = &out->tiling;
    t->q = positive_field(L, arg, "q");
    t->exp = (ts_exp)ts_lua_choice_field(L, arg, "exp", TS_EXP_SLEEF, exps);
    t->degree = (int)positive_field(L, arg, "degree");
    int64_t threads = positive_field(L, arg, "threads");
    out->threads = threads > 1 << 16 ? 1 << 16 : (int)threads;
    out->empty = ts_lua_empty_field(L, arg);
    t->schedule.parts = positive_field(L, arg, "split");
    if (t->schedule.parts > 0) t->schedule.merge = TS_MERGE_SPLIT;
    if (lua_getfield(L, arg, "k") == LUA_TTABLE)
        read_blocks(L, arg, &t->schedule, partial);
    else
        t->schedule.k = positive_field(L, arg, "k");
}

void ts_lua_read_tiling(lua_State *L, int arg, const ts_problem *p, bool partial,
                        ts_lua_tiling *out) {
    memset(out, 0, sizeof *out);
    ts_tiling *t = &out->tiling;
    out->empty = -1;
    t->schedule.first = p->first_key;
    t->schedule.last = p->first_key + p->n_k - 1;
    if (lua_isnoneornil(L, arg)) {
        ts_attention_defaults(p, t);
        return;
    }
    ts_lua_check_fields(L, arg, fields);
    read_sizes(L, arg, partial, out);
    bool merged = lua_getfield(L, arg, "merge") != LUA_TNIL;
    int merge = lua_gettop(L);
    if (merged && t->schedule.parts > 0)
        ts_lua_arg_error(L, arg, NULL, "fields 'split' and 'merge' exclude each other");
    if (merged) t->schedule.parts = 1;
    ts_attention_defaults(p, t);
    chance order = {(uint64_t)ts_lua_integer_field(L, arg, "seed", 1), 0};
    chance bracketing = {order.seed, (uint64_t)1 << 32};
    read_order(L, arg, p, t, &order);
    if (merged) {
        lua_pushvalue(L, merge);
        read_merge(L, arg, &t->schedule, &bracketing);
    }
}

/* ---- the plan: what a tiling comes to, for those who explain or check it ---- */

/* Appends to the word (a list at `list`, of *length entries) the word of one part. */
static void append_part(lua_State *L, int list, const ts_schedule *s, int64_t part, int64_t tile,
                        int64_t tiles, const int32_t *all, int32_t *room, void *scratch,
                        int64_t *length) {
    int64_t depth;
    int64_t entries = ts_schedule_word(s, part, tile, tiles, all, s->blocks, room, &depth, scratch);
    for (int64_t e = 0; e < entries; e++) {
        lua_pushinteger(L, room[e]);
        lua_rawseti(L, list, ++*length);
    }
}

/* Pushes the whole word of a query tile: block numbers, and 0 for ⋆. */
static void push_word(lua_State *L, const ts_schedule *s, int64_t tile, int64_t tiles) {
    int32_t *all = hold(L, s->blocks, sizeof *all);
    int32_t *room = hold(L, 2 * s->blocks + 1, sizeof *room);
    int32_t *parts = hold(L, 2 * s->parts + 1, sizeof *parts);
    void *scratch = hold(L, (int64_t)ts_schedule_scratch(s), 1);
    for (int64_t b = 0; b < s->blocks; b++) all[b] = (int32_t)(b + 1);
    lua_newtable(L);
    int list = lua_gettop(L);
    int64_t depth, length = 0;
    int64_t entries = s->blocks > 0 ? ts_schedule_parts_word(s, parts, &depth) : 0;
    for (int64_t e = 0; e < entries; e++) {
        if (parts[e] > 0) {
            append_part(L, list, s, parts[e] - 1, tile, tiles, all, room, scratch, &length);
            continue;
        }
        lua_pushinteger(L, 0);
        lua_rawseti(L, list, ++length);
    }
}

/* core.problem.plan(P, tiling [, tile = 1]) -> {q = rows a tile, tiles = how many, parts =, threads
 * =, exp =, blocks = {{{first, last}, ..}, ..}, word = {block numbers, 0 for ⋆}}: the word as the
 * engine runs it for that tile, were no block empty. */
int ts_lua_problem_plan(lua_State *L) {
    const ts_problem *p = &ts_lua_check_problem(L, 1)->problem;
    lua_settop(L, 3);
    ts_lua_tiling read;
    ts_lua_read_tiling(L, 2, p, false, &read);
    const ts_tiling *t = &read.tiling;
    const ts_schedule *s = &t->schedule;
    int64_t tiles = p->n_q > 0 ? (p->n_q - 1) / t->q + 1 : 0;
    int64_t tile = lua_isnil(L, 3) ? 1 : ts_lua_check_range(L, 3, 1, tiles > 0 ? tiles : 1);
    lua_createtable(L, 0, 8);
    int plan = lua_gettop(L);
    const struct {
        const char *name;
        int64_t value;
    } numbers[] = {{"q", t->q}, {"tiles", tiles}, {"parts", s->parts}, {"threads", read.threads}};
    for (size_t n = 0; n < sizeof numbers / sizeof *numbers; n++) {
        lua_pushinteger(L, numbers[n].value);
        lua_setfield(L, plan, numbers[n].name);
    }
    lua_pushstring(L, t->exp == TS_EXP_POLY ? "poly" : "sleef");
    lua_setfield(L, plan, "exp");
    lua_createtable(L, (int)s->blocks, 0);
    for (int64_t b = 1; b <= s->blocks; b++) {
        push_block(L, s, b);
        if (lua_rawgeti(L, -1, 1) == LUA_TNUMBER) { /* always a list of ranges, here */
            lua_pop(L, 1);
            lua_createtable(L, 1, 0);
            lua_insert(L, -2);
            lua_rawseti(L, -2, 1);
        } else
            lua_pop(L, 1);
        lua_rawseti(L, -2, b);
    }
    lua_setfield(L, plan, "blocks");
    push_word(L, s, tile - 1, tiles);
    lua_setfield(L, plan, "word");
    lua_settop(L, plan);
    return 1;
}
