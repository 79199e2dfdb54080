/* neon.c -- NEON: 32 registers of 16 bytes. */
#include "kernel.h"

#ifdef __aarch64__

#include <arm_neon.h>
#include <sleef.h>

#define SET neon
#define BYTES 16
#define ROWS 6
#define VECTORS 4
#define VECTORS_OF(rows) VECTORS
#define REGISTER "w"
#define SPLAT_f32(x) ((vec_f32)vdupq_n_f32(x))
#define SPLAT_f64(x) ((vec_f64)vdupq_n_f64(x))
#define FMA_f32(y, x, z) ((vec_f32)vfmaq_f32(z, y, x))
#define FMA_f64(y, x, z) ((vec_f64)vfmaq_f64(z, y, x))
#define MAX_f32(x, y) ((vec_f32)vmaxnmq_f32(x, y))
#define MAX_f64(x, y) ((vec_f64)vmaxnmq_f64(x, y))
#define EXP2_f32(x) ((vec_f32)Sleef_exp2f4_u35advsimd(x))
#define EXP2_f64(x) ((vec_f64)Sleef_exp2d2_u35advsimd(x))
#define SLEEF_f32(f, ulp) Sleef_##f##f4_##ulp##advsimd
#define SLEEF_ALONE_f32(f, ulp) Sleef_finz_##f##f4_##ulp##advsimd
#define SLEEF_f64(f, ulp) Sleef_##f##d2_##ulp##advsimd
#define SLEEF_ALONE_f64(f, ulp) Sleef_finz_##f##d2_##ulp##advsimd
#define SIGNS_f32(x) vaddvq_u32(vandq_u32((uint32x4_t)(x), (uint32x4_t){1, 2, 4, 8}))
#define SIGNS_f64(x) vaddvq_u64(vandq_u64((uint64x2_t)(x), (uint64x2_t){1, 2}))
/* clang-format off */
#define SHAPES                                                              \
    SHAPE(1, 1) SHAPE(2, 1) SHAPE(3, 1) SHAPE(4, 1) SHAPE(5, 1) SHAPE(6, 1) \
    SHAPE(1, 2) SHAPE(2, 2) SHAPE(3, 2) SHAPE(4, 2) SHAPE(5, 2) SHAPE(6, 2) \
    SHAPE(1, 3) SHAPE(2, 3) SHAPE(3, 3) SHAPE(4, 3) SHAPE(5, 3) SHAPE(6, 3) \
    SHAPE(1, 4) SHAPE(2, 4) SHAPE(3, 4) SHAPE(4, 4) SHAPE(5, 4) SHAPE(6, 4)
/* clang-format on */

#include "set.inc"

#endif
