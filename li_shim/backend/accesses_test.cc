#include "li_shim/backend/accesses.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace brigade {
namespace li {
namespace {

bool Collide(const Access& a, const Access& b) {
  return (a.writes || b.writes) && a.begin < b.end && b.begin < a.end;
}

TEST(Accesses, AFieldThatIsOnlyReadIsNoConflict) {
  EXPECT_FALSE(FindConflict({}));
  EXPECT_FALSE(FindConflict(
      {{10, 20, false, true, 0, 1}, {10, 20, false, true, 1, 1}, {20, 30, true, true, 2, 1}}));
}

TEST(Accesses, AConflictWithALongAccessIsFoundBehindAShorterOne) {
  const auto found = FindConflict(
      {{0, 100, false, true, 3, 7}, {10, 20, false, true, 1, 1}, {50, 51, true, true, 2, 4}});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->first.process, 3);
  EXPECT_EQ(found->first.number, 7);
  EXPECT_EQ(found->second.process, 2);
}

TEST(Accesses, FindsOneOfAllPairsIfThereIsOne) {
  std::mt19937 random(7);
  int conflicts = 0;
  for (int trial = 0; trial < 3000; ++trial) {
    std::vector<Access> accesses;
    const int size = static_cast<int>(random() % 8);
    for (int i = 0; i < size; ++i) {
      const uintptr_t begin = random() % 60;
      accesses.push_back({begin, begin + 1 + random() % 8, random() % 3 == 0, true, i, 1});
    }
    bool any = false;
    for (const Access& a : accesses) {
      for (const Access& b : accesses) any |= a.process != b.process && Collide(a, b);
    }
    const auto found = FindConflict(accesses);
    ASSERT_EQ(found.has_value(), any) << trial;
    if (!found) continue;
    ++conflicts;
    EXPECT_TRUE(Collide(found->first, found->second)) << trial;
    std::shuffle(accesses.begin(), accesses.end(), random);
    const auto again = FindConflict(accesses);
    EXPECT_EQ(again->first.process, found->first.process);
    EXPECT_EQ(again->second.process, found->second.process);
  }
  EXPECT_GT(conflicts, 300);
  EXPECT_LT(conflicts, 2700);
}

}  // namespace
}  // namespace li
}  // namespace brigade
