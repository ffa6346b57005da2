#include "bench/runner/statistics.h"

#include <algorithm>
#include <random>
#include <vector>

#include "gtest/gtest.h"

namespace brigade::bench {
namespace {

std::vector<double> OneTo(int n) {
  std::vector<double> samples(n);
  for (int i = 0; i < n; ++i) samples[i] = i + 1;
  std::shuffle(samples.begin(), samples.end(), std::mt19937(n));
  return samples;
}

TEST(StatisticsTest, MedianOfOddAndEvenCounts) {
  EXPECT_EQ(MedianOf({5}).median, 5);
  EXPECT_EQ(MedianOf({3, 1, 2}).median, 2);
  EXPECT_EQ(MedianOf({4, 1, 3, 2}).median, 2.5);
}

TEST(StatisticsTest, FewSamplesGiveTheirRange) {
  const MedianInterval interval = MedianOf(OneTo(5));
  EXPECT_EQ(interval.lo, 1);
  EXPECT_EQ(interval.hi, 5);
  EXPECT_EQ(MedianOf({3, 1, 2}).least, 1);
}

// The ranks tabulated in textbooks for the sign test at 5 %, two-sided.
TEST(StatisticsTest, IntervalHasTheTabulatedRanks) {
  const struct {
    int n, rank;
  } table[] = {{6, 1}, {8, 1}, {9, 2}, {10, 2}, {20, 6}, {25, 8}, {50, 18}, {100, 40}};
  for (const auto& row : table) {
    const MedianInterval interval = MedianOf(OneTo(row.n));
    EXPECT_EQ(interval.lo, row.rank) << "n = " << row.n;
    EXPECT_EQ(interval.hi, row.n + 1 - row.rank) << "n = " << row.n;
  }
}

TEST(StatisticsTest, ManySamplesDoNotUnderflow) {
  // Normal approximation: n/2 -+ 1.96 sqrt(n)/2 = 5000 -+ 98.
  const MedianInterval interval = MedianOf(OneTo(10000));
  EXPECT_NEAR(interval.lo, 4902, 2);
  EXPECT_NEAR(interval.hi, 5099, 2);
}

TEST(StatisticsTest, ShortRunsAreSampledInWholeRoundsOfRoots) {
  EXPECT_EQ(RunsPerSample(20, 3), 1);
  EXPECT_EQ(RunsPerSample(1e6, 3), 1);
  EXPECT_EQ(RunsPerSample(19, 3), 3);
  EXPECT_EQ(RunsPerSample(2, 3), 12);
  EXPECT_EQ(RunsPerSample(1e-9, 3), 102);
}

TEST(StatisticsTest, RepetitionsStayWithinTheirLimits) {
  EXPECT_EQ(RepetitionsFor(1000, 10, 5, 500), 100);
  EXPECT_EQ(RepetitionsFor(1000, 1000, 5, 500), 5);
  EXPECT_EQ(RepetitionsFor(1e12, 1e-6, 5, 500), 500);
}

}  // namespace
}  // namespace brigade::bench
