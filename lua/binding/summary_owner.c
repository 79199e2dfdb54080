/* summary_owner.c -- whose summary it is, as numbers that a file can hold. */
#include "summary.h"

/* The whole numbers of an identity, in the order of the table's list. */
enum { KV_HEADS = 1, D, QUERIES, SCALE = QUERIES + 2, SINK = SCALE + 2, NUMBERS = SINK + 1 };

static void push_pair_at(lua_State *L, int at, const uint64_t pair[2]) {
    for (int i = 0; i < 2; i++) {
        lua_pushinteger(L, (lua_Integer)pair[i]);
        lua_rawseti(L, -2, at + i);
    }
}

/* core.summary.owner(S) -> {kv_heads, d, three hashes of two numbers; bound=, keyed=, zero=, sink=
 * (list or nil), score= (list or nil)}: what core.summary.new takes as `owner`. */
int ts_lua_summary_owner(lua_State *L) {
    const ts_lua_summary *s = ts_lua_check_summary(L, 1);
    lua_settop(L, 1);
    lua_createtable(L, NUMBERS, 5);
    lua_pushinteger(L, s->owner.kv_heads);
    lua_rawseti(L, -2, KV_HEADS);
    lua_pushinteger(L, s->owner.d);
    lua_rawseti(L, -2, D);
    push_pair_at(L, QUERIES, s->owner.queries);
    push_pair_at(L, SCALE, s->owner.scale);
    push_pair_at(L, SINK, s->owner.sink);
    lua_pushboolean(L, s->owner.bound);
    lua_setfield(L, -2, "bound");
    lua_pushboolean(L, s->owner.keyed);
    lua_setfield(L, -2, "keyed");
    lua_pushboolean(L, s->zero_empty);
    lua_setfield(L, -2, "zero");
    if (s->sink) {
        lua_createtable(L, (int)s->summary.heads, 0);
        for (int64_t h = 0; h < s->summary.heads; h++) {
            lua_pushnumber(L, s->sink[h]);
            lua_rawseti(L, -2, h + 1);
        }
        lua_setfield(L, -2, "sink");
    }
    lua_getiuservalue(L, 1, TS_SUMMARY_SCORE);
    lua_setfield(L, -2, "score");
    return 1;
}

static int64_t number_at(lua_State *L, int owner, int at) {
    lua_rawgeti(L, owner, at);
    int whole;
    int64_t number = lua_tointegerx(L, -1, &whole);
    if (!whole) luaL_error(L, "an owner is a list of %d whole numbers", NUMBERS);
    lua_pop(L, 1);
    return number;
}

const double *ts_lua_owner_sink(lua_State *L, int owner, int64_t heads) {
    if (lua_getfield(L, owner, "sink") != LUA_TTABLE) return NULL;
    double *sink = lua_newuserdatauv(L, (size_t)heads * sizeof *sink + 1, 0);
    for (int64_t h = 0; h < heads; h++) {
        lua_rawgeti(L, -2, h + 1);
        sink[h] = luaL_checknumber(L, -1);
        lua_pop(L, 1);
    }
    return sink;
}

void ts_lua_adopt(lua_State *L, int owner) {
    ts_lua_summary *s = ts_lua_check_summary(L, lua_gettop(L));
    ts_lua_identity *id = &s->owner;
    id->kv_heads = number_at(L, owner, KV_HEADS);
    id->d = number_at(L, owner, D);
    for (int i = 0; i < 2; i++) {
        id->queries[i] = (uint64_t)number_at(L, owner, QUERIES + i);
        id->scale[i] = (uint64_t)number_at(L, owner, SCALE + i);
        id->sink[i] = (uint64_t)number_at(L, owner, SINK + i);
    }
    id->bound = ts_lua_boolean_field(L, owner, "bound");
    id->keyed = ts_lua_boolean_field(L, owner, "keyed");
    s->zero_empty = ts_lua_boolean_field(L, owner, "zero");
    lua_getfield(L, owner, "score");
    lua_setiuservalue(L, -2, TS_SUMMARY_SCORE);
}
