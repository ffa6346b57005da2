// The two public names of a call of MPI. Fortran's wrappers of Open MPI call the second.

#ifndef BRIGADE_RMA_SHIM_PUBLIC_H_
#define BRIGADE_RMA_SHIM_PUBLIC_H_

#include <mpi.h>

// Defines PMPI_NAME as what follows, and MPI_NAME as the same.
#define PUBLIC(name, parameters)                                                     \
  extern "C" decltype(PMPI_##name) MPI_##name __attribute__((alias("PMPI_" #name))); \
  extern "C" int PMPI_##name parameters

#endif  // BRIGADE_RMA_SHIM_PUBLIC_H_
