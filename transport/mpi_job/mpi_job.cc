#include "transport/mpi_job/mpi_job.h"

#include <cstdio>
#include <cstdlib>

#include "transport/mpi/mpi_bootstrap.h"
#include "transport/mpi/mpi_environment.h"
#include "transport/mpi/mpi_family.h"
#include "transport/mpi_job/same_settings.h"

namespace brigade {

MpiJob::MpiJob(const char* library) {
  RefuseWrongMpiFamily(library);
  int is_initialised = 0;
  MPI_Initialized(&is_initialised);
  if (!is_initialised) {
    MPI_Init(nullptr, nullptr);
    ends_mpi_ = true;
  }
  const Status status = CheckMpi();
  if (!status.ok()) Abort(std::string("brigade: ") + library + ": " + status.message());
  MPI_Comm_size(MPI_COMM_WORLD, &processes_);
  MPI_Comm_rank(MPI_COMM_WORLD, &process_);
}

bool MpiJob::IsOurs() { return ends_mpi_ && MpiIsActive(); }

Status MpiJob::Begin(const std::string& who, const Numbers& mine, std::vector<Numbers>* all) const {
  MpiBootstrap world(MPI_COMM_WORLD);
  const auto gather = [&](const void* of_process, size_t bytes, void* of_all) {
    return world.AllGather(of_process, bytes, of_all);
  };
  BRIGADE_RETURN_IF_ERROR(CompareSettings(who, processes_, gather));
  all->resize(static_cast<size_t>(processes_));
  return gather(&mine, sizeof(mine), all->data());
}

Status MpiJob::Open(int members) {
  all_are_members_ = members == processes_;
  const int colour = process_ < members ? 0 : MPI_UNDEFINED;
  BRIGADE_RETURN_IF_ERROR(
      MpiStatus(MPI_Comm_split(MPI_COMM_WORLD, colour, process_, &comm_), "MPI_Comm_split"));
  if (comm_ == MPI_COMM_NULL) return Status();
  return MpiStatus(MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
}

Status MpiJob::Close() {
  if (!MpiIsActive()) return {StatusCode::kInvalidArgument, "MPI_Finalize was called before it"};
  const bool is_member = all_are_members_ || comm_ != MPI_COMM_NULL;
  if (comm_ != MPI_COMM_NULL) {
    BRIGADE_RETURN_IF_ERROR(MpiStatus(MPI_Comm_free(&comm_), "MPI_Comm_free"));
  }
  if (!all_are_members_) {
    // Processes that are no members wait here for the others: MPI would not let them sleep.
    MPI_Request request;
    BRIGADE_RETURN_IF_ERROR(MpiStatus(MPI_Ibarrier(MPI_COMM_WORLD, &request), "MPI_Ibarrier"));
    BRIGADE_RETURN_IF_ERROR(MpiPoll(&request, "MPI_Ibarrier"));
  }
  if (!ends_mpi_ && is_member) return Status();
  ends_mpi_ = false;
  return MpiStatus(MPI_Finalize(), "MPI_Finalize");
}

void MpiJob::Abort(const std::string& text) {
  std::fprintf(stderr, "%s\n", text.c_str());
  std::fflush(stderr);
  EndMpiJob(EXIT_FAILURE);
}

}  // namespace brigade
