/* summary.c -- ⋆: it commutes bit for bit, ⊥ is its identity bit for bit, and it never overflows.
 */
#include "sample.h"

typedef struct {
    ts_summary summary;
    void *memory;
    size_t bytes;
} kept;

static kept make(ts_dtype dtype, ts_base base, int64_t n_q, int64_t heads, int64_t d_v) {
    kept k = {{dtype, base, n_q, heads, d_v, NULL, NULL, NULL}, NULL, 0};
    CHECK_INT(ts_summary_size(dtype, n_q, heads, d_v, &k.bytes), TS_OK);
    k.memory = aligned_alloc(64, (k.bytes + 63) / 64 * 64 + 64);
    ts_summary_place(&k.summary, k.memory);
    ts_summary_bottom(&k.summary);
    return k;
}

static bool same(const ts_summary *a, const ts_summary *b) {
    const size_t size = ts_dtype_size(a->dtype), rows = (size_t)(a->n_q * a->heads);
    return memcmp(a->max, b->max, rows * size) == 0 && memcmp(a->norm, b->norm, rows * size) == 0 &&
           memcmp(a->value, b->value, rows * (size_t)a->d_v * size) == 0;
}

static void set(const ts_summary *s, void *numbers, int64_t i, double x) {
    if (s->dtype == TS_F32)
        ((float *)numbers)[i] = (float)x;
    else
        ((double *)numbers)[i] = x;
}
static double get(const ts_summary *s, const void *numbers, int64_t i) {
    return s->dtype == TS_F32 ? ((const float *)numbers)[i] : ((const double *)numbers)[i];
}

/* Any bits at all: NaNs of every kind, infinities, -0, subnormal numbers. */
static double any_number(void) {
    static const double special[] = {0.0, -0.0, NAN,   INFINITY, -INFINITY, 1,
                                     -1,  3e38, -3e38, 1e-45,    5e-324};
    if (sample_draw(3) == 0) return special[sample_draw(11)];
    uint64_t bits = (uint64_t)sample_bits() << 32 | sample_bits();
    double x;
    memcpy(&x, &bits, sizeof x);
    return sample_draw(2) ? x : sample_normal() * 10;
}

/* What a row of a real summary may hold; or, wild, any bits. */
static void fill(const ts_summary *s, bool wild) {
    const int64_t rows = s->n_q * s->heads;
    for (int64_t r = 0; r < rows; r++) {
        const bool bottom = sample_draw(4) == 0;
        set(s, s->max, r, bottom ? -INFINITY : wild ? any_number() : 30 * sample_normal());
        const bool empty = get(s, s->max, r) == -INFINITY;
        set(s, s->norm, r, empty ? 0 : wild ? any_number() : 1 + (double)sample_draw(100));
        for (int64_t c = 0; c < s->d_v; c++)
            set(s, s->value, r * s->d_v + c, empty ? 0 : wild ? any_number() : sample_normal());
    }
}

static void check_laws(ts_dtype dtype, ts_base base, bool wild) {
    for (int n = 0; n < 40; n++) {
        const int64_t n_q = 1 + sample_draw(40), heads = 1 + sample_draw(3), d_v = sample_draw(40);
        kept k[5];
        for (int x = 0; x < 5; x++) k[x] = make(dtype, base, n_q, heads, d_v);
        const ts_summary *a = &k[0].summary, *b = &k[1].summary, *bottom = &k[4].summary;
        ts_summary *ab = &k[2].summary, *ba = &k[3].summary;
        fill(a, wild), fill(b, wild);
        ts_summary_merge(a, b, ab);
        ts_summary_merge(b, a, ba);
        CHECK(same(ab, ba));
        for (int64_t r = 0; r < n_q * heads; r++) {
            CHECK(!(get(ab, ab->norm, r) == 0 && signbit(get(ab, ab->norm, r))) || wild);
            if (isnan(get(ab, ab->norm, r)) && get(a, a->max, r) != -INFINITY &&
                get(b, b->max, r) != -INFINITY) {
                double x = get(ab, ab->norm, r);
                CHECK_BITS(x, (double)NAN);
            }
        }
        ts_summary_merge(a, bottom, ab);
        CHECK(same(ab, a));
        ts_summary_merge(bottom, a, ab);
        CHECK(same(ab, a));
        ts_summary_merge(bottom, bottom, ab);
        CHECK(same(ab, bottom));
        ts_summary_merge(a, b, ab); /* in place */
        ts_summary_merge(a, b, (ts_summary *)a);
        CHECK(same(ab, a));
        for (int x = 0; x < 5; x++) free(k[x].memory);
    }
}

/* One row of one column each: (m, ℓ, z) ⋆ (m, ℓ, z), its output and lse. */
static void check_pair(ts_dtype dtype, const double a[3], const double b[3], double output,
                       double lse) {
    kept x = make(dtype, TS_BASE_E, 1, 1, 1), y = make(dtype, TS_BASE_E, 1, 1, 1);
    set(&x.summary, x.summary.max, 0, a[0]), set(&y.summary, y.summary.max, 0, b[0]);
    set(&x.summary, x.summary.norm, 0, a[1]), set(&y.summary, y.summary.norm, 0, b[1]);
    set(&x.summary, x.summary.value, 0, a[2]), set(&y.summary, y.summary.value, 0, b[2]);
    for (int order = 0; order < 2; order++) {
        kept out = make(dtype, TS_BASE_E, 1, 1, 1);
        ts_matrix o = sample_matrix(dtype, 1, 1), l = sample_matrix(dtype, 1, 1);
        ts_detail detail;
        ts_summary_merge(order ? &x.summary : &y.summary, order ? &y.summary : &x.summary,
                         &out.summary);
        CHECK_INT(ts_summary_output(&out.summary, NULL, false, &o, &detail), TS_OK);
        ts_summary_lse(&out.summary, NULL, &l);
        const double u = dtype == TS_F32 ? 0x1p-24 : 0x1p-53;
        CHECK_NEAR(sample_get(&o, 0, 0), output, 8 * u * fabs(output));
        CHECK_NEAR(sample_get(&l, 0, 0), lse, 8 * u * fabs(lse));
        free(out.memory);
    }
    free(x.memory), free(y.memory);
}

/* cases.md E03, E08, E15, E16. */
static void check_cases(ts_dtype dtype) {
    const double f32_max = 3e38, f64_max = 1.7e308;
    const double large = dtype == TS_F32 ? f32_max : f64_max;
    const double bottom[3] = {-INFINITY, 0, 0};
    check_pair(dtype, bottom, (double[3]){0, 1, 5}, 5, 0);
    check_pair(dtype, bottom, (double[3]){0, 0x1p-23, 5 * 0x1p-23}, 5, log(0x1p-23));
    check_pair(dtype, (double[3]){0, 3, 0}, (double[3]){0, 1, 1}, 0.25, log(4));
    check_pair(dtype, (double[3]){0, 1, 5}, (double[3]){1000, 1, 9}, 9, 1000);
    check_pair(dtype, (double[3]){-large, 1, 5}, (double[3]){large, 1, 9}, 9, large);
    check_pair(dtype, (double[3]){-large, 1, 5}, (double[3]){-large, 1, 9}, 7, -large);
}

/* Outputs with and without a sink; the summary stays as it is. */
static void check_finish(ts_dtype dtype) {
    ts_detail detail;
    kept k = make(dtype, TS_BASE_2, 3, 2, 150), before = make(dtype, TS_BASE_2, 3, 2, 150);
    const ts_summary *s = &k.summary;
    for (int64_t r = 0; r < 5; r++) {
        set(s, s->max, r, 1), set(s, s->norm, r, 3);
        for (int64_t c = 0; c < 150; c++) set(s, s->value, r * 150 + c, (double)c - 75);
    }
    memcpy(before.memory, k.memory, k.bytes);
    ts_matrix o = sample_matrix(dtype, 3, 300), lse = sample_matrix(dtype, 3, 2);
    CHECK_INT(ts_summary_output(s, NULL, false, &o, &detail), TS_EMPTY_ROW);
    CHECK_INT(detail.row, 3);
    CHECK_INT(detail.head, 2);
    CHECK_INT(detail.count, 1);
    CHECK_INT(ts_summary_output(s, NULL, true, &o, &detail), TS_OK);
    CHECK_NUMBER(sample_get(&o, 2, 299), 0);
    CHECK_NUMBER(sample_get(&o, 2, 149), dtype == TS_F32 ? 74 / 3.0f : 74 / 3.0);
    const double sink[2] = {1, 2}; /* weights 1 in 4 and 2 in 2 ⋅ 2^-1 ⋅ 3 */
    CHECK_INT(ts_summary_output(s, sink, false, &o, &detail), TS_OK);
    ts_summary_lse(s, sink, &lse);
    CHECK_NUMBER(sample_get(&o, 0, 149), 18.5);
    CHECK_NUMBER(sample_get(&o, 0, 299), dtype == TS_F32 ? 37 / 2.5f : 37 / 2.5);
    CHECK_NUMBER(sample_get(&o, 2, 299), 0);
    CHECK_NEAR(sample_get(&lse, 0, 0), log(8), 4 * 0x1p-24);
    CHECK_NEAR(sample_get(&lse, 2, 1), log(4), 4 * 0x1p-24);
    CHECK(sample_guarded(&o) && sample_guarded(&lse));
    CHECK(same(s, &before.summary));
}

/* Of the rows that are ⊥ the first is named, head by head, and all are counted. */
static void check_bottoms(ts_dtype dtype) {
    ts_detail detail;
    kept k = make(dtype, TS_BASE_E, 3, 2, 1);
    ts_matrix o = sample_matrix(dtype, 3, 2);
    const struct {
        int64_t bottoms[3]; /* rows of the summary: head h of query q is 2 q + h, from 0 */
        int64_t row, head, count;
    } cases[] = {{{1, 4, 4}, 3, 1, 2}, {{1, 5, 3}, 1, 2, 3}, {{5, 2, 2}, 2, 1, 2}};
    for (int n = 0; n < 3; n++) {
        for (int64_t r = 0; r < 6; r++) {
            const int64_t *b = cases[n].bottoms;
            const bool bottom = r == b[0] || r == b[1] || r == b[2];
            set(&k.summary, k.summary.max, r, bottom ? -INFINITY : 0);
            set(&k.summary, k.summary.norm, r, bottom ? 0 : 1);
        }
        CHECK_INT(ts_summary_output(&k.summary, NULL, false, &o, &detail), TS_EMPTY_ROW);
        CHECK_INT(detail.row, cases[n].row);
        CHECK_INT(detail.head, cases[n].head);
        CHECK_INT(detail.count, cases[n].count);
    }
    free(k.memory);
}

int main(void) {
    for (int isa = 0; isa < SAMPLE_ISAS; isa++) {
        if (ts_kernel_select(sample_isas[isa])) continue;
        for (int dtype = TS_F32; dtype <= TS_F64; dtype++) {
            for (int n = 0; n < 4; n++) check_laws((ts_dtype)dtype, (ts_base)(n / 2), n % 2);
            check_cases((ts_dtype)dtype);
            check_finish((ts_dtype)dtype);
            check_bottoms((ts_dtype)dtype);
        }
    }
    size_t bytes;
    CHECK_INT(ts_summary_size(TS_F64, INT64_C(1) << 32, INT64_C(1) << 32, 1, &bytes), TS_TOO_LARGE);
    CHECK_INT(ts_summary_size(TS_F32, INT64_C(1) << 61, 1, 1, &bytes), TS_TOO_LARGE);
    return check_done();
}
