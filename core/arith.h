/* arith.h -- the operations of programs on single numbers: Lua 5.4's meanings, made total.
 *
 * The one place where an operation is defined. Each comment names where Lua defines it (tag
 * v5.4.4); where Lua would raise, the result is 0. */
#ifndef TS_ARITH_H
#define TS_ARITH_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

static inline int64_t ts_iadd(int64_t a, int64_t b) { return (int64_t)((uint64_t)a + (uint64_t)b); }
static inline int64_t ts_isub(int64_t a, int64_t b) { return (int64_t)((uint64_t)a - (uint64_t)b); }
static inline int64_t ts_imul(int64_t a, int64_t b) { return (int64_t)((uint64_t)a * (uint64_t)b); }
static inline int64_t ts_ineg(int64_t a) { return ts_isub(0, a); }

/* luaV_idiv; the quotient by -1 is the negation, since minint // -1 would trap. */
static inline int64_t ts_idiv(int64_t a, int64_t b) {
    if (b == 0) return 0;
    if (b == -1) return ts_ineg(a);
    int64_t q = a / b;
    return (a ^ b) < 0 && q * b != a ? q - 1 : q;
}

/* luaV_mod */
static inline int64_t ts_imod(int64_t a, int64_t b) {
    if (b == 0 || b == -1) return 0;
    int64_t r = a % b;
    return r != 0 && (r ^ b) < 0 ? r + b : r;
}

/* math_fmod of integers */
static inline int64_t ts_icmod(int64_t a, int64_t b) { return b == 0 || b == -1 ? 0 : a % b; }

static inline int64_t ts_iabs(int64_t a) { return a < 0 ? ts_ineg(a) : a; }
static inline int64_t ts_imin(int64_t a, int64_t b) { return b < a ? b : a; }
static inline int64_t ts_imax(int64_t a, int64_t b) { return a < b ? b : a; }
static inline int64_t ts_iand(int64_t a, int64_t b) { return a & b; }
static inline int64_t ts_ior(int64_t a, int64_t b) { return a | b; }
static inline int64_t ts_ixor(int64_t a, int64_t b) { return a ^ b; }
static inline int64_t ts_inot(int64_t a) { return ~a; }

/* luaV_shiftl; >> is logical, and shifting by -n to the left is shifting by n to the right. */
static inline int64_t ts_ishl(int64_t a, int64_t b) {
    if (b <= -64 || b >= 64) return 0;
    return (int64_t)(b < 0 ? (uint64_t)a >> -b : (uint64_t)a << b);
}
static inline int64_t ts_ishr(int64_t a, int64_t b) { return ts_ishl(a, ts_ineg(b)); }

static inline double ts_fadd(double a, double b) { return a + b; }
static inline double ts_fsub(double a, double b) { return a - b; }
static inline double ts_fmul(double a, double b) { return a * b; }
static inline double ts_fdiv(double a, double b) { return a / b; }
static inline double ts_fneg(double a) { return -a; }
static inline double ts_ffloordiv(double a, double b) { return floor(a / b); } /* luai_numidiv */
static inline double ts_fcmod(double a, double b) { return fmod(a, b); }

/* luai_nummod: the remainder of truncated division, moved to the sign of b. */
static inline double ts_fmod(double a, double b) {
    double m = fmod(a, b);
    if (m > 0 ? b < 0 : m < 0 && b > 0) m += b;
    return m;
}

static inline double ts_fpow(double a, double b) {
    return b == 2 ? a * a : pow(a, b);
} /* luai_numpow */
static inline double ts_fabs(double a) { return fabs(a); }
static inline double ts_ffloor(double a) { return floor(a); }
static inline double ts_fceil(double a) { return ceil(a); }
static inline double ts_fsqrt(double a) { return sqrt(a); }
static inline double ts_fexp(double a) { return exp(a); }
static inline double ts_flog(double a) { return log(a); }
static inline double ts_flog2(double a) { return log2(a); }
static inline double ts_flog10(double a) { return log10(a); }
static inline double ts_fsin(double a) { return sin(a); }
static inline double ts_fcos(double a) { return cos(a); }
static inline double ts_ftan(double a) { return tan(a); }
static inline double ts_ftanh(double a) { return tanh(a); }

/* lua_numbertointeger: -2^63 <= a < 2^63, tested so that NaN fails. */
static inline bool ts_in_range(double a) { return a >= -0x1p63 && a < 0x1p63; }
static inline bool ts_fits(double a) { return ts_in_range(a) && floor(a) == a; }
static inline int64_t ts_ifrom(double a) { return ts_fits(a) ? (int64_t)a : 0; }
static inline double ts_ffrom(int64_t a) { return (double)a; }

static inline bool ts_ieq(int64_t a, int64_t b) { return a == b; }
static inline bool ts_ilt(int64_t a, int64_t b) { return a < b; }
static inline bool ts_ile(int64_t a, int64_t b) { return a <= b; }
static inline bool ts_iult(int64_t a, int64_t b) { return (uint64_t)a < (uint64_t)b; }
static inline bool ts_feq(double a, double b) { return a == b; }
static inline bool ts_flt(double a, double b) { return a < b; }
static inline bool ts_fle(double a, double b) { return a <= b; }

/* luaV_equalobj, LTintfloat, LEintfloat, LTfloatint, LEfloatint: i < f where i < ceil(f), and so
 * on; beyond the integers' range the sign of f decides. */
static inline bool ts_ifeq(int64_t i, double f) { return ts_fits(f) && i == (int64_t)f; }
static inline bool ts_iflt(int64_t i, double f) {
    double c = ceil(f);
    return ts_in_range(c) ? i < (int64_t)c : f > 0;
}
static inline bool ts_ifle(int64_t i, double f) {
    double c = floor(f);
    return ts_in_range(c) ? i <= (int64_t)c : f > 0;
}
static inline bool ts_filt(double f, int64_t i) {
    double c = floor(f);
    return ts_in_range(c) ? (int64_t)c < i : f < 0;
}
static inline bool ts_file(double f, int64_t i) {
    double c = ceil(f);
    return ts_in_range(c) ? (int64_t)c <= i : f < 0;
}

static inline bool ts_band(bool a, bool b) { return a && b; }
static inline bool ts_bor(bool a, bool b) { return a || b; }
static inline bool ts_bxor(bool a, bool b) { return a != b; }
static inline bool ts_bnot(bool a) { return !a; }
static inline int64_t ts_iselect(bool c, int64_t a, int64_t b) { return c ? a : b; }
static inline double ts_fselect(bool c, double a, double b) { return c ? a : b; }
static inline bool ts_bselect(bool c, bool a, bool b) { return c ? a : b; }

#endif
