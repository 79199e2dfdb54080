/* tiling_merge.c -- the field `merge` of a tiling: a bracketing, as a postfix word. */
#include "tiling.h"

#include <string.h>

/* A postfix word on its way in; 0 is ⋆. */
typedef struct {
    int32_t *entries;
    int64_t length, room;
} word;

static word new_word(lua_State *L, int64_t blocks) {
    int64_t room = blocks > 0 ? 2 * blocks - 1 : 0;
    return (word){ts_lua_hold(L, room, sizeof(int32_t)), 0, room};
}

static void add(lua_State *L, int arg, word *w, int64_t entry) {
    if (w->length == w->room)
        ts_lua_arg_error(L, arg, NULL, "field 'merge': more leaves than the %I block%s",
                         I(w->room + 1) / 2, ts_lua_plural((w->room + 1) / 2));
    w->entries[w->length++] = ts_lua_narrow(entry);
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
            ts_lua_arg_error(L, arg, NULL,
                             "field 'merge': '%s' is neither \"online\", \"right\", \"tree\" or "
                             "\"random\" nor a word",
                             text);
    }
    return w;
}

/* A tree drawn uniformly from the Catalan(blocks - 1): Rémy's algorithm, as R in Knuth 4A,
 * 7.2.1.6. Node 2n - 1 has the children link[2n - 1] and link[2n]; even numbers are leaves. */
static word random_word(lua_State *L, int arg, int64_t blocks, ts_lua_chance *c) {
    word w = new_word(L, blocks);
    if (blocks == 0) return w;
    int64_t inner = blocks - 1;
    int32_t *link = ts_lua_hold(L, 2 * inner + 1, sizeof *link);
    int32_t *todo = ts_lua_hold(L, 2 * blocks, sizeof *todo);
    link[0] = 0;
    for (int64_t n = 1; n <= inner; n++) {
        int64_t x = ts_lua_draw(c, 4 * n - 2), k = x / 2, b = x % 2;
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
    int32_t *leaves = ts_lua_hold(L, blocks + 1, sizeof *leaves);
    int64_t count = 0, depth = 0;
    for (int64_t e = 0; e < w->length; e++) {
        if (w->entries[e] != 0 && count <= blocks) leaves[count++] = w->entries[e];
        depth += w->entries[e] != 0 ? 1 : -1;
        if (depth < 1)
            ts_lua_arg_error(L, arg, NULL, "field 'merge': * number %I merges less than two",
                             I(e + 1));
    }
    ts_lua_check_each_once(L, arg, "merge", "position", leaves, count, blocks);
    if (depth > 1)
        ts_lua_arg_error(L, arg, NULL, "field 'merge': %I summaries are left unmerged", I(depth));
    lua_pop(L, 1);
}

static void use_word(lua_State *L, int arg, ts_schedule *s, const word *w) {
    check_word(L, arg, w, s->blocks);
    s->merge = TS_MERGE_WORD;
    s->word = w->entries;
    void *scratch = ts_lua_hold(L, (int64_t)ts_schedule_scratch(s), 1);
    ts_schedule_deepen(w->entries, s->blocks, scratch);
}

void ts_lua_read_merge(lua_State *L, int arg, ts_schedule *s, ts_lua_chance *c) {
    if (lua_isfunction(L, -1)) { /* function(n): n counts every block */
        lua_pushvalue(L, -1);
        lua_pushinteger(L, s->blocks);
        lua_call(L, 1, 1);
    }
    word w;
    s->parts = 1;
    if (ts_lua_is_option(L, "online") || ts_lua_is_option(L, "left"))
        s->merge = TS_MERGE_ONLINE;
    else if (ts_lua_is_option(L, "tree"))
        s->merge = TS_MERGE_TREE;
    else if (ts_lua_is_option(L, "right"))
        s->merge = TS_MERGE_RIGHT;
    else if (ts_lua_is_option(L, "random")) {
        w = random_word(L, arg, s->blocks, c);
        use_word(L, arg, s, &w);
    } else if (lua_type(L, -1) == LUA_TSTRING) {
        w = word_of_text(L, arg, s->blocks, lua_tostring(L, -1));
        use_word(L, arg, s, &w);
    } else if (lua_istable(L, -1) || lua_isinteger(L, -1)) {
        w = word_of_table(L, arg, s->blocks);
        use_word(L, arg, s, &w);
    } else
        ts_lua_invalid_option(L, arg, "merge", "a name, a word, nested tables or a function");
}
