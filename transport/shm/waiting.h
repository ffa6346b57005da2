// Waiting: how a rank spends the time until a message comes: it spins, then yields, then sleeps at
// its bell.

#ifndef BRIGADE_TRANSPORT_SHM_WAITING_H_
#define BRIGADE_TRANSPORT_SHM_WAITING_H_

#include <cstdint>

#include "membuf/rules.h"
#include "transport/edge/bell.h"
#include "transport/mpi_polls.h"

namespace brigade::shm {

class Waiting {
 public:
  enum class Spent { kSpinning, kYielding, kSleeping };
  // The one after `idle_polls` polls in a row that found nothing. `bell`: this rank's own.
  Spent Pause(uint64_t idle_polls, Bell* bell);
  // No sleep comes before so many polls.
  uint64_t PollsAwake() const { return crowded_ ? kCrowded.spins + kCrowded.yields : kAlone.spins; }
  // After so many it sleeps.
  uint64_t PollsBeforeSleep() const { return patience().spins + patience().yields; }
  // How long a sleep of so many microseconds may be, as rings may be missed.
  int LongestSleepUs(int us) const {
    return bells_reach_all_ || us < rules::kShmSleepUnheardUs ? us : rules::kShmSleepUnheardUs;
  }
  // Whether, from here on, ranks outnumber processors.
  void SetCrowded(bool crowded) { crowded_ = crowded; }

 private:
  struct Patience {
    uint64_t spins;   // polls; then the processor is offered to others
    uint64_t yields;  // then the rank sleeps
  };
  static constexpr Patience kAlone{rules::kShmSpins, rules::kShmYields};
  static constexpr Patience kCrowded{rules::kShmSpinsIfCrowded, rules::kShmYieldsIfCrowded};
  const Patience& patience() const { return crowded_ ? kCrowded : kAlone; }

  const bool bells_reach_all_ = Bell::Prepare();
  bool crowded_ = false;
  MpiPolls polls_;
};

}  // namespace brigade::shm

#endif  // BRIGADE_TRANSPORT_SHM_WAITING_H_
