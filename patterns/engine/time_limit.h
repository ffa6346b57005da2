// TimeLimit: how long a call may take.

#ifndef BRIGADE_PATTERNS_ENGINE_TIME_LIMIT_H_
#define BRIGADE_PATTERNS_ENGINE_TIME_LIMIT_H_

#include <chrono>
#include <optional>
#include <string>

#include "membuf/status.h"

namespace brigade {

class TimeLimit {
 public:
  // From now on; 0 or less: none.
  void Start(double seconds) {
    end_.reset();
    if (seconds > 0) end_ = Clock::now() + std::chrono::duration<double>(seconds);
  }
  bool is_over() const { return end_ && Clock::now() > *end_; }
  // Returns kTimedOut for a call with a limit of `seconds`.
  static Status TooLate(double seconds) {
    return Status(StatusCode::kTimedOut, "the call is not complete within its time limit of " +
                                             std::to_string(seconds) + " s");
  }

 private:
  using Clock = std::chrono::steady_clock;
  std::optional<std::chrono::time_point<Clock, std::chrono::duration<double>>> end_;
};

}  // namespace brigade

#endif  // BRIGADE_PATTERNS_ENGINE_TIME_LIMIT_H_
