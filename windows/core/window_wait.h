// WindowWait: how calls of a window wait. What they wait for comes by a message, or is written by
// another process into memory, of which nobody tells; and whoever should do it may be lost.

#ifndef BRIGADE_WINDOWS_CORE_WINDOW_WAIT_H_
#define BRIGADE_WINDOWS_CORE_WINDOW_WAIT_H_

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>

#include "membuf/status.h"
#include "patterns/engine/engine.h"
#include "patterns/engine/group_state.h"
#include "windows/core/loss_watch.h"

namespace brigade {

class WindowWait {
 public:
  // Both must outlive it.
  WindowWait(Engine* engine, GroupState* group)
      : engine_(engine), group_(group), watch_(std::make_shared<LossWatch>()) {
    group->companion = watch_;
  }

  // Moves everything until over(), or until the group is broken, which is then the outcome.
  // `is_told`: what ends the wait comes by a message. REQUIRES: the caller is the driver.
  template <typename Over>
  Status Until(bool is_told, const char* what, const Over& over);

 private:
  // Looks at a wait before it is one that takes long.
  static constexpr uint64_t kLooks = 100;

  Engine* const engine_;
  GroupState* const group_;
  const std::shared_ptr<LossWatch> watch_;
};

template <typename Over>
Status WindowWait::Until(bool is_told, const char* what, const Over& over) {
  uint64_t looks = 0;
  const auto ends = [&] {
    if (over() || !group_->failure.ok()) return true;
    if (++looks < kLooks) return false;
    watch_->Begin(engine_->endpoint(), *group_);
    if (watch_->loss().ok()) return false;
    engine_->BreakGroup(group_, watch_->loss(),
                        {group_->rank, watch_->loss().code(), {}, 0, watch_->loss().message()});
    return true;
  };
  const auto describe = [&] {
    return "a window on group rank " + std::to_string(group_->rank) + " waits for " + what;
  };
  if (is_told) {
    engine_->WaitUntil(ends, describe);
    return group_->failure;
  }
  // The endpoint may not sleep: it would not be woken.
  constexpr std::chrono::microseconds kNap(50);
  const uint64_t most = engine_->endpoint()->PollsAwake();
  const std::chrono::duration<double> interval(engine_->options().report_seconds);
  auto reported = std::chrono::steady_clock::now();
  for (uint64_t polls = 0; !ends();) {
    if (engine_->Move()) {
      polls = 0;
      continue;
    }
    if (++polls < most) {
      engine_->endpoint()->Pause(polls - 1);
      continue;
    }
    engine_->endpoint()->Nudge();
    std::this_thread::sleep_for(kNap);
    const auto now = std::chrono::steady_clock::now();
    if (interval.count() > 0 && now - reported > interval) {
      reported = now;
      engine_->options().report(describe() + ": nothing has come, and it goes on waiting");
    }
  }
  return group_->failure;
}

}  // namespace brigade

#endif  // BRIGADE_WINDOWS_CORE_WINDOW_WAIT_H_
