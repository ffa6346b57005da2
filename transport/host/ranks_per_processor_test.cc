#include "transport/host/ranks_per_processor.h"

#include <climits>
#include <initializer_list>

#include "gtest/gtest.h"

namespace brigade {
namespace {

RankProcessors Rank(uint64_t machine, std::initializer_list<int> processors,
                    int64_t quota = INT_MAX) {
  RankProcessors rank{machine, {}, quota};
  for (const int p : processors) CPU_SET(p, &rank.allowed);
  return rank;
}

TEST(RanksPerProcessor, CountsProcessorsOnce) {
  EXPECT_EQ(RanksPerProcessor({Rank(1, {0, 1}), Rank(1, {0, 1}), Rank(1, {0, 1})}), 1.5);
  EXPECT_EQ(RanksPerProcessor({Rank(1, {0}), Rank(1, {1}), Rank(1, {2})}), 1);
}

TEST(RanksPerProcessor, RanksThatAreBoundToOneProcessorShareIt) {
  EXPECT_EQ(RanksPerProcessor({Rank(1, {3}), Rank(1, {3})}), 2);
}

TEST(RanksPerProcessor, FollowsTheAffinityMask) {
  const RankProcessors before = RankProcessors::Here();
  int first = 0;
  while (!CPU_ISSET(first, &before.allowed)) ++first;
  const RankProcessors bound = Rank(before.machine, {first});
  ASSERT_EQ(sched_setaffinity(0, sizeof(bound.allowed), &bound.allowed), 0);
  EXPECT_EQ(RanksPerProcessor({RankProcessors::Here(), RankProcessors::Here()}), 2);
  EXPECT_EQ(sched_setaffinity(0, sizeof(before.allowed), &before.allowed), 0);
}

TEST(RanksPerProcessor, IsAtLeastOne) { EXPECT_EQ(RanksPerProcessor({Rank(1, {0, 1, 2, 3})}), 1); }

TEST(RanksPerProcessor, AddsMachines) {
  EXPECT_EQ(RanksPerProcessor({Rank(1, {0}), Rank(2, {0}), Rank(2, {0}), Rank(2, {0})}), 2);
}

TEST(RanksPerProcessor, HeedsTheLongestQuotaOfAMachine) {
  EXPECT_EQ(RanksPerProcessor({Rank(1, {0, 1, 2, 3}, 1), Rank(1, {0, 1, 2, 3}, 2),
                               Rank(1, {0, 1, 2, 3}, 1), Rank(1, {0, 1, 2, 3}, 1)}),
            2);
}

}  // namespace
}  // namespace brigade
