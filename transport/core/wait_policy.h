// WaitPolicy: how a rank waits, over every transport: it spins, then yields the processor to other
// ranks, then sleeps. Each transport gives the times, and what wakes its sleeps. Ranks that
// outnumber their processors have times of their own.
//
// Beside other programs that compute, a yield lasts for a time slice of theirs, some milliseconds,
// but a rank that a message wakes gets the processor at once. After a long yield ranks therefore
// sleep instead of yielding, for a while; not if they outnumber the processors and yield to each
// other.

#ifndef BRIGADE_TRANSPORT_CORE_WAIT_POLICY_H_
#define BRIGADE_TRANSPORT_CORE_WAIT_POLICY_H_

#include <sched.h>

#include <chrono>
#include <cstdint>

#include "transport/mpi_polls.h"

namespace brigade {

class WaitPolicy {
 public:
  using Clock = std::chrono::steady_clock;

  static constexpr uint64_t kForever = UINT64_MAX / 2;
  struct Patience {
    uint64_t spins;                       // polls
    std::chrono::microseconds spin_time;  // since the first poll, in which more polls spin
    uint64_t yields;                      // polls; then the rank sleeps
  };

  // Shortens the time slices of the process. `polls_mpi`: whether waits poll MPI, which a
  // transport over MPI does by itself.
  WaitPolicy(const Patience& alone, const Patience& crowded, bool polls_mpi = true,
             int (*yield)() = sched_yield);

  // Sets whether ranks outnumber processors.
  void SetCrowded(bool is_crowded) { is_crowded_ = is_crowded; }
  bool is_crowded() const { return is_crowded_; }
  // Returns the polls of a wait before its first sleep, if the time to spin is none. They
  // may become fewer while the rank waits.
  uint64_t PollsBeforeSleep() const {
    return YieldsAreLong() ? patience().spins : patience().spins + patience().yields;
  }

  enum class Step { kSpin, kYield, kSleep };
  // Spins or yields once, after `idle_polls` polls in a row without effect. kSleep: neither; the
  // caller sleeps.
  Step Pause(uint64_t idle_polls);
  // Returns how many steps of this wait were kSleep.
  uint64_t sleeps() const { return sleeps_; }
  // Sleeps by `sleep(microseconds)`, as MpiPolls::SleepFor.
  template <typename Sleep>
  void SleepFor(int us, const Sleep& sleep) {
    polls_.SleepFor(us, sleep);
  }

 private:
  const Patience& patience() const { return is_crowded_ ? crowded_ : alone_; }
  void Yield();
  // By the clock, not per wait: waits that nap by PollsBeforeSleep() may never call Pause.
  bool YieldsAreLong() const;

  const Patience alone_;
  const Patience crowded_;
  const bool polls_mpi_;
  int (*const yield_)();
  bool is_crowded_ = false;
  bool yield_was_long_ = false;   // the last one
  Clock::time_point long_until_;  // if it was: when a yield is tried again
  Clock::time_point spin_end_;
  uint64_t spins_ = 0;   // polls of this wait within the spin time
  uint64_t sleeps_ = 0;  // of this wait
  MpiPolls polls_;
};

}  // namespace brigade

#endif  // BRIGADE_TRANSPORT_CORE_WAIT_POLICY_H_
