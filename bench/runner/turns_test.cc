#include "bench/runner/turns.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

namespace brigade::bench {
namespace {

TEST(Turns, EachRunsOnceARoundInEveryOrder) {
  RunnerOptions options;
  options.seconds_per_case = 1;
  options.max_iterations = 1000;
  std::vector<size_t> turns;
  const std::vector<Result> results = TakeTurns(options, 1e6 / 200, 3, [&](size_t contender) {
    turns.push_back(contender);
    return static_cast<double>(10 * contender);
  });
  ASSERT_EQ(results.size(), 3U);
  for (size_t i = 0; i < results.size(); ++i) {
    EXPECT_EQ(results[i].microseconds.median, static_cast<double>(10 * i));
    EXPECT_EQ(results[i].iterations, 200);
  }
  ASSERT_EQ(turns.size(), 600U);
  std::set<std::vector<size_t>> orders;
  for (auto turn = turns.begin(); turn != turns.end(); turn += 3) orders.insert({turn, turn + 3});
  EXPECT_EQ(orders.size(), 6U);
  for (const std::vector<size_t>& order : orders) {
    EXPECT_TRUE(std::is_permutation(order.begin(), order.end(), turns.begin(), turns.begin() + 3));
  }
}

TEST(Turns, RanksDrawTheSameOrder) {
  const auto drawn = [](uint64_t seed) {
    RunnerOptions options;
    options.seed = seed;
    std::vector<size_t> turns;
    TakeTurns(options, 1e9, 5, [&](size_t contender) {
      turns.push_back(contender);
      return 1.0;
    });
    return turns;
  };
  EXPECT_EQ(drawn(1).size(), 50U);  // the least
  EXPECT_EQ(drawn(1), drawn(1));
  EXPECT_NE(drawn(1), drawn(2));
}

}  // namespace
}  // namespace brigade::bench
