/* summary.h -- the summary userdata, as the files that make, merge and ask one see it. */
#ifndef TS_BINDING_SUMMARY_H
#define TS_BINDING_SUMMARY_H

#include "problem.h"

/* Whose summaries these are: two with equal identities may be merged. `score` is user value 1: the
 * functions, one a head, or nil. Matrices can change, so the bits of Q are hashed when a summary is
 * made. */
typedef struct {
    bool bound; /* to a problem */
    bool keyed; /* keys are known */
    int64_t kv_heads, d;
    uint64_t queries[2], scale[2], sink[2];
} ts_lua_identity;

typedef struct {
    ts_summary summary;
    ts_keyset keys;
    ts_lua_identity owner;
    const double *sink; /* one a head, or NULL; added by output and lse alone */
    bool zero_empty;
} ts_lua_summary;

enum { TS_SUMMARY_SCORE = 1, TS_SUMMARY_VALUES = 1 };

ts_lua_summary *ts_lua_check_summary(lua_State *L, int arg);

/* Pushes a summary of the shape of *like, all ⊥, with no key and room for `ranges` ranges. */
ts_lua_summary *ts_lua_new_summary(lua_State *L, const ts_summary *like, const double *sink,
                                   int64_t ranges);

/* summary_identity.c: */
ts_lua_identity ts_lua_identity_of(const ts_problem *problem);
/* NULL where the summaries at a and b may be merged; else why not. */
const char *ts_lua_difference(lua_State *L, int a, int b);

/* keys.c: pushes "key 5 is" or "keys 5..8, 10, ... are": what a and b share. */
void ts_lua_push_shared(lua_State *L, const ts_keyset *a, const ts_keyset *b);
/* Pushes "1, 3..8, ...": at most `shown` ranges. */
void ts_lua_push_keys(lua_State *L, const ts_keyset *keys, int64_t shown);

/* summary_make.c: core.summary.new */
int ts_lua_summary_new(lua_State *L);

/* summary_owner.c: core.summary.owner */
int ts_lua_summary_owner(lua_State *L);
/* Of such a table: pushes the memory of its sink, one a head; NULL, with something pushed, where it
 * has none. */
const double *ts_lua_owner_sink(lua_State *L, int owner, int64_t heads);
/* The summary on the top of the stack becomes that owner's. */
void ts_lua_adopt(lua_State *L, int owner);

#endif
