// Waiting: the time of a rank until a message comes: it spins, then yields, then sleeps at its
// doorbell.

#ifndef BRIGADE_TRANSPORT_SHM_WAITING_H_
#define BRIGADE_TRANSPORT_SHM_WAITING_H_

#include <cstdint>

#include "transport/edge/doorbell.h"
#include "transport/mpi_polls.h"
#include "transport/rules.h"

namespace brigade::shm {

class Waiting {
 public:
  enum class Spent { kSpinning, kYielding, kSleeping };
  // Pauses once, after `idle_polls` polls in a row without effect. `doorbell`: this rank's own.
  Spent Pause(uint64_t idle_polls, Doorbell* doorbell);
  // Returns the polls before the first sleep.
  uint64_t PollsAwake() const { return crowded_ ? kCrowded.spins + kCrowded.yields : kAlone.spins; }
  // Returns the polls after which the rank sleeps.
  uint64_t PollsBeforeSleep() const { return patience().spins + patience().yields; }
  // Limits a sleep of `us` microseconds, since signals of the doorbell may be missed.
  int LongestSleepUs(int us) const {
    return doorbells_reach_all_ || us < rules::kShmSleepUnheardUs ? us : rules::kShmSleepUnheardUs;
  }
  // Sets whether ranks outnumber processors.
  void SetCrowded(bool crowded) { crowded_ = crowded; }

 private:
  struct Patience {
    uint64_t spins;   // polls; then the processor is offered to others
    uint64_t yields;  // then the rank sleeps
  };
  static constexpr Patience kAlone{rules::kShmSpins, rules::kShmYields};
  static constexpr Patience kCrowded{rules::kShmSpinsIfCrowded, rules::kShmYieldsIfCrowded};
  const Patience& patience() const { return crowded_ ? kCrowded : kAlone; }

  const bool doorbells_reach_all_ = Doorbell::Prepare();
  bool crowded_ = false;
  MpiPolls polls_;
};

}  // namespace brigade::shm

#endif  // BRIGADE_TRANSPORT_SHM_WAITING_H_
