/* binding.h -- what the files of the binding share: userdata, arguments, options and errors. */
#ifndef TS_BINDING_H
#define TS_BINDING_H

#include "../../core/tessera.h"

#include <lauxlib.h>
#include <lua.h>

#define TS_MATRIX "tessera.matrix"
#define TS_MASK "tessera.mask"
#define TS_SUMMARY "tessera.summary"
#define TS_PROGRAM "tessera.program"
#define TS_PROBLEM "tessera.problem"

/* A whole number for the `%I` of lua_pushfstring. */
#define I(x) ((LUAI_UACINT)(x))

/* block.c: a full userdata of `size` bytes behind a header, `payload` more behind that, aligned to
 * 64 (lua_newuserdatauv promises 16 at most, so it over-allocates), with `values` user values;
 * pushes it, without a metatable. *memory: the aligned payload. */
void *ts_lua_new_block(lua_State *L, size_t size, size_t payload, int values, void **memory);

/* matrix.c: user value 1 is the parent that a view keeps alive. */
ts_matrix *ts_lua_check_matrix(lua_State *L, int arg);
ts_matrix *ts_lua_test_matrix(lua_State *L, int index); /* NULL where it is none */
/* Pushes a packed matrix, uninitialised. Raises "too large" or "not enough memory". */
ts_matrix *ts_lua_new_matrix(lua_State *L, ts_dtype dtype, int64_t rows, int64_t cols);
/* Pushes a view of the matrix at `index`, which it keeps alive. */
ts_matrix *ts_lua_new_view(lua_State *L, int index, const ts_matrix *view);

/* program.c, mask.c: */
ts_program *ts_lua_check_program(lua_State *L, int arg);
ts_program *ts_lua_test_program(lua_State *L, int index);
ts_mask *ts_lua_check_mask(lua_State *L, int arg);
ts_mask *ts_lua_test_mask(lua_State *L, int index);

/* options.c: the one reader of option tables. `fields` ends with NULL. Raises
 * `bad argument #arg to 'name' (invalid field 'makss')` and what the function of core.advise says
 * of it for a key that is none of them, where `name` is the running function's; accepts nil and
 * none. */
void ts_lua_check_fields(lua_State *L, int arg, const char *const fields[]);
/* Fields of the table at arg (nil and none: the default). Each raises with the field's name where
 * the type is wrong. */
ts_dtype ts_lua_dtype_field(lua_State *L, int arg, const char *field, ts_dtype otherwise);
int64_t ts_lua_integer_field(lua_State *L, int arg, const char *field, int64_t otherwise);
int ts_lua_choice_field(lua_State *L, int arg, const char *field, int otherwise,
                        const char *const choices[]);
bool ts_lua_boolean_field(lua_State *L, int arg,
                          const char *field); /* anything but false is true */

/* core.options(table | nil, n, fname, {field = kind, ...}) -> table, never nil. */
int ts_lua_options(lua_State *L);
int ts_lua_advise(lua_State *L);

/* argument.c: an argument of that type of Lua's, or else an error; a whole number (2.0 and "2" as
 * Lua has it), and one from low to high, else an error that calls it `what`. */
void ts_lua_check_type(lua_State *L, int arg, int type);
int64_t ts_lua_check_whole(lua_State *L, int arg, const char *what);
int64_t ts_lua_check_range(lua_State *L, int arg, const char *what, int64_t low, int64_t high);

/* blame.c. The user's line is that of the first function on the stack that is not the running one
 * nor in our Lua files. Raise `bad argument #arg to 'name' (...)`, blamed on the user's line. name
 * NULL: the running function, and self is not counted. `got` in type_error is the argument's type.
 * Never return. */
int ts_lua_arg_error(lua_State *L, int arg, const char *name, const char *format, ...);
int ts_lua_type_error(lua_State *L, int arg, const char *name, const char *expected);
/* "matrix", "mask", "layer" and so on for what is ours, Lua's name for the type of all else. */
const char *ts_lua_kind(lua_State *L, int index);
/* Is it a table of the user's, rather than a layer or another of our objects? */
bool ts_lua_is_plain_table(lua_State *L, int index);
/* What a noun gets behind the number n in a message. */
static inline const char *ts_lua_plural(int64_t n) { return n == 1 ? "" : "s"; }
/* Does the byte go on with a character of UTF-8 that an earlier one began? */
static inline bool ts_lua_goes_on(char byte) { return (byte & 0xC0) == 0x80; }
/* [..., message]: raises it behind the position of the user's line. */
int ts_lua_error(lua_State *L);
/* The name of the running function; where it is a method, *arg (or NULL) counts without self. */
const char *ts_lua_running(lua_State *L, int *arg);
/* [..., table of C functions]: remembers their names, so that errors can tell them. */
void ts_lua_name_functions(lua_State *L, bool are_methods);
int ts_lua_home(lua_State *L);
int ts_lua_fail(lua_State *L);
int ts_lua_fail_arg(lua_State *L);

/* status.c: raises the error that `status` and `detail` tell, in the usual form; returns only for
 * TS_OK. name: the public function it is blamed on (NULL: the running one). */
void ts_lua_raise(lua_State *L, ts_status status, const ts_detail *detail, const char *name);

/* run.c: how a call is run: Lua's own allocator (no failing request is retried after a collection:
 * NULL means TS_NO_MEMORY), `threads` (0: the default), and a poll that sees Ctrl-C (the
 * hook of the main thread is not the one found on entry) - DESIGN section 6. After TS_INTERRUPTED
 * call ts_lua_raise, which lets the pending hook raise, or raises "interrupted!" itself. */
ts_run ts_lua_run(lua_State *L, int threads);
/* Raises "interrupted!" where Ctrl-C came and the hook that lua.c and core.guarded set for it
 * (every event, after one instruction) has not fired: it is the main thread's, and fires neither in
 * a coroutine nor in a C function that has begun. */
void ts_lua_check_interrupt(lua_State *L);
/* The call is over: takes its bar off the terminal. ts_lua_raise does it. */
void ts_lua_run_done(lua_State *L);
/* lua_pcall for a callback inside a call: calls that it makes leave ours as it was. */
int ts_lua_guarded_pcall(lua_State *L, int arguments, int results);
double ts_lua_seconds(void); /* monotonic wall time */
int ts_lua_trim(lua_State *L);

/* guarded.c. The interrupt has been raised in L, so its hook goes, unless the user insists. */
void ts_lua_interrupt_raised(lua_State *L);
int ts_lua_guarded(lua_State *L);
int ts_lua_resume(lua_State *L);
int ts_lua_close(lua_State *L);

/* terminal.c: */
int ts_lua_isatty(lua_State *L);
int ts_lua_width(lua_State *L);
int ts_lua_height(lua_State *L);
int ts_lua_wait(lua_State *L);
int ts_lua_next_descriptor(lua_State *L);
int ts_lua_close_terminal(lua_State *L);
int ts_lua_hold_interrupts(lua_State *L);

/* file.c: what the module shows of it. */
int ts_lua_open_file(lua_State *L);
int ts_lua_create_beside(lua_State *L);
int ts_lua_sync(lua_State *L);

/* functions.c: a function, and how many arguments it takes, self among them. One more than these is
 * an error, unless it is nil, or the second result of a call that stands last: a matrix behind one.
 */
typedef struct {
    const char *name; /* NULL ends a list */
    lua_CFunction call;
    int most;
} ts_lua_function;
#define TS_LUA_ANY (-1) /* as many as one likes */
/* Pushes a table of the functions of several lists; NULL ends them. */
void ts_lua_push_lib(lua_State *L, const ts_lua_function *const parts[]);
/* Refuses the running function's arguments behind number `most`: for one that takes fewer in one
 * of its forms, and for an object that is called, where errors do not count `own` = 1 of them. */
void ts_lua_no_more(lua_State *L, int most, int own);
int ts_lua_refuse_more(lua_State *L);

/* userdata.c. [userdata, key] -> [value], the whole of an __index: a method, what push_field pushes
 * for the name (which it does, or says false), or what `methods` itself makes of a name it lacks.
 * The table of methods is upvalue 1 of every metamethod. */
int ts_lua_index(lua_State *L, bool (*push_field)(lua_State *L, const char *name));
/* [userdata, ...]: pushes what the method `tostring` makes of it; false where Lua has added none.
 */
bool ts_lua_tostring_method(lua_State *L);
/* [..., functions, methods] -> [..., functions]: makes the metatable of the type, and shows the
 * methods as functions.methods. instead: what the error of an operator that it lacks says of those
 * that it has; NULL leaves that to Lua. */
void ts_lua_set_kind(lua_State *L, const char *type, const luaL_Reg *const metamethods[],
                     const char *instead);

/* Each pushes the table that the module shows under that name: its functions, and `methods`, the
 * table in which the methods of the userdata live, open for Lua to add to. */
int ts_lua_open_matrix(lua_State *L);
int ts_lua_open_program(lua_State *L);
int ts_lua_open_mask(lua_State *L);
int ts_lua_open_summary(lua_State *L);
int ts_lua_open_problem(lua_State *L);

#endif
