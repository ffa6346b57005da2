#include "transport/shm/waiting.h"

#include <sched.h>

#include "transport/rules.h"

namespace brigade::shm {
namespace {

void Relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

}  // namespace

Waiting::Spent Waiting::Pause(uint64_t idle_polls, Bell* bell) {
  if (idle_polls == 0 && bell->armed()) bell->Disarm();
  const Patience& patience = this->patience();
  if (idle_polls < patience.spins) {
    if (idle_polls >= rules::kShmHotPolls) Relax();
    return Spent::kSpinning;
  }
  if (idle_polls < patience.spins + patience.yields) {
    if (idle_polls == patience.spins) {
      polls_.Begin();
    } else if (idle_polls % rules::kYieldsPerMpiLook == 0) {
      polls_.PollIfDue();
    }
    sched_yield();
    return Spent::kYielding;
  }
  // The caller looks for messages between arming and sleeping.
  if (!bell->armed()) {
    bell->Arm();
    return Spent::kYielding;
  }
  polls_.SleepFor(LongestSleepUs(rules::kShmSleepUs), [&](int us) { bell->StayArmed(us); });
  bell->Disarm();
  return Spent::kSleeping;
}

}  // namespace brigade::shm
