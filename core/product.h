/* product.h -- the matrix product C = A B on the kernels of this machine. */
#ifndef TS_PRODUCT_H
#define TS_PRODUCT_H

#include "matrix.h"
#include "run.h"

/* a: m x k, b: k x n, c: m x n, one dtype, any strides; c shares no memory with a or b. The same
 * bits for any number of threads. TS_NO_MEMORY, TS_INTERRUPTED. */
ts_status ts_product(const ts_matrix *a, const ts_matrix *b, ts_matrix *c, const ts_run *run);

#endif
