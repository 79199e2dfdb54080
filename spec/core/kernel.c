/* kernel.c -- the tables: which sets there are, and the loops that no other test sees alone. */
#include "../../core/kernel/peak.h"

#include "sample.h"

static void check_select(void) {
    CHECK_INT(ts_kernel_select("avx3"), TS_NO_ISA);
    CHECK_INT(ts_kernel_select(NULL), TS_OK);
    const char *best = ts_kernel_name(ts_kernel_get());
    CHECK(strncmp(ts_kernel_available(), best, strlen(best)) == 0);
    int there = 0;
    for (int isa = 0; isa < SAMPLE_ISAS; isa++) {
        const bool listed = strstr(ts_kernel_available(), sample_isas[isa]) != NULL;
        CHECK_INT(ts_kernel_select(sample_isas[isa]), listed ? TS_OK : TS_NO_ISA);
        if (listed) CHECK(strcmp(ts_kernel_name(ts_kernel_get()), sample_isas[isa]) == 0);
        there += listed;
    }
    CHECK(there > 0);
}

/* 2^(s - max s) of a row of `count` scores; norm and max too. */
static void weigh(ts_dtype dtype, int degree, int64_t count, void *scores, double *max,
                  double *norm, bool *finite) {
    const ts_loops *loops = ts_kernel_get()->loops[dtype];
    float m32, l32;
    *finite =
        loops->weights(1, 0, count, count, 1, degree, NULL, scores,
                       dtype == TS_F32 ? (void *)&m32 : max, dtype == TS_F32 ? (void *)&l32 : norm);
    if (dtype == TS_F32) *max = m32, *norm = l32;
}

/* 2^x is exact on whole numbers, within 3.5 ulp elsewhere (SLEEF's promise), 0 at -inf. */
static void check_weights(ts_dtype dtype, int degree) {
    enum { COUNT = 512 };
    _Alignas(64) float s32[COUNT];
    _Alignas(64) double s64[COUNT];
    double x[COUNT], max, norm;
    bool finite;
    for (int n = 0; n < 30; n++) {
        for (int j = 0; j < COUNT; j++) {
            x[j] = n == 0 ? -j / 4 : -(double)sample_bits() * 0x1p-32 * (n < 15 ? 20 : 120);
            if (dtype == TS_F32) x[j] = (float)x[j];
        }
        x[100] = 0, x[200] = -INFINITY;
        for (int j = 0; j < COUNT; j++) s32[j] = (float)x[j], s64[j] = x[j];
        weigh(dtype, degree, COUNT, dtype == TS_F32 ? (void *)s32 : s64, &max, &norm, &finite);
        CHECK(finite);
        CHECK_NUMBER(max, 0);
        double worst = 0, sum = 0;
        for (int j = 0; j < COUNT; j++) {
            const double want = exp2(x[j]), got = dtype == TS_F32 ? s32[j] : s64[j];
            sum += got;
            const double ulps = dtype == TS_F32
                                    ? fabs(got - want) / (ldexp(1, ilogb(want)) * 0x1p-23)
                                    : check_ulps(got, want);
            if (want > 0 && ulps > worst) worst = ulps;
            if (want == 0) CHECK_NUMBER(got, 0);
        }
        CHECK_NEAR(worst, 0, n == 0 ? 0 : 3.5);
        CHECK_NEAR(norm, sum, COUNT * sum * (dtype == TS_F32 ? 0x1p-24 : 0x1p-53));
    }
}

/* A row's bits are those of any longer row that has -inf before and behind it, whatever memory is
 * asked for meanwhile. */
static void check_stretch(ts_dtype dtype, int degree, int64_t from, int64_t to) {
    enum { COUNT = 256 };
    const ts_loops *loops = ts_kernel_get()->loops[dtype];
    const size_t size = ts_dtype_size(dtype);
    _Alignas(64) double whole[COUNT], part[COUNT];
    double max[2] = {0}, norm[2] = {0};
    for (int64_t j = 0; j < COUNT; j++) {
        ts_number_set(dtype, whole, j, j < from || j >= to ? -INFINITY : sample_normal());
        ts_number_set(dtype, part, j, ts_number_get(dtype, whole, j));
    }
    CHECK(loops->weights(1, 0, COUNT, COUNT, 1, degree, NULL, whole, &max[0], &norm[0]));
    CHECK(loops->weights(1, from, to, COUNT, 1, degree, whole, part, &max[1], &norm[1]));
    CHECK_BITS(max[0], max[1]);
    CHECK_BITS(norm[0], norm[1]);
    CHECK(memcmp(ts_at(loops, whole, from), ts_at(loops, part, from), (size_t)(to - from) * size) ==
          0);
    for (int64_t j = 0; j < COUNT; j++)
        if (j < from || j >= to) CHECK_NUMBER(ts_number_get(dtype, part, j), -INFINITY);
}

static void check_stretches(ts_dtype dtype, int degree) {
    const int64_t lanes = ts_kernel_get()->loops[dtype]->lanes;
    for (int64_t from = 0; from < 256; from += lanes)
        for (int64_t to = from + lanes; to <= 256; to += lanes)
            check_stretch(dtype, degree, from, to);
}

/* Rows of K and V that pass by give the bits that packing them gives. */
static void check_passing(ts_dtype dtype, int64_t heads, int64_t rows, int64_t keys, int64_t d) {
    enum { MOST_KEYS = 80, MOST_ROWS = 32, WIDTH = 64 };
    _Alignas(64) static double q[MOST_ROWS * WIDTH], panels[MOST_KEYS * WIDTH],
        s[MOST_ROWS * MOST_KEYS], want_s[MOST_ROWS * MOST_KEYS], z[MOST_ROWS * WIDTH],
        want_z[MOST_ROWS * WIDTH];
    const ts_loops *loops = ts_kernel_get()->loops[dtype];
    const int64_t d_v = ts_round_up(d, loops->lanes), width = ts_round_up(keys, loops->lanes);
    ts_matrix k = sample_matrix(dtype, keys, heads * d),
              v = sample_matrix(dtype, keys, heads * d_v);
    sample_fill(&k, sample_normal), sample_fill(&v, sample_normal);
    for (int64_t i = 0; i < heads * rows * d; i++) ts_number_set(dtype, q, i, sample_normal());
    const ts_passing pass_k = {k.data, k.row_stride, heads, d},
                     pass_v = {v.data, v.row_stride, heads, d_v};
    loops->pass_keys(rows, q, &pass_k, keys, panels, s, MOST_KEYS);
    const bool finite = loops->pass_values(rows, s, MOST_KEYS, &pass_v, keys, z, WIDTH);
    CHECK(finite);
    for (int64_t h = 0; h < heads; h++) {
        const ts_panels packed_k = {panels, d, width}, packed_v = {panels, keys, d_v};
        void *row_s = ts_at(loops, want_s, h * rows * MOST_KEYS),
             *row_z = ts_at(loops, want_z, h * rows * WIDTH);
        loops->pack_columns(ts_at(loops, k.data, h * d), k.row_stride, d, keys, panels);
        loops->product(rows, d, ts_at(loops, q, h * rows * d), d, &packed_k, 0, 0, width, row_s,
                       MOST_KEYS, false);
        loops->pack_rows(ts_at(loops, v.data, h * d_v), v.row_stride, keys, d_v, panels);
        loops->product(rows, keys, row_s, MOST_KEYS, &packed_v, 0, 0, d_v, row_z, WIDTH, false);
    }
    const size_t size = ts_dtype_size(dtype);
    for (int64_t r = 0; r < heads * rows; r++) {
        CHECK(memcmp(ts_at(loops, s, r * MOST_KEYS), ts_at(loops, want_s, r * MOST_KEYS),
                     (size_t)keys * size) == 0);
        CHECK(memcmp(ts_at(loops, z, r * WIDTH), ts_at(loops, want_z, r * WIDTH),
                     (size_t)d_v * size) == 0);
    }
    ts_number_set(dtype, v.data, (keys - 1) * v.row_stride + heads * d_v - 1, INFINITY);
    CHECK(!loops->pass_values(rows, s, MOST_KEYS, &pass_v, keys, z, WIDTH));
    CHECK(sample_guarded(&k) && sample_guarded(&v));
}

/* The best of several: in some, other processes have the machine. */
static double best_peak(ts_dtype dtype, int threads) {
    double best = 0;
    for (int n = 0; n < 50 && best <= 1e8; n++)
        best = fmax(best, ts_kernel_peak(ts_kernel_get(), dtype, threads, 0.002));
    return best;
}

static double best_bandwidth(void) {
    static double memory[1 << 16];
    double best = 0;
    for (int n = 0; n < 50 && best <= 1e6; n++)
        best = fmax(best, ts_kernel_bandwidth(ts_kernel_get(), memory, sizeof memory, 2, 0.002));
    return best;
}

static void check_peak(void) {
    for (int dtype = TS_F32; dtype <= TS_F64; dtype++)
        for (int threads = 1; threads <= 2; threads++)
            CHECK(best_peak((ts_dtype)dtype, threads) > 1e8);
    CHECK(best_bandwidth() > 1e6);
}

int main(void) {
    check_select();
    for (int isa = 0; isa < SAMPLE_ISAS; isa++) {
        if (ts_kernel_select(sample_isas[isa])) continue;
        for (int dtype = TS_F32; dtype <= TS_F64; dtype++) {
            check_weights((ts_dtype)dtype, 0);
            check_stretches((ts_dtype)dtype, 0);
            check_stretches((ts_dtype)dtype, 4);
            for (int64_t keys = TS_PASSING_KEYS; keys <= 80; keys += 8 + sample_draw(2))
                for (int64_t rows = 1; rows <= 16; rows += rows < 4 ? 1 : 3)
                    check_passing((ts_dtype)dtype, 1 + (rows < 16), rows, keys,
                                  1 + sample_draw(48));
        }
        check_peak();
    }
    return check_done();
}
