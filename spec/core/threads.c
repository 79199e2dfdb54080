/* threads.c -- the threads of a team leave Ctrl-C to the one that called. */
#define _GNU_SOURCE
#include "../../core/threads.h"

#include "check.h"

#include <omp.h>
#include <pthread.h>
#include <signal.h>

static bool interrupt_is_blocked(void) {
    sigset_t set;
    pthread_sigmask(SIG_BLOCK, NULL, &set);
    return sigismember(&set, SIGINT) == 1;
}

int main(void) {
    const int team = ts_threads_team(3, 3);
    bool blocked[3] = {false, true, true};
    CHECK(!interrupt_is_blocked());
#pragma omp parallel num_threads(team)
    blocked[omp_get_thread_num()] = interrupt_is_blocked();
    CHECK(!blocked[0]);
    CHECK(blocked[1]);
    CHECK(blocked[2]);
    CHECK_INT(ts_threads_team(0, 1), 1);
    return check_done();
}
