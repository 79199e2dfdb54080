/* poly.c -- exp = "poly" against 2^x in higher precision: every 97th f32 there is, or with `all`
 * every one (`make check-poly`), and any degree on random numbers. Weights are 2^x for x <= 0 only.
 */
#include "../../core/kernel/poly.h"

#include "sample.h"

enum { COUNT = 512 };

/* 2^x for COUNT numbers; x[0] = 0 makes 0 the row's maximum. */
static void power(ts_dtype dtype, int degree, void *x) {
    double max, norm;
    ts_kernel_get()->loops[dtype]->weights(1, 0, COUNT, COUNT, 1, degree, NULL, x, &max, &norm);
}

static float float_of(uint32_t bits) {
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* How far y is from 2^x, in units of the last place of an f32 near 2^x. The judge is a double, good
 * to 1e-9 of such a unit: whatever is further than that below the limit is decided. */
static double ulps_off(float x, float y) {
    const double want = exp2(x);
    return fabs(y - want) / ldexp(0x1p-23, ilogb(want));
}

/* All f32 from -0 down to -inf, every `step`-th; then NaNs. */
static void check_floats(uint32_t step) {
    const uint32_t first = 0x80000000u, last = 0xff800000u; /* -0, -inf */
    static float x[COUNT], y[COUNT];
    double worst = 0;
    int64_t wrong = 0;
    for (uint64_t bits = first; bits <= last; bits += (uint64_t)step * (COUNT - 1)) {
        x[0] = 0;
        for (int n = 1; n < COUNT; n++) {
            const uint64_t b = bits + (uint64_t)(n - 1) * step;
            x[n] = b < last ? float_of((uint32_t)b) : -INFINITY;
        }
        memcpy(y, x, sizeof y);
        power(TS_F32, ts_poly_default(TS_F32), y);
        for (int n = 0; n < COUNT; n++) {
            if (x[n] < -126)
                wrong += y[n] != 0 || signbit(y[n]);
            else if (x[n] == rintf(x[n]))
                wrong += y[n] != exp2f(x[n]);
            else
                worst = fmax(worst, ulps_off(x[n], y[n]));
        }
    }
    CHECK_INT(wrong, 0);
    CHECK_NEAR(worst, 0, 1 - 1e-6);
    if (step == 1) printf("%s: at most %.4f ulp\n", ts_kernel_name(ts_kernel_get()), worst);
}

/* Every kind of NaN comes out as one; nothing else in the row is touched by it. */
static void check_nan(ts_dtype dtype, int degree) {
    static double wide[COUNT];
    static float narrow[COUNT];
    for (int n = 0; n < COUNT; n++) {
        uint64_t bits = 0x7ff0000000000000u | ((uint64_t)sample_bits() << 20 | sample_bits()) | 1;
        if (n % 2) bits |= (uint64_t)1 << 63;
        memcpy(&wide[n], &bits, sizeof bits);
        narrow[n] = float_of(0x7f800001u | (sample_bits() & 0x807fffffu));
        if (n % 3 == 0) wide[n] = narrow[n] = (float)-(n % 7);
    }
    power(dtype, degree, dtype == TS_F32 ? (void *)narrow : wide);
    int64_t wrong = 0;
    for (int n = 0; n < COUNT; n++) {
        const double y = dtype == TS_F32 ? narrow[n] : wide[n];
        wrong += n % 3 == 0 ? y != exp2(-(n % 7)) : !isnan(y);
    }
    CHECK_INT(wrong, 0);
}

static void check_degree(ts_dtype dtype, int degree) {
    static double wide[COUNT], x[COUNT];
    static float narrow[COUNT];
    double worst = 0;
    for (int turn = 0; turn < 20; turn++) {
        for (int n = 0; n < COUNT; n++) {
            x[n] = n == 0 ? 0 : -(double)sample_bits() * 0x1p-32 * (turn < 10 ? 2 : 120);
            narrow[n] = (float)x[n];
            if (dtype == TS_F32) x[n] = narrow[n];
            wide[n] = x[n];
        }
        power(dtype, degree, dtype == TS_F32 ? (void *)narrow : wide);
        for (int n = 0; n < COUNT; n++) {
            const long double want = exp2l(x[n]), got = dtype == TS_F32 ? narrow[n] : wide[n];
            worst = fmax(worst, (double)(fabsl(got - want) / want));
        }
    }
    CHECK_NEAR(worst, 0, ts_poly_error(dtype, degree));
}

int main(int argc, char **argv) {
    const uint32_t step = argc > 1 && strcmp(argv[1], "all") == 0 ? 1 : 97;
    for (int isa = 0; isa < SAMPLE_ISAS; isa++) {
        if (ts_kernel_select(sample_isas[isa])) continue;
        check_floats(step);
        for (int dtype = TS_F32; dtype <= TS_F64; dtype++)
            for (int degree = 1; degree <= TS_POLY_DEGREE; degree++) {
                check_nan((ts_dtype)dtype, degree);
                check_degree((ts_dtype)dtype, degree);
            }
    }
    return check_done();
}
