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

Waiting::Spent Waiting::Pause(uint64_t idle_polls, Doorbell* doorbell) {
  if (idle_polls == 0 && doorbell->armed()) doorbell->Disarm();
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
  if (!doorbell->armed()) {
    doorbell->Arm();
    return Spent::kYielding;
  }
  polls_.SleepFor(LongestSleepUs(rules::kShmSleepUs), [&](int us) { doorbell->Sleep(us); });
  doorbell->Disarm();
  return Spent::kSleeping;
}

}  // namespace brigade::shm
