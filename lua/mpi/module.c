/* module.c -- the door: joins the ranks when the module is loaded, and leaves them when the process
 * ends. */
#define _DEFAULT_SOURCE

#include "../../core/kernel/kernel.h"
#include "ranks.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

MPI_Comm ts_mpi_all = MPI_COMM_NULL;

int ts_mpi_check_rank(lua_State *L, int arg) {
    int size;
    MPI_Comm_size(ts_mpi_all, &size);
    lua_Integer rank = luaL_checkinteger(L, arg);
    luaL_argcheck(L, rank >= 0 && rank < size, arg, "no such rank");
    return (int)rank;
}

/* Where all ranks fail alike, the first one ends the others before they say it, too. */
static void let_lower_ranks_speak(void) {
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const struct timespec pause = {.tv_nsec = (rank < 20 ? rank : 20) * 10000000L};
    nanosleep(&pause, NULL);
}

/* The end of the process, whoever called exit: a failure ends all ranks, for they may be waiting
 * for this one. Its message has been printed by then. */
static void leave(int status, void *unused) {
    (void)unused;
    int is_over;
    MPI_Finalized(&is_over);
    if (is_over) return;
    if (status != 0) {
        fflush(NULL);
        let_lower_ranks_speak();
        MPI_Abort(MPI_COMM_WORLD, status);
    }
    MPI_Comm_free(&ts_mpi_all);
    MPI_Finalize();
}

static void join(lua_State *L) {
    int joined, provided;
    MPI_Initialized(&joined);
    if (!joined) {
        MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided);
        if (provided < MPI_THREAD_FUNNELED) luaL_error(L, "this MPI allows no threads");
        on_exit(leave, NULL);
    }
    if (ts_mpi_all == MPI_COMM_NULL) MPI_Comm_dup(MPI_COMM_WORLD, &ts_mpi_all);
}

/* MPI itself waits by asking without end, which takes a processor from whoever is waited for where
 * ranks outnumber processors. So: asking for as long as most short messages take, then with pauses.
 */
void ts_mpi_wait(MPI_Request *request) {
    static const struct timespec pause = {.tv_nsec = 20000};
    const double began = MPI_Wtime();
    int is_through;
    for (;;) {
        MPI_Test(request, &is_through, MPI_STATUS_IGNORE);
        if (is_through) return;
        if (MPI_Wtime() - began > 5e-5) nanosleep(&pause, NULL);
    }
}

/* barrier(): returns when all ranks have called it. */
static int barrier(lua_State *L) {
    (void)L;
    MPI_Request request;
    MPI_Ibarrier(ts_mpi_all, &request);
    ts_mpi_wait(&request);
    return 0;
}

static const luaL_Reg functions[] = {{"barrier", barrier}, {NULL, NULL}};

/* {rank =, size =, and the functions}: merges with the instruction set that tessera.core chose, by
 * the same variable. */
__attribute__((visibility("default"))) int luaopen_tessera_mpi(lua_State *L) {
    luaL_checkversion(L);
    if (ts_kernel_select(getenv("TESSERA_ISA")) != TS_OK) luaL_error(L, "no such TESSERA_ISA");
    join(L);
    luaL_newlib(L, functions);
    luaL_setfuncs(L, ts_mpi_texts, 0);
    luaL_setfuncs(L, ts_mpi_messages, 0);
    luaL_setfuncs(L, ts_mpi_merging, 0);
    ts_mpi_open_requests(L);
    int rank, size;
    MPI_Comm_rank(ts_mpi_all, &rank);
    MPI_Comm_size(ts_mpi_all, &size);
    lua_pushinteger(L, rank);
    lua_setfield(L, -2, "rank");
    lua_pushinteger(L, size);
    lua_setfield(L, -2, "size");
    return 1;
}
