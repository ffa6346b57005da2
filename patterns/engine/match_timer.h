// MatchTimer: when a call that waits is to find out whether others made the same call.

#ifndef BRIGADE_PATTERNS_ENGINE_MATCH_TIMER_H_
#define BRIGADE_PATTERNS_ENGINE_MATCH_TIMER_H_

#include <algorithm>
#include <chrono>

#include "patterns/rules.h"

namespace brigade {

class MatchTimer {
 public:
  using Time = std::chrono::steady_clock::time_point;

  // 0: never.
  explicit MatchTimer(double seconds) : first_(seconds), patience_(seconds) {}

  // The wait has begun, unless it has before.
  void Start(Time now) {
    if (since_ == Time()) since_ = now;
  }
  // Part of the awaited message has come: the wait begins anew.
  void Reset() {
    since_ = Time();
    patience_ = first_;
  }
  // Whether it is time, after twice as long as the last time. REQUIRES: the wait has begun.
  bool IsDue(Time now) {
    if (first_.count() <= 0 || since_ == Time() || now - since_ < patience_) return false;
    since_ = now;
    patience_ = std::min(2 * patience_, std::max(first_, kMost));
    return true;
  }

 private:
  using Seconds = std::chrono::duration<double>;
  static constexpr Seconds kMost{rules::kMostMatchCheckSeconds};

  const Seconds first_;
  Seconds patience_;
  Time since_;
};

}  // namespace brigade

#endif  // BRIGADE_PATTERNS_ENGINE_MATCH_TIMER_H_
