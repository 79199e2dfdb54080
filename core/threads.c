/* threads.c -- how many threads a parallel region may take. */
#define _GNU_SOURCE
#include "threads.h"

#include <omp.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static atomic_int chosen; /* by ts_threads_set; 0: none */
/* libgomp keeps a team's threads for the thread that called, so each caller has its own: */
static _Thread_local int proven; /* threads of the last team: they are there, or were */
static _Thread_local pid_t home; /* the process that they are in; 0: none yet */

int ts_threads_default(void) {
    const int set = chosen;
    return set > 0 ? set : omp_get_max_threads();
}
void ts_threads_set(int threads) { chosen = threads > 0 ? threads : 0; }

/* Bytes of a worker's stack with its guard: OMP_STACKSIZE (a number and B, K, M or G; K unless
 * said), or the system's default. */
static size_t stack_size(void) {
    pthread_attr_t attributes;
    size_t size = 8 << 20;
    if (pthread_attr_init(&attributes) == 0) {
        pthread_attr_getstacksize(&attributes, &size);
        pthread_attr_destroy(&attributes);
    }
    const char *asked = getenv("OMP_STACKSIZE");
    if (asked) {
        char *unit;
        unsigned long long number = strtoull(asked, &unit, 10);
        while (*unit == ' ') unit++;
        int shift = *unit == 'B' || *unit == 'b'   ? 0
                    : *unit == 'M' || *unit == 'm' ? 20
                    : *unit == 'G' || *unit == 'g' ? 30
                                                   : 10;
        if (number > 0 && number < (1ull << (62 - shift))) size = (size_t)(number << shift);
    }
    return size + (64 << 10);
}

/* Whether the address space has room for so many more stacks. */
static int fits(int workers, size_t size) {
    size_t bytes;
    if (__builtin_mul_overflow((size_t)workers, size, &bytes)) return 0;
    void *room = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (room == MAP_FAILED) return 0;
    munmap(room, bytes);
    return 1;
}

/* Makes the workers with SIGINT blocked: Ctrl-C is for the thread that called, which may be waiting
 * for it. */
static void make_workers(int team) {
    sigset_t interrupt, before;
    sigemptyset(&interrupt);
    sigaddset(&interrupt, SIGINT);
    pthread_sigmask(SIG_BLOCK, &interrupt, &before);
#pragma omp parallel num_threads(team)
    __asm__ volatile("" ::: "memory"); /* an empty region would be left out */
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

int ts_threads_team(int wanted, int64_t items) {
    int team = wanted > 0 ? wanted : ts_threads_default();
    if (team > omp_get_thread_limit()) team = omp_get_thread_limit();
    if (team > items) team = items > 1 ? (int)items : 1;
    if (team <= 1 || omp_in_parallel()) return 1;
    /* A forked child has none of its parent's workers, and libgomp would wait for them for ever. */
    if (home == 0) home = getpid();
    if (home != getpid()) return 1;
    if (team > proven) {
        size_t size = stack_size();
        while (team > 1 && !fits(team - 1, size)) team--;
        if (team > 1) make_workers(team);
    }
    proven = team;
    return team;
}
