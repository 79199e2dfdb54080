/* bytes.h -- a fuzzer's input, read as numbers; behind its end there are zeros. */
#ifndef TS_FUZZ_BYTES_H
#define TS_FUZZ_BYTES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    const uint8_t *at;
    size_t left;
} bytes;

static inline uint8_t bytes_one(bytes *in) {
    if (in->left == 0) return 0;
    in->left--;
    return *in->at++;
}
static inline int64_t bytes_below(bytes *in, int64_t n) { return bytes_one(in) % n; }
static inline int64_t bytes_int64(bytes *in) {
    uint64_t x = 0;
    for (int k = 0; k < 8; k++) x = x << 8 | bytes_one(in);
    return (int64_t)x;
}
static inline double bytes_double(bytes *in) {
    int64_t bits = bytes_int64(in);
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* Small numbers most of the time, and any. */
static inline int64_t bytes_number(bytes *in) {
    int64_t kind = bytes_below(in, 4);
    if (kind == 0) return bytes_int64(in);
    if (kind == 1) return (int64_t)1 << bytes_below(in, 63);
    return (int8_t)bytes_one(in);
}

/* Ends the run, and with it the fuzzer, which keeps the input. */
#define FUZZ_CHECK(condition)                                                                      \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                        \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

#endif
