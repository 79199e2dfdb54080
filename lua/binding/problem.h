/* problem.h -- the problem userdata, as the files that run one see it. */
#ifndef TS_BINDING_PROBLEM_H
#define TS_BINDING_PROBLEM_H

#include "binding.h"

/* User values of the userdata: what its views and pointers live in, and what `P.field` shows. */
enum {
    TS_PROBLEM_Q = 1,
    TS_PROBLEM_K,
    TS_PROBLEM_V,
    TS_PROBLEM_MASK,   /* a mask, a list, or nil */
    TS_PROBLEM_MASKS,  /* one a head, or nil */
    TS_PROBLEM_SCORES, /* the functions, one a head (false: none), or nil: part of the identity */
    TS_PROBLEM_RUNS,   /* what runs for them: programs, or functions to be called; or nil */
    TS_PROBLEM_GIVEN,  /* the fields as they were given, for P:with */
    TS_PROBLEM_VALUES = TS_PROBLEM_GIVEN
};

/* What a called score needs: which problem, on which thread it runs, and whose function it is. */
typedef struct {
    struct ts_lua_problem *owner;
    int64_t head; /* from 0 */
} ts_lua_called;

typedef struct ts_lua_problem {
    ts_problem problem;
    bool zero_empty; /* empty = "zero" */
    lua_State *runs; /* the thread that runs it now, for called scores; the problem is at index 1 */
    bool no_number;  /* a called score returned something else */
    ts_detail cell;  /* that a called score was asked for last */
} ts_lua_problem;

int ts_lua_problem_new(lua_State *L);                /* problem_make.c: core.problem.new */
extern const ts_lua_function ts_lua_problem_roads[]; /* problem_roads.c: its methods */
/* problem_score.c: ts_score.call, asks the Lua function for the allowed cells. */
ts_status ts_lua_call_score(void *data, int64_t h, int64_t i, int64_t j, int64_t count,
                            const uint64_t *allowed, double *s);

ts_lua_problem *ts_lua_check_problem(lua_State *L, int arg);
ts_lua_problem *ts_lua_test_problem(lua_State *L, int index);

/* problem_score.c: around every call of core on the problem at index 1: begin readies the called
 * scores (and the stack); end, with the status it came to, raises what there is to raise. Between
 * them nothing may raise. */
typedef struct {
    lua_State *outer;
} ts_lua_call;
ts_lua_call ts_lua_begin(lua_State *L, ts_lua_problem *problem);
void ts_lua_end(lua_State *L, ts_lua_problem *problem, ts_lua_call call, ts_status status,
                const ts_detail *detail);

/* status.c: raises the error that names the rows and heads where m, an n_q x heads matrix of maxima
 * or lse, is -inf; returns where there is none. */
void ts_lua_check_empty(lua_State *L, const ts_matrix *m);

/* tiling.c: a tiling as Lua gives it. empty: -1 where the call does not say, else 0 or 1. */
typedef struct {
    ts_tiling tiling;
    int threads, empty;
} ts_lua_tiling;

/* Reads the table at arg (nil and none: defaults). Leaves what it needs on the stack. partial: its
 * blocks need not hold every key. */
void ts_lua_read_tiling(lua_State *L, int arg, const ts_problem *problem, bool partial,
                        ts_lua_tiling *out);
int ts_lua_problem_plan(lua_State *L);   /* tiling_plan.c: core.problem.plan */
int ts_lua_problem_bound(lua_State *L);  /* bound.c: P:bound */
int ts_lua_problem_judge(lua_State *L);  /* judge.c: core.problem.judge */
int ts_lua_problem_oracle(lua_State *L); /* oracle.c: P:oracle */
/* The field `empty` of the table at arg: "zero", "error", or -1. */
int ts_lua_empty_field(lua_State *L, int arg);

/* rows.c: the list of query rows on the top of the stack (of argument arg) as rows from 0, in
 * memory that it pushes; NULL, and *count = n_q, for nil. */
const int64_t *ts_lua_read_rows(lua_State *L, int arg, int64_t n_q, int64_t *count);

/* keys.c: a key set from the list of {first, last} at `index` (of argument arg), within low..high;
 * pushes the memory it lies in. */
ts_keyset ts_lua_read_keys(lua_State *L, int arg, const char *fname, int index, int64_t low,
                           int64_t high);

/* summary.c: pushes the bottom of the problem at `index`, with room for `ranges` ranges of keys. */
ts_summary *ts_lua_new_summary_of(lua_State *L, int index, int64_t ranges, ts_keyset **keys);

#endif
