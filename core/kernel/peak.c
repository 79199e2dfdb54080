/* peak.c -- how many multiply-adds this machine does when nothing holds it up. */
#include "kernel.h"

#include <time.h>

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The best of short runs: a long one would only measure who else is using the core. */
static double peak(const ts_loops *loops, double seconds) {
    double best = 0;
    for (double end = now() + seconds; now() < end;) {
        double begun = now(), operations = loops->spin(100000), rate = operations / (now() - begun);
        if (rate > best) best = rate;
    }
    return best;
}

double ts_kernel_peak_f32(const ts_kernel *kernel, double seconds) {
    return peak(kernel->loops[TS_F32], seconds);
}
double ts_kernel_peak_f64(const ts_kernel *kernel, double seconds) {
    return peak(kernel->loops[TS_F64], seconds);
}
