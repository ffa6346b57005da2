#include "pblas_shim/errors.h"

#include <mpi.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

namespace brigade {
namespace pblas {

void Fail(const char* routine, const std::string& text) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::fprintf(stderr, "brigade: %s on rank %d: %s\n", routine, rank, text.c_str());
  std::fflush(stderr);
  // mpirun drops unread output when a job aborts: the message is worth a moment.
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  MPI_Abort(MPI_COMM_WORLD, 1);
  std::abort();
}

}  // namespace pblas
}  // namespace brigade
