#include "bench/barrier.h"

#include <sched.h>

#include <chrono>
#include <thread>

namespace brigade::bench {

DisseminationBarrier::DisseminationBarrier(MPI_Comm comm) {
  MPI_Comm_dup(comm, &comm_);
  MPI_Comm_rank(comm_, &rank_);
  MPI_Comm_size(comm_, &ranks_);
}

DisseminationBarrier::~DisseminationBarrier() { MPI_Comm_free(&comm_); }

void DisseminationBarrier::Wait() { Run(/*asleep=*/false); }
void DisseminationBarrier::WaitAsleep() { Run(/*asleep=*/true); }

void DisseminationBarrier::Run(bool asleep) {
  constexpr int kSpins = 100;
  for (int distance = 1; distance < ranks_; distance *= 2) {
    MPI_Request requests[2];
    MPI_Irecv(nullptr, 0, MPI_BYTE, (rank_ - distance + ranks_) % ranks_, distance, comm_,
              &requests[0]);
    MPI_Isend(nullptr, 0, MPI_BYTE, (rank_ + distance) % ranks_, distance, comm_, &requests[1]);
    int done = 0;
    for (int polls = 0;; ++polls) {
      MPI_Testall(2, requests, &done, MPI_STATUSES_IGNORE);
      if (done) break;
      if (asleep) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      } else if (polls >= kSpins) {
        sched_yield();
      }
    }
  }
}

}  // namespace brigade::bench
