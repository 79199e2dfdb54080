/* random.c -- Philox against the known answers of Random123, and the streams against libm. */
#include "../../core/random.h"

#include "check.h"

/* Random123's kat_vectors, philox4x32 10. */
static void known_answers(void) {
    static const uint32_t vectors[][10] = {
        {0, 0, 0, 0, 0, 0, 0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8},
        {0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0x408f276d,
         0x41c83b0e, 0xa20bc7c6, 0x6d5451fd},
        {0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344, 0xa4093822, 0x299f31d0, 0xd16cfe09,
         0x94fdcceb, 0x5001e420, 0x24126ea1},
    };
    for (int i = 0; i < 3; i++) {
        uint32_t out[4];
        ts_random_philox(vectors[i], vectors[i] + 4, out);
        for (int word = 0; word < 4; word++) CHECK_INT(out[word], vectors[i][6 + word]);
    }
}

/* Words 2 (n % 2) and the next of block n / 2, as a whole number of 53 bits. */
static uint64_t bits_of(uint64_t seed, uint32_t kind, uint64_t n) {
    uint32_t counter[4] = {(uint32_t)(n / 2), (uint32_t)(n / 2 >> 32), kind, 0}, word[4];
    uint32_t key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
    ts_random_philox(counter, key, word);
    int at = 2 * (int)(n % 2);
    return ((uint64_t)word[at + 1] << 32 | word[at]) >> 11;
}

enum { N = 1000 };
static const uint64_t seed = UINT64_C(0x123456789abcdef0);

static void uniform_is_53_bits(void) {
    double cells[N];
    float narrow[N];
    ts_matrix m = ts_matrix_packed(TS_F64, 1, N, cells);
    ts_matrix f = ts_matrix_packed(TS_F32, 1, N, narrow);
    ts_random_uniform(&m, seed, NULL);
    ts_random_uniform(&f, seed, NULL);
    for (uint64_t n = 0; n < N; n++) {
        uint64_t bits = bits_of(seed, 0, n);
        CHECK_BITS(cells[n], (double)bits / 0x1p53);
        CHECK_BITS(narrow[n], (double)(bits >> 29) / 0x1p24);
    }
}

/* z = sqrt(-2 ln u) cos or sin of 2 pi v. Roundings, in units of 2^-53: 1 ulp for ln (halved by the
 * root, its argument's being 2u), root, sine and product make less than 8u. */
static void normal_is_box_muller(void) {
    double cells[N];
    ts_matrix m = ts_matrix_packed(TS_F64, 1, N, cells);
    ts_random_normal(&m, seed, NULL);
    const long double turn = 6.283185307179586476925286766559L;
    for (uint64_t n = 0; n < N; n++) {
        uint64_t first = bits_of(seed, 1, n - n % 2), second = bits_of(seed, 1, n - n % 2 + 1);
        long double radius = sqrtl(-2 * logl((long double)(first + 1) / 0x1p53L));
        long double angle = turn * (long double)second / 0x1p53L;
        double want = (double)(radius * (n % 2 ? sinl(angle) : cosl(angle)));
        CHECK_NEAR(cells[n], want, 8 * 0x1p-53 * fabs(want) + 0x1p-58);
    }
}

/* Where a matrix lies has no influence: only (row, column). */
static void strides_do_not_matter(void) {
    double packed[6 * 5], spread[2 * 6 * 2 * 5];
    for (int normal = 0; normal < 2; normal++) {
        ts_matrix a = ts_matrix_packed(TS_F64, 6, 5, packed);
        ts_matrix b = {TS_F64, 6, 5, 2, 24, spread};
        (normal ? ts_random_normal : ts_random_uniform)(&a, 7, NULL);
        (normal ? ts_random_normal : ts_random_uniform)(&b, 7, NULL);
        bool same = false;
        CHECK_INT(ts_matrix_identical(&a, &b, NULL, &same), TS_OK);
        CHECK(same);
    }
}

/* Moments of 10^5 numbers: six standard errors, sqrt(var / n) each. */
static void moments(void) {
    enum { COUNT = 100000 };
    static double cells[COUNT];
    double sum = 0, square = 0, fourth = 0;
    ts_matrix m = ts_matrix_packed(TS_F64, COUNT / 100, 100, cells);
    ts_random_normal(&m, 1, NULL);
    for (int i = 0; i < COUNT; i++) {
        double s = cells[i] * cells[i];
        sum += cells[i];
        square += s;
        fourth += s * s;
    }
    CHECK_NEAR(sum / COUNT, 0, 6 * sqrt(1.0 / COUNT));
    CHECK_NEAR(square / COUNT, 1, 6 * sqrt(2.0 / COUNT));  /* var of z^2: 3 - 1 */
    CHECK_NEAR(fourth / COUNT, 3, 6 * sqrt(96.0 / COUNT)); /* var of z^4: 105 - 9 */
    ts_random_uniform(&m, 1, NULL);
    sum = square = 0;
    for (int i = 0; i < COUNT; i++) {
        sum += cells[i];
        square += cells[i] * cells[i];
    }
    CHECK_NEAR(sum / COUNT, 0.5, 6 * sqrt(1.0 / 12 / COUNT));
    CHECK_NEAR(square / COUNT, 1.0 / 3, 6 * sqrt(4.0 / 45 / COUNT));
}

int main(void) {
    known_answers();
    uniform_is_53_bits();
    normal_is_box_muller();
    strides_do_not_matter();
    moments();
    return check_done();
}
