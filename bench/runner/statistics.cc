#include "bench/runner/statistics.h"

#include <algorithm>
#include <cmath>

#include "membuf/check.h"

namespace brigade::bench {
namespace {

// The largest k such that fewer than k of n fair coins show heads with probability at most 2.5 %.
// The k-th smallest and k-th largest sample then enclose the median with at least 95 %.
int IntervalRank(int n) {
  double log_choose = 0;  // log of n over i; logarithms because 2^-n underflows from n = 1075 on
  double below = 0;
  for (int i = 0; i < n; ++i) {
    below += std::exp(log_choose - n * std::log(2.0));
    if (below > 0.025) return i;
    log_choose += std::log(double(n - i)) - std::log(double(i + 1));
  }
  return n;
}

}  // namespace

MedianInterval MedianOf(std::vector<double> samples) {
  BRIGADE_CHECK(!samples.empty());
  std::sort(samples.begin(), samples.end());
  const int n = static_cast<int>(samples.size());
  const int rank = std::max(IntervalRank(n), 1);
  return MedianInterval{(samples[(n - 1) / 2] + samples[n / 2]) / 2, samples[rank - 1],
                        samples[n - rank], samples.front()};
}

int RunsPerSample(double microseconds_once, int ranks) {
  // Samples shorter than this are mostly barrier and clock.
  constexpr double kShortestSampleMicroseconds = 20;
  constexpr int kMostRunsPerSample = 100;
  const double wanted = std::ceil(kShortestSampleMicroseconds / microseconds_once);
  if (wanted <= 1) return 1;
  const int runs = static_cast<int>(std::min<double>(wanted, kMostRunsPerSample));
  return (runs + ranks - 1) / ranks * ranks;
}

int RepetitionsFor(double microseconds_wanted, double microseconds_once, int least, int most) {
  // Compared as doubles first: the quotient may exceed every int.
  return static_cast<int>(
      std::clamp(microseconds_wanted / microseconds_once, double(least), double(most)));
}

}  // namespace brigade::bench
