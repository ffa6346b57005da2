// The machine and the software of the measurements.

#ifndef BRIGADE_BENCH_RUNNER_MACHINE_H_
#define BRIGADE_BENCH_RUNNER_MACHINE_H_

#include <mpi.h>

#include <string>

namespace brigade::bench {

struct Machine {
  std::string cpu;
  int cores = 0;  // processors, of which a core may have several; named as in JSON lines
  std::string kernel;
  bool pinned = false;  // every rank may run on one processor only
  // Time of a loop of pure computation on ranks 0 and 1 together over its time on rank 0 alone.
  // Near 2: two apparent processors are one, and two-rank figures are halved. 0 with one rank.
  double together_over_alone = 0;
  std::string mpi;  // name and version
  // How Open MPI moves long messages between processes of this host: "cma" in one copy, "none"
  // through shared memory in two. "unknown" for another MPI.
  std::string single_copy;
};

// From here on a machine is said to run two ranks on one core.
inline constexpr double kSharedCoreRatio = 1.5;

// Keeps the calling thread, and those it starts, on one of the processors they may use: the first
// for turn 0, the next for 1, and so on, and round again.
void RunOnProcessor(int turn);

// Collective over `comm`; equal on all ranks.
Machine DescribeMachine(MPI_Comm comm);

// Collective over `comm`; equal on all ranks. Whether all ranks share a clock.
bool OnOneMachine(MPI_Comm comm);

}  // namespace brigade::bench

#endif  // BRIGADE_BENCH_RUNNER_MACHINE_H_
