// A time limit for functions of the system that have none, such as getaddrinfo.

#ifndef BRIGADE_TRANSPORT_BOOTSTRAP_RUN_UNTIL_H_
#define BRIGADE_TRANSPORT_BOOTSTRAP_RUN_UNTIL_H_

#include <chrono>
#include <functional>

#include "membuf/status.h"

namespace brigade {

using Deadline = std::chrono::steady_clock::time_point;

// Calls `function` in a thread, and returns its result. kTimedOut: the function has not returned by
// the deadline. Then the thread ends later, when the function returns, or with the process. So
// `function` must own what it uses.
Status RunUntil(Deadline deadline, std::function<Status()> function);

}  // namespace brigade

#endif  // BRIGADE_TRANSPORT_BOOTSTRAP_RUN_UNTIL_H_
