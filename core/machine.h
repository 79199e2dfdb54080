/* machine.h -- one thread's stack of summaries, on which the postfix words of an item run. */
#ifndef TS_MACHINE_H
#define TS_MACHINE_H

#include "block.h"
#include "cut.h"
#include "items.h"
#include "present.h"
#include "tiling.h"
#include "waiting.h"

typedef struct {
    ts_tile tile; /* the rows at hand */
    const ts_schedule *schedule;
    int64_t tiles, at_tile; /* query tiles, and the one at hand, for orders that depend on it */
    int64_t largest;        /* keys of the largest block */
    ts_present present;     /* the blocks that the rows' masks leave */
    int32_t *word, *parts_word;
    void *schedule_scratch;
    ts_rows *stack;
    int64_t height, pushed; /* summaries on the stack; blocks so far */
    ts_status status;
    ts_outcome *outcome; /* of the item at hand: asked, between blocks, whether to stop */
} ts_machine;

/* Takes a machine for the units of a cut from an arena; problem and tiling must outlive it. */
ts_machine *ts_machine_place(const ts_problem *problem, const ts_tiling *tiling, const ts_cut *cut,
                             ts_arena *arena);

/* Turns to the rows of an item, with an empty stack. */
void ts_machine_begin(ts_machine *machine, const ts_cut *cut, const ts_cut_rows *rows,
                      ts_outcome *outcome);

/* Leaves Σ of part `part`'s blocks (from 0) on the stack. False where it was stopped, or failed
 * with machine->status. */
bool ts_machine_run_part(ts_machine *machine, int64_t part);

/* Leaves Σ of all parts, by the tree that merges them; each is run here, or, where they are in
 * `waiting` (NULL: they are not), those of item `item` are copied. */
bool ts_machine_run_parts(ts_machine *machine, const ts_waiting *waiting, int64_t item);

/* Takes the summary on top off the stack. */
const ts_rows *ts_machine_pop(ts_machine *machine);
/* Copies the summaries of the rows at hand. */
void ts_machine_copy(const ts_machine *machine, const ts_rows *from, const ts_rows *to);

#endif
