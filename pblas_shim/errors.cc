#include "pblas_shim/errors.h"

#include <mpi.h>

#include <cstdio>

#include "transport/mpi/mpi_environment.h"

namespace brigade {
namespace pblas {

void Fail(const char* routine, const std::string& text) {
  std::string where;
  if (MpiIsActive()) {  // MPI would end the process before the text is printed
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    where = " on rank " + std::to_string(rank);
  }
  std::fprintf(stderr, "brigade: %s%s: %s\n", routine, where.c_str(), text.c_str());
  std::fflush(stderr);
  EndMpiJob(1);
}

}  // namespace pblas
}  // namespace brigade
