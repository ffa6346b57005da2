// StartThread: a thread of this library, on which no signal handler of the program runs.

#ifndef BRIGADE_TRANSPORT_HOST_START_THREAD_H_
#define BRIGADE_TRANSPORT_HOST_START_THREAD_H_

#include <csignal>
#include <exception>
#include <string>
#include <thread>
#include <utility>

#include "membuf/status.h"

namespace brigade {

// kUnavailable: the system refuses it, and `*thread` is as before.
template <typename Body>
Status StartThread(Body&& body, std::thread* thread) {
  // A thread inherits the signals that are blocked.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  Status status;
  try {
    *thread = std::thread(std::forward<Body>(body));
  } catch (const std::exception& error) {
    status = Status(StatusCode::kUnavailable, std::string("no thread: ") + error.what());
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return status;
}

}  // namespace brigade

#endif  // BRIGADE_TRANSPORT_HOST_START_THREAD_H_
