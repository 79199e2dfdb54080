/* arena.h -- one piece of memory, handed out in aligned parts; over no memory it counts what it
 * would need. */
#ifndef TS_ARENA_H
#define TS_ARENA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef struct {
    char *base;  /* aligned to 64; NULL: only count */
    size_t used; /* SIZE_MAX: more than there can be */
} ts_arena;

/* The next `count` things of `size` bytes, aligned to 64. */
static inline void *ts_arena_take(ts_arena *arena, int64_t count, size_t size) {
    size_t bytes, end;
    if (__builtin_mul_overflow((size_t)count, size, &bytes) ||
        __builtin_add_overflow(arena->used, bytes, &end) || end > PTRDIFF_MAX - 64) {
        arena->used = PTRDIFF_MAX; /* every further part overflows too */
        return NULL;
    }
    void *part = arena->base ? arena->base + arena->used : NULL;
    arena->used = (end + 63) / 64 * 64;
    return part;
}

/* rows x columns of them. */
static inline void *ts_arena_take_grid(ts_arena *arena, int64_t rows, int64_t columns,
                                       size_t size) {
    int64_t count;
    return ts_arena_take(arena, __builtin_mul_overflow(rows, columns, &count) ? INT64_MAX : count,
                         size);
}

/* A copy of a thing of `size` bytes; NULL where the arena only counts. */
static inline void *ts_arena_keep(ts_arena *arena, const void *thing, size_t size) {
    void *part = ts_arena_take(arena, 1, size);
    return part ? memcpy(part, thing, size) : NULL;
}

static inline bool ts_arena_too_large(const ts_arena *arena) {
    return arena->used > PTRDIFF_MAX - 64;
}

#endif
