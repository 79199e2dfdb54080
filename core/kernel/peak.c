/* peak.c -- what this machine can do when nothing holds it up: multiply-adds, and bytes read. */
#include "peak.h"

#include <omp.h>
#include <time.h>

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The best of short rounds, in which all threads start at once: a long one would only measure who
 * else is using the processors. */
double ts_kernel_peak(const ts_kernel *kernel, ts_dtype dtype, int threads, double seconds) {
    const ts_loops *loops = kernel->loops[dtype];
    double best = 0;
    for (double end = now() + seconds; best == 0 || now() < end;) {
        double operations = 0, slowest = 0;
#pragma omp parallel num_threads(threads) reduction(+ : operations) reduction(max : slowest)
        {
#pragma omp barrier
            const double begun = now();
            operations += loops->spin(100000);
            slowest = now() - begun;
        }
        if (operations / slowest > best) best = operations / slowest;
    }
    return best;
}

double ts_kernel_bandwidth(const ts_kernel *kernel, const void *memory, int64_t bytes, int threads,
                           double seconds) {
    const ts_loops *loops = kernel->loops[TS_F64];
    double best = 0;
    for (double end = now() + seconds; best == 0 || now() < end;) {
        const double begun = now();
#pragma omp parallel num_threads(threads)
        {
            const int64_t team = omp_get_num_threads(), t = omp_get_thread_num();
            const int64_t share = bytes / 8 / team;
            loops->read(ts_at(loops, memory, t * share), share);
        }
        const double rate = (double)bytes / (now() - begun);
        if (rate > best) best = rate;
    }
    return best;
}
