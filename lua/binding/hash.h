/* hash.h -- 128 bits that tell matrices apart. */
#ifndef TS_BINDING_HASH_H
#define TS_BINDING_HASH_H

#include "binding.h"

/* Of the shape and the bits of the elements, row by row; the strides and the dtype are not hashed.
 */
void ts_lua_hash(const ts_matrix *m, uint64_t out[2]);

#endif
