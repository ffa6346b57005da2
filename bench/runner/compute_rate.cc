#include "bench/runner/compute_rate.h"

#include <chrono>
#include <cstdint>
#include <vector>

#include "bench/runner/barrier.h"
#include "bench/runner/compute.h"
#include "bench/runner/statistics.h"

namespace brigade::bench {

double StepsPerMicrosecond(MPI_Comm comm) {
  using Clock = std::chrono::steady_clock;
  int rank;
  MPI_Comm_rank(comm, &rank);
  DisseminationBarrier barrier(comm);
  double steps_per_us = 0;
  barrier.Wait();
  if (rank == 0) {
    constexpr uint64_t kSteps = 1 << 20;
    constexpr int kTrials = 5;
    std::vector<double> trials;
    for (int i = 0; i < kTrials; ++i) {
      const Clock::time_point start = Clock::now();
      Compute(kSteps);
      trials.push_back(static_cast<double>(kSteps) /
                       std::chrono::duration<double, std::micro>(Clock::now() - start).count());
    }
    steps_per_us = MedianOf(trials).median;
  }
  barrier.WaitAsleep();
  MPI_Bcast(&steps_per_us, 1, MPI_DOUBLE, 0, comm);
  return steps_per_us;
}

}  // namespace brigade::bench
