/* schedule_check.c -- whether a schedule has every block and every key once, and a word that is
 * one. */
#include "schedule.h"

#include <string.h>

/* Every key of first..last in one block, and no other. */
static ts_status check_ranges(const ts_schedule *s, ts_range *scratch, ts_detail *detail) {
    ts_keyset keys = {0, scratch};
    ts_status status = ts_keyset_make(s->ranges, s->starts[s->blocks], &keys, detail);
    if (status) return status;
    int64_t next = s->first;
    for (int64_t r = 0; r < keys.count; r++) {
        ts_range range = keys.ranges[r];
        if (range.first < s->first || range.last > s->last) {
            detail->key = range.first < s->first  ? range.first
                          : range.first > s->last ? range.first
                                                  : s->last + 1;
            return TS_KEY_UNKNOWN;
        }
        if (range.first > next) break;
        next = range.last + 1;
    }
    if (next == s->last + 1) return TS_OK;
    detail->key = next;
    return TS_KEY_MISSING;
}

static ts_status check_blocks(const ts_schedule *s, void *scratch, ts_detail *detail) {
    if (s->first < 1 || s->last < s->first - 1) return TS_MALFORMED;
    if (s->last == INT64_MAX) return TS_TOO_LARGE; /* no number is left for the key behind it */
    int64_t keys = s->last - s->first + 1;
    if (s->blocks < 0 || s->blocks > INT32_MAX / 2) return TS_TOO_LARGE;
    if (s->ranges) return check_ranges(s, scratch, detail);
    bool right = keys == 0 ? s->blocks == 0 : s->k > 0 && s->blocks == (keys - 1) / s->k + 1;
    if (right) return TS_OK;
    detail->key = s->last;
    return s->k > 0 && keys / s->k < s->blocks ? TS_KEY_UNKNOWN : TS_KEY_MISSING;
}

/* Marks number n as used; TS_MALFORMED at entry `at` for what is none, TS_BLOCK_TWICE. */
static ts_status use(const ts_schedule *s, int32_t n, int64_t at, int32_t *used,
                     ts_detail *detail) {
    detail->key = at;
    if (n < 1 || n > s->blocks) return TS_MALFORMED;
    detail->key = n;
    return used[n]++ ? TS_BLOCK_TWICE : TS_OK;
}

static ts_status check_all_used(const ts_schedule *s, const int32_t *used, ts_detail *detail) {
    for (int64_t n = 1; n <= s->blocks; n++)
        if (!used[n]) {
            detail->key = n;
            return TS_BLOCK_MISSING;
        }
    return TS_OK;
}

static ts_status check_order(const ts_schedule *s, const int32_t *row, int32_t *used,
                             ts_detail *detail) {
    memset(used, 0, (size_t)(s->blocks + 1) * sizeof *used);
    for (int64_t p = 0; p < s->blocks; p++) {
        ts_status status = use(s, row[p], p + 1, used, detail);
        if (status) return status;
    }
    return TS_OK; /* as many numbers as blocks, none twice */
}

/* Every position pushed once; then a push adds a summary, ⋆ takes two and leaves one. */
static ts_status check_word(const ts_schedule *s, int32_t *used, ts_detail *detail) {
    int64_t length = 2 * s->blocks - 1, height = 0;
    ts_status status = TS_OK;
    memset(used, 0, (size_t)(s->blocks + 1) * sizeof *used);
    for (int64_t e = 0; !status && e < length; e++)
        if (s->word[e] != 0) status = use(s, s->word[e], e + 1, used, detail);
    if (!status) status = check_all_used(s, used, detail);
    for (int64_t e = 0; !status && e < length; e++) {
        height += s->word[e] != 0 ? 1 : -1;
        detail->key = e + 1;
        if (height < 1) status = TS_MALFORMED;
    }
    return status;
}

ts_status ts_schedule_check(const ts_schedule *s, void *scratch, ts_detail *detail) {
    ts_status status = check_blocks(s, scratch, detail);
    if (status || s->blocks == 0) return status;
    int32_t *used = scratch;
    for (int64_t row = 0; s->order == TS_ORDER_LISTED && row < s->order_rows; row++) {
        status = check_order(s, s->listed + row * s->blocks, used, detail);
        if (status) return status;
    }
    if (s->merge == TS_MERGE_SPLIT && s->parts < 1) return TS_MALFORMED;
    return s->merge == TS_MERGE_WORD ? check_word(s, used, detail) : TS_OK;
}
