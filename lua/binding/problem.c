/* problem.c -- the problem userdata: views of its matrices, and the roads that answer it. */
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

/* ---- called scores ---- */

/* Pushes the user value `which` of the problem at index 1, element `head`. */
static void push_of_head(lua_State *L, int which, int64_t head) {
    lua_getiuservalue(L, 1, which);
    lua_rawgeti(L, -1, head + 1);
    lua_remove(L, -2);
}

/* Replaces *s by what the function at `function` returns for the cell. The reason for TS_CALLBACK
 * stays on the top of the stack: an error, or (no_number) what was returned. */
static ts_status call_cell(ts_lua_problem *p, int function, int64_t h, int64_t i, int64_t j,
                           double *s) {
    lua_State *L = p->runs;
    lua_pushvalue(L, function);
    lua_pushnumber(L, *s);
    lua_pushinteger(L, i);
    lua_pushinteger(L, j);
    lua_pushinteger(L, h);
    if (ts_lua_guarded_pcall(L, 4, 1) != LUA_OK) return TS_CALLBACK;
    p->no_number = lua_type(L, -1) != LUA_TNUMBER;
    p->cell = (ts_detail){.row = i, .key = j, .head = h};
    if (p->no_number) return TS_CALLBACK;
    *s = lua_tonumber(L, -1);
    lua_pop(L, 1);
    return TS_OK;
}

/* ts_score.call: asks the Lua function for the allowed cells. */
static ts_status call_score(void *data, int64_t h, int64_t i, int64_t j, int64_t count,
                            const uint64_t *allowed, double *s) {
    const ts_lua_called *called = data;
    ts_lua_problem *p = called->owner;
    push_of_head(p->runs, TS_PROBLEM_SCORES, called->head);
    int function = lua_gettop(p->runs);
    for (int64_t c = 0; c < count; c++) {
        if (allowed && !(allowed[c / 64] >> (c % 64) & 1)) continue;
        ts_status status = call_cell(p, function, h, i, j + c, s + c);
        if (status) return status;
    }
    lua_pop(p->runs, 1);
    return TS_OK;
}

/* ---- around a call ---- */

ts_lua_call ts_lua_begin(lua_State *L, ts_lua_problem *p) {
    ts_lua_call call = {p->runs};
    luaL_checkstack(L, 16, NULL);
    p->runs = L;
    p->no_number = false;
    return call;
}

/* [..., reason]: an error arrives unchanged. */
static int raise_callback(lua_State *L, const ts_lua_problem *p) {
    ts_lua_run_done(L);
    if (!p->no_number) return lua_error(L);
    lua_pushfstring(L, "score of query %I, key %I, head %I is a %s, number expected",
                    (LUAI_UACINT)p->cell.row, (LUAI_UACINT)p->cell.key, (LUAI_UACINT)p->cell.head,
                    ts_lua_kind(L, -1));
    return ts_lua_error(L);
}

void ts_lua_end(lua_State *L, ts_lua_problem *p, ts_lua_call call, ts_status status,
                const ts_detail *detail) {
    p->runs = call.outer;
    if (status == TS_CALLBACK) raise_callback(L, p);
    ts_lua_raise(L, status, detail, NULL);
}

/* ---- making one ---- */

/* [fields at 1] -> the matrix in that field, which becomes user value `slot` of the problem on the
 * top. */
static ts_matrix own_matrix(lua_State *L, const char *field, int slot) {
    lua_getfield(L, 1, field);
    const ts_matrix *m = ts_lua_test_matrix(L, -1);
    if (!m) luaL_error(L, "field '%s' is no matrix", field);
    lua_setiuservalue(L, -2, slot);
    return *m;
}

/* Moves a field into a user value; says whether there is one. */
static bool own(lua_State *L, const char *field, int slot) {
    bool there = lua_getfield(L, 1, field) != LUA_TNIL;
    lua_setiuservalue(L, -2, slot);
    return there;
}

/* A list of one number a head; says whether there is one. */
static bool read_numbers(lua_State *L, const char *field, int64_t heads, double *out) {
    bool there = lua_getfield(L, 1, field) == LUA_TTABLE;
    for (int64_t h = 0; there && h < heads; h++) {
        lua_rawgeti(L, -1, h + 1);
        out[h] = luaL_checknumber(L, -1);
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
    return there;
}

static int64_t integer_field(lua_State *L, const char *field) {
    lua_getfield(L, 1, field);
    int64_t value = luaL_checkinteger(L, -1);
    lua_pop(L, 1);
    return value;
}

static bool boolean_field(lua_State *L, const char *field) {
    lua_getfield(L, 1, field);
    bool value = lua_toboolean(L, -1);
    lua_pop(L, 1);
    return value;
}

/* What lies behind the header: arrays of one element a head. */
typedef struct {
    double *scale, *sink;
    const ts_mask **mask;
    const ts_score **score;
    ts_score *scores;
    ts_lua_called *called;
} arrays;

static const size_t bytes_a_head = 2 * sizeof(double) + sizeof(ts_mask *) + sizeof(ts_score *) +
                                   sizeof(ts_score) + sizeof(ts_lua_called);

static arrays place(void *memory, int64_t heads) {
    arrays a;
    a.scale = memory;
    a.sink = a.scale + heads;
    a.mask = (const ts_mask **)(a.sink + heads);
    a.score = (const ts_score **)(a.mask + heads);
    a.scores = (ts_score *)(a.score + heads);
    a.called = (ts_lua_called *)(a.scores + heads);
    return a;
}

/* The problem is on the top of the stack. */
static void read_masks(lua_State *L, ts_problem *problem, arrays *a) {
    if (!own(L, "masks", TS_PROBLEM_MASKS)) return;
    lua_getiuservalue(L, -1, TS_PROBLEM_MASKS);
    for (int64_t h = 0; h < problem->heads; h++) {
        lua_rawgeti(L, -1, h + 1);
        a->mask[h] = ts_lua_test_mask(L, -1);
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
    problem->mask = a->mask;
}

static void read_scores(lua_State *L, ts_lua_problem *p, arrays *a) {
    if (!own(L, "scores", TS_PROBLEM_SCORES)) return;
    bool lifted = own(L, "programs", TS_PROBLEM_PROGRAMS);
    lua_getiuservalue(L, -1, TS_PROBLEM_SCORES);
    lua_getiuservalue(L, -2, TS_PROBLEM_PROGRAMS);
    for (int64_t h = 0; h < p->problem.heads; h++) {
        a->called[h] = (ts_lua_called){p, h};
        a->scores[h] = (ts_score){NULL, call_score, &a->called[h]};
        if (lifted && lua_rawgeti(L, -1, h + 1) == LUA_TUSERDATA) {
            a->scores[h].program = ts_lua_test_program(L, -1);
            a->scores[h].call = NULL;
        }
        if (lifted) lua_pop(L, 1);
        a->score[h] = lua_rawgeti(L, -2, h + 1) == LUA_TFUNCTION ? &a->scores[h] : NULL;
        lua_pop(L, 1);
        p->has_called |= a->score[h] && !a->scores[h].program;
    }
    lua_pop(L, 2);
    p->problem.score = a->score;
}

/* core.problem.new{Q=, K=, V=, d=, d_v=, heads=, kv_heads=, first_key=, two=, zero=, propagate=,
 * scale = list, sink = [list], mask = [as given], masks = [list], scores = [list],
 * programs = [list], given = table}: lists have one element a head. problem.lua has checked them in
 * words; here only what would be unsafe is refused. */
static int new_problem(lua_State *L) {
    luaL_checktype(L, 1, LUA_TTABLE);
    lua_settop(L, 1);
    int64_t heads = integer_field(L, "heads");
    luaL_argcheck(L, heads >= 1 && heads <= 1 << 24, 1, "too many heads");
    void *memory;
    size_t payload = (size_t)heads * bytes_a_head;
    ts_lua_problem *p = ts_lua_new_block(L, sizeof *p, payload, TS_PROBLEM_VALUES, &memory);
    memset(p, 0, sizeof *p);
    memset(memory, 0, payload);
    arrays a = place(memory, heads);
    ts_problem *problem = &p->problem;
    problem->heads = heads;
    problem->kv_heads = integer_field(L, "kv_heads");
    problem->q = own_matrix(L, "Q", TS_PROBLEM_Q);
    problem->k = own_matrix(L, "K", TS_PROBLEM_K);
    problem->v = own_matrix(L, "V", TS_PROBLEM_V);
    problem->dtype = problem->q.dtype;
    problem->n_q = problem->q.rows;
    problem->n_k = problem->k.rows;
    problem->d = integer_field(L, "d");
    problem->d_v = integer_field(L, "d_v");
    problem->first_key = integer_field(L, "first_key");
    problem->base = boolean_field(L, "two") ? TS_BASE_2 : TS_BASE_E;
    problem->propagate = boolean_field(L, "propagate");
    p->zero_empty = boolean_field(L, "zero");
    read_numbers(L, "scale", heads, a.scale);
    problem->scale = a.scale;
    if (read_numbers(L, "sink", heads, a.sink)) problem->sink = a.sink;
    own(L, "mask", TS_PROBLEM_MASK);
    own(L, "given", TS_PROBLEM_GIVEN);
    read_masks(L, problem, &a);
    read_scores(L, p, &a);
    ts_detail detail = {0};
    ts_lua_raise(L, ts_problem_check(problem, &detail), &detail, "problem");
    luaL_setmetatable(L, TS_PROBLEM);
    return 1;
}

/* ---- reading one ---- */

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

static bool push_held(lua_State *L, const char *name) {
    for (int f = 0; held_fields[f].name; f++)
        if (strcmp(name, held_fields[f].name) == 0) {
            lua_getiuservalue(L, 1, held_fields[f].slot);
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

/* P.name: a method, a field, or what `methods` says to a name it lacks (upvalue 1). */
static int index_problem(lua_State *L) {
    const ts_lua_problem *p = lua_touserdata(L, 1);
    lua_pushvalue(L, 2);
    if (lua_rawget(L, lua_upvalueindex(1)) != LUA_TNIL) return 1;
    if (lua_type(L, 2) == LUA_TSTRING) {
        const char *name = lua_tostring(L, 2);
        if (push_held(L, name) || push_whole(L, &p->problem, name) ||
            push_other(L, &p->problem, name) || push_given(L, name))
            return 1;
    }
    lua_pushvalue(L, 2);
    lua_gettable(L, lua_upvalueindex(1));
    return 1;
}

/* "problem 10x20 f64, d = 4, d_v = 3, heads 4/2, base 2, masked, scored, with a sink" */
static int problem_tostring(lua_State *L) {
    const ts_problem *p = &ts_lua_check_problem(L, 1)->problem;
    lua_pushfstring(L, "problem %Ix%I %s, d = %I, d_v = %I", (LUAI_UACINT)p->n_q,
                    (LUAI_UACINT)p->n_k, p->dtype == TS_F32 ? "f32" : "f64", (LUAI_UACINT)p->d,
                    (LUAI_UACINT)p->d_v);
    int parts = 1;
    luaL_checkstack(L, 8, NULL);
    if (p->heads > 1) {
        lua_pushfstring(L, ", heads %I/%I", (LUAI_UACINT)p->heads, (LUAI_UACINT)p->kv_heads);
        parts++;
    }
    if (p->first_key != 1) {
        lua_pushfstring(L, ", first key %I", (LUAI_UACINT)p->first_key);
        parts++;
    }
    const struct {
        bool there;
        const char *text;
    } traits[] = {{p->base == TS_BASE_2, ", base 2"},
                  {p->mask, ", masked"},
                  {p->score, ", scored"},
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

/* ---- the roads ---- */

static bool zero_empty(const ts_lua_problem *p, int of_call) {
    return of_call < 0 ? p->zero_empty : of_call;
}

typedef struct {
    ts_matrix *o, *lse;
} answer;

/* Pushes O and lse, uninitialised. */
static answer new_answer(lua_State *L, const ts_problem *p) {
    answer a;
    a.o = ts_lua_new_matrix(L, p->dtype, p->n_q, p->heads * p->d_v);
    a.lse = ts_lua_new_matrix(L, p->dtype, p->n_q, p->heads);
    return a;
}

/* P:softmax([{empty=}]) -> O, lse */
static int softmax(lua_State *L) {
    static const char *const fields[] = {"empty", NULL};
    ts_lua_problem *p = ts_lua_check_problem(L, 1);
    ts_lua_check_fields(L, 2, fields);
    bool zero = zero_empty(p, ts_lua_empty_field(L, 2));
    answer a = new_answer(L, &p->problem);
    ts_run run = ts_lua_run(L, 0);
    ts_detail detail = {0};
    ts_lua_call call = ts_lua_begin(L, p);
    /* Empty rows come as zeros, and are found by their lse: then all of them can be named. */
    ts_status status = ts_softmax(&p->problem, true, &run, a.o, a.lse, &detail);
    ts_lua_end(L, p, call, status, &detail);
    if (!zero) ts_lua_check_empty(L, a.lse);
    return 2;
}

/* P:attention([tiling]) -> O, lse */
static int attention(lua_State *L) {
    ts_lua_problem *p = ts_lua_check_problem(L, 1);
    ts_lua_tiling tiling;
    ts_lua_read_tiling(L, 2, &p->problem, false, &tiling);
    answer a = new_answer(L, &p->problem);
    ts_run run = ts_lua_run(L, tiling.threads);
    ts_detail detail = {0};
    ts_lua_call call = ts_lua_begin(L, p);
    ts_status status = ts_attention(&p->problem, &tiling.tiling, true, &run, a.o, a.lse, &detail);
    ts_lua_end(L, p, call, status, &detail);
    if (!zero_empty(p, tiling.empty)) ts_lua_check_empty(L, a.lse);
    return 2;
}

typedef ts_status cells(const ts_problem *problem, int64_t head, const ts_run *run, ts_matrix *out,
                        ts_detail *detail);

static int of_cells(lua_State *L, cells *road) {
    ts_lua_problem *p = ts_lua_check_problem(L, 1);
    int64_t head = lua_isnoneornil(L, 2) ? 1 : ts_lua_check_range(L, 2, 1, p->problem.heads);
    ts_matrix *out = ts_lua_new_matrix(L, p->problem.dtype, p->problem.n_q, p->problem.n_k);
    ts_run run = ts_lua_run(L, 0);
    ts_detail detail = {0};
    ts_lua_call call = ts_lua_begin(L, p);
    ts_status status = road(&p->problem, head - 1, &run, out, &detail);
    ts_lua_end(L, p, call, status, &detail);
    return 1;
}

/* P:weights([h = 1]), P:scores([h = 1]) -> n_q x n_k */
static int weights(lua_State *L) { return of_cells(L, ts_softmax_weights); }
static int scores(lua_State *L) { return of_cells(L, ts_softmax_scores); }

/* The arguments of P:summary as a key set; pushes its memory. */
static ts_keyset summary_keys(lua_State *L, const ts_problem *p) {
    int64_t first = p->first_key, last = p->first_key + p->n_k - 1;
    if (lua_istable(L, 2)) return ts_lua_read_keys(L, 2, 2, first, last);
    ts_range range = {first, last};
    if (!lua_isnoneornil(L, 2) || !lua_isnoneornil(L, 3)) {
        range.first = ts_lua_check_range(L, 2, first, last + 1);
        range.last = ts_lua_check_range(L, 3, range.first - 1, last);
    }
    ts_keyset keys = {range.last >= range.first, lua_newuserdatauv(L, sizeof range, 0)};
    keys.ranges[0] = range;
    return keys;
}

/* P:summary([first, last] | {{first, last}, ..}) -> Σ over those keys */
static int summary(lua_State *L) {
    ts_lua_problem *p = ts_lua_check_problem(L, 1);
    ts_keyset from = summary_keys(L, &p->problem), *keys;
    ts_summary *out = ts_lua_new_summary_of(L, 1, from.count, &keys);
    keys->count = from.count;
    memcpy(keys->ranges, from.ranges, (size_t)from.count * sizeof *from.ranges);
    ts_run run = ts_lua_run(L, 0);
    ts_detail detail = {0};
    ts_lua_call call = ts_lua_begin(L, p);
    ts_status status =
        ts_attention_summary(&p->problem, keys->ranges, keys->count, &run, out, &detail);
    ts_lua_end(L, p, call, status, &detail);
    return 1;
}

/* P:bottom() -> ⊥ of every row and head, over no key */
static int bottom(lua_State *L) {
    ts_keyset *keys;
    ts_lua_check_problem(L, 1);
    ts_lua_new_summary_of(L, 1, 0, &keys);
    return 1;
}

static const luaL_Reg methods[] = {
    {"softmax", softmax},
    {"attention", attention},
    {"weights", weights},
    {"scores", scores},
    {"summary", summary},
    {"bottom", bottom},
    {"oracle", ts_lua_problem_oracle},
    {NULL, NULL},
};

static const luaL_Reg functions[] = {
    {"new", new_problem},
    {"given", given},
    {"plan", ts_lua_problem_plan},
    {"bound", ts_lua_problem_bound},
    {NULL, NULL},
};

int ts_lua_open_problem(lua_State *L) {
    luaL_newlib(L, functions);
    luaL_newlib(L, methods);
    luaL_newmetatable(L, TS_PROBLEM);
    lua_pushvalue(L, -2);
    lua_pushcclosure(L, index_problem, 1);
    lua_setfield(L, -2, "__index");
    lua_pushcfunction(L, problem_tostring);
    lua_setfield(L, -2, "__tostring");
    lua_pushboolean(L, 0);
    lua_setfield(L, -2, "__metatable");
    lua_pop(L, 1);
    lua_setfield(L, -2, "methods");
    return 1;
}
