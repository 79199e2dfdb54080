/* table.c -- the index of a table, by its kind; without one, each element is looked at. */
#include "table_index.h"

size_t ts_table_index_size(const ts_table *table) {
    switch (table->kind) {
    case TS_TABLE_MATRIX:
        return ts_table_matrix_index_size(table);
    case TS_TABLE_BITS:
        return ts_table_bits_index_size(table);
    default:
        return ts_table_list_index_size(table);
    }
}

void ts_table_index(ts_table *table, void *memory) {
    switch (table->kind) {
    case TS_TABLE_MATRIX:
        ts_table_matrix_index(table, memory);
        break;
    case TS_TABLE_BITS:
        ts_table_bits_index(table, memory);
        break;
    default:
        ts_table_list_index(table, memory);
    }
    table->index = memory;
}
