/* codec.h -- numbers as bytes: the kinds of element that files hold. */
#ifndef TS_CODEC_H
#define TS_CODEC_H

#include "matrix.h"

typedef enum {
    TS_CODEC_F16,  /* IEEE 754 binary16 */
    TS_CODEC_BF16, /* the upper half of an f32 */
    TS_CODEC_F32,
    TS_CODEC_F64,
    TS_CODEC_INT, /* two's complement, of 1, 2, 4 or 8 bytes */
    TS_CODEC_UINT,
    TS_CODEC_BOOL /* one byte; anything but 0 is true */
} ts_codec_class;

/* Little-endian, unless swapped. */
typedef struct {
    ts_codec_class class;
    int size; /* bytes an element */
    bool swapped;
} ts_codec;

/* The kind called f2 bf16 f4 f8 i1 i2 i4 i8 u1 u2 u4 u8 b1 or ? (as NumPy has them, after their
 * byte order), in *out; false where the name is none. */
bool ts_codec_named(const char *name, bool swapped, ts_codec *out);

/* Writes `count` elements to m, from its element `first` on (from 0, row by row), each rounded once
 * to m's dtype. Returns how many (from the start) a double holds exactly: a whole number of more
 * than 53 bits may not be; all are written. m has first + count elements at least. */
int64_t ts_codec_decode(ts_codec kind, const void *bytes, int64_t count, ts_matrix *m,
                        int64_t first);

/* The inverse, for kinds of float: `count` elements of m from `first` on to bytes, rounded once,
 * ties to even; what is too large becomes infinite, a NaN stays one. */
void ts_codec_encode(ts_codec kind, const ts_matrix *m, int64_t first, int64_t count, void *bytes);

#endif
