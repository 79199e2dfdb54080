/* merge.c -- ⋆ as an operation of MPI's: the summaries of all ranks become one. */
#include "ranks.h"

#include <string.h>

/* MPI may call an operation on pieces of a message, and a summary in pieces is none: so a whole one
 * is one element, of a datatype made for its shape. Its bytes are those of its file: all of max, of
 * norm, of value. */
static ts_summary
    shape; /* what an operation has no argument for; set by the one thread that calls MPI */

static size_t bytes_of(const ts_summary *s) {
    return (size_t)(s->n_q * s->heads * (2 + s->d_v)) * ts_dtype_size(s->dtype);
}

static ts_summary summary_at(void *bytes) {
    const size_t column = (size_t)(shape.n_q * shape.heads) * ts_dtype_size(shape.dtype);
    ts_summary s = shape;
    s.max = bytes;
    s.norm = (char *)bytes + column;
    s.value = (char *)bytes + 2 * column;
    return s;
}

/* The operation: each of *count summaries at `other` is merged into the one at `own`. */
static void star(void *other, void *own, int *count, MPI_Datatype *type) {
    (void)type;
    for (int n = 0; n < *count; n++) {
        const ts_summary a = summary_at((char *)other + (size_t)n * bytes_of(&shape));
        ts_summary b = summary_at((char *)own + (size_t)n * bytes_of(&shape));
        ts_summary_merge(&a, &b, &b);
    }
}

static void pack(const ts_matrix *m, char **at) {
    ts_matrix to = ts_matrix_packed(m->dtype, m->rows, m->cols, *at);
    ts_matrix_copy(m, &to, NULL);
    *at += (size_t)(m->rows * m->cols) * ts_dtype_size(m->dtype);
}

static void unpack(const char **at, ts_matrix *m) {
    const ts_matrix from = ts_matrix_packed(m->dtype, m->rows, m->cols, (void *)*at);
    ts_matrix_copy(&from, m, NULL);
    *at += (size_t)(m->rows * m->cols) * ts_dtype_size(m->dtype);
}

static void reduce_bytes(lua_State *L, char *bytes, int root) {
    const ts_matrix numbers =
        ts_matrix_packed(shape.dtype, shape.n_q * shape.heads, 2 + shape.d_v, bytes);
    MPI_Datatype type = ts_mpi_type(L, &numbers);
    MPI_Op op;
    int rank;
    MPI_Comm_rank(ts_mpi_all, &rank);
    MPI_Op_create(star, 1, &op);
    MPI_Request request;
    MPI_Ireduce(rank == root ? MPI_IN_PLACE : bytes, bytes, 1, type, op, root, ts_mpi_all,
                &request);
    ts_mpi_wait(&request);
    MPI_Op_free(&op);
    MPI_Type_free(&type);
}

/* The shape of the summary whose max, norm and value are arguments 1 to 3, with the base of
 * argument 4. */
static ts_summary check_shape(lua_State *L, ts_matrix *parts[3]) {
    for (int n = 0; n < 3; n++) parts[n] = luaL_checkudata(L, n + 1, TS_MATRIX);
    const int64_t heads = parts[0]->cols;
    return (ts_summary){.dtype = parts[0]->dtype,
                        .base = lua_toboolean(L, 4) ? TS_BASE_2 : TS_BASE_E,
                        .n_q = parts[0]->rows,
                        .heads = heads,
                        .d_v = heads ? parts[2]->cols / heads : 0};
}

/* reduce(max, norm, value, is_two, root): on root they become those of all ranks' summaries,
 * merged. Of one shape, dtype and base everywhere. */
static int reduce(lua_State *L) {
    ts_matrix *parts[3];
    shape = check_shape(L, parts);
    const int root = ts_mpi_check_rank(L, 5);
    char *bytes = lua_newuserdatauv(L, bytes_of(&shape) + 1, 0), *to = bytes;
    const char *from = bytes;
    for (int n = 0; n < 3; n++) pack(parts[n], &to);
    reduce_bytes(L, bytes, root);
    for (int n = 0; n < 3; n++) unpack(&from, parts[n]);
    return 0;
}

/* merge(max, norm, value, is_two, S): the first three, packed, become the summary that they are,
 * merged with S, of the same shape. */
static int merge(lua_State *L) {
    ts_matrix *parts[3];
    ts_summary a = check_shape(L, parts);
    const ts_summary *b = luaL_checkudata(L, 5, TS_SUMMARY); /* a ts_lua_summary begins with it */
    luaL_argcheck(L,
                  a.n_q == b->n_q && a.heads == b->heads && a.d_v == b->d_v && a.dtype == b->dtype,
                  5, "of another shape");
    for (int n = 0; n < 3; n++)
        luaL_argcheck(L, ts_matrix_is_packed(parts[n]), n + 1, "packed matrix expected");
    a.max = parts[0]->data, a.norm = parts[1]->data, a.value = parts[2]->data;
    ts_summary_merge(&a, b, &a);
    return 0;
}

const luaL_Reg ts_mpi_merging[] = {{"reduce", reduce}, {"merge", merge}, {NULL, NULL}};
