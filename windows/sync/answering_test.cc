#include "windows/sync/answering.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "test/support/stress.h"

namespace brigade {
namespace {

TEST(AnsweringTest, NoRequestBeginsWhileNoThreadAnswers) {
  Answering answering;
  EXPECT_FALSE(answering.is_wanted());
  EXPECT_FALSE(answering.BeginRequests());
  EXPECT_TRUE(answering.is_wanted());
  EXPECT_FALSE(answering.is_asked());
  answering.Begin();
  EXPECT_FALSE(answering.is_asked());
  EXPECT_TRUE(answering.BeginRequests());
  EXPECT_TRUE(answering.BeginRequests());
  answering.End();
  EXPECT_FALSE(answering.BeginRequests());
  answering.EndRequests();
  EXPECT_TRUE(answering.is_asked());
  answering.EndRequests();
  EXPECT_FALSE(answering.is_asked());
}

// A thread that has called End and then finds no request in flight may go: no request begins later.
TEST(AnsweringTest, NoRequestBeginsAfterTheEnd) {
  Answering answering;
  std::atomic<bool> is_gone{true};
  std::atomic<bool> is_over{false};
  std::atomic<int> asked_in_vain{0};
  std::vector<std::thread> origins;
  for (int i = 0; i < 2; ++i) {
    origins.emplace_back([&] {
      while (!is_over) {
        if (!answering.BeginRequests()) continue;
        if (is_gone) ++asked_in_vain;
        answering.EndRequests();
      }
    });
  }
  const int rounds = StressRounds(20000, 200000);
  for (int round = 0; round < rounds; ++round) {
    is_gone = false;
    answering.Begin();
    answering.End();
    while (answering.is_asked()) std::this_thread::yield();
    is_gone = true;
  }
  is_over = true;
  for (std::thread& origin : origins) origin.join();
  EXPECT_EQ(asked_in_vain, 0);
  EXPECT_FALSE(answering.is_asked());
}

}  // namespace
}  // namespace brigade
