/* host_threads.c -- calls from any thread of a parallel region of the host's own: they give the
 * same results, and can be stopped. */
#include "../../core/product.h"
#include "sample.h"

#include <omp.h>

enum { TEAM = 3 };
static sample s;
static ts_matrix o;

static ts_status attention(const ts_run *run) {
    ts_detail detail;
    const ts_tiling tiling = {0};
    return ts_attention(&s.problem, &tiling, false, run, &o, NULL, &detail);
}

static ts_status softmax(const ts_run *run) {
    ts_detail detail;
    return ts_softmax(&s.problem, false, run, &o, NULL, &detail);
}

static ts_status product(const ts_run *run) {
    ts_matrix keys = s.problem.k, turned = ts_matrix_transposed(&keys);
    ts_matrix c = sample_matrix(keys.dtype, s.problem.n_q, s.problem.n_k);
    return ts_product(&s.problem.q, &turned, &c, run);
}

static bool stop_at_once(void *polled, double done) { return ++*(int *)polled > 0 && done <= 1; }

/* On the thread that calls this, alone: of two, the other may do all the work before this one,
 * which is the one that polls, has begun. */
static void check_work(ts_status (*work)(const ts_run *run)) {
    int polled = 0;
    ts_run run = sample_run(1);
    CHECK_INT(work(&run), TS_OK);
    run.poll = stop_at_once, run.poll_data = &polled;
    CHECK_INT(work(&run), TS_INTERRUPTED);
    CHECK(polled > 0);
}

static void check_calls(void) {
    check_work(attention);
    check_work(softmax);
    check_work(product);
    CHECK_INT(sample_blocks, 0);
}

int main(void) {
    s.problem.n_q = 300, s.problem.n_k = 700, s.problem.heads = s.problem.kv_heads = 1;
    s.problem.d = s.problem.d_v = 3;
    sample_make(&s, TS_F64);
    sample_fill(&s.problem.q, sample_normal), sample_fill(&s.problem.k, sample_normal);
    sample_fill(&s.problem.v, sample_normal);
    o = sample_matrix(TS_F64, 300, 3);
    check_calls();
    const ts_run run = sample_run(2);
    CHECK_INT(attention(&run), TS_OK);
    const ts_matrix outside = o;
    for (int member = 0; member < TEAM; member++) {
        o = sample_matrix(TS_F64, 300, 3);
        int there = 0;
#pragma omp parallel num_threads(TEAM) reduction(+ : there)
        if (omp_get_thread_num() == member) {
            there = omp_get_num_threads();
            check_calls();
            CHECK_INT(attention(&run), TS_OK);
        }
        CHECK_INT(there, TEAM);
        CHECK(sample_same_bits(&outside, &o));
    }
    return check_done();
}
