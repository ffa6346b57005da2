#include "transport/bootstrap/run_until.h"

#include <csignal>
#include <exception>
#include <future>
#include <string>
#include <thread>
#include <utility>

namespace brigade {

Status RunUntil(Deadline deadline, std::function<Status()> function) {
  std::packaged_task<Status()> task(std::move(function));
  std::future<Status> result = task.get_future();
  // Signals belong to the program's threads. The new thread inherits this mask.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  Status started;
  try {
    std::thread(std::move(task)).detach();
  } catch (const std::exception& e) {
    started = Status(StatusCode::kUnavailable, std::string("a thread: ") + e.what());
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  BRIGADE_RETURN_IF_ERROR(started);
  if (result.wait_until(deadline) == std::future_status::ready) return result.get();
  return Status(StatusCode::kTimedOut, "no answer within the time limit");
}

}  // namespace brigade
