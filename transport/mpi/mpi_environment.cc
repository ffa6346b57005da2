#include "transport/mpi/mpi_environment.h"

#include <mpi.h>

#include <chrono>
#include <cstdlib>
#include <thread>

namespace brigade {

bool MpiIsActive() {
  int is_initialized = 0;
  int is_finalized = 0;
  MPI_Initialized(&is_initialized);
  MPI_Finalized(&is_finalized);
  return is_initialized != 0 && is_finalized == 0;
}

int LargestMpiTag() {
  int* tag = nullptr;
  int found = 0;
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &tag, &found);
  return *tag;  // MPI always has this attribute
}

void EndMpiJob(int code) {
  // mpirun drops unread output when a job aborts: the message is worth a moment.
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  if (MpiIsActive()) MPI_Abort(MPI_COMM_WORLD, code);
  std::_Exit(EXIT_FAILURE);  // which mpirun takes for the end of the job
}

}  // namespace brigade
