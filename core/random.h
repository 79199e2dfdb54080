/* random.h -- a counter-based generator (Philox 4x32-10): number n of a stream depends on (seed, n)
 * alone. */
#ifndef TS_RANDOM_H
#define TS_RANDOM_H

#include "matrix.h"
#include "run.h"

/* One block of Philox 4x32-10 (Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as
 * 1, 2, 3", 2011). */
void ts_random_philox(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4]);

/* Fill m (any strides): element (r, c), from 0, is number r * cols + c of the stream `seed`.
 * Uniform in [0, 1), of 53 bits, an f32 being the f64 cut to 24 bits; normal (0, 1), an f32 being
 * the f64 rounded. The two kinds of stream are independent. Every step is IEEE arithmetic, written
 * out here: the same bits on every machine. run: NULL, or who may stop it (TS_INTERRUPTED). */
ts_status ts_random_uniform(ts_matrix *m, uint64_t seed, const ts_run *run);
ts_status ts_random_normal(ts_matrix *m, uint64_t seed, const ts_run *run);

#endif
