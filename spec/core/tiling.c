/* tiling.c -- the default tiling by hand, and what it makes of sizes that cannot be. */
#include "../../core/tiling.h"

#include "../../core/kernel/poly.h"
#include "check.h"

static ts_problem problem_of(ts_dtype dtype, int64_t n_q, int64_t n_k, int64_t d) {
    return (ts_problem){.dtype = dtype,
                        .n_q = n_q,
                        .n_k = n_k,
                        .d = d,
                        .d_v = d,
                        .heads = 1,
                        .kv_heads = 1,
                        .first_key = 1};
}

static ts_tiling filled(ts_problem p, ts_tiling tiling) {
    ts_tiling_defaults(&p, &tiling);
    return tiling;
}

/* 256 KiB hold K and V of 512 keys in f32 with d = d_v = 64, of 256 in f64. */
static void check_defaults(void) {
    ts_tiling t = filled(problem_of(TS_F32, 4096, 4096, 64), (ts_tiling){0});
    CHECK_INT(t.q, 1024);
    CHECK_INT(t.schedule.k, 512);
    CHECK_INT(t.schedule.blocks, 8);
    CHECK_INT(t.schedule.parts, 2); /* 8 pieces of 512 rows: 64 / 8 parts, but each of 2048 keys */
    CHECK_INT(t.schedule.merge, TS_MERGE_SPLIT);
    CHECK_INT(t.degree, 6);
    t = filled(problem_of(TS_F64, 4096, 4096, 64), (ts_tiling){0});
    CHECK_INT(t.schedule.k, 256);
    CHECK_INT(t.degree, 11);
    t = filled(problem_of(TS_F32, 1, 65536, 64), (ts_tiling){0});
    CHECK_INT(t.q, 1);
    CHECK_INT(t.schedule.k, 512);
    CHECK_INT(t.schedule.parts, 64); /* all heads are one item */
    CHECK_INT(filled(problem_of(TS_F32, 1, 4096, 64), (ts_tiling){0}).schedule.parts, 8);
    t = filled(problem_of(TS_F32, 16384, 16384, 64), (ts_tiling){0});
    CHECK_INT(t.schedule.parts, 1); /* 32 pieces are enough */
    CHECK_INT(t.schedule.merge, TS_MERGE_ONLINE);
    ts_problem grouped = problem_of(TS_F32, 4096, 4096, 64);
    grouped.heads = 32, grouped.kv_heads = 4;
    CHECK_INT(filled(grouped, (ts_tiling){0}).q, 128);
}

static void check_clips(void) {
    const ts_problem p = problem_of(TS_F64, 10, 100, 8);
    ts_tiling asked = {.q = 1000, .degree = 99, .exp = TS_EXP_POLY};
    asked.schedule = (ts_schedule){.k = 30, .merge = TS_MERGE_SPLIT, .parts = 7};
    ts_tiling t = filled(p, asked);
    CHECK_INT(t.q, 10);
    CHECK_INT(t.degree, TS_POLY_DEGREE);
    CHECK_INT(t.schedule.blocks, 4);
    CHECK_INT(t.schedule.parts, 4);
    t = filled(p, (ts_tiling){.q = -1, .degree = -5, .schedule = {.k = -2, .parts = -3}});
    CHECK_INT(t.q, 10);
    CHECK_INT(t.degree, 11);
    CHECK_INT(t.schedule.k, 100);
    CHECK_INT(t.schedule.parts, 1);
}

/* No key, no query, and axes as long as they come: nothing wraps. */
static void check_extremes(void) {
    const int64_t most = INT64_MAX - 1;
    ts_tiling t = filled(problem_of(TS_F32, 0, 0, 0), (ts_tiling){0});
    CHECK_INT(t.q, 1);
    CHECK_INT(t.schedule.blocks, 0);
    CHECK_INT(t.schedule.parts, 1);
    t = filled(problem_of(TS_F64, most, most, 0), (ts_tiling){0});
    CHECK_INT(t.schedule.last, most);
    CHECK_INT(t.schedule.k, 512);
    CHECK_INT(t.schedule.blocks, most / 512 + 1);
    t = filled(problem_of(TS_F64, 0, 0, most), (ts_tiling){0});
    CHECK_INT(t.schedule.k, 1);
    t = filled(problem_of(TS_F64, 5, 1000, most), (ts_tiling){.q = most});
    CHECK_INT(t.schedule.k, 64);
    CHECK_INT(t.q, 5);
}

int main(void) {
    check_defaults();
    check_clips();
    check_extremes();
    return check_done();
}
