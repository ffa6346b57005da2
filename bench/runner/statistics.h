// The statistic every figure of the benchmarks is given in.

#ifndef BRIGADE_BENCH_RUNNER_STATISTICS_H_
#define BRIGADE_BENCH_RUNNER_STATISTICS_H_

#include <vector>

namespace brigade::bench {

struct MedianInterval {
  double median = 0;
  double lo = 0;
  double hi = 0;
  double least = 0;  // of all samples
};

// The median of `samples` and its nonparametric 95 % interval: the innermost pair of order
// statistics that covers the true median with that probability, whatever the distribution. Below
// six samples no such pair exists and the interval is the range. REQUIRES: at least one sample.
MedianInterval MedianOf(std::vector<double> samples);

// How many runs make a sample, of an operation that takes `microseconds_once`. Several runs come in
// whole rounds of roots, so that samples of different length average the same.
int RunsPerSample(double microseconds_once, int ranks);

// How often to repeat an operation that takes `microseconds_once` to fill `microseconds_wanted`,
// within [least, most].
int RepetitionsFor(double microseconds_wanted, double microseconds_once, int least, int most);

}  // namespace brigade::bench

#endif  // BRIGADE_BENCH_RUNNER_STATISTICS_H_
