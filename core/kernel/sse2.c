/* sse2.c -- SSE2: 16 bytes a vector, and no fused multiply-add. */
#include "kernel.h"

#ifdef __x86_64__

#include <immintrin.h>
#include <sleef.h>

#define SET sse2
#define BYTES 16
#define ROWS 6
#define VECTORS 2
#define VECTORS_OF(rows) ((rows) <= 3 ? 4 : VECTORS)
#define REGISTER "x"
#define SPLAT_f32(x) ((vec_f32)_mm_set1_ps(x))
#define SPLAT_f64(x) ((vec_f64)_mm_set1_pd(x))
#define FMA_f32(y, x, z) ((y) * (x) + (z))
#define FMA_f64(y, x, z) ((y) * (x) + (z))
/* One rounding, by way of doubles: they hold the product exactly. */
typedef double sse2_wide __attribute__((vector_size(32)));
#define DOUBLES(x) __builtin_convertvector(x, sse2_wide)
#define FUSED_f32(y, x, z) __builtin_convertvector(DOUBLES(y) * DOUBLES(x) + DOUBLES(z), vec_f32)
#define MAX_f32(x, y) ((vec_f32)_mm_max_ps(x, y))
#define MAX_f64(x, y) ((vec_f64)_mm_max_pd(x, y))
#define EXP2_f32(x) ((vec_f32)Sleef_exp2f4_u35sse2(x))
#define EXP2_f64(x) ((vec_f64)Sleef_exp2d2_u35sse2(x))
#define SLEEF_f32(f, ulp) Sleef_##f##f4_##ulp##sse2
#define SLEEF_ALONE_f32(f, ulp) Sleef_cinz_##f##f4_##ulp##sse2
#define SLEEF_f64(f, ulp) Sleef_##f##d2_##ulp##sse2
#define SLEEF_ALONE_f64(f, ulp) Sleef_cinz_##f##d2_##ulp##sse2
#define SIGNS_f32(x) (uint32_t) _mm_movemask_ps((__m128)(x))
#define SIGNS_f64(x) (uint32_t) _mm_movemask_pd((__m128d)(x))
/* clang-format off */
#define SHAPES                                                              \
    SHAPE(1, 1) SHAPE(2, 1) SHAPE(3, 1) SHAPE(4, 1) SHAPE(5, 1) SHAPE(6, 1) \
    SHAPE(1, 2) SHAPE(2, 2) SHAPE(3, 2) SHAPE(4, 2) SHAPE(5, 2) SHAPE(6, 2) \
    SHAPE(1, 3) SHAPE(1, 4)                                                 \
    SHAPE(2, 3) SHAPE(2, 4) SHAPE(3, 3) SHAPE(3, 4)
/* clang-format on */

#include "set.inc"

#endif
