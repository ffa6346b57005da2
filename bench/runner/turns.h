// TakeTurns: runs of which one rank's time counts, of several contenders in random order.

#ifndef BRIGADE_BENCH_RUNNER_TURNS_H_
#define BRIGADE_BENCH_RUNNER_TURNS_H_

#include <cstddef>
#include <functional>
#include <vector>

#include "bench/runner/runner.h"

namespace brigade::bench {

// Runs every contender once in each round, in a random order that is equal on all ranks. The number
// of rounds follows from the options, if one takes `round_us`. `run` returns the time of a run
// here. REQUIRES: `options` and `round_us` are equal on all ranks.
std::vector<Result> TakeTurns(const RunnerOptions& options, double round_us, size_t contenders,
                              const std::function<double(size_t contender)>& run);

}  // namespace brigade::bench

#endif  // BRIGADE_BENCH_RUNNER_TURNS_H_
