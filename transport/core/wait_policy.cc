#include "transport/core/wait_policy.h"

#include <algorithm>

#include "transport/rules.h"
#include "transport/time_slice.h"

namespace brigade {

WaitPolicy::WaitPolicy(const Patience& alone, const Patience& crowded, bool polls_mpi,
                       int (*yield)())
    : alone_(alone), crowded_(crowded), polls_mpi_(polls_mpi), yield_(yield) {
  ShortenTimeSlices();
}

WaitPolicy::Step WaitPolicy::Pause(uint64_t idle_polls) {
  const Patience& patience = this->patience();
  const bool has_spin_time = patience.spin_time.count() > 0;
  if (idle_polls == 0) {
    spins_ = sleeps_ = 0;
    if (has_spin_time) spin_end_ = Clock::now() + patience.spin_time;
  }
  if (idle_polls < patience.spins) return Step::kSpin;
  if (has_spin_time && Clock::now() < spin_end_) {
    spins_ = idle_polls + 1;
    return Step::kSpin;
  }
  const uint64_t yields = idle_polls - std::min(idle_polls, std::max(patience.spins, spins_));
  if (polls_mpi_ && yields == 0) polls_.Begin();
  if (yields >= patience.yields || YieldsAreLong()) {
    ++sleeps_;
    return Step::kSleep;
  }
  if (polls_mpi_ && yields > 0 && yields % rules::kYieldsPerMpiLook == 0) polls_.PollIfDue();
  Yield();
  return Step::kYield;
}

bool WaitPolicy::YieldsAreLong() const {
  return yield_was_long_ && !is_crowded_ && Clock::now() < long_until_;
}

void WaitPolicy::Yield() {
  // Ranks that share a processor yield to each other, often and for long.
  if (is_crowded_ || alone_.yields == kForever) {
    yield_();
    return;
  }
  const auto begin = Clock::now();
  yield_();
  const auto end = Clock::now();
  yield_was_long_ = end - begin >= std::chrono::microseconds(rules::kLongYieldUs);
  long_until_ = end + std::chrono::microseconds(rules::kSleepsAfterLongYieldUs);
}

}  // namespace brigade
