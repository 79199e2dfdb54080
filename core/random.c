/* random.c -- Philox 4x32-10, and uniform and normal numbers drawn from it. */
#include "random.h"

#include "strip.h"

#include <math.h>

void ts_random_philox(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4]) {
    uint32_t c0 = counter[0], c1 = counter[1], c2 = counter[2], c3 = counter[3];
    uint32_t k0 = key[0], k1 = key[1];
    for (int round = 0; round < 10; round++) {
        uint64_t p0 = (uint64_t)0xD2511F53 * c0, p1 = (uint64_t)0xCD9E8D57 * c2;
        c0 = (uint32_t)(p1 >> 32) ^ c1 ^ k0;
        c1 = (uint32_t)p1;
        c2 = (uint32_t)(p0 >> 32) ^ c3 ^ k1;
        c3 = (uint32_t)p0;
        k0 += 0x9E3779B9; /* the golden ratio, */
        k1 += 0xBB67AE85; /* and the square root of 3 less 1: Weyl sequences */
    }
    out[0] = c0;
    out[1] = c1;
    out[2] = c2;
    out[3] = c3;
}

/* What the third counter word tells apart. */
typedef enum { UNIFORM, NORMAL } stream;

/* Block b of a stream, as two whole numbers of 53 bits. */
static void draw(stream kind, uint64_t seed, uint64_t b, uint64_t out[2]) {
    uint32_t counter[4] = {(uint32_t)b, (uint32_t)(b >> 32), kind, 0};
    uint32_t key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)}, word[4];
    ts_random_philox(counter, key, word);
    out[0] = ((uint64_t)word[1] << 32 | word[0]) >> 11;
    out[1] = ((uint64_t)word[3] << 32 | word[2]) >> 11;
}

/* libm's log, sin and cos differ in the last bit from one machine to another, so the three below
 * are written out. Their polynomials are those of FreeBSD's msun (e_log.c, k_sin.c, k_cos.c; Sun
 * Microsystems 1993), good to 1 ulp. */

/* ln x, for x in (0, 1] and normal. */
static double natural_log(double x) {
    int e;
    double m = frexp(x, &e);
    if (m < 0x1.6a09e667f3bcdp-1) { /* sqrt(1/2) <= m < sqrt(2) */
        m *= 2;
        e--;
    }
    double f = m - 1, s = f / (2 + f), z = s * s, w = z * z, half = 0.5 * f * f;
    double even = w * (3.999999999940941908e-01 +
                       w * (2.222219843214978396e-01 + w * 1.531383769920937332e-01));
    double odd = z * (6.666666666666735130e-01 +
                      w * (2.857142874366239149e-01 +
                           w * (1.818357216161805012e-01 + w * 1.479819860511658591e-01)));
    double high = e * 6.93147180369123816490e-01, low = e * 1.90821492927058770002e-10;
    return high - ((half - (s * (half + (even + odd)) + low)) - f);
}

/* sin x and cos x, for |x| <= pi/4. */
static double sine(double x) {
    double z = x * x;
    return x + x * z *
                   (-1.66666666666666324348e-01 +
                    z * (8.33333333332248946124e-03 +
                         z * (-1.98412698298579493134e-04 +
                              z * (2.75573137070700676789e-06 +
                                   z * (-2.50507602534068634195e-08 +
                                        z * 1.58969099521155010221e-10)))));
}

static double cosine(double x) {
    double z = x * x;
    return 1 - (0.5 * z - z * z *
                              (4.16666666666666019037e-02 +
                               z * (-1.38888888888741095749e-03 +
                                    z * (2.48015872894767294178e-05 +
                                         z * (-2.75573143513906633035e-07 +
                                              z * (2.08757232129817482790e-09 +
                                                   z * -1.13596475577881948265e-11))))));
}

/* Block b of a normal stream (Box and Muller 1958): two numbers at an angle of a uniform part of a
 * turn, and at a distance of sqrt(-2 ln u), u uniform in (0, 1]. */
static void normal_pair(uint64_t seed, uint64_t b, double out[2]) {
    uint64_t bits[2];
    draw(NORMAL, seed, b, bits);
    double radius = sqrt(-2 * natural_log((double)(bits[0] + 1) * 0x1p-53));
    uint64_t quarter = (bits[1] + (UINT64_C(1) << 50)) >> 51; /* the nearest quarter turn, 0 to 4 */
    double rest = (double)((int64_t)bits[1] - (int64_t)(quarter << 51)) * 0x1p-51;
    double angle = rest * 0x1.921fb54442d18p+0; /* of pi/2 */
    double s = sine(angle), c = cosine(angle);
    double x = quarter % 2 ? -s : c, y = quarter % 2 ? c : s;
    if (quarter % 4 >= 2) {
        x = -x;
        y = -y;
    }
    out[0] = radius * x;
    out[1] = radius * y;
}

static void uniform_pair(uint64_t seed, uint64_t b, double out[2]) {
    uint64_t bits[2];
    draw(UNIFORM, seed, b, bits);
    for (int i = 0; i < 2; i++) out[i] = (double)bits[i] * 0x1p-53;
}

/* Fills m from a stream that is drawn in pairs. */
static ts_status fill(ts_matrix *m, uint64_t seed, const ts_run *run,
                      void (*draw_pair)(uint64_t seed, uint64_t b, double out[2])) {
    double room[TS_STRIP], pair[2] = {0};
    ts_strips at = ts_strips_of(m, run);
    while (ts_strips_next(&at)) {
        uint64_t first = (uint64_t)at.row * (uint64_t)m->cols + (uint64_t)at.col;
        for (int64_t i = 0; i < at.count; i++) {
            uint64_t n = first + (uint64_t)i;
            if (i == 0 || n % 2 == 0) draw_pair(seed, n / 2, pair);
            room[i] = pair[n % 2];
        }
        ts_strip_store(m, at.row, at.col, at.count, room);
    }
    return at.status;
}

/* A number in [0, 1) cut to 24 bits: rounding could give 1. */
static void narrow_pair(uint64_t seed, uint64_t b, double out[2]) {
    uniform_pair(seed, b, out);
    for (int i = 0; i < 2; i++) out[i] = floor(out[i] * 0x1p24) * 0x1p-24;
}

ts_status ts_random_uniform(ts_matrix *m, uint64_t seed, const ts_run *run) {
    return fill(m, seed, run, m->dtype == TS_F32 ? narrow_pair : uniform_pair);
}

ts_status ts_random_normal(ts_matrix *m, uint64_t seed, const ts_run *run) {
    return fill(m, seed, run, normal_pair);
}
