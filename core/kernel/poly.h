/* poly.h -- 2^x by a polynomial of our own, for exp = "poly": 2^x = 2^n 2^f, n the whole number
 * next to x, and 2^f, |f| <= 1/2, a polynomial that is 1 at 0, so that whole numbers are exact. */
#ifndef TS_POLY_H
#define TS_POLY_H

#include "../matrix.h"

enum { TS_POLY_DEGREE = 13 }; /* the highest */

/* Of 2^f, by degree and power. */
extern const double ts_poly_coefficients[TS_POLY_DEGREE + 1][TS_POLY_DEGREE + 1];

/* A bound of its relative error where the result is normal (it is 0 below): the fit's, and an ulp
 * for the roundings. spec/core/poly.c holds it against every f32. */
double ts_poly_error(ts_dtype dtype, int degree);

static inline int ts_poly_default(ts_dtype dtype) { return dtype == TS_F32 ? 6 : 11; }

#endif
