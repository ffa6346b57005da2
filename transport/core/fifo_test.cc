#include "transport/core/fifo.h"

#include <set>
#include <vector>

#include "gtest/gtest.h"

namespace brigade {
namespace {

TEST(FifoTest, KeepsOrderWhileItGrowsAndShrinks) {
  Fifo<int> fifo;
  int pushed = 0;
  int popped = 0;
  for (int length : {1, 7, 3, 100, 0, 50, 1, 0, 5}) {
    while (pushed - popped < length) fifo.push_back(pushed++);
    int expected = popped;
    for (int element : fifo) EXPECT_EQ(element, expected++);
    EXPECT_EQ(expected, pushed);
    while (pushed - popped > length) {
      EXPECT_EQ(fifo.front(), popped++);
      fifo.pop_front();
    }
    EXPECT_EQ(fifo.size(), static_cast<size_t>(length));
    EXPECT_EQ(fifo.empty(), length == 0);
  }
}

// Storage does not grow with the elements that pass through, even if the queue is never empty.
TEST(FifoTest, StorageFollowsTheLongestLength) {
  Fifo<int> fifo;
  for (int i = 0; i < 3; ++i) fifo.push_back(i);
  std::set<const int*> places;
  for (int i = 3; i < 1000; ++i) {
    fifo.push_back(i);
    fifo.pop_front();
    EXPECT_EQ(fifo.front(), i - 2);
    if (i > 100) places.insert(&fifo.front());
  }
  EXPECT_LT(places.size(), 16u);
}

TEST(FifoTest, ClearForgetsAll) {
  Fifo<int> fifo;
  for (int i = 0; i < 10; ++i) fifo.push_back(i);
  fifo.pop_front();
  fifo.clear();
  EXPECT_TRUE(fifo.empty());
  fifo.push_back(42);
  EXPECT_EQ(fifo.front(), 42);
}

TEST(Fifo, TheLastOneMayGo) {
  Fifo<int> fifo;
  for (int i = 0; i < 3; ++i) fifo.push_back(i);
  fifo.pop_front();
  fifo.pop_back();
  EXPECT_EQ(fifo.size(), 1u);
  EXPECT_EQ(fifo.front(), 1);
  fifo.pop_back();
  EXPECT_TRUE(fifo.empty());
  fifo.push_back(7);
  EXPECT_EQ(fifo.front(), 7);
}

TEST(Fifo, ErasesNearTheFront) {
  Fifo<int> fifo;
  for (int i = 0; i < 6; ++i) fifo.push_back(i);
  fifo.pop_front();
  fifo.erase(fifo.begin() + 1, fifo.begin() + 3);
  EXPECT_EQ(std::vector<int>(fifo.begin(), fifo.end()), (std::vector<int>{1, 4, 5}));
  fifo.erase(fifo.begin(), fifo.end());
  EXPECT_TRUE(fifo.empty());
  fifo.push_back(7);
  EXPECT_EQ(fifo.front(), 7);
}

}  // namespace
}  // namespace brigade
