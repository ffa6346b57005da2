#include "transport/host/thread_fence.h"

#include <atomic>
#include <thread>

#include "gtest/gtest.h"

namespace brigade {
namespace {

// In each round both store and then read. At least one must see the other's store.
TEST(ThreadFenceTest, OneOfTwoSeesTheOther) {
  constexpr int kRounds = 2000;
  ThreadFence fence;
  struct alignas(64) Word {
    std::atomic<int> is{0};
  };
  Word hurried;
  Word patient;
  Word hurried_saw;  // -1: not yet in this round
  hurried_saw.is = -1;
  Word done;
  int missed = 0;
  std::thread other([&] {
    for (int round = 1; round <= kRounds; ++round) {
      while (done.is.load(std::memory_order_acquire) != round - 1) {
        std::this_thread::yield();
      }
      hurried.is.store(round, std::memory_order_relaxed);
      fence.Light();
      hurried_saw.is.store(patient.is.load(std::memory_order_relaxed), std::memory_order_release);
      while (done.is.load(std::memory_order_acquire) != round) {
        std::this_thread::yield();
      }
    }
  });
  for (int round = 1; round <= kRounds; ++round) {
    patient.is.store(round, std::memory_order_relaxed);
    fence.Heavy();
    const int saw = hurried.is.load(std::memory_order_relaxed);
    int others = -1;
    while (others < 0) {
      std::this_thread::yield();
      others = hurried_saw.is.load(std::memory_order_acquire);
    }
    missed += saw != round && others != round;
    hurried_saw.is.store(-1, std::memory_order_relaxed);
    done.is.store(round, std::memory_order_release);
  }
  other.join();
  EXPECT_EQ(missed, 0);
}

}  // namespace
}  // namespace brigade
