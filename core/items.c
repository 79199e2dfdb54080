/* items.c -- pieces of work taken in turn by a team of threads. */
#include "items.h"

#include "threads.h"

#include <omp.h>
#include <stdatomic.h>

struct ts_items_shared {
    const ts_items *items;
    const ts_run *run;
    atomic_llong next, failed; /* the next item; the lowest that failed */
    atomic_bool stopped;
};

static bool ask(const ts_outcome *mine, double done) {
    ts_items_shared *shared = mine->shared;
    const ts_run *run = shared->run;
    if (mine->calling && run->poll && run->poll(run->poll_data, done < 1 ? done : 1))
        atomic_store(&shared->stopped, true);
    return atomic_load(&shared->stopped);
}

bool ts_items_pause(ts_outcome *outcome, double part) {
    ts_items_shared *shared = outcome->shared;
    double begun = (double)atomic_load(&shared->next) - 1;
    return ask(outcome, (begun + part) / (double)shared->items->count);
}

void ts_items_fail(ts_outcome *outcome, ts_status status, int64_t item, ts_detail detail) {
    if (outcome->status) return;
    outcome->status = status;
    outcome->item = item;
    outcome->detail = detail;
}

void ts_items_note_empty(ts_outcome *outcome, int64_t place) {
    if (outcome->empty_rows++ == 0 || place < outcome->first_empty) outcome->first_empty = place;
}

/* Items are handed out in order, and a thread ends at its first failure, so when all threads have
 * ended, every item below the lowest failure has been answered. */
static void take_items(ts_items_shared *shared, void *work, ts_outcome *mine) {
    const ts_items *items = shared->items;
    while (!atomic_load(&shared->stopped)) {
        long long item = atomic_fetch_add(&shared->next, 1);
        if (item >= items->count || item > atomic_load(&shared->failed)) return;
        items->answer(items->job, item, work, mine);
        if (mine->status) {
            long long lowest = atomic_load(&shared->failed);
            while (item < lowest && !atomic_compare_exchange_weak(&shared->failed, &lowest, item)) {
            }
            return;
        }
        ask(mine, (double)(item + 1) / (double)items->count);
    }
}

static void join(ts_outcome *whole, const ts_outcome *part) {
    if (part->status && (!whole->status || part->item < whole->item)) {
        whole->status = part->status;
        whole->item = part->item;
        whole->detail = part->detail;
    }
    if (part->empty_rows > 0 && (whole->empty_rows == 0 || part->first_empty < whole->first_empty))
        whole->first_empty = part->first_empty;
    whole->empty_rows += part->empty_rows;
}

/* What one thread does: number `member` of the team, 0 being the one that called. */
static void run_member(ts_items_shared *shared, int member, char *memory, ts_outcome *whole) {
    const ts_items *items = shared->items;
    ts_outcome mine = {.shared = shared, .calling = member == 0};
    take_items(shared, memory + items->work * (size_t)member, &mine);
    if (items->leave) items->leave();
#pragma omp critical(ts_items_join)
    join(whole, &mine);
}

/* One thread alone needs no parallel region: what calls back shall not be in one. */
static void run_team(ts_items_shared *shared, int team, char *memory, ts_outcome *whole) {
    if (team == 1) {
        run_member(shared, 0, memory, whole);
        return;
    }
#pragma omp parallel num_threads(team)
    run_member(shared, omp_get_thread_num(), memory, whole);
}

static int team_of(const ts_items *items, const ts_run *run) {
    double worth = 1 + items->cost * 0x1p-20;
    int64_t most = worth < (double)items->count ? (int64_t)worth : items->count;
    return items->alone ? 1 : ts_threads_team(run->threads, most);
}

ts_status ts_items_run(const ts_items *items, const ts_run *run, ts_outcome *whole,
                       ts_detail *detail) {
    ts_items_shared shared = {.items = items, .run = run};
    size_t bytes;
    *whole = (ts_outcome){.status = TS_OK};
    if (items->count == 0) return TS_OK;
    int team = team_of(items, run);
    if (__builtin_mul_overflow(items->work, (size_t)team, &bytes) ||
        __builtin_add_overflow(bytes, 64, &bytes))
        return TS_TOO_LARGE;
    char *memory = run->allocator.resize(run->allocator.data, NULL, 0, bytes);
    if (!memory) {
        detail->bytes = bytes;
        return TS_NO_MEMORY;
    }
    atomic_init(&shared.next, 0);
    atomic_init(&shared.failed, INT64_MAX);
    atomic_init(&shared.stopped, false);
    run_team(&shared, team, memory + (-(uintptr_t)memory & 63), whole);
    run->allocator.resize(run->allocator.data, memory, bytes, 0);
    if (atomic_load(&shared.stopped)) return TS_INTERRUPTED;
    if (whole->status) *detail = whole->detail;
    return whole->status;
}
