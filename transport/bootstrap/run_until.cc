#include "transport/bootstrap/run_until.h"

#include <future>
#include <thread>
#include <utility>

#include "transport/host/start_thread.h"

namespace brigade {

Status RunUntil(Deadline deadline, std::function<Status()> function) {
  std::packaged_task<Status()> task(std::move(function));
  std::future<Status> result = task.get_future();
  std::thread thread;
  BRIGADE_RETURN_IF_ERROR(StartThread(std::move(task), &thread));
  thread.detach();
  if (result.wait_until(deadline) == std::future_status::ready) return result.get();
  return Status(StatusCode::kTimedOut, "no answer within the time limit");
}

}  // namespace brigade
