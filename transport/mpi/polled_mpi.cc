#include "transport/mpi/polled_mpi.h"

#include <mpi.h>
#include <sys/types.h>
#include <unistd.h>

#include <atomic>
#include <mutex>

#include "transport/mpi/own_requests.h"
#include "transport/mpi_polls.h"

namespace brigade {
namespace {

int Query(void*, MPI_Status* status) {
  MPI_Status_set_elements(status, MPI_BYTE, 0);
  MPI_Status_set_cancelled(status, 0);
  return MPI_SUCCESS;
}
int Free(void*) { return MPI_SUCCESS; }
int Cancel(void*, int) { return MPI_SUCCESS; }

// A request that is never over, and that both MPIs make progress to test. A probe would not do:
// MPICH answers one of a copy of MPI_COMM_SELF without any, and both MPIs one of any communicator
// on which a message waits to be received.
struct PolledMpi {
  std::mutex mutex;  // held while the request is used
  int holders = 0;
  MPI_Request request = MPI_REQUEST_NULL;
  int level = MPI_THREAD_SINGLE;
  std::atomic<pid_t> process{0};
};
PolledMpi polled;

bool MayCallMpi() {
  if (getpid() != polled.process) return false;
  int is_over = 0;
  MPI_Finalized(&is_over);
  return is_over == 0;
}

bool IsRightThread() {
  if (polled.level > MPI_THREAD_FUNNELED) return true;
  int is_main = 0;
  MPI_Is_thread_main(&is_main);
  return is_main != 0;
}

// REQUIRES: the mutex is held.
void End() {
  MpiPolls::Set(nullptr);
  if (polled.request == MPI_REQUEST_NULL || !MayCallMpi()) return;
  MPI_Grequest_complete(polled.request);
  MPI_Request_free(&polled.request);
}

class Holder {
 public:
  Holder() {
    const std::lock_guard<std::mutex> lock(polled.mutex);
    ++polled.holders;
    if (polled.request != MPI_REQUEST_NULL) return;
    polled.process = getpid();
    MPI_Query_thread(&polled.level);
    if (!IsRightThread()) return;  // its next group begins the polls
    MPI_Grequest_start(Query, Free, Cancel, nullptr, &polled.request);
    MpiPolls::Set(&PollMpi);
  }
  ~Holder() {
    if (getpid() != polled.process) return;  // a forked child: the mutex may be locked for ever
    const std::lock_guard<std::mutex> lock(polled.mutex);
    if (--polled.holders == 0) End();
  }
  Holder(const Holder&) = delete;
  Holder& operator=(const Holder&) = delete;
};

}  // namespace

std::shared_ptr<const void> PollMpiInWaits() { return std::make_shared<Holder>(); }

void StopPollingMpi() {
  if (getpid() != polled.process) return;
  const std::lock_guard<std::mutex> lock(polled.mutex);
  End();
}

void PollMpi() {
  // A profiling tool's MPI_Test may call this library.
  thread_local bool is_polling = false;
  if (is_polling || !MayCallMpi() || !IsRightThread()) return;
  const std::unique_lock<std::mutex> lock(polled.mutex, std::try_to_lock);
  if (!lock.owns_lock() || polled.request == MPI_REQUEST_NULL) return;
  int is_over = 0;
  is_polling = true;
  (void)TestOwn(&polled.request, &is_over, MPI_STATUS_IGNORE);
  is_polling = false;
}

}  // namespace brigade
