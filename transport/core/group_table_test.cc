#include "transport/core/group_table.h"

#include <vector>

#include "gtest/gtest.h"

namespace brigade {
namespace {

TEST(GroupTableTest, FindsOpenGroups) {
  GroupTable<int> groups;
  const GroupId first = groups.Add(std::make_unique<int>(1));
  const GroupId second = groups.Add(std::make_unique<int>(2));
  EXPECT_EQ(groups.At(first), 1);
  EXPECT_EQ(groups.At(second), 2);
}

TEST(GroupTableTest, KeepsClosedGroupsUntilTheyAreErased) {
  GroupTable<int> groups;
  const GroupId closed = groups.Add(std::make_unique<int>(1));
  groups.Add(std::make_unique<int>(2));
  groups.Close(closed);
  std::vector<int> all;
  const auto list = [&](GroupId, const int* group) { all.push_back(*group); };
  groups.ForEach(list);
  EXPECT_EQ(all, (std::vector<int>{1, 2}));
  groups.Erase(closed);
  all.clear();
  groups.ForEach(list);
  EXPECT_EQ(all, (std::vector<int>{2}));
}

TEST(GroupTableTest, EveryGroupMayGoWhileAllAreVisited) {
  GroupTable<int> groups;
  for (int i = 0; i < 3; ++i) groups.Add(std::make_unique<int>(i));
  groups.ForEach([&](GroupId id, const int*) { groups.Erase(id); });
  groups.ForEach([](GroupId, const int*) { FAIL() << "a group is left"; });
}

TEST(GroupTableTest, PlacesAreUsedAgainAndIdsAreNot) {
  GroupTable<int> groups;
  GroupId last = groups.Add(std::make_unique<int>(-1));
  // More than there are places for at one time.
  for (int i = 0; i <= 1 << 20; ++i) {
    groups.Erase(last);
    const GroupId next = groups.Add(std::make_unique<int>(i));
    ASSERT_NE(next, last);
    ASSERT_GE(next, 0);
    last = next;
  }
  EXPECT_EQ(groups.At(last), 1 << 20);
}

TEST(GroupTableDeathTest, AClosedGroupIsNotFound) {
  GroupTable<int> groups;
  const GroupId closed = groups.Add(std::make_unique<int>(1));
  groups.Close(closed);
  EXPECT_DEATH(groups.At(closed), "internal check failed");
  groups.Erase(closed);
  const GroupId other = groups.Add(std::make_unique<int>(2));
  EXPECT_EQ(groups.At(other), 2);
  EXPECT_DEATH(groups.At(closed), "internal check failed");
}

}  // namespace
}  // namespace brigade
