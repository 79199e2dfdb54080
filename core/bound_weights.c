/* bound_weights.c -- the weights of a row, and how far each may be off. */
#include "bound_row.h"

/* Whether the weight of a score, exact or computed, is too small to be a normal number. */
static bool out_of_reach(const ts_bound_row_state *w, double s, double sigma) {
    double gap = (w->max - s - sigma - w->max_sigma) * w->a.ln_base;
    return gap > 1.01 * -log(w->a.omega) + 1;
}

/* ρ: the relative error of a key's weight after `merges` merges. */
static double rho_of(const ts_bound_row_state *w, double s, double sigma, double merges) {
    const ts_bound_road *a = &w->a;
    double gap = w->max - s + sigma + w->max_sigma;
    double scores = a->ln_base == 1 ? sigma + 3 * a->u * gap : (sigma + a->u * gap) * a->ln_base;
    return scores + (merges + 1) * (a->epsilon + 2 * a->eta);
}

/* Writes p (not yet divided by their sum) and ρ of the keys of a block. */
static void weigh_block(ts_bound_row_state *w, int64_t block) {
    ts_range one;
    int64_t count;
    const ts_range *ranges = ts_bound_block_keys(w, block, &one, &count);
    double chain, merges = ts_bound_path(w, block, &chain);
    if (chain > w->chain) w->chain = chain;
    for (int64_t r = 0; r < count; r++)
        for (int64_t j = ranges[r].first; j <= ranges[r].last; j++) {
            int64_t key = j - w->p->first_key;
            double s = w->s[key];
            w->p_of[key] = w->rho[key] = 0;
            if (s == TS_BOUND_NEVER || out_of_reach(w, s, w->sigma[key])) continue;
            w->p_of[key] = exp((s - w->max) * w->a.ln_base);
            w->rho[key] = rho_of(w, s, w->sigma[key], merges);
            w->sum_p += w->p_of[key];
            if (w->rho[key] > w->max_rho) w->max_rho = w->rho[key];
            if (w->sigma[key] > w->max_tau) w->max_tau = w->sigma[key];
        }
}

static void weigh_sink(ts_bound_row_state *w) {
    if (!w->p->sink || w->p->sink[w->head] == TS_BOUND_NEVER) return;
    double sink = w->p->sink[w->head], sigma = w->a.last_u * fabs(sink);
    w->exact = w->exact && sink == rint(sink) && fabs(sink) <= ldexp(1, w->a.bits);
    ts_bound_note_score(w, sink, sigma);
    w->sink_p = 1; /* for ts_bound_path: there is one */
}

/* |m̂ - m| is at most the largest σ among the scores that may be the maximum. */
static void bound_max(ts_bound_row_state *w) {
    for (int64_t j = 0; j < w->p->n_k; j++)
        if (w->s[j] != TS_BOUND_NEVER && w->s[j] + 2 * w->sigma[j] >= w->least_max &&
            w->sigma[j] > w->max_sigma)
            w->max_sigma = w->sigma[j];
    if (w->sink_p > 0) w->max_sigma += w->a.last_u * fabs(w->p->sink[w->head]);
}

void ts_bound_weigh(ts_bound_row_state *w, int64_t found) {
    weigh_sink(w);
    bound_max(w);
    for (int64_t b = 0; b < found; b++) weigh_block(w, w->present[b]);
    if (w->sink_p > 0) {
        double sink = w->p->sink[w->head], sigma = w->a.last_u * fabs(sink);
        bool gone = out_of_reach(w, sink, sigma);
        w->sink_p = gone ? 0 : exp((sink - w->max) * w->a.ln_base);
        w->sink_rho = gone ? 0 : rho_of(w, sink, sigma, 1);
        w->sum_p += w->sink_p;
        if (w->sink_rho > w->max_rho) w->max_rho = w->sink_rho;
        w->chain = w->chain > 3 ? w->chain : 3;
    }
    /* s was computed in doubles: for f32 and no program, 2^-29 as far off as σ. */
    if (w->a.u > TS_BOUND_U64 && !ts_problem_score(w->p, w->head)) w->max_tau *= 0x1p-28;
    for (int64_t j = 0; j < w->p->n_k; j++) w->p_of[j] /= w->sum_p;
    w->sink_p /= w->sum_p;
}
