/* problem.c -- the problem userdata: what it shows of itself, and the door to what it can do. */
#include "problem.h"

#include <math.h>
#include <string.h>

ts_lua_problem *ts_lua_test_problem(lua_State *L, int index) {
    return luaL_testudata(L, index, TS_PROBLEM);
}

ts_lua_problem *ts_lua_check_problem(lua_State *L, int arg) {
    ts_lua_problem *p = ts_lua_test_problem(L, arg);
    if (!p) ts_lua_type_error(L, arg, NULL, "problem");
    return p;
}

/* One number, or a list where heads differ. */
static void push_numbers(lua_State *L, const double *list, int64_t heads) {
    bool same = true;
    for (int64_t h = 1; h < heads; h++) same = same && list[h] == list[0];
    if (same) {
        lua_pushnumber(L, list[0]);
        return;
    }
    lua_createtable(L, (int)heads, 0);
    for (int64_t h = 0; h < heads; h++) {
        lua_pushnumber(L, list[h]);
        lua_rawseti(L, -2, h + 1);
    }
}

static const struct {
    const char *name;
    size_t offset;
} whole_fields[] = {
    {"n_q", offsetof(ts_problem, n_q)},
    {"n_k", offsetof(ts_problem, n_k)},
    {"d", offsetof(ts_problem, d)},
    {"d_v", offsetof(ts_problem, d_v)},
    {"heads", offsetof(ts_problem, heads)},
    {"kv_heads", offsetof(ts_problem, kv_heads)},
    {"first_key", offsetof(ts_problem, first_key)},
    {NULL, 0},
};

static const struct {
    const char *name;
    int slot;
} held_fields[] = {
    {"Q", TS_PROBLEM_Q},       {"K", TS_PROBLEM_K}, {"V", TS_PROBLEM_V},
    {"mask", TS_PROBLEM_MASK}, {NULL, 0},
};

static bool push_whole(lua_State *L, const ts_problem *p, const char *name) {
    for (int f = 0; whole_fields[f].name; f++)
        if (strcmp(name, whole_fields[f].name) == 0) {
            lua_pushinteger(L, *(const int64_t *)((const char *)p + whole_fields[f].offset));
            return true;
        }
    return false;
}

/* A list on the top of the stack gives way to a copy: what is shown may be written to. */
static void copy_list(lua_State *L) {
    if (!lua_istable(L, -1)) return;
    int list = lua_gettop(L);
    lua_Integer count = (lua_Integer)lua_rawlen(L, list);
    lua_createtable(L, (int)count, 0);
    for (lua_Integer n = 1; n <= count; n++) {
        lua_rawgeti(L, list, n);
        lua_rawseti(L, -2, n);
    }
}

static bool push_held(lua_State *L, const char *name) {
    for (int f = 0; held_fields[f].name; f++)
        if (strcmp(name, held_fields[f].name) == 0) {
            lua_getiuservalue(L, 1, held_fields[f].slot);
            copy_list(L);
            return true;
        }
    return false;
}

/* A field that was given as it is now: score, empty, nonfinite. */
static bool push_given(lua_State *L, const char *name) {
    static const char *const given[] = {"score", "empty", "nonfinite", NULL};
    for (int f = 0; given[f]; f++)
        if (strcmp(name, given[f]) == 0) {
            lua_getiuservalue(L, 1, TS_PROBLEM_GIVEN);
            lua_getfield(L, -1, name);
            copy_list(L);
            return true;
        }
    return false;
}

static bool push_other(lua_State *L, const ts_problem *p, const char *name) {
    if (strcmp(name, "dtype") == 0)
        lua_pushstring(L, p->dtype == TS_F32 ? "f32" : "f64");
    else if (strcmp(name, "base") == 0)
        lua_pushnumber(L, p->base == TS_BASE_2 ? 2 : exp(1));
    else if (strcmp(name, "scale") == 0)
        push_numbers(L, p->scale, p->heads);
    else if (strcmp(name, "sink") == 0 && p->sink)
        push_numbers(L, p->sink, p->heads);
    else if (strcmp(name, "sink") == 0)
        lua_pushnil(L);
    else
        return false;
    return true;
}

static bool push_field(lua_State *L, const char *name) {
    const ts_problem *p = &ts_lua_check_problem(L, 1)->problem;
    return push_held(L, name) || push_whole(L, p, name) || push_other(L, p, name) ||
           push_given(L, name);
}

static int get_field(lua_State *L) { return ts_lua_index(L, push_field); }

/* The trait that a score is; called where some head's is, as that one is not run in parallel. */
static const char *score_text(const ts_problem *p) {
    return ts_problem_calls(p, 0, p->heads) ? ", scored (called)" : ", scored (lifted)";
}

/* "problem 10x20 f64, d = 4, d_v = 3, 4 heads on 2, masked, scored (lifted), with a sink" */
static int to_string(lua_State *L) {
    const ts_problem *p = &ts_lua_check_problem(L, 1)->problem;
    lua_pushfstring(L, "problem %Ix%I %s, d = %I, d_v = %I", I(p->n_q), I(p->n_k),
                    p->dtype == TS_F32 ? "f32" : "f64", I(p->d), I(p->d_v));
    int parts = 1;
    luaL_checkstack(L, 8, NULL);
    if (p->heads > 1) {
        lua_pushfstring(L, ", %I heads", I(p->heads));
        parts++;
    }
    if (p->kv_heads != p->heads) {
        lua_pushfstring(L, " on %I", I(p->kv_heads));
        parts++;
    }
    if (p->first_key != 1) {
        lua_pushfstring(L, ", first key %I", I(p->first_key));
        parts++;
    }
    const struct {
        bool there;
        const char *text;
    } traits[] = {{p->base == TS_BASE_2, ", base 2"},
                  {p->mask, ", masked"},
                  {p->score, score_text(p)},
                  {p->sink, ", with a sink"}};
    for (size_t t = 0; t < sizeof traits / sizeof *traits; t++)
        if (traits[t].there) {
            lua_pushstring(L, traits[t].text);
            parts++;
        }
    lua_concat(L, parts);
    return 1;
}

/* core.problem.given(P) -> the fields as they were given; not to be changed. */
static int given(lua_State *L) {
    ts_lua_check_problem(L, 1);
    lua_getiuservalue(L, 1, TS_PROBLEM_GIVEN);
    return 1;
}

static int refuse_field(lua_State *L) {
    return luaL_error(L, "a problem has no fields to set: P:with{...} is a changed copy");
}

static const luaL_Reg functions[] = {
    {"new", ts_lua_problem_new},     {"given", given}, {"plan", ts_lua_problem_plan},
    {"judge", ts_lua_problem_judge}, {NULL, NULL},
};

static const luaL_Reg metamethods[] = {
    {"__index", get_field}, {"__newindex", refuse_field}, {"__tostring", to_string}, {NULL, NULL}};

int ts_lua_open_problem(lua_State *L) {
    static const ts_lua_function *const methods[] = {ts_lua_problem_roads, NULL};
    static const luaL_Reg *const parts[] = {metamethods, NULL};
    luaL_newlib(L, functions);
    ts_lua_push_lib(L, methods);
    ts_lua_set_kind(L, TS_PROBLEM, parts, NULL);
    return 1;
}
