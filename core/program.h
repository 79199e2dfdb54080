/* program.h -- a straight-line program over (s, i, j, h): checked, and evaluated a cell or a strip
 * of keys at a time. */
#ifndef TS_PROGRAM_H
#define TS_PROGRAM_H

#include "keyset.h"
#include "matrix.h"
#include "run.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Types of nodes. Integers are int64_t and wrap as Lua's do. Floats are doubles in a mask; in a
 * score they are of the problem's dtype, and each operation rounds once. */
typedef enum { TS_INT, TS_FLOAT, TS_BOOL } ts_type;

/* TS_OPS(X): X(name, type of the result, arity, types of the operands). Every operation is total:
 * what Lua would raise for gives 0 or false here, since branches not taken are computed too;
 * whether anything raises is the lifter's to show. Meanings are Lua 5.4's (lvm.c, lmathlib.c; see
 * arith.h): `//` and `%` floor; shifts by >= 64 give 0 and negative ones turn round; comparisons of
 * integers with floats are exact.
 *   iconst fconst bconst   the node's constant
 *   icmod fcmod            C's % and fmod, which math.fmod gives
 *   ffrom                  integer a as the nearest float
 *   ifrom                  float a as an integer where it is integral and fits, else 0
 *   fits                   whether it is and does
 *   iult                   as unsigned numbers
 *   ifeq iflt .. file      an integer with a float, a float with an integer
 *   itable ftable btable   element a of the table; 0 or false outside first .. first + count - 1
 *   matrix                 element (a, b), from 1, as a float; 0 outside
 *   bits                   dense bit (a, b) of head c, from 1; false outside */
/* clang-format off */
#define TS_LEAVES(X) \
    X(iconst, INT, 0, none)     X(fconst, FLOAT, 0, none)   X(bconst, BOOL, 0, none) \
    X(i, INT, 0, none)          X(j, INT, 0, none)          X(h, INT, 0, none) \
    X(s, FLOAT, 0, none)
#define TS_ARITH(X) \
    X(iadd, INT, 2, ii)         X(isub, INT, 2, ii)         X(imul, INT, 2, ii) \
    X(ineg, INT, 1, i)          X(idiv, INT, 2, ii)         X(imod, INT, 2, ii) \
    X(icmod, INT, 2, ii)        X(iabs, INT, 1, i)          X(imin, INT, 2, ii) \
    X(imax, INT, 2, ii)         X(iand, INT, 2, ii)         X(ior, INT, 2, ii) \
    X(ixor, INT, 2, ii)         X(inot, INT, 1, i)          X(ishl, INT, 2, ii) \
    X(ishr, INT, 2, ii) \
    X(fadd, FLOAT, 2, ff)       X(fsub, FLOAT, 2, ff)       X(fmul, FLOAT, 2, ff) \
    X(fdiv, FLOAT, 2, ff)       X(fneg, FLOAT, 1, f)        X(ffloordiv, FLOAT, 2, ff) \
    X(fmod, FLOAT, 2, ff)       X(fcmod, FLOAT, 2, ff)      X(fpow, FLOAT, 2, ff) \
    X(fabs, FLOAT, 1, f)        X(ffloor, FLOAT, 1, f)      X(fceil, FLOAT, 1, f) \
    X(fsqrt, FLOAT, 1, f)       X(fexp, FLOAT, 1, f)        X(flog, FLOAT, 1, f) \
    X(flog2, FLOAT, 1, f)       X(flog10, FLOAT, 1, f)      X(fsin, FLOAT, 1, f) \
    X(fcos, FLOAT, 1, f)        X(ftan, FLOAT, 1, f)        X(ftanh, FLOAT, 1, f) \
    X(ffrom, FLOAT, 1, i)       X(ifrom, INT, 1, f)         X(fits, BOOL, 1, f) \
    X(ieq, BOOL, 2, ii)         X(ilt, BOOL, 2, ii)         X(ile, BOOL, 2, ii) \
    X(iult, BOOL, 2, ii) \
    X(feq, BOOL, 2, ff)         X(flt, BOOL, 2, ff)         X(fle, BOOL, 2, ff) \
    X(ifeq, BOOL, 2, if)        X(iflt, BOOL, 2, if)        X(ifle, BOOL, 2, if) \
    X(filt, BOOL, 2, fi)        X(file, BOOL, 2, fi) \
    X(band, BOOL, 2, bb)        X(bor, BOOL, 2, bb)         X(bxor, BOOL, 2, bb) \
    X(bnot, BOOL, 1, b) \
    X(iselect, INT, 3, bii)     X(fselect, FLOAT, 3, bff)   X(bselect, BOOL, 3, bbb)
#define TS_LOOKUPS(X) \
    X(itable, INT, 1, i)        X(ftable, FLOAT, 1, i)      X(btable, BOOL, 1, i) \
    X(matrix, FLOAT, 2, ii)     X(bits, BOOL, 3, iii)
#define TS_OPS(X) TS_LEAVES(X) TS_ARITH(X) TS_LOOKUPS(X)
/* clang-format on */

typedef enum {
#define X(name, result, arity, types) TS_OP_##name,
    TS_OPS(X)
#undef X
        TS_OP_COUNT
} ts_op;

/* What TS_OPS says of an operation. */
typedef struct {
    const char *name;
    ts_type result;
    int arity;
    const char *operands; /* `arity` letters: i, f, b */
} ts_op_kind;

extern const ts_op_kind ts_op_kinds[TS_OP_COUNT];

/* One value: of a node, or of a constant. */
typedef union {
    int64_t i;
    double f;
    int64_t b; /* 0 or 1; as wide as the others, so that copies are whole words */
} ts_value;

/* Operands are numbers (from 0) of earlier nodes: a program is a list in which each node stands
 * behind what it uses. Unused operands and tables are -1. */
typedef struct {
    uint8_t op, type;
    int32_t operand[3];
    int32_t table; /* of itable, ftable, btable, matrix, bits */
    union {
        int64_t i; /* of bconst: 0 or 1 */
        double f;
    } constant;
} ts_node;

typedef enum {
    TS_TABLE_INTS,
    TS_TABLE_FLOATS,
    TS_TABLE_BOOLS,
    TS_TABLE_MATRIX,
    TS_TABLE_BITS
} ts_table_kind;

/* What look-ups read: snapshots, in the memory of the program's owner. One-dimensional tables hold
 * elements first .. first + count - 1. */
typedef struct {
    ts_table_kind kind;
    int64_t first, count;
    const int64_t *ints;
    const double *floats;
    const uint8_t *bools; /* a byte each */
    ts_matrix matrix;
    int64_t rows, cols, heads; /* of bits; heads >= 1 */
    int64_t words;             /* uint64_t words a row of bits; row (h - 1) * rows + i - 1 */
    const uint64_t *bits;      /* behind the last column 0 */
    const void *index;         /* range minima and maxima (table.h), or NULL */
} ts_table;

/* An integer node as i * ci + j * cj + h * ch + c; a comparison of integers has the form of left -
 * right. Known where `linear`, and exact (nothing wraps) for indices below TS_INDEX_LIMIT. needed:
 * the result's bound depends on the node's, which linear forms do not on their operands'. */
typedef struct {
    int64_t c;
    int32_t ci, cj, ch;
    bool linear, needed;
} ts_form;

#define TS_INDEX_LIMIT ((int64_t)1 << 40)

typedef struct {
    int64_t count, table_count;
    const ts_node *nodes; /* the last one is the result */
    const ts_table *tables;
    const ts_form *forms; /* one a node, of ts_program_forms; NULL: no bound uses them */
} ts_program;

/* Checks types, operand order and table numbers. TS_MALFORMED, with the node (from 1) in
 * detail->key. */
ts_status ts_program_check(const ts_program *program, ts_detail *detail);

/* Writes the forms of `nodes`, a checked list, to forms[0 .. count - 1]. */
void ts_program_forms(const ts_node *nodes, int64_t count, ts_form *forms);

/* Bytes of scratch that the functions below need; each thread has its own. */
size_t ts_program_scratch(const ts_program *program);

/* The result in cell (i, j) of head h for score s (0 in a mask), in doubles; functions are libm's.
 * values: room for one a node. */
ts_value ts_program_eval(const ts_program *program, double s, int64_t i, int64_t j, int64_t h,
                         ts_value *values);

/* Replaces the scores of queries i.first .. i.last and keys j.first .. j.last of head h, rows
 * `stride` numbers of `dtype` apart, by the program's results, in that dtype. exp, log, tanh, sin,
 * cos are SLEEF's, within 3.5 ulp. Many rows at once cost less a row. */
void ts_program_score(const ts_program *program, ts_dtype dtype, int64_t h, ts_range i, ts_range j,
                      void *scores, int64_t stride, void *scratch);
/* The same for the `count` scores of query i, keys j, j + 1, .. */
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
