#include "bench/runner/barrier.h"

#include <sched.h>

#include <algorithm>
#include <cstdint>
#include <thread>

namespace brigade::bench {
namespace {

constexpr std::chrono::milliseconds kLongestSleep(1);

}  // namespace

DisseminationBarrier::DisseminationBarrier(MPI_Comm comm) {
  MPI_Comm_dup(comm, &comm_);
  MPI_Comm_rank(comm_, &rank_);
  MPI_Comm_size(comm_, &ranks_);
}

DisseminationBarrier::~DisseminationBarrier() { MPI_Comm_free(&comm_); }

void DisseminationBarrier::Wait() { Run(/*asleep=*/false); }
void DisseminationBarrier::WaitAsleep() { Run(/*asleep=*/true); }

void DisseminationBarrier::StartTogether() {
  const auto last_came = Run(/*asleep=*/true);
  int rounds = 0;
  for (int distance = 1; distance < ranks_; distance *= 2) ++rounds;
  std::this_thread::sleep_until(last_came + (rounds + 2) * kLongestSleep);
}

std::chrono::steady_clock::time_point DisseminationBarrier::Run(bool asleep) {
  using Clock = std::chrono::steady_clock;
  constexpr int kSpins = 100;
  int64_t last = Clock::now().time_since_epoch().count();
  for (int distance = 1; distance < ranks_; distance *= 2) {
    const int64_t known = last;
    int64_t heard = 0;
    MPI_Request requests[2];
    MPI_Irecv(&heard, 1, MPI_INT64_T, (rank_ - distance + ranks_) % ranks_, distance, comm_,
              &requests[0]);
    MPI_Isend(&known, 1, MPI_INT64_T, (rank_ + distance) % ranks_, distance, comm_, &requests[1]);
    int done = 0;
    // Often at first: pending operations of before may progress only in calls of MPI.
    std::chrono::microseconds nap(50);
    for (int polls = 0;; ++polls) {
      MPI_Testall(2, requests, &done, MPI_STATUSES_IGNORE);
      if (done) break;
      if (asleep) {
        std::this_thread::sleep_for(nap);
        nap = std::min<std::chrono::microseconds>(2 * nap, kLongestSleep);
      } else if (polls >= kSpins) {
        sched_yield();
      }
    }
    last = std::max(last, heard);
  }
  return Clock::time_point(Clock::duration(last));
}

}  // namespace brigade::bench
