#include "transport/mpi/mpi_bootstrap.h"

#include <sched.h>

#include <chrono>
#include <climits>
#include <string>
#include <thread>

#include "transport/mpi/mpi_time.h"
#include "transport/mpi/own_requests.h"

namespace brigade {

MpiBootstrap::MpiBootstrap(MPI_Comm comm) : comm_(comm) {
  MPI_Comm_rank(comm, &rank_);
  MPI_Comm_size(comm, &size_);
}

Status MpiBootstrap::AllGather(const void* mine, size_t bytes, void* all) {
  if (bytes > INT_MAX) {
    return Status(StatusCode::kInvalidArgument,
                  "mpi: AllGather of " + std::to_string(bytes) + " bytes per rank");
  }
  const int count = static_cast<int>(bytes);
  MPI_Request request;
  BRIGADE_RETURN_IF_ERROR(MpiStatus(InMpi([&] {
                                      return MPI_Iallgather(mine, count, MPI_BYTE, all, count,
                                                            MPI_BYTE, comm_, &request);
                                    }),
                                    "MPI_Iallgather"));
  return MpiPoll(&request, "MPI_Iallgather");
}

Status MpiStatus(int error, const char* call) {
  if (error == MPI_SUCCESS) return Status();
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(error, text, &length);
  return Status(StatusCode::kInternal,
                std::string("mpi: ") + call + " failed: " + std::string(text, length));
}

Status MpiPoll(MPI_Request* request, const char* call) {
  constexpr int kPollsAwake = 10000;
  int done = 0;
  for (int polls = 0;; ++polls) {
    BRIGADE_RETURN_IF_ERROR(MpiStatus(TestOwn(request, &done, MPI_STATUS_IGNORE), call));
    if (done) return Status();
    if (polls < kPollsAwake) {
      sched_yield();
    } else {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
}

}  // namespace brigade
