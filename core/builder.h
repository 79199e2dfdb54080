/* builder.h -- programs made node by node: equal nodes are one, and what is known is simplified. */
#ifndef TS_BUILDER_H
#define TS_BUILDER_H

#include "program.h"

/* All memory is the caller's: ts_builder_size bytes for as many nodes and tables as can come. Each
 * ts_builder_node adds at most two nodes. */
typedef struct {
    int64_t count, capacity, slots, table_count;
    ts_node *nodes;
    int32_t *slot; /* a hash table of node numbers; -1: free */
    ts_table *tables;
} ts_builder;

size_t ts_builder_size(int64_t nodes, int64_t tables);
void ts_builder_open(ts_builder *builder, void *memory, int64_t nodes, int64_t tables);

/* The number (from 0) of a table with the same elements in the same memory, added if need be. */
int32_t ts_builder_table(ts_builder *builder, const ts_table *table);

/* The number (from 0) of this very node: -1 where there is none yet; added if need be. */
int32_t ts_builder_find(const ts_builder *builder, const ts_node *node);
int32_t ts_builder_intern(ts_builder *builder, const ts_node *node);

/* The number (from 0) of a node that always has the value of `node`, whose operands fit. */
int32_t ts_builder_node(ts_builder *builder, ts_node node);
int32_t ts_builder_op(ts_builder *builder, ts_op op, int32_t a, int32_t b, int32_t c);
int32_t ts_builder_int(ts_builder *builder, int64_t value);

/* Adds `program` with nodes i, j and h (-1: i, j, h themselves) in place of its indices, and
 * returns its result. numbers: room for one a node of `program`. */
int32_t ts_builder_inline(ts_builder *builder, const ts_program *program, int32_t i, int32_t j,
                          int32_t h, int32_t *numbers);

/* Keeps what `result` needs: moves it to the front and cuts off the rest. numbers: room for one a
 * node. Afterwards nodes and tables are those of a program with this result. */
void ts_builder_finish(ts_builder *builder, int32_t result, int32_t *numbers);

#endif
