/** @file
   The BLACS functions that take or return an MPI_Comm. This header includes <mpi.h> and
   brigade/blacs.h; no other header of Brigade includes <mpi.h>. Usable from C and C++.

   brigade_group_from_mpi() takes a communicator's Fortran handle instead, MPI_Comm_c2f(comm), which
   is an int under every MPI. */

#ifndef BRIGADE_BLACS_MPI_H_
#define BRIGADE_BLACS_MPI_H_

#include <mpi.h>

#include "brigade/blacs.h"

#ifdef __cplusplus
extern "C" {
#endif

/** @name System handles of communicators
   Both functions are local. libbrigade_blacs.so and libbrigade_blacs64.so export them. */
/** @{ */

/** Returns a system handle for a communicator. The caller still owns the communicator, which must
   stay valid until all grids of the handle are made. */
blacs_int Csys2blacs_handle(MPI_Comm comm);
/** Returns the communicator of a system handle. */
MPI_Comm Cblacs2sys_handle(blacs_int handle);

/** @} */

#ifdef __cplusplus
}
#endif

#endif
