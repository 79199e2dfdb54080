/* chunk_pack.c -- K and V of the chunk at hand, packed. */
#include "chunk.h"

#include <math.h>
#include <string.h>

ts_matrix ts_chunk_k(const ts_tile *tile, int64_t row) {
    return ts_problem_k(tile->problem, tile->head + row / tile->queries);
}
ts_matrix ts_chunk_v(const ts_tile *tile, int64_t row) {
    return ts_problem_v(tile->problem, tile->head + row / tile->queries);
}

int64_t ts_chunk_key(const ts_tile *tile, int64_t lane) {
    int64_t s = 0;
    for (; lane > tile->segments[s].last - tile->segments[s].first; s++)
        lane -= tile->segments[s].last - tile->segments[s].first + 1;
    return tile->segments[s].first + lane;
}

/* The chunk's rows of m, one head of K or V, *stride numbers apart: where they lie if they lie
 * evenly and their numbers side by side, else a copy in tile->staging. */
static const void *gather(const ts_tile *tile, const ts_matrix *m, int64_t *stride) {
    const ts_loops *loops = tile->loops;
    const size_t size = ts_dtype_size(loops->dtype);
    const int64_t first = tile->problem->first_key;
    if (tile->segment_count == 1 && (m->col_stride == 1 || m->cols <= 1)) {
        *stride = m->row_stride;
        return ts_at(loops, m->data, (tile->segments[0].first - first) * m->row_stride);
    }
    char *to = tile->staging;
    for (int64_t s = 0; s < tile->segment_count; s++)
        for (int64_t j = tile->segments[s].first; j <= tile->segments[s].last; j++)
            for (int64_t c = 0; c < m->cols; c++, to += size)
                memcpy(to, ts_at(loops, m->data, (j - first) * m->row_stride + c * m->col_stride),
                       size);
    *stride = m->cols;
    return tile->staging;
}

/* In a copy, what is not finite becomes 0: it may stand at a masked key, which must not matter. */
static void zero_nonfinite(const ts_loops *loops, void *numbers, int64_t count) {
    if (loops->dtype == TS_F32) {
        for (float *x = numbers; count > 0; count--, x++)
            if (!isfinite(*x)) *x = 0;
    } else {
        for (double *x = numbers; count > 0; count--, x++)
            if (!isfinite(*x)) *x = 0;
    }
}

static void pack_k(ts_tile *tile, int64_t row) {
    const ts_matrix k = ts_chunk_k(tile, row);
    int64_t stride;
    const void *rows = gather(tile, &k, &stride);
    tile->loops->pack_columns(rows, stride, k.cols, tile->keys, tile->k_panels);
}

static void pack_v(ts_tile *tile, int64_t row) {
    const ts_matrix v = ts_chunk_v(tile, row);
    int64_t stride;
    const void *rows = gather(tile, &v, &stride);
    tile->clean = tile->loops->pack_rows(rows, stride, tile->keys, v.cols, tile->v_panels);
    if (!tile->clean) zero_nonfinite(tile->loops, tile->v_panels, tile->keys * tile->value_stride);
}

/* What the panels are to hold; no stretch where the chunk's keys are several. */
static ts_packed wanted(const ts_tile *tile, int64_t row) {
    if (tile->segment_count != 1) return (ts_packed){0};
    const int64_t head = tile->head + row / tile->queries;
    return (ts_packed){ts_problem_kv_head(tile->problem, head), tile->segments[0]};
}

/* Panels hold it already where a window's next tile begins with the keys that the last one ended
 * with. */
static bool is_packed(const ts_tile *tile, const ts_packed *chunk) {
    return chunk->keys.first > 0 && memcmp(&tile->packed, chunk, sizeof *chunk) == 0;
}

void ts_chunk_pack(ts_tile *tile, int64_t row) {
    const ts_packed chunk = wanted(tile, row);
    if (is_packed(tile, &chunk)) return;
    tile->packed = chunk;
    pack_k(tile, row);
    pack_v(tile, row);
}
