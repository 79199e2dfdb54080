/* items.h -- independent pieces of a call's work, shared out to threads: whatever the threads do,
 * the same failure is told. */
#ifndef TS_ITEMS_H
#define TS_ITEMS_H

#include "arena.h"
#include "run.h"
#include "status.h"

typedef struct ts_items_shared ts_items_shared;

/* What one thread's items came to, so far. */
typedef struct {
    ts_status status; /* of the lowest item that failed, and its details */
    ts_detail detail;
    int64_t item;                    /* the one that failed, until then the one at hand */
    int64_t empty_rows, first_empty; /* rows without keys, and the lowest: head * n_q + row */
    ts_items_shared *shared;
    bool calling; /* it is the thread that called: the one that polls */
} ts_outcome;

typedef struct {
    const void *job;
    int64_t count;
    double cost; /* of all items, in multiply-adds of a kernel: a thread is worth its start for 2^20
                    of them */
    bool shares; /* a thread takes items side by side, the same ones in each call, before it helps
                    others; else all take the next one */
    bool alone;  /* on the calling thread only: something calls back */
    /* Takes a thread's work space from the arena, and returns it: over no memory, to learn how much
     * that is, then by each thread before its first item. */
    void *(*place)(const void *job, ts_arena *arena);
    void (*answer)(const void *job, int64_t item, void *work, ts_outcome *outcome);
    void (*leave)(void); /* by each thread at its end; or NULL */
} ts_items;

/* How many threads a run of them would take, and how many bytes it would ask the allocator for:
 * TS_TOO_LARGE where that cannot be. */
int ts_items_team(const ts_items *items, const ts_run *run);
ts_status ts_items_memory(const ts_items *items, const ts_run *run, size_t *bytes);

/* Answers items 0 .. count - 1; *whole: all of it. Every item below the lowest one that fails is
 * answered. TS_NO_MEMORY, TS_TOO_LARGE, TS_INTERRUPTED, or what an item failed with (detail too).
 */
ts_status ts_items_run(const ts_items *items, const ts_run *run, ts_outcome *whole,
                       ts_detail *detail);

/* For long items: asks, now and then, whether to stop, `part` of the item being done. True: leave
 * the item; the outcome knows. True also where an item before it has failed. */
bool ts_items_pause(ts_outcome *outcome, double part);

/* Notes a failure of item `item` unless the item has one; row, head, column from 0, key by number.
 */
void ts_items_fail(ts_outcome *outcome, ts_status status, int64_t item, ts_detail detail);
void ts_items_note_empty(ts_outcome *outcome, int64_t place);

#endif
