// The benchmarks' own barrier: MPI_Barrier is one of the subjects, its algorithm is known to change
// the figures of later subjects, and it spins if ranks share processors.

#ifndef BRIGADE_BENCH_RUNNER_BARRIER_H_
#define BRIGADE_BENCH_RUNNER_BARRIER_H_

#include <mpi.h>

#include <chrono>

namespace brigade::bench {

class DisseminationBarrier {
 public:
  // Collective over `comm`.
  explicit DisseminationBarrier(MPI_Comm comm);
  ~DisseminationBarrier();
  DisseminationBarrier(const DisseminationBarrier&) = delete;
  DisseminationBarrier& operator=(const DisseminationBarrier&) = delete;

  // Collective. ceil(log2(ranks)) messages per rank. Waits by spinning briefly, then yielding.
  void Wait();
  // Waits asleep, so that the other ranks have the machine to themselves.
  void WaitAsleep();
  // Waits asleep, and all ranks leave at one moment, a few milliseconds after the last has come.
  // REQUIRES: all ranks read one clock: they are on one machine.
  void StartTogether();

 private:
  // Returns the time at which the last rank came, by that rank's clock.
  std::chrono::steady_clock::time_point Run(bool asleep);

  MPI_Comm comm_;
  int rank_;
  int ranks_;
};

}  // namespace brigade::bench

#endif  // BRIGADE_BENCH_RUNNER_BARRIER_H_
