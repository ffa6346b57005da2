#include "bench/runner/turns.h"

#include <algorithm>
#include <numeric>
#include <random>

#include "bench/runner/statistics.h"

namespace brigade::bench {

std::vector<Result> TakeTurns(const RunnerOptions& options, double round_us, size_t contenders,
                              const std::function<double(size_t contender)>& run) {
  const int rounds = RepetitionsFor(options.seconds_per_case * 1e6, round_us,
                                    options.min_iterations, options.max_iterations);
  std::mt19937_64 random(options.seed);
  std::vector<size_t> order(contenders);
  std::iota(order.begin(), order.end(), size_t{0});
  std::vector<std::vector<double>> samples(contenders);
  for (int round = 0; round < rounds; ++round) {
    std::shuffle(order.begin(), order.end(), random);
    for (const size_t contender : order) samples[contender].push_back(run(contender));
  }
  std::vector<Result> results(contenders);
  for (size_t i = 0; i < contenders; ++i) {
    results[i].microseconds = MedianOf(samples[i]);
    results[i].iterations = rounds;
  }
  return results;
}

}  // namespace brigade::bench
