#include "windows/faces/li/mpi/mpi_backend.h"

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
  BRIGADE_RETURN_IF_ERROR(MpiStatus(MPI_Comm_dup(MPI_COMM_WORLD, &comm_), "MPI_Comm_dup"));
  return MpiStatus(MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
}

Status MpiBackend::GatherBytes(size_t mine, std::vector<size_t>* all) const {
  all->resize(static_cast<size_t>(processes_));
  return MpiBootstrap(comm_).AllGather(&mine, sizeof(mine), all->data());
}

Status MpiBackend::End() {
  BRIGADE_RETURN_IF_ERROR(MpiStatus(MPI_Comm_free(&comm_), "MPI_Comm_free"));
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
