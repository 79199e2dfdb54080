/* codec.c -- numbers to and from bytes, whatever the byte order of this machine. */
#include "codec.h"

#include "strip.h"

#include <math.h>

bool ts_codec_named(const char *name, bool swapped, ts_codec *out) {
    static const struct {
        const char *name;
        ts_codec kind;
    } kinds[] = {
        {"f2", {TS_CODEC_F16, 2, false}},  {"bf16", {TS_CODEC_BF16, 2, false}},
        {"f4", {TS_CODEC_F32, 4, false}},  {"f8", {TS_CODEC_F64, 8, false}},
        {"i1", {TS_CODEC_INT, 1, false}},  {"i2", {TS_CODEC_INT, 2, false}},
        {"i4", {TS_CODEC_INT, 4, false}},  {"i8", {TS_CODEC_INT, 8, false}},
        {"u1", {TS_CODEC_UINT, 1, false}}, {"u2", {TS_CODEC_UINT, 2, false}},
        {"u4", {TS_CODEC_UINT, 4, false}}, {"u8", {TS_CODEC_UINT, 8, false}},
        {"b1", {TS_CODEC_BOOL, 1, false}}, {"?", {TS_CODEC_BOOL, 1, false}},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (strcmp(kinds[i].name, name) != 0) continue;
        *out = kinds[i].kind;
        out->swapped = swapped;
        return true;
    }
    return false;
}

/* The bits of an element. */
static uint64_t read_bits(ts_codec kind, const uint8_t *at) {
    uint64_t bits = 0;
    for (int i = 0; i < kind.size; i++)
        bits |= (uint64_t)at[kind.swapped ? kind.size - 1 - i : i] << (8 * i);
    return bits;
}

static void write_bits(ts_codec kind, uint8_t *at, uint64_t bits) {
    for (int i = 0; i < kind.size; i++)
        at[kind.swapped ? kind.size - 1 - i : i] = (uint8_t)(bits >> (8 * i));
}

static double f32_of(uint32_t bits) {
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static uint32_t bits_of_f32(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static double f64_of(uint64_t bits) {
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static uint64_t bits_of_f64(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* 1 sign, 5 exponent (bias 15) and 10 mantissa bits. */
static double f16_of(uint64_t bits) {
    int exponent = (int)(bits >> 10 & 31);
    double mantissa = (double)(bits & 1023), x;
    if (exponent == 31)
        x = mantissa == 0 ? INFINITY : NAN;
    else
        x = exponent == 0 ? ldexp(mantissa, -24) : ldexp(1024 + mantissa, exponent - 25);
    return bits & 0x8000 ? -x : x;
}

static uint64_t bits_of_f16(double x) {
    uint64_t sign = signbit(x) ? 0x8000 : 0;
    int exponent;
    if (isnan(x)) return sign | 0x7e00;
    double size = fabs(x);
    if (size >= 0x1p16) return sign | 0x7c00;
    if (size < 0x1p-14) return sign | (uint64_t)nearbyint(ldexp(size, 24));
    double mantissa = frexp(size, &exponent); /* size = mantissa 2^exponent, mantissa in [1/2, 1) */
    /* A mantissa that rounds up to 2048 carries into the exponent, as it should: from 65520 on, to
     * infinity. */
    return sign | (((uint64_t)(exponent + 13) << 10) + (uint64_t)nearbyint(ldexp(mantissa, 11)));
}

/* A double is cut to 24 bits, the last one set where anything was lost (so that the second rounding
 * cannot mistake a number for a tie), before bf16 takes the upper half. */
static uint64_t bits_of_bf16(double x) {
    float y = (float)x;
    if (isnan(x)) return (signbit(x) ? 0x8000 : 0) | 0x7fc0;
    uint32_t bits = bits_of_f32(y);
    if (isinf(y) || (double)y == x) return ((uint64_t)bits + 0x7fff + (bits >> 16 & 1)) >> 16;
    if (fabs((double)y) > fabs(x)) bits--; /* towards zero, */
    bits |= 1;                             /* and marked as more than that */
    return ((uint64_t)bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}

/* One element as a double; *exact is cleared where that is not its value. */
static double decode(ts_codec kind, const uint8_t *at, bool *exact) {
    uint64_t bits = read_bits(kind, at);
    int unused = 64 - 8 * kind.size;
    int64_t whole;
    double x;
    switch (kind.class) {
    case TS_CODEC_F16:
        return f16_of(bits);
    case TS_CODEC_BF16:
        return f32_of((uint32_t)bits << 16);
    case TS_CODEC_F32:
        return f32_of((uint32_t)bits);
    case TS_CODEC_F64:
        return f64_of(bits);
    case TS_CODEC_BOOL:
        return bits != 0;
    case TS_CODEC_INT:
        whole = (int64_t)(bits << unused) >> unused;
        x = (double)whole;
        *exact = x < 0x1p63 && (int64_t)x == whole;
        return x;
    case TS_CODEC_UINT:
        x = (double)bits;
        *exact = x < 0x1p64 && (uint64_t)x == bits;
        return x;
    }
    return NAN;
}

int64_t ts_codec_decode(ts_codec kind, const void *bytes, int64_t count, ts_matrix *m,
                        int64_t first) {
    const uint8_t *at = bytes;
    int64_t exact_count = count;
    double room[TS_STRIP];
    for (int64_t done = 0, n; done < count; done += n) {
        int64_t row = (first + done) / m->cols, col = (first + done) % m->cols;
        n = ts_strip_length(m->cols, col);
        if (n > count - done) n = count - done;
        for (int64_t i = 0; i < n; i++, at += kind.size) {
            bool exact = true;
            room[i] = decode(kind, at, &exact);
            if (!exact && exact_count == count) exact_count = done + i;
        }
        ts_strip_store(m, row, col, n, room);
    }
    return exact_count;
}

static uint64_t encode(ts_codec kind, double x) {
    switch (kind.class) {
    case TS_CODEC_F16:
        return bits_of_f16(x);
    case TS_CODEC_BF16:
        return bits_of_bf16(x);
    case TS_CODEC_F32:
        return bits_of_f32((float)x);
    default:
        return bits_of_f64(x);
    }
}

void ts_codec_encode(ts_codec kind, const ts_matrix *m, int64_t first, int64_t count, void *bytes) {
    uint8_t *at = bytes;
    double room[TS_STRIP];
    for (int64_t done = 0, n; done < count; done += n) {
        int64_t row = (first + done) / m->cols, col = (first + done) % m->cols;
        n = ts_strip_length(m->cols, col);
        if (n > count - done) n = count - done;
        const double *x = ts_strip_load(m, row, col, n, room);
        for (int64_t i = 0; i < n; i++, at += kind.size) write_bits(kind, at, encode(kind, x[i]));
    }
}
