#include "transport/mpi_polls.h"

#include <time.h>

#include <algorithm>
#include <atomic>

#include "transport/rules.h"

namespace brigade {
namespace {

using Clock = MpiPolls::Clock;
using std::chrono::microseconds;

constexpr microseconds kFirst(rules::kMpiPollUs);
constexpr microseconds kLongest(rules::kMpiLongestPollUs);

std::atomic<void (*)()> poll{nullptr};
std::atomic<Clock::duration> last{};  // the time of the last poll of any thread

// Of this thread. The time by the clock would include that of others: Open MPI yields in a poll.
std::chrono::nanoseconds ProcessorTime() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

// Polls MPI. True if MPI seems to have had something to do.
bool Poll() {
  const auto function = poll.load(std::memory_order_acquire);
  if (function == nullptr) return false;
  const auto began = ProcessorTime();
  function();
  const bool is_busy = ProcessorTime() - began > microseconds(rules::kMpiBusyPollUs);
  last.store(Clock::now().time_since_epoch(), std::memory_order_relaxed);
  return is_busy;
}

Clock::time_point LatestPoll() {
  return Clock::time_point(last.load(std::memory_order_relaxed)) + kLongest;
}

}  // namespace

void MpiPolls::Set(void (*function)()) { poll.store(function, std::memory_order_release); }

bool MpiPolls::are_on() { return poll.load(std::memory_order_relaxed) != nullptr; }

void MpiPolls::PollIfLate() {
  if (are_on() && Clock::now() >= LatestPoll()) (void)Poll();
}

// A rank that waits often, and never for long, polls at least as often as one that waits for long.
void MpiPolls::Begin() {
  if (!are_on()) return;
  interval_ = kFirst;
  due_ = std::min(Clock::now() + kFirst, LatestPoll());
}

void MpiPolls::PollIfDue() {
  if (!are_on() || Clock::now() < due_) return;
  interval_ = Poll() ? kFirst : std::clamp(2 * interval_, kFirst, kLongest);
  due_ = Clock::now() + interval_;
}

}  // namespace brigade
