// MPI progresses the program's messages only while the process calls MPI. A rank that waits in a
// call of this library therefore polls MPI from time to time: its peer may itself wait in MPI_Send
// for this rank, and make the matching call afterwards.
//
// Only the progress owner of an endpoint polls MPI, never a progress thread.

#ifndef BRIGADE_TRANSPORT_MPI_POLLS_H_
#define BRIGADE_TRANSPORT_MPI_POLLS_H_

#include <chrono>

namespace brigade {

// The polls of MPI of one wait: the first after rules::kMpiPollUs, then at intervals that double up
// to rules::kMpiLongestPollUs while MPI is idle. If MPI is not polled in this process, the cost is
// a load and a branch.
class MpiPolls {
 public:
  using Clock = std::chrono::steady_clock;

  // Sets the function that polls MPI; null, the default: MPI is not polled. Any thread.
  static void Set(void (*poll)());
  static bool are_on();
  // For calls that do not wait, but that programs repeat until a message has come: polls MPI if no
  // poll took place for rules::kMpiLongestPollUs. Reads the clock.
  static void PollIfLate();

  // Begins a wait.
  void Begin();
  // Polls MPI if a poll of this wait is due. Reads the clock.
  void PollIfDue();
  // Sleeps for `us` microseconds by `sleep(microseconds)`, and polls MPI whenever a poll is due.
  // Returns early if `sleep` returns early because it was woken.
  template <typename Sleep>
  void SleepFor(int us, const Sleep& sleep);

 private:
  static int ToUs(Clock::duration duration) {
    return static_cast<int>(std::chrono::ceil<std::chrono::microseconds>(duration).count());
  }

  Clock::time_point due_;
  std::chrono::microseconds interval_{0};
};

template <typename Sleep>
void MpiPolls::SleepFor(int us, const Sleep& sleep) {
  if (!are_on()) return sleep(us);
  for (const auto end = Clock::now() + std::chrono::microseconds(us);;) {
    PollIfDue();
    const auto now = Clock::now();
    if (now >= end) return;
    const auto until = due_ < now ? now + interval_ : due_;
    sleep(ToUs((until < end ? until : end) - now));
    if (Clock::now() < until) return;
  }
}

}  // namespace brigade

#endif  // BRIGADE_TRANSPORT_MPI_POLLS_H_
