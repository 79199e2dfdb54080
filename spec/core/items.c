/* items.c -- pieces of work shared out to threads: each is answered once, in work space that is its
 * thread's alone, and whatever the threads do, the lowest failure is told. */
#include "../../core/items.h"
#include "sample.h"

#include <sched.h>

enum { MOST = 90, WORK = 9 }; /* items; numbers of work space, no whole lines of a cache */

/* Every third item that does not fail notes an empty row, at a place that falls as items rise. */
typedef struct {
    bool fails[MOST], waits[MOST];
    int *answered;
    int64_t work; /* numbers of work space */
} job;

static void *place(const void *asked, ts_arena *arena) {
    const job *job = asked;
    return ts_arena_take(arena, job->work, sizeof(int64_t));
}

/* Fills the work space with an item's number, and later finds it there. */
static void mark(int64_t *work, int64_t item) {
    for (int n = 0; n < WORK; n++) work[n] = item;
}
static bool is_marked(const int64_t *work, int64_t item) {
    bool marked = (uintptr_t)work % 64 == 0;
    for (int n = 0; n < WORK; n++) marked &= work[n] == item;
    return marked;
}

static void answer(const void *asked, int64_t item, void *work, ts_outcome *outcome) {
    const job *job = asked;
    mark(work, item);
    if (job->waits[item]) sched_yield();
    job->answered[item] += is_marked(work, item) ? 1 : MOST;
    if (job->fails[item])
        ts_items_fail(outcome, TS_CALLBACK, item, (ts_detail){.row = item});
    else if (item % 3 == 0)
        ts_items_note_empty(outcome, MOST - item);
}

static void check_failed_at(const job *job, int64_t lowest, const ts_detail *detail) {
    bool once = true;
    for (int64_t n = 0; n < MOST; n++)
        once &= n < lowest ? job->answered[n] == 1 : job->answered[n] <= 1;
    CHECK(once);
    CHECK_INT(detail->row, lowest);
    CHECK_INT(job->answered[lowest], 1);
}

static void check_all(const job *job, int64_t count, const ts_outcome *whole) {
    bool once = true;
    for (int64_t n = 0; n < MOST; n++) once &= job->answered[n] == (n < count);
    CHECK(once);
    CHECK_INT(whole->empty_rows, (count + 2) / 3);
    if (count > 0) CHECK_INT(whole->first_empty, MOST - (count - 1) / 3 * 3);
}

/* Of every `rare` items one fails; 0: none. */
static void check_run(int64_t count, int threads, bool shares, int64_t rare) {
    int answered[MOST] = {0};
    job job = {.answered = answered, .work = WORK};
    int64_t lowest = count;
    for (int64_t n = count; n-- > 0;) {
        job.waits[n] = sample_draw(2);
        job.fails[n] = rare > 0 && sample_draw(rare) == 0;
        if (job.fails[n]) lowest = n;
    }
    const ts_items items = {.job = &job,
                            .count = count,
                            .cost = 0x1p20 * MOST,
                            .shares = shares,
                            .place = place,
                            .answer = answer};
    const ts_run run = sample_run(threads);
    ts_outcome whole;
    ts_detail detail = {0};
    CHECK_INT(ts_items_run(&items, &run, &whole, &detail), lowest < count ? TS_CALLBACK : TS_OK);
    if (lowest < count)
        check_failed_at(&job, lowest, &detail);
    else
        check_all(&job, count, &whole);
}

/* Work space that cannot be is too large, unless there is nothing to do; memory that fails is told
 * of with its size. */
static void check_memory(void) {
    int answered[MOST] = {0};
    job job = {.answered = answered, .work = PTRDIFF_MAX / (int64_t)sizeof(int64_t)};
    ts_items items = {.job = &job, .count = MOST, .place = place, .answer = answer};
    const ts_run run = sample_run(1);
    ts_outcome whole;
    ts_detail detail = {0};
    size_t bytes;
    CHECK_INT(ts_items_memory(&items, &run, &bytes), TS_TOO_LARGE);
    CHECK_INT(ts_items_run(&items, &run, &whole, &detail), TS_TOO_LARGE);
    items.count = 0;
    CHECK_INT(ts_items_memory(&items, &run, &bytes), TS_OK);
    CHECK_INT(bytes, 0);
    CHECK_INT(ts_items_run(&items, &run, &whole, &detail), TS_OK);
    items.count = MOST, job.work = WORK, sample_fail_at = 0;
    CHECK_INT(ts_items_memory(&items, &run, &bytes), TS_OK);
    CHECK_INT(bytes, 64 + 128 + 63); /* a share, two lines, and room to align them */
    CHECK_INT(ts_items_run(&items, &run, &whole, &detail), TS_NO_MEMORY);
    CHECK_INT((int64_t)detail.bytes, (int64_t)bytes);
    for (int n = 0; n < MOST; n++) CHECK_INT(answered[n], 0);
    sample_fail_at = -1;
}

int main(void) {
    check_memory();
    static const int64_t rarities[] = {0, 1, 10, 60};
    for (int n = 0; n < 4000; n++)
        check_run(sample_draw(MOST + 1), 1 + n % 4, n / 4 % 2, rarities[n / 8 % 4]);
    CHECK_INT(sample_blocks, 0);
    return check_done();
}
