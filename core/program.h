/* program.h -- a straight-line program over (s, i, j, h): run on a strip of keys, bounded on a
 * tile. */
#ifndef TS_PROGRAM_H
#define TS_PROGRAM_H

#include "keyset.h"
#include "matrix.h"
#include "run.h"

/* Types of nodes. Integers are int64_t and wrap as Lua's do. Floats are doubles in a mask; in a
 * score they are of the problem's dtype, and each operation rounds once. */
typedef enum { TS_INT, TS_FLOAT, TS_BOOL } ts_type;

/* TS_OPS(X): X(name, result, arity, types of operands). Every operation is total: what Lua would
 * raise for gives 0 or false here, since branches not taken are computed too; whether anything
 * raises is the lifter's to show. Meanings are Lua 5.4's (lvm.c, lmathlib.c): `//` and `%` floor;
 * shifts by >= 64 give 0 and negative ones turn round; comparisons of integers with floats are
 * exact. iconst fconst bconst   the node's constant itable ftable btable   table[a], `fallback` (0
 * or false) outside its first..first + count - 1 matrix                 table(a, b), 1-based, as a
 * float; 0 outside bits                   dense bits at (a, b, c), 1-based (c is the head); false
 * outside ifrom                  float a as an integer, where it is integral and fits; else 0.
 * fits: whether it is and does ilog.. and the like do not exist: math functions take floats, as C's
 * do */
#define TS_OPS(X)                                                                                  \
    X(iconst, INT, 0, "")                                                                          \
    X(fconst, FLOAT, 0, "") X(bconst, BOOL, 0, "") X(i, INT, 0, "") X(j, INT, 0, "")               \
        X(h, INT, 0, "") X(s, FLOAT, 0, "") X(iadd, INT, 2, "ii") X(isub, INT, 2, "ii") X(         \
            imul, INT, 2, "ii") X(ineg, INT, 1, "i") X(idiv, INT, 2, "ii") X(imod, INT, 2, "ii")   \
            X(iabs, INT, 1, "i") X(imin, INT, 2, "ii") X(imax, INT, 2, "ii") X(iand, INT, 2, "ii") \
                X(ior, INT, 2, "ii") X(ixor, INT, 2, "ii") X(inot, INT, 1, "i")                    \
                    X(ishl, INT, 2, "ii") X(ishr, INT, 2, "ii") X(fadd, FLOAT, 2, "ff")            \
                        X(fsub, FLOAT, 2, "ff") X(fmul, FLOAT, 2, "ff") X(fdiv, FLOAT, 2, "ff")    \
                            X(fneg, FLOAT, 1, "f") X(ffloordiv, FLOAT, 2, "ff")                    \
                                X(fmod, FLOAT, 2, "ff") X(fpow, FLOAT, 2, "ff")                    \
                                    X(fabs, FLOAT, 1, "f") X(ffloor, FLOAT, 1, "f")                \
                                        X(fceil, FLOAT, 1, "f") X(fsqrt, FLOAT, 1, "f")            \
                                            X(fexp, FLOAT, 1, "f") X(flog, FLOAT, 1, "f")          \
                                                X(flog2, FLOAT, 1, "f") X(flog10, FLOAT, 1, "f")   \
                                                    X(fsin, FLOAT, 1, "f") X(fcos, FLOAT, 1, "f")  \
                                                        X(ftan, FLOAT, 1, "f")                     \
                                                            X(ftanh, FLOAT, 1, "f")                \
                                                                X(fcmod, FLOAT, 2,                 \
                                                                  "ff") /* C's fmod: math.fmod */  \
        X(ffrom, FLOAT, 1, "i") X(ifrom, INT, 1, "f") X(fits, BOOL, 1, "f") X(ieq, BOOL, 2, "ii")  \
            X(ilt, BOOL, 2, "ii") X(ile, BOOL, 2, "ii") X(iult, BOOL, 2, "ii")                     \
                X(feq, BOOL, 2, "ff") X(flt, BOOL, 2, "ff") X(fle, BOOL, 2, "ff")                  \
                    X(ifeq, BOOL, 2, "if") X(iflt, BOOL, 2, "if") X(ifle, BOOL, 2, "if")           \
                        X(filt, BOOL, 2, "fi") X(file, BOOL, 2, "fi") X(band, BOOL, 2, "bb")       \
                            X(bor, BOOL, 2, "bb") X(bxor, BOOL, 2, "bb") X(bnot, BOOL, 1, "b")     \
                                X(iselect, INT, 3, "bii") X(fselect, FLOAT, 3, "bff")              \
                                    X(bselect, BOOL, 3, "bbb") X(itable, INT, 1, "i")              \
                                        X(ftable, FLOAT, 1, "i") X(btable, BOOL, 1, "i")           \
                                            X(matrix, FLOAT, 2, "ii") X(bits, BOOL, 3, "iii")

typedef enum {
#define X(name, result, arity, types) TS_OP_##name,
    TS_OPS(X)
#undef X
        TS_OP_COUNT
} ts_op;

/* Operands are numbers of earlier nodes: a program is a list in which each node stands behind what
 * it uses. */
typedef struct {
    uint8_t op, type;
    int32_t operand[3];
    int32_t table; /* of itable, ftable, btable, matrix, bits */
    union {
        int64_t i;
        double f;
    } constant;
} ts_node;

/* What look-ups read: snapshots, in the memory of the program's owner. One-dimensional tables hold
 * elements first .. first + count - 1. */
typedef struct {
    enum { TS_TABLE_INTS, TS_TABLE_FLOATS, TS_TABLE_BOOLS, TS_TABLE_MATRIX, TS_TABLE_BITS } kind;
    int64_t first, count;
    const int64_t *ints;
    const double *floats;
    const uint8_t *bools; /* a byte each */
    ts_matrix matrix;
    int64_t rows, cols, heads; /* of bits; heads >= 1 */
    int64_t words;             /* uint64_t words a row of bits; row (h - 1) * rows + i - 1 */
    const uint64_t *bits;
} ts_table;

typedef struct {
    int64_t count, table_count;
    const ts_node *nodes; /* the last one is the result */
    const ts_table *tables;
} ts_program;

/* Checks types, operand order and table numbers. TS_MALFORMED, with the node (from 0) in
 * detail->key. */
ts_status ts_program_check(const ts_program *program, ts_detail *detail);

/* Bytes of scratch that the functions below need; each thread has its own. */
size_t ts_program_scratch(const ts_program *program);

/* Replaces the `count` scores s[0..] of query i, keys j, j + 1, .. and head h by the program's
 * result, in the dtype of s. exp, log, tanh, sin, cos are SLEEF's, within 3.5 ulp. */
void ts_program_score_f32(const ts_program *program, int64_t h, int64_t i, int64_t j, int64_t count,
                          float *s, void *scratch);
void ts_program_score_f64(const ts_program *program, int64_t h, int64_t i, int64_t j, int64_t count,
                          double *s, void *scratch);

/* An interval that encloses, for every real s in [low, high], both the exact result and what the
 * functions above may compute in `dtype`: *low and *high are replaced. False, untouched, where no
 * finite one is known (an undecided comparison whose branches differ, a pole). */
bool ts_program_enclose(const ts_program *program, ts_dtype dtype, int64_t h, int64_t i, int64_t j,
                        double *low, double *high, void *scratch);

#endif
