/* ranks.h -- what the files of `tessera.mpi` share. Every rank is one process, and only the thread
 * that runs Lua calls MPI. */
#ifndef TS_RANKS_H
#define TS_RANKS_H

#include "../binding/binding.h"

#include <mpi.h>

/* module.c: all ranks, apart from whatever else the process may do with MPI. */
extern MPI_Comm ts_mpi_all;
/* The argument as a rank, else an error. */
int ts_mpi_check_rank(lua_State *L, int arg);

/* Until the request is through. */
void ts_mpi_wait(MPI_Request *request);

/* What each file brings to the module's table: */
extern const luaL_Reg ts_mpi_texts[];    /* text.c */
extern const luaL_Reg ts_mpi_messages[]; /* message.c */
extern const luaL_Reg ts_mpi_merging[];  /* merge.c */

/* message.c: makes the metatable of requests. */
void ts_mpi_open_requests(lua_State *L);
/* The elements of a matrix, where they lie, as one element of a datatype; to be freed. Raises where
 * an axis is beyond MPI's int. */
MPI_Datatype ts_mpi_type(lua_State *L, const ts_matrix *m);

#endif
