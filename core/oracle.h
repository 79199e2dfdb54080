/* oracle.h -- road 3: attention in MPFR at any precision, each result rounded once: the judge. */
#ifndef TS_ORACLE_H
#define TS_ORACLE_H

#include "problem.h"
#include "run.h"

/* rows: which query rows, from 0, in any order; NULL: all n_q, and then row_count is not looked at.
 * o: rows x heads * d_v, lse: rows x heads (NULL: not asked for), row n of both is row rows[n]; f64
 * ones are a finer judge of an f32 problem. bits: the precision of every operation, 64 (which holds
 * every double and integer) to 65536, else TS_TOO_LARGE; each result is rounded to the matrix's
 * dtype once. Lifted scores are evaluated at that precision too; called ones are given and give
 * doubles, and where there is one (ts_problem_calls) the oracle is good to double only. Errors,
 * non-finite numbers and empty rows as ts_softmax; failures name the first in (head, place in
 * `rows`, key) order. MPFR ends the process where its small temporaries find no memory; all that
 * grows with the problem comes from the allocator. */
ts_status ts_oracle(const ts_problem *problem, int64_t bits, const int64_t *rows, int64_t row_count,
                    bool zero_empty, const ts_run *run, ts_matrix *o, ts_matrix *lse,
                    ts_detail *detail);

#endif
