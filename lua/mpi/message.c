/* message.c -- matrices between ranks, sent from and received into where they lie. */
#include "ranks.h"

#include <limits.h>

#define REQUEST "tessera.mpi.request"
enum { TAG = 0 }; /* one will do: MPI keeps the order of two messages between the same two ranks */

static MPI_Datatype element_of(const ts_matrix *m) {
    return m->dtype == TS_F32 ? MPI_FLOAT : MPI_DOUBLE;
}

MPI_Datatype ts_mpi_type(lua_State *L, const ts_matrix *m) {
    if (m->rows > INT_MAX || m->cols > INT_MAX || m->col_stride > INT_MAX ||
        m->col_stride < INT_MIN)
        luaL_error(L, "a matrix of %I x %I is too large for a message", (LUAI_UACINT)m->rows,
                   (LUAI_UACINT)m->cols);
    MPI_Datatype row, all;
    MPI_Type_vector((int)m->cols, 1, (int)m->col_stride, element_of(m), &row);
    MPI_Type_create_hvector(
        (int)m->rows, 1, (MPI_Aint)(m->row_stride * (int64_t)ts_dtype_size(m->dtype)), row, &all);
    MPI_Type_commit(&all);
    MPI_Type_free(&row);
    return all;
}

static ts_matrix *check_matrix(lua_State *L, int arg) { return luaL_checkudata(L, arg, TS_MATRIX); }

/* ---- one to one ---- */

/* Pushes a request. Until it is waited for, the registry holds it, and it the matrix (user value
 * 1): MPI is using both. */
static MPI_Request *new_request(lua_State *L, int matrix) {
    MPI_Request *request = lua_newuserdatauv(L, sizeof *request, 1);
    *request = MPI_REQUEST_NULL;
    luaL_setmetatable(L, REQUEST);
    lua_pushvalue(L, matrix);
    lua_setiuservalue(L, -2, 1);
    lua_pushboolean(L, 1);
    lua_rawsetp(L, LUA_REGISTRYINDEX, request);
    lua_pushvalue(L, -1);
    lua_rawsetp(L, LUA_REGISTRYINDEX, request);
    return request;
}

static void release(lua_State *L, MPI_Request *request) {
    lua_pushnil(L);
    lua_rawsetp(L, LUA_REGISTRYINDEX, request);
}

/* (m, rank) -> a request, begun: m goes there, or comes from there. */
static int begin(lua_State *L, bool goes) {
    const ts_matrix *m = check_matrix(L, 1);
    const int rank = ts_mpi_check_rank(L, 2);
    MPI_Request *request = new_request(L, 1);
    MPI_Datatype type = ts_mpi_type(L, m);
    if (goes)
        MPI_Isend(m->data, 1, type, rank, TAG, ts_mpi_all, request);
    else
        MPI_Irecv(m->data, 1, type, rank, TAG, ts_mpi_all, request);
    MPI_Type_free(&type);
    return 1;
}

/* send(m, rank) -> a request: m must stay as it is until request:wait(). */
static int send(lua_State *L) { return begin(L, true); }

/* receive(m, rank) -> a request: m holds the message after request:wait(). */
static int receive(lua_State *L) { return begin(L, false); }

/* request:wait(): until the message is through. */
static int wait(lua_State *L) {
    MPI_Request *request = luaL_checkudata(L, 1, REQUEST);
    ts_mpi_wait(request);
    release(L, request);
    return 0;
}

/* request:test() -> whether it is through. Messages move while MPI is being called: asking between
 * pieces of work is what lets them pass during it. */
static int test(lua_State *L) {
    MPI_Request *request = luaL_checkudata(L, 1, REQUEST);
    int is_through;
    MPI_Test(request, &is_through, MPI_STATUS_IGNORE);
    if (is_through) release(L, request);
    lua_pushboolean(L, is_through);
    return 1;
}

void ts_mpi_open_requests(lua_State *L) {
    static const luaL_Reg methods[] = {{"wait", wait}, {"test", test}, {NULL, NULL}};
    luaL_newmetatable(L, REQUEST);
    luaL_newlib(L, methods);
    lua_setfield(L, -2, "__index");
    lua_pop(L, 1);
}

/* ---- one to all ---- */

/* broadcast(m, root): m, of one shape and dtype on all ranks, becomes root's. */
static int broadcast(lua_State *L) {
    const ts_matrix *m = check_matrix(L, 1);
    const int root = ts_mpi_check_rank(L, 2);
    MPI_Datatype type = ts_mpi_type(L, m);
    MPI_Request request;
    MPI_Ibcast(m->data, 1, type, root, ts_mpi_all, &request);
    ts_mpi_wait(&request);
    MPI_Type_free(&type);
    return 0;
}

const luaL_Reg ts_mpi_messages[] = {
    {"send", send}, {"receive", receive}, {"broadcast", broadcast}, {NULL, NULL}};
