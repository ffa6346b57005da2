#include "rma_shim/makers.h"

#include <atomic>
#include <chrono>
#include <cstring>
#include <deque>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "transport/inproc/inproc_transport.h"

namespace brigade {
namespace rma {
namespace {

Makers::Key Numbered(uint64_t number) {
  Makers::Key key;
  key.number = number;
  return key;
}

TEST(MakersTest, NoTwoWindowsHaveTheSameKey) {
  const Makers::Key first = Makers::Key::New();
  Makers::Key second = Makers::Key::New();
  EXPECT_TRUE(first < second);
  EXPECT_FALSE(second < first);
  EXPECT_FALSE(first < first);
  second.number = first.number;
  second.process = first.process + 1;
  EXPECT_TRUE(first < second);
  second.process = first.process;
  second.host.user = first.host.user + 1;
  EXPECT_TRUE(first < second || second < first);
}

// Each of two processes has a thread for each window, in any order.
TEST(MakersTest, OneWindowAtATimeIsMadeOnAllItsRanks) {
  constexpr uint64_t kWindows = 4;
  Makers makers[2];
  std::atomic<int> at_work[2] = {0, 0};
  std::deque<InprocWorld> worlds;
  std::vector<std::thread> threads;
  for (uint64_t w = 0; w < kWindows; ++w) {
    InprocWorld* const world = &worlds.emplace_back(2);
    for (int p = 0; p < 2; ++p) {
      threads.emplace_back([&, world, w, p] {
        const auto bootstrap = world->MakeBootstrap(p);
        for (uint64_t i = 50; i > 0; --i) {  // who comes later is before those who wait
          std::this_thread::sleep_for(std::chrono::microseconds(20));
          Makers::Turn turn(&makers[p], Numbered(kWindows * i + w));
          ASSERT_TRUE(turn.Await(bootstrap.get()).ok());
          EXPECT_EQ(++at_work[p], 1);
          char all[2];
          ASSERT_TRUE(bootstrap->AllGather("", 1, all).ok());
          --at_work[p];
        }
      });
    }
  }
  for (std::thread& thread : threads) thread.join();
}

class CountingBootstrap : public Bootstrap {
 public:
  int rank() const override { return 0; }
  int size() const override { return 1; }
  Status AllGather(const void* mine, size_t bytes, void* all) override {
    ++gathers;
    std::memcpy(all, mine, bytes);
    return Status();
  }
  int gathers = 0;
};

TEST(MakersTest, ALongWaitPollsSeldom) {
  using Clock = std::chrono::steady_clock;
  Makers makers;
  CountingBootstrap of_first;
  CountingBootstrap of_second;
  std::thread second;
  const Clock::time_point begin = Clock::now();
  {
    Makers::Turn first(&makers, Numbered(1));
    ASSERT_TRUE(first.Await(&of_first).ok());
    second = std::thread([&] {
      Makers::Turn turn(&makers, Numbered(2));
      EXPECT_TRUE(turn.Await(&of_second).ok());
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  second.join();
  const std::chrono::duration<double, std::milli> took = Clock::now() - begin;
  EXPECT_LE(of_second.gathers, 200 + took.count());
}

}  // namespace
}  // namespace rma
}  // namespace brigade
