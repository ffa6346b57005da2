#include "transport/wait_policy.h"

#include <sched.h>

#include <algorithm>

#include "transport/rules.h"

namespace brigade {

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
  if (yields >= patience.yields) {
    ++sleeps_;
    return Step::kSleep;
  }
  if (polls_mpi_) {
    if (yields == 0) {
      polls_.Begin();
    } else if (yields % rules::kYieldsPerMpiLook == 0) {
      polls_.PollIfDue();
    }
  }
  sched_yield();
  return Step::kYield;
}

}  // namespace brigade
