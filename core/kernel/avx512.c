/* avx512.c -- AVX-512: 32 registers of 64 bytes. */
#include "kernel.h"

#ifdef __x86_64__

#include <immintrin.h>
#include <sleef.h>

extern const ts_kernel ts_kernel_avx2;

#define SET avx512
#define NARROWER ts_kernel_avx2
#define BYTES 64
#define ROWS 6
#define VECTORS 4
#define VECTORS_OF(rows) VECTORS
#define REGISTER "v"
#define SPLAT_f32(x) ((vec_f32)_mm512_set1_ps(x))
#define SPLAT_f64(x) ((vec_f64)_mm512_set1_pd(x))
#define FMA_f32(y, x, z) ((vec_f32)_mm512_fmadd_ps(y, x, z))
#define FMA_f64(y, x, z) ((vec_f64)_mm512_fmadd_pd(y, x, z))
#define MAX_f32(x, y) ((vec_f32)_mm512_max_ps(x, y))
#define MAX_f64(x, y) ((vec_f64)_mm512_max_pd(x, y))
#define EXP2_f32(x) ((vec_f32)Sleef_exp2f16_u35avx512f(x))
#define EXP2_f64(x) ((vec_f64)Sleef_exp2d8_u35avx512f(x))
#define SLEEF_f32(f, ulp) Sleef_##f##f16_##ulp##avx512f
#define SLEEF_ALONE_f32(f, ulp) Sleef_finz_##f##f16_##ulp##avx512f
#define SLEEF_f64(f, ulp) Sleef_##f##d8_##ulp##avx512f
#define SLEEF_ALONE_f64(f, ulp) Sleef_finz_##f##d8_##ulp##avx512f
#define SIGNS_f32(x) _mm512_movepi32_mask((__m512i)(x))
#define SIGNS_f64(x) _mm512_movepi64_mask((__m512i)(x))
/* clang-format off */
#define SHAPES                                                              \
    SHAPE(1, 1) SHAPE(2, 1) SHAPE(3, 1) SHAPE(4, 1) SHAPE(5, 1) SHAPE(6, 1) \
    SHAPE(1, 2) SHAPE(2, 2) SHAPE(3, 2) SHAPE(4, 2) SHAPE(5, 2) SHAPE(6, 2) \
    SHAPE(1, 3) SHAPE(2, 3) SHAPE(3, 3) SHAPE(4, 3) SHAPE(5, 3) SHAPE(6, 3) \
    SHAPE(1, 4) SHAPE(2, 4) SHAPE(3, 4) SHAPE(4, 4) SHAPE(5, 4) SHAPE(6, 4)
/* clang-format on */

#include "set.inc"

#endif
