#include "windows/faces/li/mpi/mpi_backend.h"

#include <mpi.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "transport/mpi/mpi_bootstrap.h"

namespace brigade {
namespace li {

MpiBackend::MpiBackend() {
  int is_initialised = 0;
  MPI_Initialized(&is_initialised);
  if (!is_initialised) {
    MPI_Init(nullptr, nullptr);
    ends_mpi_ = true;
  }
  MPI_Comm_size(MPI_COMM_WORLD, &processes_);
  MPI_Comm_rank(MPI_COMM_WORLD, &process_);
}

Status MpiBackend::Begin() {
  MPI_Comm comm = MPI_COMM_NULL;
  BRIGADE_RETURN_IF_ERROR(MpiStatus(MPI_Comm_dup(MPI_COMM_WORLD, &comm), "MPI_Comm_dup"));
  comm_ = MPI_Comm_c2f(comm);
  return MpiStatus(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
}

Status MpiBackend::End() {
  MPI_Comm comm = MPI_Comm_f2c(comm_);
  BRIGADE_RETURN_IF_ERROR(MpiStatus(MPI_Comm_free(&comm), "MPI_Comm_free"));
  return ends_mpi_ ? MpiStatus(MPI_Finalize(), "MPI_Finalize") : Status();
}

void MpiBackend::Abort(const std::string& text) {
  std::fprintf(stderr, "%s\n", text.c_str());
  std::fflush(stderr);
  // mpirun drops what it has not read when a job aborts: the message is worth a moment.
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
  std::abort();
}

}  // namespace li
}  // namespace brigade
