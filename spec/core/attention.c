/* attention.c -- the fused road against naive double loops, and against the fold of its parts. */
#include "sample.h"

#include <omp.h>
#include <sys/resource.h>

/* ---- exact problems: every road, order and instruction set gives the same bits ---- */

/* Output and lse in base 2 by the definition, in double; exact for the problems here. */
static void define(const sample *s, ts_matrix *o) {
    const ts_problem *p = &s->problem;
    for (int64_t h = 0; h < p->heads; h++)
        for (int64_t i = 0; i < p->n_q; i++) {
            const int64_t kv = h * p->kv_heads / p->heads;
            double m = -INFINITY, l = 0, score[2048];
            for (int64_t j = 0; j < p->n_k; j++) {
                score[j] = 0;
                for (int64_t c = 0; c < p->d; c++)
                    score[j] +=
                        sample_get(&p->q, i, h * p->d + c) * sample_get(&p->k, j, kv * p->d + c);
                score[j] = sample_allowed(s, h, i, j) ? score[j] * p->scale[h] : -INFINITY;
                if (score[j] > m) m = score[j];
            }
            for (int64_t j = 0; j < p->n_k; j++)
                if (score[j] > -INFINITY) l += exp2(score[j] - m);
            for (int64_t c = 0; c < p->d_v; c++) {
                double z = 0;
                for (int64_t j = 0; j < p->n_k; j++)
                    if (score[j] > -INFINITY)
                        z += exp2(score[j] - m) * sample_get(&p->v, j, kv * p->d_v + c);
                double x = p->dtype == TS_F32 ? (float)z / (float)l : z / l;
                sample_set(o, i, h * p->d_v + c, m == -INFINITY ? 0 : x + 0.0);
            }
        }
}

static double small_integer(void) { return (double)(sample_draw(3) - 1); }
static double value_integer(void) { return (double)(sample_draw(17) - 8); }

/* Scores of -4 .. 4, values of -8 .. 8: 2^8 8 n_k < 2^24. */
static void make_exact(sample *s, ts_dtype dtype) {
    sample_make(s, dtype);
    ts_problem *p = &s->problem;
    sample_fill(&p->q, small_integer);
    sample_fill(&p->k, small_integer);
    sample_fill(&p->v, value_integer);
    for (int64_t i = 0; i < p->n_q; i++)
        for (int64_t c = 0; c < p->q.cols; c++)
            if (c % p->d >= 4) sample_set(&p->q, i, c, 0);
}

static void random_mask(sample *s) {
    const int64_t kind = sample_draw(4);
    if (kind == 0) return;
    sample_mask(s, kind == 2);
    for (int64_t h = 0; h < (s->mask.heads ? s->mask.heads : 1); h++)
        for (int64_t i = 0; i < s->problem.n_q; i++) {
            const int64_t shape = sample_draw(5), edge = sample_draw(s->problem.n_k + 1);
            for (int64_t j = 0; shape > 0 && j < s->problem.n_k; j++)
                if (shape == 1 ? j < edge : shape == 2 ? j >= edge : sample_draw(3) < shape - 2)
                    sample_open(s, h, i, j);
        }
}

static ts_tiling random_tiling(const ts_problem *p) {
    static const int64_t sizes[] = {0, 1, 3, 7, 64, 100, 200, 600};
    ts_tiling tiling = {.q = sizes[sample_draw(8)]};
    tiling.schedule.k = sizes[sample_draw(8)];
    tiling.schedule.order = (ts_order_kind)sample_draw(3);
    tiling.schedule.merge = (ts_merge_kind)sample_draw(4);
    tiling.schedule.parts = tiling.schedule.merge == TS_MERGE_SPLIT ? 1 + sample_draw(5) : 1;
    ts_tiling_defaults(p, &tiling);
    return tiling;
}

static void check_exact(void) {
    static sample s;
    ts_detail detail;
    for (int n = 0; n < 150; n++) {
        const int64_t group = 1 + sample_draw(3), kv = 1 + sample_draw(2);
        s.problem = (ts_problem){.n_q = 1 + sample_draw(n % 10 == 0 ? 300 : 40),
                                 .n_k = 1 + sample_draw(n % 5 == 0 ? 1500 : 150),
                                 .d = 1 + sample_draw(40),
                                 .d_v = 1 + sample_draw(40),
                                 .heads = group * kv,
                                 .kv_heads = kv};
        make_exact(&s, n % 2 ? TS_F64 : TS_F32);
        random_mask(&s);
        ts_matrix want =
            sample_matrix(s.problem.dtype, s.problem.n_q, s.problem.heads * s.problem.d_v);
        define(&s, &want);
        for (int isa = 0; isa < SAMPLE_ISAS; isa++) {
            if (ts_kernel_select(sample_isas[isa])) continue;
            for (int t = 0; t < 3; t++) {
                const ts_tiling tiling = random_tiling(&s.problem);
                const ts_run run = sample_run(1 + t);
                ts_matrix o = sample_matrix(s.problem.dtype, want.rows, want.cols);
                CHECK_INT(ts_attention(&s.problem, &tiling, true, &run, &o, NULL, &detail), TS_OK);
                if (!sample_same_bits(&o, &want))
                    printf("%s, problem %d, tiling %d: n_q %d n_k %d d %d d_v %d\n",
                           sample_isas[isa], n, t, (int)s.problem.n_q, (int)s.problem.n_k,
                           (int)s.problem.d, (int)s.problem.d_v);
                CHECK(sample_same_bits(&o, &want));
                CHECK(sample_guarded(&o));
            }
        }
    }
}

/* ---- widths that are no multiple of a vector (cases.md S08), lengths that are none (M06) ---- */

static void check_width(ts_dtype dtype, int64_t d, int64_t d_v) {
    static sample s;
    const double e = exp(1), want = (e + 2 * e * e) / (1 + e + e * e), scale = 1.0 / (double)d;
    s.problem = (ts_problem){.n_q = 2, .n_k = 3, .d = d, .d_v = d_v, .heads = 1, .kv_heads = 1};
    sample_make(&s, dtype);
    s.problem.base = TS_BASE_E;
    s.scale[0] = scale;
    for (int64_t r = 0; r < 3; r++) {
        for (int64_t c = 0; c < d; c++) {
            if (r < 2) sample_set(&s.problem.q, r, c, 1);
            sample_set(&s.problem.k, r, c, (double)r);
        }
        for (int64_t c = 0; c < d_v; c++) sample_set(&s.problem.v, r, c, (double)r);
    }
    ts_matrix o = sample_matrix(dtype, 2, d_v);
    ts_detail detail;
    const ts_tiling tiling = {0};
    const ts_run run = sample_run(1);
    CHECK_INT(ts_attention(&s.problem, &tiling, false, &run, &o, NULL, &detail), TS_OK);
    const double u = dtype == TS_F32 ? 0x1p-24 : 0x1p-53;
    /* a score of 2 is a sum of d roundings, and the exponential's error is 3.5 ulp */
    CHECK_NEAR(sample_get(&o, 0, 0), want, 4 * (2 * (double)d + 16) * u);
    bool even = true;
    for (int64_t r = 0; r < 2; r++)
        for (int64_t c = 0; c < d_v; c++) even &= sample_get(&o, r, c) == sample_get(&o, 0, 0);
    CHECK(even);
    CHECK(sample_guarded(&o));
}

static void check_widths(void) {
    static const int64_t more[] = {63, 64, 65, 127, 129, 256, 1024};
    for (int dtype = TS_F32; dtype <= TS_F64; dtype++)
        for (int64_t n = 1; n <= 40; n++) {
            const int64_t width = n <= 33 ? n : more[n - 34];
            check_width((ts_dtype)dtype, width, width);
            check_width((ts_dtype)dtype, width, 1 + sample_draw(70));
        }
}

/* All scores -5, all values 1, for lengths up to two blocks; what stands around is NaN. */
static void check_lengths(void) {
    static sample s;
    for (int64_t n_k = 1; n_k <= 2 * 64 + 1; n_k++) {
        s.problem = (ts_problem){.n_q = 7, .n_k = n_k, .d = 1, .d_v = 2, .heads = 1, .kv_heads = 1};
        sample_make(&s, n_k % 2 ? TS_F32 : TS_F64);
        s.problem.base = TS_BASE_E;
        for (int64_t r = 0; r < 7; r++) sample_set(&s.problem.q, r, 0, -5);
        for (int64_t r = 0; r < n_k; r++) {
            sample_set(&s.problem.k, r, 0, 1);
            for (int c = 0; c < 2; c++) sample_set(&s.problem.v, r, c, 1);
        }
        ts_matrix o = sample_matrix(s.problem.dtype, 7, 2),
                  lse = sample_matrix(s.problem.dtype, 7, 1);
        ts_detail detail;
        ts_tiling tiling = {0};
        tiling.schedule.k = 64;
        const ts_run run = sample_run(1);
        CHECK_INT(ts_attention(&s.problem, &tiling, false, &run, &o, &lse, &detail), TS_OK);
        CHECK_NUMBER(sample_get(&o, 6, 1), 1);
        CHECK_NEAR(sample_get(&lse, 6, 0), -5 + log((double)n_k), 4 * 0x1p-24);
    }
}

/* ---- the engine is the fold of block summaries, on any data ---- */

typedef struct {
    ts_summary summary;
    void *memory;
} kept;

static kept keep(const ts_problem *p) {
    kept k = {{p->dtype, p->base, p->n_q, p->heads, p->d_v, NULL, NULL, NULL}, NULL};
    size_t bytes = 0;
    ts_summary_size(p->dtype, p->n_q, p->heads, p->d_v, &bytes);
    k.memory = aligned_alloc(64, (bytes + 63) / 64 * 64 + 64);
    ts_summary_place(&k.summary, k.memory);
    return k;
}

/* Σ of all keys by the words that the schedule gives for one query tile that has every block. */
static kept fold(const ts_problem *p, const ts_tiling *tiling) {
    const ts_schedule *s = &tiling->schedule;
    void *scratch = malloc(ts_schedule_scratch(s) + 1);
    int32_t *present = malloc((size_t)s->blocks * 4), *word = malloc((size_t)s->blocks * 8);
    for (int64_t b = 0; b < s->blocks; b++) present[b] = (int32_t)(b + 1);
    kept *stack = malloc((size_t)(s->blocks + s->parts) * sizeof *stack),
         *parts = stack + s->blocks;
    const ts_run run = sample_run(1);
    for (int64_t part = 0; part < s->parts; part++) {
        int64_t depth, top = 0;
        int64_t length = ts_schedule_word(s, part, 0, 1, present, s->blocks, word, &depth, scratch);
        for (int64_t n = 0; n < length; n++) {
            if (word[n] == 0) {
                top--;
                ts_summary_merge(&stack[top].summary, &stack[top - 1].summary,
                                 &stack[top - 1].summary);
                continue;
            }
            ts_range one;
            ts_detail detail;
            int64_t count;
            const ts_range *ranges = ts_schedule_block(s, word[n], &one, &count);
            stack[top] = keep(p);
            CHECK_INT(ts_attention_summary(p, ranges, count, &run, &stack[top++].summary, &detail),
                      TS_OK);
        }
        parts[part] = stack[0];
    }
    if (s->parts == 1) return parts[0];
    int32_t *tree = malloc((size_t)s->parts * 8);
    int64_t depth, top = 0, length = ts_schedule_parts_word(s, tree, &depth);
    for (int64_t n = 0; n < length; n++)
        if (tree[n] > 0)
            stack[top++] = parts[tree[n] - 1];
        else
            top--, ts_summary_merge(&stack[top - 1].summary, &stack[top].summary,
                                    &stack[top - 1].summary);
    return stack[0];
}

static void check_fold(void) {
    static sample s;
    ts_detail detail;
    for (int isa = 0; isa < SAMPLE_ISAS; isa++) {
        if (ts_kernel_select(sample_isas[isa])) continue;
        for (int n = 0; n < 60; n++) {
            const int64_t group = 1 + sample_draw(3);
            s.problem = (ts_problem){.n_q = 1 + sample_draw(50),
                                     .n_k = 1 + sample_draw(n % 4 ? 200 : 1500),
                                     .d = 1 + sample_draw(70),
                                     .d_v = 1 + sample_draw(70),
                                     .heads = 2 * group,
                                     .kv_heads = 2};
            sample_make(&s, n % 2 ? TS_F64 : TS_F32);
            s.problem.base = n % 3 ? TS_BASE_E : TS_BASE_2;
            sample_fill(&s.problem.q, sample_normal);
            sample_fill(&s.problem.k, sample_normal);
            sample_fill(&s.problem.v, sample_normal);
            random_mask(&s);
            ts_tiling tiling = random_tiling(&s.problem);
            tiling.q = s.problem.n_q; /* one tile: an order may turn with the tile */
            const ts_range pieces[3] = {{1, s.problem.n_k / 3},
                                        {s.problem.n_k / 2 + 1, s.problem.n_k},
                                        {s.problem.n_k / 3 + 1, s.problem.n_k / 2}};
            const int64_t starts[3] = {0, 2, 3};
            if (n % 5 == 0) { /* a block of two ranges, and one of the keys between them */
                tiling.schedule.ranges = pieces, tiling.schedule.starts = starts;
                tiling.schedule.blocks = 2, tiling.schedule.parts = 1;
                tiling.schedule.merge = TS_MERGE_ONLINE;
            }
            const kept want = fold(&s.problem, &tiling);
            ts_matrix a =
                sample_matrix(s.problem.dtype, s.problem.n_q, s.problem.heads * s.problem.d_v);
            ts_matrix b = sample_matrix(a.dtype, a.rows, a.cols);
            ts_matrix lse = sample_matrix(a.dtype, a.rows, s.problem.heads);
            ts_matrix lse_b = sample_matrix(a.dtype, a.rows, s.problem.heads);
            const ts_run run = sample_run(1 + n % 3);
            CHECK_INT(ts_attention(&s.problem, &tiling, true, &run, &a, &lse, &detail), TS_OK);
            ts_summary_output(&want.summary, NULL, true, &b, &detail);
            ts_summary_lse(&want.summary, NULL, &lse_b);
            CHECK(sample_same_bits(&a, &b));
            CHECK(sample_same_bits(&lse, &lse_b));
            CHECK(sample_guarded(&a));
        }
    }
}

/* The work space that is told is the most that is held at once. */
static size_t held, most_held;
static void *noting_resize(void *data, void *block, size_t old_size, size_t new_size) {
    held += new_size - old_size;
    if (held > most_held) most_held = held;
    return sample_resize(data, block, old_size, new_size);
}

static void check_memory(void) {
    static sample s;
    ts_detail detail;
    for (int n = 0; n < 40; n++) {
        s.problem = (ts_problem){.n_q = 1 + sample_draw(300),
                                 .n_k = 1 + sample_draw(2000),
                                 .d = 1 + sample_draw(70),
                                 .d_v = 1 + sample_draw(70),
                                 .heads = 2,
                                 .kv_heads = 1 + sample_draw(2)};
        sample_make(&s, n % 2 ? TS_F64 : TS_F32);
        sample_fill(&s.problem.q, sample_normal);
        sample_fill(&s.problem.k, sample_normal);
        sample_fill(&s.problem.v, sample_normal);
        random_mask(&s);
        const ts_tiling tiling = random_tiling(&s.problem);
        ts_matrix o =
            sample_matrix(s.problem.dtype, s.problem.n_q, s.problem.heads * s.problem.d_v);
        const ts_run run = {{noting_resize, NULL}, 1 + n % 3, NULL, NULL};
        size_t told;
        most_held = 0;
        CHECK_INT(ts_attention_memory(&s.problem, &tiling, &run, &told), TS_OK);
        CHECK_INT((int64_t)most_held, 0);
        CHECK_INT(ts_attention(&s.problem, &tiling, true, &run, &o, NULL, &detail), TS_OK);
        CHECK_INT((int64_t)told, (int64_t)most_held);
        CHECK_INT((int64_t)held, 0);
    }
}

/* Memory that is let go between two looks at the address space makes room for more threads: what
 * the call has reserved by then must not grow. Blocks are followed by bytes that stay. */
enum { BEHIND = 4096, UNTOUCHED = 0xA5 };
static struct rlimit whole_space;
static void *widening_resize(void *data, void *block, size_t old_size, size_t new_size) {
    setrlimit(RLIMIT_AS, &whole_space);
    for (size_t n = 0; block && n < BEHIND; n++)
        if (((unsigned char *)block)[old_size + n] != UNTOUCHED) return *(bool *)data = true, NULL;
    unsigned char *memory =
        sample_resize(NULL, block, old_size, new_size > 0 ? new_size + BEHIND : 0);
    if (memory) memset(memory + new_size, UNTOUCHED, BEHIND);
    return memory;
}

/* Before any other call: threads that were there once are not looked for again. */
static void check_more_threads(void) {
    static sample s;
    ts_detail detail;
    ts_tiling tiling = {0};
    bool overrun = false;
    s.problem = (ts_problem){.n_q = 30, .n_k = 2000, .d = 16, .d_v = 16, .heads = 2, .kv_heads = 1};
    make_exact(&s, TS_F32);
    sample_mask(&s, false);
    tiling.schedule.merge = TS_MERGE_SPLIT, tiling.schedule.parts = 8;
    tiling.schedule.k = 64;
    ts_matrix o = sample_matrix(TS_F32, 30, 32);
    const ts_run run = {{widening_resize, &overrun}, 2, NULL, NULL};
    omp_get_max_threads(); /* clang's OpenMP takes memory when it is first asked for anything */
    getrlimit(RLIMIT_AS, &whole_space);
    const struct rlimit none = {1, whole_space.rlim_max};
    CHECK_INT(setrlimit(RLIMIT_AS, &none), 0);
    CHECK_INT(ts_attention(&s.problem, &tiling, true, &run, &o, NULL, &detail), TS_OK);
    CHECK(!overrun);
}

int main(void) {
    check_more_threads();
    check_exact();
    check_fold();
    check_memory();
    for (int isa = 0; isa < SAMPLE_ISAS; isa++) {
        if (ts_kernel_select(sample_isas[isa])) continue;
        check_widths();
        check_lengths();
    }
    CHECK_INT(sample_blocks, 0);
    return check_done();
}
