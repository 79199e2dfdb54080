/* items.c -- pieces of work taken in turn by a team of threads. */
#include "items.h"

#include "threads.h"

#include <omp.h>
#include <stdatomic.h>

/* Items next .. end - 1, which stand at the beginning of a thread's memory. */
typedef struct {
    atomic_llong next;
    long long first, end;
} share;

struct ts_items_shared {
    const ts_items *items;
    const ts_run *run;
    char *memory; /* aligned to 64 */
    size_t each; /* bytes of it for a thread: whole lines of a cache, so that no two write to one */
    int shares;  /* one a thread; or a single one, from which all take */
    atomic_llong failed; /* the lowest item that failed */
    atomic_bool stopped;
};

static char *memory_of(const ts_items_shared *shared, int member) {
    return shared->memory + shared->each * (size_t)member;
}

/* A thread's share, then its work space, which is returned. */
static void *lay_out(const ts_items *items, ts_arena *arena) {
    ts_arena_take(arena, 1, sizeof(share));
    return items->place(items->job, arena);
}

/* ---- whether to stop ---- */

/* Items that have been taken. */
static double begun(const ts_items_shared *shared) {
    long long count = 0;
    for (int n = 0; n < shared->shares; n++) {
        share *of = (share *)memory_of(shared, n);
        long long next = atomic_load(&of->next);
        count += (next < of->end ? next : of->end) - of->first;
    }
    return (double)count;
}

/* The last item taken by this thread counts as done but for `left` of it. Who has said stop is not
 * asked again. */
static bool ask(const ts_outcome *mine, double left) {
    ts_items_shared *shared = mine->shared;
    const ts_run *run = shared->run;
    if (mine->calling && run->poll && !atomic_load(&shared->stopped) &&
        run->poll(run->poll_data, (begun(shared) - left) / (double)shared->items->count))
        atomic_store(&shared->stopped, true);
    return atomic_load(&shared->stopped);
}

bool ts_items_pause(ts_outcome *outcome, double part) {
    return ask(outcome, 1 - part) || outcome->item > atomic_load(&outcome->shared->failed);
}

/* ---- what the items come to ---- */

void ts_items_fail(ts_outcome *outcome, ts_status status, int64_t item, ts_detail detail) {
    if (outcome->status) return;
    outcome->status = status;
    outcome->item = item;
    outcome->detail = detail;
}

void ts_items_note_empty(ts_outcome *outcome, int64_t place) {
    if (outcome->empty_rows++ == 0 || place < outcome->first_empty) outcome->first_empty = place;
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

/* ---- the threads ---- */

/* The next item of the member's own share, then of what others have left; -1: none that is not
 * beyond a failure. With shares a thread reads what it read in the last call, too: what another
 * processor read last comes more slowly, long after it has left that one's caches. */
static long long take_item(const ts_items_shared *shared, int member) {
    for (int n = 0; n < shared->shares; n++) {
        share *from = (share *)memory_of(shared, (member + n) % shared->shares);
        long long item = atomic_fetch_add(&from->next, 1);
        if (item < from->end && item < atomic_load(&shared->failed)) return item;
    }
    return -1;
}

/* A thread ends at its first failure. The first one of the team takes items in order, and leaves no
 * share before all of it, up to a failure, is taken: so when all threads have ended, every item
 * below the lowest failure has been answered. */
static void take_items(ts_items_shared *shared, int member, void *work, ts_outcome *mine) {
    const ts_items *items = shared->items;
    long long item;
    while (!atomic_load(&shared->stopped) && (item = take_item(shared, member)) >= 0) {
        mine->item = item;
        items->answer(items->job, item, work, mine);
        if (mine->status) {
            long long lowest = atomic_load(&shared->failed);
            while (item < lowest && !atomic_compare_exchange_weak(&shared->failed, &lowest, item)) {
            }
            return;
        }
        ask(mine, 0);
    }
}

/* What one thread does: number `member` of the team, 0 being the one that called. */
static void run_member(ts_items_shared *shared, int member, ts_outcome *whole) {
    const ts_items *items = shared->items;
    ts_outcome mine = {.shared = shared, .calling = member == 0};
    ts_arena arena = {memory_of(shared, member), 0};
    void *work = lay_out(items, &arena);
    take_items(shared, member, work, &mine);
    if (items->leave) items->leave();
#pragma omp critical(ts_items_join)
    join(whole, &mine);
}

/* One thread alone needs no parallel region: what calls back shall not be in one. */
static void run_team(ts_items_shared *shared, int team, ts_outcome *whole) {
    const int64_t count = shared->items->count;
    shared->shares = shared->items->shares ? team : 1;
    for (int n = 0; n < shared->shares; n++) {
        share *of = (share *)memory_of(shared, n);
        of->first = count * n / shared->shares;
        of->end = count * (n + 1) / shared->shares;
        atomic_init(&of->next, of->first);
    }
    if (team == 1) {
        run_member(shared, 0, whole);
        return;
    }
#pragma omp parallel num_threads(team)
    run_member(shared, omp_get_thread_num(), whole);
}

int ts_items_team(const ts_items *items, const ts_run *run) {
    if (items->alone) return 1;
    double worth = items->cost * 0x1p-20;
    return ts_threads_team(run->threads,
                           worth < (double)items->count ? (int64_t)worth : items->count);
}

/* *each: of a thread; *bytes: of the team, with room to align it. */
static ts_status team_memory(const ts_items *items, int team, size_t *each, size_t *bytes) {
    ts_arena arena = {NULL, 0};
    lay_out(items, &arena);
    *each = arena.used;
    if (ts_arena_too_large(&arena) || __builtin_mul_overflow(*each, (size_t)team, bytes) ||
        __builtin_add_overflow(*bytes, 63, bytes))
        return TS_TOO_LARGE;
    return TS_OK;
}

ts_status ts_items_memory(const ts_items *items, const ts_run *run, size_t *bytes) {
    size_t each;
    *bytes = 0;
    return items->count == 0 ? TS_OK : team_memory(items, ts_items_team(items, run), &each, bytes);
}

ts_status ts_items_run(const ts_items *items, const ts_run *run, ts_outcome *whole,
                       ts_detail *detail) {
    ts_items_shared shared = {.items = items, .run = run};
    size_t bytes;
    *whole = (ts_outcome){.status = TS_OK};
    if (items->count == 0) return TS_OK;
    int team = ts_items_team(items, run);
    if (team_memory(items, team, &shared.each, &bytes)) return TS_TOO_LARGE;
    char *memory = run->allocator.resize(run->allocator.data, NULL, 0, bytes);
    if (!memory) {
        detail->bytes = bytes;
        return TS_NO_MEMORY;
    }
    shared.memory = memory + (-(uintptr_t)memory & 63);
    atomic_init(&shared.failed, INT64_MAX);
    atomic_init(&shared.stopped, false);
    run_team(&shared, team, whole);
    run->allocator.resize(run->allocator.data, memory, bytes, 0);
    if (atomic_load(&shared.stopped)) return TS_INTERRUPTED;
    if (whole->status) *detail = whole->detail;
    return whole->status;
}
