/* chunk_mask.c -- the bits of a chunk's mask: for each row of the tile, which keys it may use. */
#include "chunk.h"

#include <string.h>

/* Bits from .. from + count - 1 of a row, from bit `at` on of another; those may be set only. */
static void put_bits(uint64_t *to, int64_t at, const uint64_t *from, int64_t count) {
    for (int64_t b = 0; b < count; b++)
        to[(at + b) / 64] |= (from[b / 64] >> (b % 64) & 1) << ((at + b) % 64);
}

void ts_chunk_fill_bits(uint64_t *row, int64_t words, int64_t count) {
    for (int64_t w = 0; w < words; w++) {
        int64_t left = count - 64 * w;
        row[w] = left >= 64 ? ~(uint64_t)0 : left <= 0 ? 0 : ((uint64_t)1 << left) - 1;
    }
}

static uint64_t *slot_bits(const ts_tile *tile, int64_t slot) {
    return tile->bits + slot * tile->queries * tile->words;
}

/* A tile's cover from its parts': what all of them agree on. */
static ts_cover both(ts_cover a, ts_cover b) { return a == b ? a : TS_PARTIAL; }

/* Of a mask over the chunk's segments: its cover and, where that is partial, its bits. */
static ts_cover cover_mask(ts_tile *tile, const ts_mask *mask, int64_t h, int64_t slot) {
    uint64_t *bits = slot_bits(tile, slot);
    ts_cover cover = ts_mask_cover(mask, h, tile->i, tile->segments[0], tile->mask_scratch);
    for (int64_t s = 1; s < tile->segment_count; s++)
        cover = both(cover, ts_mask_cover(mask, h, tile->i, tile->segments[s], tile->mask_scratch));
    if (cover != TS_PARTIAL) return cover;
    if (tile->segment_count == 1)
        return ts_mask_tile(mask, h, tile->i, tile->segments[0], bits, tile->words,
                            tile->mask_scratch);
    memset(bits, 0, (size_t)(tile->queries * tile->words) * sizeof *bits);
    for (int64_t s = 0, at = 0; s < tile->segment_count; s++) {
        ts_range j = tile->segments[s];
        ts_mask_tile(mask, h, tile->i, j, tile->segment_bits, tile->words, tile->mask_scratch);
        for (int64_t i = 0; i < tile->queries; i++)
            put_bits(bits + i * tile->words, at, tile->segment_bits + i * tile->words,
                     j.last - j.first + 1);
        at += j.last - j.first + 1;
    }
    return TS_PARTIAL;
}

void ts_chunk_find_cover(ts_tile *tile) {
    const ts_problem *p = tile->problem;
    ts_cover all = TS_FULL;
    for (int64_t g = 0; g < tile->heads; g++) {
        const ts_mask *mask = ts_problem_mask(p, tile->head + g);
        tile->slot[g] = g;
        for (int64_t other = 0; other < g && (!mask || mask->heads == 0); other++)
            if (mask == ts_problem_mask(p, tile->head + other)) {
                tile->slot[g] = tile->slot[other];
                break;
            }
        if (tile->slot[g] == g)
            tile->covers[g] =
                (uint8_t)(mask ? cover_mask(tile, mask, tile->head + g + 1, g) : TS_FULL);
        else
            tile->covers[g] = tile->covers[tile->slot[g]];
        all = g == 0 ? tile->covers[0] : both(all, tile->covers[g]);
    }
    tile->cover = all;
    for (int64_t g = 0; all == TS_PARTIAL && g < tile->heads; g++)
        if (tile->slot[g] == g && tile->covers[g] != TS_PARTIAL)
            for (int64_t i = 0; i < tile->queries; i++)
                ts_chunk_fill_bits(slot_bits(tile, g) + i * tile->words, tile->words,
                                   tile->covers[g] == TS_FULL ? tile->keys : 0);
}

const uint64_t *ts_chunk_bits(const ts_tile *tile, int64_t r) {
    int64_t slot = tile->slot[r / tile->queries], i = r % tile->queries;
    return slot_bits(tile, slot) + i * tile->words;
}
