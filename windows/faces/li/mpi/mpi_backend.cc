#include "windows/faces/li/mpi/mpi_backend.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <utility>

#include "transport/mpi/mpi_bootstrap.h"

namespace brigade {
namespace li {

MpiBackend::MpiBackend(std::string settings) : settings_(std::move(settings)) {
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
  BRIGADE_RETURN_IF_ERROR(
      MpiStatus(MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler"));
  return CheckSettings();
}

Status MpiBackend::CheckSettings() const {
  std::array<char, 128> mine = {};
  settings_.copy(mine.data(), mine.size() - 1);
  std::vector<std::array<char, 128>> all(static_cast<size_t>(processes_));
  BRIGADE_RETURN_IF_ERROR(MpiBootstrap(comm_).AllGather(&mine, sizeof(mine), all.data()));
  const auto other = std::find_if(all.begin(), all.end(),
                                  [&](const auto& settings) { return settings != all[0]; });
  if (other == all.end()) return Status();
  return {StatusCode::kInvalidArgument,
          std::string("processes differ in their settings: process 0 has ") + all[0].data() +
              ", process " + std::to_string(other - all.begin()) + " has " + other->data()};
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
