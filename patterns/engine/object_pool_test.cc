#include "patterns/engine/object_pool.h"

#include <set>
#include <vector>

#include "gtest/gtest.h"

namespace brigade {
namespace {

struct Counted {
  Counted() { ++alive; }
  ~Counted() { --alive; }
  static int alive;
  int value = 0;
};
int Counted::alive = 0;

using Pool = ObjectPool<Counted>;
constexpr int kMostIdle = static_cast<int>(Pool::kMostIdle);

TEST(ObjectPool, UsesObjectsAgain) {
  Pool pool;
  Counted* const first = pool.Take();
  first->value = 7;
  pool.GiveBack(first);
  EXPECT_EQ(pool.Take(), first);
  EXPECT_EQ(first->value, 7);
  EXPECT_NE(pool.Take(), first);
  EXPECT_EQ(Counted::alive, 2);
}

TEST(ObjectPool, KeepsABoundedNumberAfterABurst) {
  {
    Pool pool;
    std::vector<Counted*> taken;
    for (int i = 0; i < 3 * kMostIdle; ++i) taken.push_back(pool.Take());
    EXPECT_EQ(std::set<Counted*>(taken.begin(), taken.end()).size(), taken.size());
    // From both ends and the middle.
    for (size_t i = 0; i < taken.size(); i += 2) pool.GiveBack(taken[i]);
    for (size_t i = taken.size() - 1; i > 1; i -= 2) pool.GiveBack(taken[i]);
    EXPECT_EQ(Counted::alive, kMostIdle + 1);
    std::set<const Counted*> all;
    pool.ForEach([&](const Counted* object) { all.insert(object); });
    EXPECT_EQ(static_cast<int>(all.size()), Counted::alive);
    EXPECT_EQ(all.count(taken[1]), 1u);  // still in use
  }
  EXPECT_EQ(Counted::alive, 0);
}

}  // namespace
}  // namespace brigade
