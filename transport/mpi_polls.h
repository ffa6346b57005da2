// MPI moves the program's messages only while the process calls MPI. A rank that waits in a call of
// this library therefore polls MPI from time to time: the rank it waits for may itself wait in
// MPI_Send for this one, and make its side of the call afterwards.
//
// MPI is polled by the driver of an endpoint alone, never by a helper thread.

#ifndef BRIGADE_TRANSPORT_MPI_POLLS_H_
#define BRIGADE_TRANSPORT_MPI_POLLS_H_

#include <chrono>

namespace brigade {

// When one wait polls MPI: first after rules::kMpiPollUs, then at intervals that double up to
// rules::kMpiLongestPollUs while MPI has nothing to do. In a process whose MPI is not to be polled
// all of this costs a load and a branch.
class MpiPolls {
 public:
  using Clock = std::chrono::steady_clock;

  // What polls MPI; null, as at first: MPI is not to be polled. Any thread.
  static void Set(void (*poll)());
  static bool are_on();
  // For calls that wait for nothing, but may be repeated until something has come: polls MPI if
  // nobody has for rules::kMpiLongestPollUs. Reads the clock.
  static void PollIfLate();

  // A wait begins.
  void Begin();
  // Polls MPI if this wait is to do so by now. Reads the clock.
  void PollIfDue();
  // Sleeps for `us` microseconds by `sleep(microseconds)`, which may return early because it was
  // woken: then this returns, too. Polls MPI whenever that is due.
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
