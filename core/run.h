/* run.h -- how a long call is run: where work space comes from, on how many threads, who may stop
 * it. */
#ifndef TS_RUN_H
#define TS_RUN_H

#include <stdbool.h>
#include <stddef.h>

/* Like realloc: block is NULL or what an earlier call returned, of old_size bytes; new_size 0 frees
 * and returns NULL. Returns NULL, with the old block untouched, where memory fails. Blocks are
 * aligned as malloc's. */
typedef struct {
    void *(*resize)(void *data, void *block, size_t old_size, size_t new_size);
    void *data;
} ts_allocator;

typedef struct {
    ts_allocator allocator; /* called on the calling thread only, never inside a parallel region */
    int threads;            /* how many at most; 0: as many as OpenMP would take */
    /* Called on the calling thread between blocks with the part done so far (0 to 1); true stops
     * the call, which then returns TS_INTERRUPTED. It must not raise or jump. NULL: never stopped.
     */
    bool (*poll)(void *data, double done);
    void *poll_data;
} ts_run;

#endif
