/** @file
   The BLACS functions that take or return an MPI_Comm. No other header of Brigade includes <mpi.h>.
   Usable from C and C++. */

#ifndef BRIGADE_BLACS_MPI_H_
#define BRIGADE_BLACS_MPI_H_

#include <mpi.h>

#include "brigade/blacs.h"

#ifdef __cplusplus
extern "C" {
#endif

/** @name System handles of communicators
   A system handle is an integer that stands for an MPI communicator in the BLACS. Both functions
   are local. */
/** @{ */

/** Returns a system handle for a communicator, for Cblacs_gridinit() and Cblacs_gridmap(). The
   communicator must stay valid until the program has made its last grid from the handle. */
blacs_int Csys2blacs_handle(MPI_Comm comm);
/** Returns the communicator of a system handle. */
MPI_Comm Cblacs2sys_handle(blacs_int handle);

/** @} */

#ifdef __cplusplus
}
#endif

#endif
