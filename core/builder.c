/* builder.c -- what a program grows in: of equal nodes and tables there is one. */
#include "builder.h"

#include <string.h>

static int64_t slots_for(int64_t nodes) {
    int64_t slots = 16;
    while (slots < 2 * nodes) slots *= 2;
    return slots;
}

/* A simplification may need a node beside the one asked for. */
static int64_t room_for(int64_t nodes) { return 2 * nodes + 2; }

size_t ts_builder_size(int64_t nodes, int64_t tables) {
    int64_t room = room_for(nodes);
    return (size_t)tables * sizeof(ts_table) + (size_t)room * sizeof(ts_node) +
           (size_t)slots_for(room) * sizeof(int32_t);
}

void ts_builder_open(ts_builder *builder, void *memory, int64_t nodes, int64_t tables) {
    int64_t room = room_for(nodes);
    *builder = (ts_builder){.capacity = room, .slots = slots_for(room), .tables = memory};
    builder->nodes = (ts_node *)(builder->tables + tables);
    builder->slot = (int32_t *)(builder->nodes + room);
    memset(builder->slot, 0xff, (size_t)builder->slots * sizeof *builder->slot);
}

static const void *elements(const ts_table *table) {
    switch (table->kind) {
    case TS_TABLE_INTS:
        return table->ints;
    case TS_TABLE_FLOATS:
        return table->floats;
    case TS_TABLE_BOOLS:
        return table->bools;
    case TS_TABLE_MATRIX:
        return table->matrix.data;
    default:
        return table->bits;
    }
}

int32_t ts_builder_table(ts_builder *builder, const ts_table *table) {
    for (int64_t t = 0; t < builder->table_count; t++) {
        const ts_table *other = &builder->tables[t];
        if (other->kind == table->kind && elements(other) == elements(table) &&
            other->first == table->first && other->count == table->count &&
            other->rows == table->rows && other->cols == table->cols &&
            other->heads == table->heads && other->words == table->words &&
            other->matrix.rows == table->matrix.rows && other->matrix.cols == table->matrix.cols &&
            other->matrix.dtype == table->matrix.dtype &&
            other->matrix.row_stride == table->matrix.row_stride &&
            other->matrix.col_stride == table->matrix.col_stride)
            return (int32_t)t;
    }
    builder->tables[builder->table_count] = *table;
    return (int32_t)builder->table_count++;
}

/* ---- hash-consing ---- */

static uint64_t mixed(uint64_t hash, uint64_t x) { return (hash ^ x) * 0x9e3779b97f4a7c15u; }

static uint64_t hash_of(const ts_node *node) {
    uint64_t hash = mixed(node->op, (uint64_t)node->constant.i);
    for (int k = 0; k < 3; k++) hash = mixed(hash ^ hash >> 29, (uint32_t)node->operand[k]);
    hash = mixed(hash ^ hash >> 31, (uint32_t)node->table);
    return hash ^ hash >> 32;
}

static bool equal(const ts_node *a, const ts_node *b) {
    return a->op == b->op && a->operand[0] == b->operand[0] && a->operand[1] == b->operand[1] &&
           a->operand[2] == b->operand[2] && a->table == b->table &&
           a->constant.i == b->constant.i; /* the bits of a float: 0.0 is not -0.0 here */
}

/* The slot of the node, or the free one where it would stand. */
static int32_t *slot_of(const ts_builder *builder, const ts_node *node) {
    uint64_t at = hash_of(node) & (uint64_t)(builder->slots - 1);
    while (builder->slot[at] >= 0 && !equal(&builder->nodes[builder->slot[at]], node))
        at = (at + 1) & (uint64_t)(builder->slots - 1);
    return &builder->slot[at];
}

int32_t ts_builder_find(const ts_builder *builder, const ts_node *node) {
    return *slot_of(builder, node);
}

int32_t ts_builder_intern(ts_builder *builder, const ts_node *node) {
    int32_t *slot = slot_of(builder, node);
    if (*slot >= 0) return *slot;
    *slot = (int32_t)builder->count;
    builder->nodes[builder->count] = *node;
    return (int32_t)builder->count++;
}

/* ---- what is left in the end ---- */

static void mark_used(const ts_builder *builder, int32_t result, int32_t *numbers) {
    memset(numbers, 0, (size_t)builder->count * sizeof *numbers);
    numbers[result] = 1;
    for (int64_t at = result; at >= 0; at--)
        for (int k = 0; numbers[at] && k < ts_op_kinds[builder->nodes[at].op].arity; k++)
            numbers[builder->nodes[at].operand[k]] = 1;
}

static void drop_tables(ts_builder *builder) {
    int64_t kept = 0;
    for (int64_t t = 0; t < builder->table_count; t++) {
        bool used = false;
        for (int64_t at = 0; at < builder->count; at++)
            used = used || builder->nodes[at].table == t;
        if (!used) continue;
        for (int64_t at = 0; kept != t && at < builder->count; at++)
            if (builder->nodes[at].table == t) builder->nodes[at].table = (int32_t)kept;
        builder->tables[kept++] = builder->tables[t];
    }
    builder->table_count = kept;
}

void ts_builder_finish(ts_builder *builder, int32_t result, int32_t *numbers) {
    int64_t kept = 0;
    mark_used(builder, result, numbers);
    for (int64_t at = 0; at <= result; at++) {
        if (!numbers[at]) continue;
        ts_node node = builder->nodes[at];
        for (int k = 0; k < ts_op_kinds[node.op].arity; k++)
            node.operand[k] = numbers[node.operand[k]];
        numbers[at] = (int32_t)kept;
        builder->nodes[kept++] = node;
    }
    builder->count = kept;
    drop_tables(builder);
}
