// TakeTurns: runs of which one rank's time counts, of several contenders in random order.

#ifndef BRIGADE_BENCH_RUNNER_TURNS_H_
#define BRIGADE_BENCH_RUNNER_TURNS_H_

#include <cstddef>
#include <functional>
#include <vector>

#include "bench/runner/runner.h"

namespace brigade::bench {

// Each round runs every contender once, in an order that is drawn anew and equal on all ranks; as
// many rounds as the options say, if one takes `round_us`. `run` gives what a run took here.
// REQUIRES: `options` and `round_us` are equal on all ranks.
std::vector<Result> TakeTurns(const RunnerOptions& options, double round_us, size_t contenders,
                              const std::function<double(size_t contender)>& run);

}  // namespace brigade::bench

#endif  // BRIGADE_BENCH_RUNNER_TURNS_H_
