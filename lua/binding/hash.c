/* hash.c -- 128 bits that tell matrices apart. */
#include "hash.h"
#include "matrix.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Two streams of 64 x 64 -> 128 bit products, folded (after wyhash), each in lanes that do not wait
 * for one another. Not against an adversary; but two different problems agree in 128 bits by chance
 * only. */
enum { LANES = 4, STRIP = LANES * sizeof(uint64_t), CHUNK = 64 };

typedef struct {
    uint64_t a[LANES], b[LANES];
} hash;

static inline uint64_t fold(uint64_t x, uint64_t y) {
    __uint128_t product = (__uint128_t)x * y;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static inline void mix(hash *h, int lane, uint64_t word) {
    h->a[lane] = fold(h->a[lane] ^ word, 0x9E3779B97F4A7C15u) + word;
    h->b[lane] = fold(h->b[lane] + word, 0xD6E8FEB86659FD93u) ^ word;
}

static inline void mix_strip(hash *h, const char *bytes) {
    uint64_t words[LANES];
    memcpy(words, bytes, sizeof words);
    for (int lane = 0; lane < LANES; lane++) mix(h, lane, words[lane]);
}

/* The last strip is filled up with zeros: lengths are hashed, too. */
static void mix_bytes(hash *h, const char *bytes, size_t count) {
    size_t at = 0;
    hash state = *h;
    for (; at + STRIP <= count; at += STRIP) mix_strip(&state, bytes + at);
    if (at < count) {
        char rest[STRIP] = {0};
        memcpy(rest, bytes + at, count - at);
        mix_strip(&state, rest);
    }
    *h = state;
}

/* A row whose numbers do not lie side by side, by way of chunks: whole strips, but for the last. */
static void mix_strided(hash *h, const char *row, int64_t cols, int64_t step, size_t size) {
    char chunk[CHUNK * sizeof(double)];
    for (int64_t c = 0; c < cols; c += CHUNK) {
        int64_t count = cols - c < CHUNK ? cols - c : CHUNK;
        for (int64_t e = 0; e < count; e++)
            memcpy(chunk + (size_t)e * size, row + (c + e) * step, size);
        mix_bytes(h, chunk, (size_t)count * size);
    }
}

void ts_lua_hash(const ts_matrix *m, uint64_t out[2]) {
    const size_t size = ts_dtype_size(m->dtype);
    hash h = {{(uint64_t)m->rows, (uint64_t)m->cols, 1, 2}, {(uint64_t)m->cols, 3, 4, 5}};
    for (int64_t r = 0; r < m->rows; r++) {
        const char *row = (const char *)m->data + r * m->row_stride * (int64_t)size;
        if (m->col_stride == 1)
            mix_bytes(&h, row, (size_t)m->cols * size);
        else
            mix_strided(&h, row, m->cols, m->col_stride * (int64_t)size, size);
    }
    for (int lane = 1; lane < LANES; lane++) {
        mix(&h, 0, h.a[lane]);
        mix(&h, 0, h.b[lane]);
    }
    mix(&h, 0, 1);
    out[0] = h.a[0];
    out[1] = h.b[0];
}

/* core.matrix.hash(m) -> 32 hexadecimal digits, the same for the same shape and bits, whatever the
 * strides. */
static int hash_of(lua_State *L) {
    uint64_t bits[2];
    char digits[33];
    ts_lua_hash(ts_lua_check_matrix(L, 1), bits);
    snprintf(digits, sizeof digits, "%016" PRIx64 "%016" PRIx64, bits[0], bits[1]);
    lua_pushstring(L, digits);
    return 1;
}

const ts_lua_function ts_lua_matrix_hash[] = {{"hash", hash_of, 1}, {NULL, NULL, 0}};
