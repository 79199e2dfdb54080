/* kernel.h -- the inner loops for one instruction set, in one table; chosen once. */
#ifndef TS_KERNEL_H
#define TS_KERNEL_H

#include "../status.h"

typedef struct ts_kernel ts_kernel; /* its fields are the engine's; see below */

/* The best set that the CPU and the operating system allow, or the one TESSERA_ISA names. NULL
 * before ts_kernel_select. */
const ts_kernel *ts_kernel_get(void);
/* Chooses by name ("sse2", "avx2", "avx512", "neon"), or the best where name is NULL or "".
 * TS_NO_ISA. Call it before any other. */
ts_status ts_kernel_select(const char *name);
/* The names of the sets that this machine has, best first, separated by ", ". */
const char *ts_kernel_available(void);
const char *ts_kernel_name(const ts_kernel *kernel);

/* Multiply-adds per second x 2 of one thread, measured for about `seconds`, for the bench. */
double ts_kernel_peak_f32(const ts_kernel *kernel, double seconds);
double ts_kernel_peak_f64(const ts_kernel *kernel, double seconds);

#endif
