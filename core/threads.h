/* threads.h -- how many threads a parallel region may take. */
#ifndef TS_THREADS_H
#define TS_THREADS_H

#include <stdint.h>

/* At most `wanted` (0: what OpenMP would take), at most `items`, and as many as the address space
 * has room for: libgomp ends the process when a thread cannot be made, so the stacks are probed
 * first. At least 1; in a process forked off one that had a team, 1. */
int ts_threads_team(int wanted, int64_t items);
int ts_threads_default(void);     /* what 0 means: OMP_NUM_THREADS, or the processors, unless set */
void ts_threads_set(int threads); /* for this process's calls only: omp_set_num_threads is not
                                     touched; 0: back to the default */

#endif
