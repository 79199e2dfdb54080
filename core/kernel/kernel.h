/* kernel.h -- the inner loops for one instruction set, in one table; chosen once. */
#ifndef TS_KERNEL_H
#define TS_KERNEL_H

#include "../matrix.h"
#include "../sizes.h"

/* B of a product, `depth` rows of `width` lanes, a multiple of a vector: packed, cut into panels of
 * loops->panel lanes (the last one narrower), each the `depth` rows of its lanes, aligned to 64. */
typedef struct {
    const void *numbers;
    int64_t depth, width;
} ts_panels;

/* Rows of K or V as they lie in memory, `stride` numbers apart: each is the rows of `heads` heads
 * side by side, `width` numbers wide. */
typedef struct {
    const void *numbers;
    int64_t stride, heads, width;
} ts_passing;

enum { TS_PASSING_KEYS = 32 }; /* rows of K, at least, that pass by together */

/* Summaries of consecutive rows: row r has max[r], norm[r] and value[r * stride ..]. */
typedef struct {
    void *max, *norm, *value;
    int64_t stride;
} ts_rows;

/* The loops over numbers of one dtype; every `void *` points to numbers of it. A result's bits
 * depend on its own operands only, never on its place in a vector, a register tile or a strip. */
typedef struct {
    ts_dtype dtype;
    int lanes; /* numbers in a vector */
    int rows;  /* of a register tile */
    int panel; /* lanes of a register tile: some vectors */

    /* Packs B, `depth` rows of `lanes` numbers, `stride` apart: rows side by side in memory are
     * lanes side by side. Lanes up to the full vector are 0. False where a number is not finite. */
    bool (*pack_rows)(const void *b, int64_t stride, int64_t depth, int64_t lanes, void *panels);
    /* The same from Bᵀ, `lanes` rows of `depth` numbers: K as it lies in memory. */
    void (*pack_columns)(const void *b, int64_t stride, int64_t depth, int64_t lanes, void *panels);
    /* C = A B over lanes from .. to (multiples of a vector) and `depth` rows of B from `first` on;
     * A is rows x depth. Each number is one chain of multiply-adds in order of depth; C, with
     * `add`, or +0.0 is added at the end. C's column 0 is lane `from`. */
    void (*product)(int64_t rows, int64_t depth, const void *a, int64_t a_stride,
                    const ts_panels *b, int64_t first, int64_t from, int64_t to, void *c,
                    int64_t c_stride, bool add);
    /* The same chains with `keys` rows of K, or V, that are used once, as they pass by; meanwhile
     * the rows behind them are asked for. Head h has `rows` rows of A, of P and of C, one head's
     * behind the other's. C = A Kᵀ, up to a full vector of lanes; A's rows are k->width apart.
     * `columns` has room for 16 rows of A for each head. */
    void (*pass_keys)(int64_t rows, const void *a, const ts_passing *k, int64_t keys, void *columns,
                      void *c, int64_t c_stride);
    /* Z = P V; v->width is a multiple of a vector, and z aligned to one. False where a number of Z
     * is not finite. */
    bool (*pass_values)(int64_t rows, const void *p, int64_t p_stride, const ts_passing *v,
                        int64_t keys, void *z, int64_t z_stride);

    /* to[i] = factor * from[i * step], in double, rounded once. */
    void (*scale)(double factor, const void *from, int64_t step, int64_t count, void *to);
    /* Scores from .. to (multiples of a vector) of rows `stride` apart become -inf where the bit
     * is 0; a row of bits has `words` words. */
    void (*select)(int64_t rows, const uint64_t *bits, int64_t words, int64_t from, int64_t to,
                   void *scores, int64_t stride);
    /* Of scores from .. to (multiples of a vector) of rows, in place: their maximum m, the weights
     * 2^((s - m) unit), and the sum ℓ of those, lane by lane of a panel and then as a tree. A row
     * of -inf is ⊥: its weights and ℓ are 0. A NaN or +inf makes ℓ NaN, and the result false.
     * degree: of the polynomial, 0 for SLEEF's exp2. soon: what will be read next from memory,
     * which is idle meanwhile, or NULL. */
    bool (*weights)(int64_t rows, int64_t from, int64_t to, int64_t stride, double unit, int degree,
                    const void *soon, void *scores, void *max, void *norm);
    /* out = a ⋆ b for `rows` rows of values `width` wide; out may be a or b. */
    void (*merge)(int64_t rows, int64_t width, double unit, const ts_rows *a, const ts_rows *b,
                  const ts_rows *out);
    /* out[i * step] = value[i] / norm, never -0. */
    void (*divide)(int64_t width, const void *value, double norm, void *out, int64_t step);
    /* For the bench: multiply-adds that nothing can hold up (returns how many operations), and a
     * read through `count` numbers. */
    double (*spin)(int64_t rounds);
    void (*read)(const void *numbers, int64_t count);
} ts_loops;

typedef struct ts_kernel {
    const char *name;
    const ts_loops *loops[2];          /* by dtype */
    const struct ts_lane_table *lanes; /* the operations of programs: lanes.h */
} ts_kernel;

/* The set that ts_kernel_select chose last, or without such a call the best that the CPU and the
 * operating system allow. */
const ts_kernel *ts_kernel_get(void);
/* Chooses by name ("sse2", "avx2", "avx512", "neon"), or the best where name is NULL or "".
 * TS_NO_ISA, and then the choice stays. Call it while nothing runs. */
ts_status ts_kernel_select(const char *name);
/* The names of the sets that this machine has, best first, separated by ", ". */
const char *ts_kernel_available(void);
const char *ts_kernel_name(const ts_kernel *kernel);

/* Element i of numbers of a dtype. */
static inline void *ts_at(const ts_loops *loops, const void *numbers, int64_t i) {
    return (char *)numbers + i * (int64_t)ts_dtype_size(loops->dtype);
}

/* Asks memory for `count` numbers that will soon be read, or written: heads lie side by side, so
 * that one's rows are a few lines amid others, which no hardware foresees. */
static inline void ts_ask(const ts_loops *loops, const void *numbers, int64_t count) {
    const int64_t bytes = count * (int64_t)ts_dtype_size(loops->dtype);
    for (int64_t b = 0; b < bytes; b += 64) __builtin_prefetch((const char *)numbers + b, 0, 2);
}
static inline void ts_ask_to_write(const ts_loops *loops, void *numbers, int64_t count) {
    const int64_t bytes = count * (int64_t)ts_dtype_size(loops->dtype);
    for (int64_t b = 0; b < bytes; b += 64) __builtin_prefetch((char *)numbers + b, 1, 2);
}
enum { TS_ROWS_AHEAD = 16 }; /* of the one at hand */

#endif
