#include "pblas_shim/errors.h"

#include <mpi.h>

#include <cstdio>

#include "transport/mpi/mpi_environment.h"

namespace brigade {
namespace pblas {

void Fail(const char* routine, const std::string& text) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::fprintf(stderr, "brigade: %s on rank %d: %s\n", routine, rank, text.c_str());
  std::fflush(stderr);
  EndMpiJob(1);
}

}  // namespace pblas
}  // namespace brigade
