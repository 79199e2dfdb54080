/* problem.c -- checks what is asked, and shows one head of it. */
#include "problem.h"

#include "sizes.h"

#include <math.h>

static ts_status shape_error(ts_detail *detail, int64_t want0, int64_t want1, int64_t got0,
                             int64_t got1) {
    detail->want[0] = want0, detail->want[1] = want1;
    detail->got[0] = got0, detail->got[1] = got1;
    return TS_SHAPE;
}

/* m is rows x heads * width, of the problem's dtype. */
static ts_status check_matrix(const ts_problem *p, const ts_matrix *m, int64_t rows, int64_t heads,
                              int64_t width, ts_detail *detail) {
    int64_t cols;
    if (m->dtype != p->dtype) return TS_DTYPE;
    if (__builtin_mul_overflow(heads, width, &cols)) return TS_TOO_LARGE;
    if (m->rows != rows || m->cols != cols)
        return shape_error(detail, rows, cols, m->rows, m->cols);
    return TS_OK;
}

/* One row a query, and one column a key: keys count from 1, so a problem whose keys begin later
 * needs the columns before them too, and may leave some behind them. */
static ts_status check_mask(const ts_problem *p, const ts_mask *mask, ts_detail *detail) {
    int64_t last = p->first_key + p->n_k - 1;
    bool wide_enough = p->first_key == 1 ? mask->cols == last : mask->cols >= last;
    if (mask->rows != p->n_q || !wide_enough)
        return shape_error(detail, p->n_q, last, mask->rows, mask->cols);
    if (mask->heads != 0 && mask->heads != p->heads)
        return shape_error(detail, p->n_q, p->heads, mask->rows, mask->heads);
    return TS_OK;
}

/* Finite scales; sinks that the dtype holds, or -inf. (Beyond an f32's range the roads that keep a
 * sink in double would not agree with the one that rounds it.) */
static ts_status check_numbers(const ts_problem *p, int64_t head, ts_detail *detail) {
    double sink = p->sink ? p->sink[head] : 0;
    bool scale_bad = !isfinite(p->scale[head]);
    bool held = p->dtype == TS_F32 ? isfinite((float)sink) : isfinite(sink);
    if (!scale_bad && (held || sink == -INFINITY)) return TS_OK;
    detail->row = detail->key = 0;
    detail->head = head + 1;
    detail->value = scale_bad ? p->scale[head] : sink;
    return TS_NONFINITE_SCORE;
}

ts_status ts_problem_check(const ts_problem *p, ts_detail *detail) {
    int64_t last, rows, width;
    if (p->n_q < 0 || p->n_k < 0 || p->d < 0 || p->d_v < 0 || p->first_key < 1)
        return shape_error(detail, 0, 0, p->n_q, p->n_k);
    if (__builtin_add_overflow(p->first_key, p->n_k, &last)) return TS_TOO_LARGE;
    if (p->kv_heads < 1 || p->heads < 1 || p->heads % p->kv_heads != 0)
        return shape_error(detail, p->heads, 1, p->heads, p->kv_heads);
    /* What the roads add up and count with, whatever the matrices hold. */
    if (__builtin_mul_overflow(p->n_q, p->heads, &rows) ||
        __builtin_add_overflow(p->d, p->d_v, &width) || width == INT64_MAX)
        return TS_TOO_LARGE;
    ts_status status = check_matrix(p, &p->q, p->n_q, p->heads, p->d, detail);
    if (!status) status = check_matrix(p, &p->k, p->n_k, p->kv_heads, p->d, detail);
    if (!status) status = check_matrix(p, &p->v, p->n_k, p->kv_heads, p->d_v, detail);
    for (int64_t head = 0; !status && head < p->heads; head++) {
        const ts_mask *mask = ts_problem_mask(p, head);
        status = check_numbers(p, head, detail);
        if (!status && mask) status = check_mask(p, mask, detail);
    }
    return status;
}

/* Columns head * width .. of m, as a view. */
static ts_matrix head_of(const ts_matrix *m, int64_t head, int64_t width) {
    ts_matrix view = *m;
    int64_t offset = head * width * m->col_stride;
    view.cols = width;
    if (m->data && m->rows > 0 && width > 0)
        view.data = (char *)m->data + offset * (int64_t)ts_dtype_size(m->dtype);
    return view;
}

ts_matrix ts_problem_q(const ts_problem *p, int64_t head) { return head_of(&p->q, head, p->d); }

ts_matrix ts_problem_k(const ts_problem *p, int64_t head) {
    return head_of(&p->k, ts_problem_kv_head(p, head), p->d);
}

ts_matrix ts_problem_v(const ts_problem *p, int64_t head) {
    return head_of(&p->v, ts_problem_kv_head(p, head), p->d_v);
}

bool ts_problem_calls(const ts_problem *p, int64_t head, int64_t heads) {
    for (int64_t h = head; h < head + heads; h++) {
        const ts_score *score = ts_problem_score(p, h);
        if (score && !score->program) return true;
    }
    return false;
}

size_t ts_problem_mask_scratch(const ts_problem *p) {
    size_t most = 0;
    for (int64_t h = 0; h < p->heads; h++) {
        const ts_mask *mask = ts_problem_mask(p, h);
        if (mask) most = ts_most_bytes(most, ts_mask_scratch(mask));
    }
    return most;
}

size_t ts_problem_score_scratch(const ts_problem *p) {
    size_t most = 0;
    for (int64_t h = 0; h < p->heads; h++) {
        const ts_score *score = ts_problem_score(p, h);
        if (score && score->program) most = ts_most_bytes(most, ts_program_scratch(score->program));
    }
    return most;
}
