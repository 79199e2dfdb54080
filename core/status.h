/* status.h -- what a call can come to, and the details of a failure. */
#ifndef TS_STATUS_H
#define TS_STATUS_H

#include <stdint.h>

typedef enum {
    TS_OK = 0,
    TS_NO_MEMORY,       /* an allocation failed; bytes: how many were asked for */
    TS_TOO_LARGE,       /* a size does not fit int64_t, or the address space */
    TS_SHAPE,           /* shapes do not fit; want, got */
    TS_DTYPE,           /* operands of two dtypes */
    TS_OVERLAP,         /* two key sets share key */
    TS_NONFINITE_SCORE, /* an allowed score is NaN or +inf; row, key, head, value */
    TS_NONFINITE_VALUE, /* an allowed value is NaN or infinite; row, key, head, column, value */
    TS_EMPTY_ROW,       /* an output was asked of ⊥; row, head of the first, count: how many */
    TS_INTERRUPTED,     /* the caller's poll said stop */
    TS_CALLBACK,        /* a callback failed, and holds the reason itself */
    TS_BLOCK_MISSING,   /* a schedule leaves out block key */
    TS_BLOCK_TWICE,     /* a schedule uses block key twice */
    TS_MALFORMED,       /* a word or program that is none; key: where */
    TS_NO_ISA,          /* this CPU lacks the instruction set asked for */
    TS_KEY_MISSING,     /* no block of a schedule holds key */
    TS_KEY_UNKNOWN      /* a block of a schedule holds key, which is none of the problem's */
} ts_status;

/* Which fields are set is said beside each status. Rows, keys, heads and columns count from 1. */
typedef struct {
    int64_t row, key, head, column, count;
    int64_t want[2], got[2];
    double value;
    uint64_t bytes;
} ts_detail;

#endif
