#include "windows/sync/lock_queue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <random>
#include <vector>

#include "test/support/stress.h"

namespace brigade {
namespace {

constexpr LockKind kShared = LockKind::kShared;
constexpr LockKind kExclusive = LockKind::kExclusive;

bool Request(LockQueue* queue, int origin, LockKind kind) {
  bool granted = false;
  EXPECT_TRUE(queue->Request(origin, kind, &granted).ok());
  return granted;
}

std::vector<int> Release(LockQueue* queue, int origin) {
  std::vector<int> granted;
  EXPECT_TRUE(queue->Release(origin, &granted).ok());
  return granted;
}

TEST(LockQueue, SharedOnesHoldItTogether) {
  LockQueue queue;
  EXPECT_TRUE(Request(&queue, 0, kShared));
  EXPECT_TRUE(Request(&queue, 1, kShared));
  EXPECT_FALSE(Request(&queue, 2, kExclusive));
  EXPECT_EQ(Release(&queue, 0), std::vector<int>());
  EXPECT_EQ(Release(&queue, 1), std::vector<int>({2}));
  EXPECT_FALSE(Request(&queue, 0, kShared));
  EXPECT_EQ(Release(&queue, 2), std::vector<int>({0}));
  EXPECT_EQ(Release(&queue, 0), std::vector<int>());
  EXPECT_TRUE(queue.is_free());
}

TEST(LockQueue, NobodyPassesAnExclusiveRequest) {
  LockQueue queue;
  EXPECT_TRUE(Request(&queue, 0, kShared));
  EXPECT_FALSE(Request(&queue, 1, kExclusive));
  EXPECT_FALSE(Request(&queue, 2, kShared));
  EXPECT_FALSE(Request(&queue, 3, kShared));
  EXPECT_FALSE(Request(&queue, 4, kExclusive));
  EXPECT_FALSE(Request(&queue, 5, kShared));
  EXPECT_EQ(Release(&queue, 0), std::vector<int>({1}));
  EXPECT_EQ(Release(&queue, 1), std::vector<int>({2, 3}));
  EXPECT_EQ(Release(&queue, 2), std::vector<int>());
  EXPECT_EQ(Release(&queue, 3), std::vector<int>({4}));
  EXPECT_EQ(Release(&queue, 4), std::vector<int>({5}));
}

TEST(LockQueue, WhoIsLostLetsOthersIn) {
  LockQueue queue;
  std::vector<int> granted;
  EXPECT_TRUE(Request(&queue, 0, kShared));
  EXPECT_FALSE(Request(&queue, 1, kExclusive));
  EXPECT_FALSE(Request(&queue, 2, kShared));
  queue.Forget(1, &granted);
  EXPECT_EQ(granted, std::vector<int>({2}));
  EXPECT_FALSE(Request(&queue, 3, kExclusive));
  queue.Forget(0, &granted);
  EXPECT_EQ(granted, std::vector<int>());
  queue.Forget(2, &granted);
  EXPECT_EQ(granted, std::vector<int>({3}));
}

TEST(LockQueue, WrongCallsAreRefused) {
  LockQueue queue;
  std::vector<int> granted;
  bool now = false;
  EXPECT_EQ(queue.Release(0, &granted).code(), StatusCode::kMismatch);
  EXPECT_TRUE(Request(&queue, 0, kExclusive));
  EXPECT_EQ(queue.Request(0, kShared, &now).code(), StatusCode::kMismatch);
  EXPECT_FALSE(Request(&queue, 1, kShared));
  EXPECT_EQ(queue.Request(1, kShared, &now).code(), StatusCode::kMismatch);
  EXPECT_EQ(queue.Release(1, &granted).code(), StatusCode::kMismatch);
  EXPECT_EQ(Release(&queue, 0), std::vector<int>({1}));
}

// Whoever asks first is served first, and never two where one is exclusive.
TEST(LockQueue, IsFair) {
  LockQueue queue;
  std::mt19937_64 random(StressSeed());
  constexpr int kOrigins = 8;
  std::deque<int> waiting;
  std::vector<int> holding;
  std::vector<LockKind> kinds(kOrigins);
  enum { kIdle, kWaits, kHolds } states[kOrigins] = {};
  const auto enter = [&](int origin) {
    states[origin] = kHolds;
    holding.push_back(origin);
    for (const int other : holding) {
      EXPECT_TRUE(holding.size() == 1 || kinds[other] == kShared);
    }
  };
  const int rounds = StressRounds(100000, 10000000);
  for (int i = 0; i < rounds && !::testing::Test::HasFailure(); ++i) {
    const int origin = static_cast<int>(random() % kOrigins);
    if (states[origin] == kIdle) {
      kinds[origin] = random() % 3 == 0 ? kExclusive : kShared;
      if (Request(&queue, origin, kinds[origin])) {
        EXPECT_TRUE(waiting.empty());
        enter(origin);
      } else {
        states[origin] = kWaits;
        waiting.push_back(origin);
      }
    } else if (states[origin] == kHolds) {
      states[origin] = kIdle;
      holding.erase(std::find(holding.begin(), holding.end(), origin));
      for (const int next : Release(&queue, origin)) {
        ASSERT_EQ(next, waiting.front());
        waiting.pop_front();
        enter(next);
      }
    }
    ASSERT_TRUE(waiting.empty() || !holding.empty());
  }
}

}  // namespace
}  // namespace brigade
