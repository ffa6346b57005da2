#include "windows/sync/lock_queue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <random>
#include <thread>
#include <vector>

#include "test/support/stress.h"
#include "transport/time_slice.h"
#include "windows/sync/process_lock.h"

namespace brigade {
namespace {

constexpr LockKind kShared = LockKind::kShared;
constexpr LockKind kExclusive = LockKind::kExclusive;

constexpr int kMembers = 8;

class LockQueueTest : public ::testing::Test {
 protected:
  bool Request(int origin, LockKind kind, bool by_message = true) {
    bool granted = false;
    EXPECT_TRUE(queue_.Request(origin, kind, by_message, &granted).ok());
    EXPECT_EQ(queue_.Holds(origin), granted);
    return granted;
  }
  std::vector<int> Release(int origin) {
    std::vector<int> granted;
    EXPECT_TRUE(queue_.Release(origin, &granted).ok());
    EXPECT_FALSE(queue_.Holds(origin));
    for (const int next : granted) EXPECT_TRUE(queue_.Holds(next));
    return granted;
  }

  std::vector<std::byte> memory_ = std::vector<std::byte>(LockQueue::BytesFor(kMembers));
  LockQueue queue_{memory_.data(), kMembers};
};

TEST_F(LockQueueTest, SharedOnesHoldItTogether) {
  EXPECT_TRUE(Request(0, kShared));
  EXPECT_TRUE(Request(1, kShared));
  EXPECT_FALSE(Request(2, kExclusive));
  EXPECT_EQ(Release(0), std::vector<int>());
  EXPECT_EQ(Release(1), std::vector<int>({2}));
  EXPECT_FALSE(Request(0, kShared));
  EXPECT_EQ(Release(2), std::vector<int>({0}));
  EXPECT_EQ(Release(0), std::vector<int>());
  EXPECT_TRUE(Request(1, kExclusive)) << "it is free";
}

TEST_F(LockQueueTest, NoRequestPassesAnExclusiveOne) {
  EXPECT_TRUE(Request(0, kShared));
  EXPECT_FALSE(Request(1, kExclusive));
  EXPECT_FALSE(Request(2, kShared));
  EXPECT_FALSE(Request(3, kShared));
  EXPECT_FALSE(Request(4, kExclusive));
  EXPECT_FALSE(Request(5, kShared));
  EXPECT_EQ(Release(0), std::vector<int>({1}));
  EXPECT_EQ(Release(1), std::vector<int>({2, 3}));
  EXPECT_EQ(Release(2), std::vector<int>());
  EXPECT_EQ(Release(3), std::vector<int>({4}));
  EXPECT_EQ(Release(4), std::vector<int>({5}));
}

TEST_F(LockQueueTest, OnlyRequestsByMessageGetAReply) {
  EXPECT_TRUE(Request(0, kExclusive, false));
  EXPECT_FALSE(Request(1, kShared, false));
  EXPECT_FALSE(Request(2, kShared, true));
  EXPECT_FALSE(Request(3, kShared, false));
  EXPECT_EQ(Release(0), std::vector<int>({2}));
  for (const int origin : {1, 2, 3}) EXPECT_TRUE(queue_.Holds(origin));
  // The next request may come another way.
  EXPECT_EQ(Release(1), std::vector<int>());
  EXPECT_FALSE(Request(1, kExclusive, true));
  EXPECT_EQ(Release(2), std::vector<int>());
  EXPECT_EQ(Release(3), std::vector<int>({1}));
}

TEST_F(LockQueueTest, WrongCallsAreRefused) {
  std::vector<int> granted;
  bool now = false;
  EXPECT_EQ(queue_.Release(0, &granted).code(), StatusCode::kMismatch);
  EXPECT_TRUE(Request(0, kExclusive));
  EXPECT_EQ(queue_.Request(0, kShared, true, &now).code(), StatusCode::kMismatch);
  EXPECT_FALSE(Request(1, kShared));
  EXPECT_EQ(queue_.Request(1, kShared, true, &now).code(), StatusCode::kMismatch);
  EXPECT_EQ(queue_.Release(1, &granted).code(), StatusCode::kMismatch);
  EXPECT_EQ(Release(0), std::vector<int>({1}));
}

// The first request is granted first, and never two together if one is exclusive.
TEST_F(LockQueueTest, IsFair) {
  std::mt19937_64 random(StressSeed());
  std::deque<int> waiting;
  std::vector<int> holding;
  std::vector<LockKind> kinds(kMembers);
  enum { kIdle, kWaits, kHolds } states[kMembers] = {};
  const auto enter = [&](int origin) {
    states[origin] = kHolds;
    holding.push_back(origin);
    for (const int other : holding) {
      EXPECT_TRUE(holding.size() == 1 || kinds[other] == kShared);
    }
  };
  const int rounds = StressRounds(100000, 10000000);
  for (int i = 0; i < rounds && !::testing::Test::HasFailure(); ++i) {
    const int origin = static_cast<int>(random() % kMembers);
    if (states[origin] == kIdle) {
      kinds[origin] = random() % 3 == 0 ? kExclusive : kShared;
      if (Request(origin, kinds[origin])) {
        EXPECT_TRUE(waiting.empty());
        enter(origin);
      } else {
        states[origin] = kWaits;
        waiting.push_back(origin);
      }
    } else if (states[origin] == kHolds) {
      states[origin] = kIdle;
      holding.erase(std::find(holding.begin(), holding.end(), origin));
      for (const int next : Release(origin)) {
        ASSERT_EQ(next, waiting.front());
        waiting.pop_front();
        enter(next);
      }
    }
    ASSERT_TRUE(waiting.empty() || !holding.empty());
  }
}

// Many threads, each of which takes the lock again and again in the way of an origin that maps the
// table. A request's number says how many there were before.
TEST_F(LockQueueTest, NoRequestStarves) {
  ProcessLock lock;
  const auto locked = [&](int origin, const auto& work) {
    while (!lock.TryLock(origin)) std::this_thread::yield();
    work();
    lock.Unlock();
  };
  const int64_t requests = StressRounds(50000, 1000000);
  int64_t requested = 0;       // these three while `lock` is held
  int64_t last_exclusive = 0;  // number of the last exclusive request, counted from 1
  int64_t released = 0;
  int64_t value = 0;  // while the queue's lock is held: the last exclusive request served
  std::atomic<int> wrong{0};
  const auto origin_works = [&](int origin) {
    ShortenTimeSlices();  // each yield gives up a slice
    std::mt19937_64 random(StressSeed() + static_cast<unsigned>(origin));
    for (bool over = false; !over;) {
      const LockKind kind = random() % 3 == 0 ? kExclusive : kShared;
      int64_t number = 0;
      int64_t exclusive_before = 0;
      locked(origin, [&] {
        over = requested == requests;
        if (over) return;
        number = ++requested;
        exclusive_before = last_exclusive;
        if (kind == kExclusive) last_exclusive = number;
        bool granted = false;
        if (!queue_.Request(origin, kind, false, &granted).ok()) ++wrong;
      });
      if (over) return;
      while (!queue_.Holds(origin)) std::this_thread::yield();
      if (value != exclusive_before) ++wrong;            // some other one passed, or was passed
      if (random() % 8 == 0) std::this_thread::yield();  // so that others come while it is held
      if (kind == kExclusive) value = number;
      locked(origin, [&] {
        if (kind == kExclusive && released != number - 1) ++wrong;
        ++released;
        std::vector<int> granted;
        if (!queue_.Release(origin, &granted).ok() || !granted.empty()) ++wrong;
      });
    }
  };
  std::vector<std::thread> threads;
  for (int origin = 0; origin < kMembers; ++origin) threads.emplace_back(origin_works, origin);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(released, requests);
}

}  // namespace
}  // namespace brigade
