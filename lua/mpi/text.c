/* text.c -- short texts between ranks: what is told about the numbers that follow. */
#include "ranks.h"

#include <limits.h>

/* Memory that the collector owns. */
static void *take(lua_State *L, size_t bytes) { return lua_newuserdatauv(L, bytes + 1, 0); }

static int check_length(lua_State *L, size_t length) {
    if (length > INT_MAX) luaL_error(L, "a text of %d bytes or more is too long", INT_MAX);
    return (int)length;
}

/* Root's bytes, on every rank. */
static void spread(void *bytes, int count, MPI_Datatype type, int root) {
    MPI_Request request;
    MPI_Ibcast(bytes, count, type, root, ts_mpi_all, &request);
    ts_mpi_wait(&request);
}

/* share(text | nil, root) -> root's text, on every rank. */
static int share(lua_State *L) {
    const int root = ts_mpi_check_rank(L, 2);
    int rank, length = 0;
    MPI_Comm_rank(ts_mpi_all, &rank);
    const char *text = NULL;
    if (rank == root) {
        size_t bytes;
        text = luaL_checklstring(L, 1, &bytes);
        length = check_length(L, bytes);
    }
    spread(&length, 1, MPI_INT, root);
    char *bytes = rank == root ? (char *)text : take(L, (size_t)length);
    spread(bytes, length, MPI_CHAR, root);
    lua_pushlstring(L, bytes, (size_t)length);
    return 1;
}

/* texts(text) -> the texts of all ranks, in a list: rank r's is at r + 1. */
static int texts(lua_State *L) {
    size_t own;
    const char *text = luaL_checklstring(L, 1, &own);
    const int length = check_length(L, own);
    int size;
    MPI_Comm_size(ts_mpi_all, &size);
    int *lengths = take(L, (size_t)size * sizeof *lengths);
    int *places = take(L, (size_t)size * sizeof *places);
    MPI_Request request;
    MPI_Iallgather(&length, 1, MPI_INT, lengths, 1, MPI_INT, ts_mpi_all, &request);
    ts_mpi_wait(&request);
    size_t all = 0;
    for (int r = 0; r < size; r++) {
        places[r] = check_length(L, all);
        all += (size_t)lengths[r];
    }
    check_length(L, all);
    char *bytes = take(L, all);
    MPI_Iallgatherv(text, length, MPI_CHAR, bytes, lengths, places, MPI_CHAR, ts_mpi_all, &request);
    ts_mpi_wait(&request);
    lua_createtable(L, size, 0);
    for (int r = 0; r < size; r++) {
        lua_pushlstring(L, bytes + places[r], (size_t)lengths[r]);
        lua_rawseti(L, -2, r + 1);
    }
    return 1;
}

const luaL_Reg ts_mpi_texts[] = {{"share", share}, {"texts", texts}, {NULL, NULL}};
