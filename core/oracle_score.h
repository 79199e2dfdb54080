/* oracle_score.h -- score programs evaluated in MPFR. */
#ifndef TS_ORACLE_SCORE_H
#define TS_ORACLE_SCORE_H

#include "program.h"

#include <mpfr.h>

/* Values of a program's nodes: floats at the oracle's precision, the rest as the program has them.
 */
typedef struct {
    ts_value *plain; /* integers and booleans; a float's nearest double */
    mpfr_t *exact;   /* floats */
    mpfr_ptr spare;
} ts_oracle_values;

/* Replaces s by the result for query i, key j and head h (from 1). Constants and what tables hold
 * are taken as the doubles they are. */
void ts_oracle_score(const ts_program *program, int64_t h, int64_t i, int64_t j, mpfr_t s,
                     ts_oracle_values *values);

#endif
