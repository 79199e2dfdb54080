/* bound.c -- the figures of bound.md for one row, in doubles, from the problem and the schedule. */
#include "bound_row.h"

#include "arena.h"
#include "enclose.h"
#include "kernel/poly.h"
#include "sizes.h"

#include <float.h>
#include <string.h>

/* ---- the arithmetic of each road ---- */

/* SLEEF documents 3.5 ulp for its exp2 u35, and an ulp is at most 2u. Merges use that one, whatever
 * the weights use. */
static double epsilon_of(const ts_tiling *tiling, ts_dtype dtype, double u) {
    const double sleef = 3.5 * 2 * u;
    if (tiling->exp == TS_EXP_SLEEF) return sleef;
    return fmax(sleef, ts_poly_error(dtype, tiling->degree));
}

static ts_bound_road arithmetic_of(const ts_problem *p, const ts_tiling *tiling) {
    bool narrow = p->dtype == TS_F32, narrow_sums = narrow && tiling;
    ts_bound_road a = {
        .u = narrow_sums ? 0x1p-24 : TS_BOUND_U64,
        .eta = narrow_sums ? 0x1p-149 : 0x1p-1074,
        .omega = narrow_sums ? FLT_MIN : DBL_MIN,
        .largest = narrow ? FLT_MAX : DBL_MAX,
        .last_u = narrow ? 0x1p-24 : TS_BOUND_U64,
        .last_eta = narrow ? 0x1p-149 : 0x1p-1074,
        .ln_base = p->base == TS_BASE_2 ? M_LN2 : 1,
        .bits = narrow ? 24 : 53,
    };
    a.epsilon = tiling ? epsilon_of(tiling, p->dtype, a.u)
                       : 2 * a.u; /* libm's exp and exp2: within an ulp */
    return a;
}

/* ---- figures ---- */

/* The theorem of bound.md, its parts named as there. */
static void conclude(ts_bound_row_state *w, ts_bound *out) {
    const ts_bound_road *a = &w->a;
    double gamma = ts_bound_gamma(w->chain, a->u), reach = w->max_rho + gamma;
    double kappa = 4 * (reach + a->u + w->max_tau) + (double)w->p->n_k * 0x1p-50;
    double path = 2 * w->chain; /* no fewer than the exponentials of a key, and than merges */
    if (!w->bounded || !(reach <= 0.125) || !(w->max_tau <= 0.125)) {
        w->bounded = false;
        return;
    }
    double sink = w->sink_p * w->sink_rho, moved = sink;
    for (int64_t j = 0; j < w->p->n_k; j++) moved += w->p_of[j] * w->rho[j];
    for (int64_t c = 0; c < w->p->d_v; c++) {
        double o = fabs(w->o[c]);
        double scores = w->moved[c] + sink * o;
        double second = 3 * w->max_rho * w->max_tau * (w->deviation[c] + w->sink_p * o);
        double sums = gamma * (w->absolute[c] + o);
        double tiny = path * a->omega * (w->total[c] + (double)(w->allowed + 1) * o) +
                      3 * path * (double)(w->allowed + 1) * a->eta + a->last_eta;
        out->output[c] = (1 + kappa) * (scores + second + sums + a->last_u * o + tiny);
        out->expected[c] = 8 * a->u * sqrt(w->squares[c]) + w->programs[c] + sink * o +
                           a->last_u * o + a->last_eta;
    }
    double log_norm = log(w->sum_p), max = w->max * a->ln_base;
    out->lse = (1 + kappa) * (moved + gamma + path * a->omega * (double)(w->allowed + 1) +
                              a->last_u * fabs(max + log_norm) + a->last_eta +
                              3 * TS_BOUND_U64 * (fabs(log_norm) + w->max_sigma + fabs(max)));
    out->max = w->max_sigma;
}

static void unbounded(const ts_bound_row_state *w, ts_bound *out) {
    out->max = out->lse = INFINITY;
    for (int64_t c = 0; c < w->p->d_v; c++) out->output[c] = out->expected[c] = INFINITY;
}

/* ---- work space ---- */

/* What masks, score programs and schedules work in, one after the other. */
static size_t shared_scratch(const ts_problem *p, const ts_tiling *tiling) {
    size_t shared = ts_problem_mask_scratch(p);
    if (tiling) shared = ts_most_bytes(shared, ts_schedule_scratch(&tiling->schedule));
    for (int64_t h = 0; h < p->heads; h++) {
        const ts_score *score = ts_problem_score(p, h);
        if (score && score->program)
            shared = ts_most_bytes(shared, ts_enclose_scratch(score->program));
    }
    return shared;
}

static ts_bound_row_state place(const ts_problem *p, const ts_tiling *tiling, ts_arena *arena) {
    ts_bound_row_state w = {.p = p, .schedule = tiling ? &tiling->schedule : NULL, .blocks = 1};
    if (tiling) w.blocks = tiling->schedule.blocks;
    const int64_t blocks = w.blocks + 1, parts = tiling ? tiling->schedule.parts + 1 : 1;
    double **by_key[] = {&w.s, &w.sigma, &w.spread, &w.p_of, &w.rho};
    double **by_column[] = {&w.value,    &w.o,         &w.moved, &w.programs,
                            &w.absolute, &w.deviation, &w.total, &w.squares};
    for (int i = 0; i < 5; i++) *by_key[i] = ts_arena_take(arena, p->n_k, sizeof(double));
    for (int i = 0; i < 8; i++) *by_column[i] = ts_arena_take(arena, p->d_v, sizeof(double));
    w.q = ts_arena_take(arena, p->d, sizeof(double));
    w.stack = ts_arena_take_grid(arena, TS_BOUND_STACK, 1 + p->d_v, sizeof(double));
    w.merges = ts_arena_take(arena, blocks, sizeof(int32_t));
    w.present = ts_arena_take(arena, blocks, sizeof(int32_t));
    w.depths = ts_arena_take(arena, blocks + 1, sizeof(int32_t));
    w.word = ts_arena_take_grid(arena, 2, blocks, sizeof(int32_t));
    w.part_word = ts_arena_take_grid(arena, 2, parts, sizeof(int32_t));
    w.bits = ts_arena_take(arena, p->n_k / 64 + 1, sizeof(uint64_t));
    w.scratch = ts_arena_take(arena, 1, shared_scratch(p, tiling));
    return w;
}

size_t ts_bound_scratch(const ts_problem *p, const ts_tiling *tiling) {
    ts_arena arena = {NULL, 0};
    place(p, tiling, &arena);
    return ts_arena_too_large(&arena) ? SIZE_MAX : arena.used;
}

static void clear(ts_bound_row_state *w) {
    for (int64_t j = 0; j < w->p->n_k; j++) w->s[j] = TS_BOUND_NEVER, w->p_of[j] = w->rho[j] = 0;
    double *columns[] = {w->o,         w->moved, w->programs, w->absolute,
                         w->deviation, w->total, w->squares};
    for (int i = 0; i < 7; i++) memset(columns[i], 0, (size_t)w->p->d_v * sizeof(double));
    w->max = TS_BOUND_NEVER;
    w->min = INFINITY;
    w->least_max = TS_BOUND_NEVER;
}

void ts_bound_row(const ts_problem *p, const ts_tiling *tiling, int64_t row, int64_t head,
                  ts_bound *out, void *scratch) {
    ts_arena arena = {scratch, 0};
    ts_bound_row_state w = place(p, tiling, &arena);
    w.row = row, w.head = head;
    w.bounded = true;
    w.exact = p->base == TS_BASE_2;
    w.a = arithmetic_of(p, tiling);
    if (tiling) w.tile = row / tiling->q, w.tiles = ts_quotient_up(p->n_q, tiling->q);
    clear(&w);
    ts_bound_read_query(&w);
    ts_bound_read_mask(&w);
    int64_t found = ts_bound_read_blocks(&w);
    ts_bound_write_word(&w, found);
    ts_bound_weigh(&w, found);
    if (w.sum_p > 0) {
        ts_bound_average(&w);
        ts_bound_run_word(&w);
        conclude(&w, out);
    } else { /* ⊥ */
        w.exact = w.bounded;
        out->max = out->lse = 0;
        for (int64_t c = 0; c < p->d_v; c++) out->output[c] = out->expected[c] = 0;
    }
    out->bounded = w.bounded;
    out->exact = w.exact;
    if (!w.bounded) unbounded(&w, out);
}
