/* options.c -- the one reader of option tables: known fields, their kinds, and the error for any
 * other. */
#include "matrix.h"

#include <string.h>

/* ---- the fields of a table, asked for from C ---- */

static bool is_listed(const char *name, const char *const list[]) {
    while (*list && strcmp(*list, name) != 0) list++;
    return *list != NULL;
}

/* Is `name` the one to blame rather than `worst`? The first by the alphabet, so that the error does
 * not depend on the order in which a table is walked. */
static bool comes_first(const char *name, const char *worst) {
    return worst == NULL || strcmp(name, worst) < 0;
}

static const char *key_name(lua_State *L, int index) {
    if (lua_type(L, index) == LUA_TSTRING) return lua_tostring(L, index);
    luaL_tolstring(L, index, NULL); /* stays on the stack, as its text is in use */
    return lua_tostring(L, -1);
}

static char advice_key; /* its address names the registry field: what words the advice */

/* core.advise(f): f(name, names) is the text behind the error of a field that nobody knows. */
int ts_lua_advise(lua_State *L) {
    luaL_checktype(L, 1, LUA_TFUNCTION);
    lua_settop(L, 1);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &advice_key);
    return 0;
}

/* [names] -> raises `bad argument #arg to 'fname' (invalid field 'makss')` and the advice. */
static int unknown_field(lua_State *L, int arg, const char *fname, const char *field) {
    if (!fname) fname = ts_lua_running(L, &arg);
    lua_pushfstring(L, "bad argument #%d to '%s' (invalid field '%s')", arg, fname, field);
    lua_insert(L, -2);
    if (lua_rawgetp(L, LUA_REGISTRYINDEX, &advice_key) == LUA_TFUNCTION) {
        lua_insert(L, -2);
        lua_pushstring(L, field);
        lua_insert(L, -2);
        lua_call(L, 2, 1);
        lua_concat(L, 2);
    } else {
        lua_pop(L, 2);
    }
    return ts_lua_error(L);
}

static void push_names(lua_State *L, const char *const fields[]) {
    lua_newtable(L);
    for (int n = 0; fields[n]; n++) {
        lua_pushstring(L, fields[n]);
        lua_rawseti(L, -2, n + 1);
    }
}

/* Pushes `"a", "b" or "c"`, of the list at `list`. */
static const char *push_listed(lua_State *L, int list) {
    lua_Integer count = luaL_len(L, list);
    lua_pushliteral(L, "");
    for (lua_Integer n = 1; n <= count; n++) {
        lua_rawgeti(L, list, n);
        lua_pushfstring(L, "%s\"%s\"",
                        n == 1      ? ""
                        : n < count ? ", "
                                    : " or ",
                        lua_tostring(L, -1));
        lua_replace(L, -2);
        lua_concat(L, 2);
    }
    return lua_tostring(L, -1);
}

void ts_lua_check_fields(lua_State *L, int arg, const char *const fields[]) {
    if (lua_isnoneornil(L, arg)) return;
    if (!ts_lua_is_plain_table(L, arg)) ts_lua_type_error(L, arg, NULL, "table");
    const char *worst = NULL;
    lua_pushnil(L);
    while (lua_next(L, arg)) {
        lua_pop(L, 1);
        if (lua_type(L, -1) != LUA_TSTRING) {
            worst = key_name(L, -1);
            break;
        }
        const char *name = lua_tostring(L, -1);
        if (!is_listed(name, fields) && comes_first(name, worst)) worst = name;
    }
    if (!worst) return;
    push_names(L, fields);
    unknown_field(L, arg, NULL, worst);
}

/* Pushes the field, and says whether there is one. */
static bool push_field(lua_State *L, int arg, const char *field) {
    if (lua_isnoneornil(L, arg)) {
        lua_pushnil(L);
        return false;
    }
    lua_getfield(L, arg, field);
    return !lua_isnil(L, -1);
}

static void field_type_error(lua_State *L, int arg, const char *field, const char *expected) {
    ts_lua_arg_error(L, arg, NULL, "field '%s': %s expected, got %s", field, expected,
                     ts_lua_kind(L, -1));
}

int64_t ts_lua_integer_field(lua_State *L, int arg, const char *field, int64_t otherwise) {
    int64_t result = otherwise;
    if (push_field(L, arg, field)) {
        int whole;
        result = lua_tointegerx(L, -1, &whole);
        if (!whole && lua_isnumber(L, -1))
            ts_lua_arg_error(L, arg, NULL, "field '%s': number has no integer representation",
                             field);
        if (!whole) field_type_error(L, arg, field, "number");
    }
    lua_pop(L, 1);
    return result;
}

int ts_lua_choice_field(lua_State *L, int arg, const char *field, int otherwise,
                        const char *const choices[]) {
    int result = otherwise;
    if (push_field(L, arg, field)) {
        if (lua_type(L, -1) != LUA_TSTRING) field_type_error(L, arg, field, "string");
        const char *name = lua_tostring(L, -1);
        for (result = 0; choices[result] && strcmp(choices[result], name) != 0;) result++;
        if (!choices[result]) {
            push_names(L, choices);
            ts_lua_arg_error(L, arg, NULL, "field '%s': %s expected, got '%s'", field,
                             push_listed(L, lua_gettop(L)), name);
        }
    }
    lua_pop(L, 1);
    return result;
}

bool ts_lua_boolean_field(lua_State *L, int arg, const char *field) {
    const bool result = push_field(L, arg, field) && lua_toboolean(L, -1);
    lua_pop(L, 1);
    return result;
}

ts_dtype ts_lua_dtype_field(lua_State *L, int arg, const char *field, ts_dtype otherwise) {
    return (ts_dtype)ts_lua_choice_field(L, arg, field, (int)otherwise, ts_lua_dtype_names);
}

/* ---- core.options: the same for Lua ---- */

/* What a field may be. Each check looks at the value on the top of the stack, and answers NULL or
 * pushes what is wrong with it. */
static const char *expected(lua_State *L, const char *what) {
    return lua_pushfstring(L, "%s expected, got %s", what, ts_lua_kind(L, -1));
}

static const char *wrong_whole(lua_State *L, int64_t least) {
    int whole;
    int64_t value = lua_tointegerx(L, -1, &whole);
    if (!lua_isnumber(L, -1)) return expected(L, "number");
    if (!whole) return lua_pushfstring(L, "number has no integer representation");
    if (value < least) return lua_pushfstring(L, "%I is less than %I", I(value), I(least));
    return NULL;
}

static const char *wrong_userdata(lua_State *L, const char *type, const char *what) {
    return luaL_testudata(L, -1, type) ? NULL : expected(L, what);
}

/* The value against a kind that is a list (at `list`) of the strings allowed. */
static const char *wrong_choice(lua_State *L, int list) {
    if (lua_type(L, -1) != LUA_TSTRING) return expected(L, "string");
    bool found = false;
    for (int i = 1; !found && lua_rawgeti(L, list, i) != LUA_TNIL; i++) {
        found = lua_rawequal(L, -1, -2);
        lua_pop(L, 1);
    }
    if (found) return NULL;
    lua_pop(L, 1); /* the nil behind the list */
    const char *name = lua_tostring(L, -1);
    return lua_pushfstring(L, "%s expected, got '%s'", push_listed(L, list), name);
}

static const char *wrong_dtype(lua_State *L) {
    push_names(L, ts_lua_dtype_names);
    lua_insert(L, -2);
    return wrong_choice(L, lua_gettop(L) - 1);
}

/* The value against a kind that is a name. */
static const char *wrong_kind(lua_State *L, const char *kind) {
    static const char *const lua_types[] = {"boolean", "function", "table", NULL};
    if (strcmp(kind, "any") == 0) return NULL;
    if (strcmp(kind, "number") == 0) return lua_isnumber(L, -1) ? NULL : expected(L, kind);
    if (strcmp(kind, "string") == 0) return lua_isstring(L, -1) ? NULL : expected(L, kind);
    if (strcmp(kind, "integer") == 0) return wrong_whole(L, INT64_MIN);
    if (strcmp(kind, "count") == 0) return wrong_whole(L, 0);
    if (strcmp(kind, "positive") == 0) return wrong_whole(L, 1);
    if (strcmp(kind, "dtype") == 0) return wrong_dtype(L);
    if (strcmp(kind, "matrix") == 0) return wrong_userdata(L, TS_MATRIX, kind);
    if (strcmp(kind, "mask") == 0) return wrong_userdata(L, TS_MASK, kind);
    if (strcmp(kind, "summary") == 0) return wrong_userdata(L, TS_SUMMARY, kind);
    if (is_listed(kind, lua_types))
        return strcmp(kind, luaL_typename(L, -1)) == 0 ? NULL : expected(L, kind);
    return lua_pushfstring(L, "is of an unknown kind '%s'", kind);
}

/* Of the pair on the stack (key, value): NULL, or what is wrong with it. What it pushes, the caller
 * removes. */
static const char *wrong_pair(lua_State *L) {
    int value = lua_gettop(L);
    lua_pushvalue(L, value - 1);
    int type = lua_rawget(L, 4);
    int kind = lua_gettop(L);
    lua_pushvalue(L, value);
    const char *wrong;
    if (type == LUA_TNIL)
        wrong = "";
    else if (type == LUA_TTABLE)
        wrong = wrong_choice(L, kind);
    else
        wrong = wrong_kind(L, type == LUA_TSTRING ? lua_tostring(L, kind) : lua_typename(L, type));
    return wrong;
}

/* The number on the top of the stack in the form its kind asks for: 2.0 and "2" are the integer 2.
 * Says whether it differs from what is there. */
static bool normalise(lua_State *L) {
    int whole;
    int64_t value = lua_tointegerx(L, -1, &whole);
    if (lua_isinteger(L, -1) || !lua_isnumber(L, -1)) return false;
    if (whole)
        lua_pushinteger(L, value);
    else if (lua_type(L, -1) == LUA_TSTRING)
        lua_pushnumber(L, lua_tonumber(L, -1));
    else
        return false;
    lua_replace(L, -2);
    return true;
}

static bool is_numeric(const char *kind) {
    static const char *const kinds[] = {"number", "integer", "count", "positive", NULL};
    return kind && is_listed(kind, kinds);
}

/* [table] -> [a copy] */
static void copy_table(lua_State *L, int source) {
    lua_newtable(L);
    lua_pushnil(L);
    while (lua_next(L, source)) {
        lua_pushvalue(L, -2);
        lua_insert(L, -2);
        lua_rawset(L, -4);
    }
}

/* Puts whole numbers in their integer form; in a copy, as the table is the user's. */
static void normalise_fields(lua_State *L) {
    int result = 1;
    lua_pushnil(L);
    while (lua_next(L, 1)) {
        lua_pushvalue(L, -2);
        lua_rawget(L, 4);
        bool numeric = lua_type(L, -1) == LUA_TSTRING && is_numeric(lua_tostring(L, -1));
        lua_pop(L, 1);
        if (numeric && normalise(L)) {
            if (result == 1) {
                copy_table(L, 1);
                lua_insert(L, 5); /* below the key and the value */
                result = 5;
            }
            lua_pushvalue(L, -2);
            lua_insert(L, -2);
            lua_rawset(L, 5);
        } else {
            lua_pop(L, 1);
        }
    }
    lua_pushvalue(L, result);
}

/* [] -> [the names in the table of kinds] */
static void push_known(lua_State *L) {
    lua_newtable(L);
    lua_pushnil(L);
    for (int n = 1; lua_next(L, 4); n++) {
        lua_pop(L, 1);
        lua_pushvalue(L, -1);
        lua_rawseti(L, -3, n);
    }
}

/* [table, n, fname, fields] -> [..., 5: the name of the worst field, 6: what is wrong with it], or
 * nils. */
static void find_worst(lua_State *L) {
    lua_settop(L, 6);
    lua_pushnil(L);
    while (lua_next(L, 1)) {
        const int value = lua_gettop(L);
        const char *wrong = wrong_pair(L), *name = wrong ? key_name(L, value - 1) : NULL;
        if (wrong && comes_first(name, lua_tostring(L, 5))) {
            lua_pushstring(L, name);
            lua_replace(L, 5);
            lua_pushstring(L, wrong);
            lua_replace(L, 6);
        }
        lua_settop(L, value - 1);
    }
}

/* core.options(table | nil, n, fname, fields) -> table, never nil. */
int ts_lua_options(lua_State *L) {
    lua_settop(L, 4);
    int arg = (int)luaL_checkinteger(L, 2);
    const char *fname = luaL_checkstring(L, 3);
    luaL_checktype(L, 4, LUA_TTABLE);
    if (lua_isnil(L, 1)) {
        lua_newtable(L);
        return 1;
    }
    if (!ts_lua_is_plain_table(L, 1))
        ts_lua_arg_error(L, arg, fname, "table expected, got %s", ts_lua_kind(L, 1));
    find_worst(L);
    const char *name = lua_tostring(L, 5), *wrong = lua_tostring(L, 6);
    if (wrong && *wrong == '\0') {
        push_known(L);
        unknown_field(L, arg, fname, name);
    }
    if (wrong) ts_lua_arg_error(L, arg, fname, "field '%s': %s", name, wrong);
    lua_settop(L, 4);
    normalise_fields(L);
    return 1;
}
