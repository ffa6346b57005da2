// Runner: verifies and times the subjects of a case. The method and its reasons: README.md.

#ifndef BRIGADE_BENCH_RUNNER_RUNNER_H_
#define BRIGADE_BENCH_RUNNER_RUNNER_H_

#include <mpi.h>

#include <cstdint>
#include <vector>

#include "bench/runner/barrier.h"
#include "bench/runner/case.h"
#include "bench/runner/statistics.h"
#include "membuf/status.h"

namespace brigade::bench {

struct RunnerOptions {
  double seconds_per_case = 1;
  int min_iterations = 10;
  int max_iterations = 1000;
  uint64_t seed = 1;
  // Ranks that have finished sleep, and all start by the clock: for ranks that share one machine
  // and outnumber its processors.
  bool asleep = false;
};

struct Result {
  MedianInterval microseconds;
  // Of all ranks together per operation, waiting included.
  double cpu_microseconds = 0;
  int iterations = 0;
  Cost cost;
};

class Runner {
 public:
  // Collective over `comm`; `options` equal on all ranks.
  Runner(MPI_Comm comm, const RunnerOptions& options);
  ~Runner();
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;

  // Collective: measures every subject of `the_case`, whose subjects are equal on all ranks.
  // `results` has one entry per subject, equal on all ranks. kInternal, on all ranks, naming
  // subject and place, if data came out wrong. After another failure of a subject, which may be
  // this rank's alone, the job can only be aborted.
  Status Measure(const Case& the_case, std::vector<Result>* results);

 private:
  Status Verify(const Case& the_case, const Subject& subject);
  // The time of a rank for some operations.
  struct Spent {
    double microseconds = 0;
    double cpu_microseconds = 0;  // of all its threads
  };
  // `runs` operations in a row on this rank; their turns count up from `first_turn`.
  Status Time(const Subject& subject, int first_turn, int runs, Spent* spent);
  // Returns the maximum over ranks of the cost that `subject` reports, if it reports one.
  Status WorstCost(const Subject& subject, Cost* cost);
  // How long one operation takes: the maximum over ranks makes all derive the same counts.
  Status WarmUp(const Subject& subject, double* microseconds);
  // All ranks start from here.
  void Gather();
  std::vector<double> OverRanks(MPI_Op op, std::vector<double> values) const;

  MPI_Comm comm_;
  int ranks_;
  RunnerOptions options_;
  DisseminationBarrier barrier_;
};

}  // namespace brigade::bench

#endif  // BRIGADE_BENCH_RUNNER_RUNNER_H_
