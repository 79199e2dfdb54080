/* items_late.c -- items that fail, or are empty, in another order of time than their own: the same
 * failure is told, and all before it is answered. */
#define _GNU_SOURCE
#include "../../core/items.h"

#include "check.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

enum { ITEMS = 8 };

/* What the items of one run do. */
typedef struct {
    int64_t late;      /* an item that waits until a thread is about to end; or -1 */
    bool fails[ITEMS]; /* what fails, */
    bool empty[ITEMS]; /* and what is an empty row */
    atomic_int begun;  /* whether the late one has: those before it wait for that */
    atomic_bool answered[ITEMS];
} script;

static atomic_int leaving;
static void leave(void) { atomic_fetch_add(&leaving, 1); }

enum { PATIENCE = 2000 }; /* milliseconds; where there is one thread, nobody leaves */

/* Waits for a thread to come to something. */
static void await(const atomic_int *count) {
    for (int n = 0; atomic_load(count) == 0 && n < PATIENCE; n++) usleep(1000);
}

static void *place(const void *job, ts_arena *arena) {
    (void)job, (void)arena;
    return NULL;
}

static void answer(const void *job, int64_t item, void *work, ts_outcome *outcome) {
    script *s = (script *)job;
    (void)work;
    if (item == s->late) atomic_fetch_add(&s->begun, 1);
    if (item == s->late) await(&leaving);
    if (item < s->late) await(&s->begun);
    if (item == s->late) usleep(20000); /* so that the other one's end has been told */
    if (s->fails[item])
        ts_items_fail(outcome, TS_NONFINITE_SCORE, item, (ts_detail){.row = item + 1});
    if (s->empty[item]) ts_items_note_empty(outcome, 10 * item);
    atomic_store(&s->answered[item], true);
}

static void *resize(void *data, void *block, size_t old_size, size_t new_size) {
    (void)data, (void)old_size;
    if (new_size > 0) return realloc(block, new_size);
    free(block);
    return NULL;
}

static ts_status run(script *s, bool shares, ts_outcome *whole, ts_detail *detail) {
    const ts_items items = {.job = s,
                            .count = ITEMS,
                            .cost = 0x1p30,
                            .shares = shares,
                            .place = place,
                            .answer = answer,
                            .leave = leave};
    const ts_run how = {.allocator = {resize, NULL}, .threads = 2};
    atomic_store(&leaving, 0);
    return ts_items_run(&items, &how, whole, detail);
}

/* The first item fails when the thread that met a later failure has ended, or the later one does
 * when the first one's thread has. */
static void check_first_failure(void) {
    for (int n = 0; n < 3; n++) {
        const bool shares = n == 2;
        script s = {.late = n % 2, .fails = {[0] = true, [1] = true, [ITEMS / 2] = true}};
        ts_outcome whole;
        ts_detail detail = {0};
        CHECK_INT(run(&s, shares, &whole, &detail), TS_NONFINITE_SCORE);
        CHECK_INT(detail.row, 1);
    }
}

/* The second half fails at once; all of the first one is answered still. */
static void check_before_failure(void) {
    script s = {.late = 0, .fails = {[2] = true, [ITEMS / 2] = true}};
    ts_outcome whole;
    ts_detail detail = {0};
    CHECK_INT(run(&s, true, &whole, &detail), TS_NONFINITE_SCORE);
    CHECK_INT(detail.row, 3);
    for (int n = 0; n < 3; n++) CHECK(s.answered[n]);
}

/* The lowest of the empty rows is met last. */
static void check_first_empty(void) {
    script s = {.late = 1, .empty = {[1] = true, [3] = true, [ITEMS - 1] = true}};
    ts_outcome whole;
    ts_detail detail = {0};
    CHECK_INT(run(&s, false, &whole, &detail), TS_OK);
    CHECK_INT(whole.first_empty, 10);
    CHECK_INT(whole.empty_rows, 3);
}

int main(void) {
    check_first_failure();
    check_before_failure();
    check_first_empty();
    return check_done();
}
