/* random.h -- a counter-based generator (Philox 4x32-10): number n of a stream depends on (seed, n)
 * alone. */
#ifndef TS_RANDOM_H
#define TS_RANDOM_H

#include "matrix.h"

/* One block of Philox 4x32-10 (Salmon et al. 2011). */
void ts_random_philox(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4]);

/* Fill m (any strides): element (r, c) is number r * cols + c of the stream `seed`. Uniform in [0,
 * 1); normal (0, 1). */
void ts_random_uniform(ts_matrix *m, uint64_t seed);
void ts_random_normal(ts_matrix *m, uint64_t seed);

#endif
