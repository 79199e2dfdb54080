/* peak.h -- what this machine can do when nothing holds it up: what the bench measures against. */
#ifndef TS_PEAK_H
#define TS_PEAK_H

#include "kernel.h"

/* Operations a second, two a multiply-add, of so many threads at once; measured for about
 * `seconds`, the best round counts. */
double ts_kernel_peak(const ts_kernel *kernel, ts_dtype dtype, int threads, double seconds);

/* Bytes a second that so many threads read, once through `memory`: more of it than the caches hold.
 */
double ts_kernel_bandwidth(const ts_kernel *kernel, const void *memory, int64_t bytes, int threads,
                           double seconds);

#endif
