#include "transport/shm/waiting.h"

#include <sched.h>

namespace brigade::shm {
namespace {

constexpr uint64_t kHotPolls = 200;     // at full speed
constexpr int kLongestSleepUs = 20000;  // then it looks who has gone
constexpr int kLongestSleepUnpreparedUs = 500;

void Relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

}  // namespace

Waiting::Spent Waiting::Pause(uint64_t idle_polls, Bell* bell) {
  if (idle_polls == 0 && bell->armed()) bell->Disarm();
  const Patience& patience = crowded_ ? kCrowded : kAlone;
  if (idle_polls < patience.spins) {
    if (idle_polls >= kHotPolls) Relax();
    return Spent::kSpinning;
  }
  if (idle_polls < patience.spins + patience.yields) {
    sched_yield();
    return Spent::kYielding;
  }
  // The caller looks for messages between arming and sleeping.
  if (!bell->armed()) {
    bell->Arm();
    return Spent::kYielding;
  }
  bell->Sleep(bells_reach_all_ ? kLongestSleepUs : kLongestSleepUnpreparedUs);
  return Spent::kSleeping;
}

}  // namespace brigade::shm
