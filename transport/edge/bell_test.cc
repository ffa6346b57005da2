#include "transport/edge/bell.h"

#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <new>
#include <random>
#include <thread>
#include <vector>

#include "gtest/gtest.h"

namespace brigade {
namespace {

using Clock = std::chrono::steady_clock;

// Whose fences the arms of a test take, one after the other, again and again.
using Fences = std::vector<Bell::Fence>;
const Fences kOfSleeper = {Bell::Fence::kBySleeper};
const Fences kOfRingers = {Bell::Fence::kByRingers};
const Fences kOfEither = {Bell::Fence::kBySleeper, Bell::Fence::kByRingers,
                          Bell::Fence::kByRingers};

class BellTest : public testing::TestWithParam<Fences> {
 protected:
  Bell::Fence Next() { return GetParam()[arms_++ % GetParam().size()]; }

 private:
  size_t arms_ = 0;
};

INSTANTIATE_TEST_SUITE_P(Fence, BellTest, testing::Values(kOfSleeper, kOfRingers, kOfEither));

// Two that hand a number to and fro, each asleep whenever it is the other's turn. A ring that is
// missed shows as a sleep to its end, which is far beyond any hand-over.
struct Table {
  Bell bells[2];
  alignas(64) std::atomic<uint64_t> number{0};
  alignas(64) std::atomic<uint64_t> slept_to_the_end{0};
};
constexpr uint64_t kTurns = 20000;
constexpr int kLongestSleepUs = 5000000;

void Play(Table* table, uint64_t me, const Fences& fences) {
  ASSERT_TRUE(Bell::Prepare());
  size_t arms = 0;
  for (uint64_t turn = me; turn < kTurns; turn += 2) {
    while (table->number.load(std::memory_order_acquire) != turn) {
      table->bells[me].Arm(fences[arms++ % fences.size()]);
      if (table->number.load(std::memory_order_acquire) == turn) {
        table->bells[me].Disarm();
        break;
      }
      const auto start = Clock::now();
      table->bells[me].Sleep(kLongestSleepUs);
      if (Clock::now() - start >= std::chrono::microseconds(kLongestSleepUs)) {
        ++table->slept_to_the_end;
      }
      EXPECT_FALSE(table->bells[me].armed());
    }
    table->number.store(turn + 1, std::memory_order_release);
    table->bells[1 - me].Ring();
  }
}

TEST_P(BellTest, ThreadsMissNoRing) {
  Table table;
  std::thread other([&] { Play(&table, 1, GetParam()); });
  Play(&table, 0, GetParam());
  other.join();
  EXPECT_EQ(table.number, kTurns);
  EXPECT_EQ(table.slept_to_the_end, 0u);
}

TEST_P(BellTest, ProcessesMissNoRing) {
  void* const memory =
      mmap(nullptr, sizeof(Table), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  auto* const table = new (memory) Table;
  const pid_t child = fork();
  Play(table, child == 0 ? 1 : 0, GetParam());
  if (child == 0) _exit(0);
  int status = -1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(table->number, kTurns);
  EXPECT_EQ(table->slept_to_the_end, 0u);
  munmap(memory, sizeof(Table));
}

// This thread stays on the first or second processor that the process may use. False: there is
// none.
bool Pin(int which) {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0) return false;
  for (int processor = 0; processor < CPU_SETSIZE; ++processor) {
    if (!CPU_ISSET(processor, &allowed) || which-- > 0) continue;
    CPU_ZERO(&allowed);
    CPU_SET(processor, &allowed);
    return sched_setaffinity(0, sizeof(allowed), &allowed) == 0;
  }
  return false;
}

// Of a message and the arming of its receiver's bell, which meet again and again for a second: both
// sides take times that vary by as much as a store needs to be seen. Nobody sleeps.
class Encounters {
 public:
  // Neither did the last look find the message, nor did the bell ring.
  uint64_t missed() const { return missed_; }
  uint64_t rounds() const { return rounds_; }

  // `first` is done before each round.
  template <typename First, typename Arm>
  void Run(const First& first, const Arm& arm) {
    std::thread ringer([&] {
      ASSERT_TRUE(Pin(1));
      std::minstd_rand random(1);
      for (uint64_t i = 1;; ++i) {
        round_.Await(i);
        if (round_.value.load() == kOver) return;
        (void)bell_.armed();  // so that what is known of it is old
        Dawdle(&random);
        message_.value.store(i, std::memory_order_release);
        bell_.Ring();
        rung_.value.store(i, std::memory_order_release);
      }
    });
    std::thread sleeper([&] {
      ASSERT_TRUE(Pin(0));
      std::minstd_rand random(2);
      const auto end = Clock::now() + std::chrono::seconds(1);
      while (Clock::now() < end) {
        first(&bell_);
        round_.value.store(++rounds_, std::memory_order_release);
        Dawdle(&random);
        (void)message_.value.load(std::memory_order_relaxed);  // likewise
        arm(&bell_);
        const bool found = message_.value.load(std::memory_order_acquire) == rounds_;
        rung_.Await(rounds_);
        if (!found && bell_.armed()) ++missed_;
        bell_.Disarm();
      }
      round_.value.store(kOver);
    });
    ringer.join();
    sleeper.join();
  }

 private:
  struct alignas(64) Word {
    std::atomic<uint64_t> value{0};
    // Others may need this processor.
    void Await(uint64_t least) const {
      for (int polls = 0; value.load(std::memory_order_acquire) < least; ++polls) {
        if (polls > 1000) sched_yield();
      }
    }
  };
  static constexpr uint64_t kOver = UINT64_MAX;
  static void Dawdle(std::minstd_rand* random) {
    for (volatile uint64_t left = (*random)() % 512; left > 0; left = left - 1) {
    }
  }

  alignas(64) Bell bell_;
  Word round_, message_, rung_;
  uint64_t rounds_ = 0;
  uint64_t missed_ = 0;
};

bool HasTwoProcessors() {
  bool has = false;
  std::thread([&] { has = Pin(1); }).join();
  return has;
}

TEST_P(BellTest, TheLastLookFindsTheMessageOrTheBellRings) {
  ASSERT_TRUE(Bell::Prepare());
  if (!HasTwoProcessors()) GTEST_SKIP() << "one processor";
  Encounters encounters;
  encounters.Run([](Bell*) {}, [&](Bell* bell) { bell->Arm(Next()); });
  EXPECT_EQ(encounters.missed(), 0u) << "of " << encounters.rounds();
}

// Ringers that have not yet heard that they are to fence.
TEST(Bell, TheFirstOfSuchArmsIsHeard) {
  ASSERT_TRUE(Bell::Prepare());
  if (!HasTwoProcessors()) GTEST_SKIP() << "one processor";
  Encounters encounters;
  encounters.Run([](Bell* bell) { new (bell) Bell; },
                 [](Bell* bell) { bell->Arm(Bell::Fence::kByRingers); });
  EXPECT_EQ(encounters.missed(), 0u) << "of " << encounters.rounds();
}

TEST_P(BellTest, ARingBetweenArmingAndSleepingIsNotMissed) {
  Bell bell;
  for (int i = 0; i < 3; ++i) {
    bell.Arm(Next());
    EXPECT_TRUE(bell.armed());
    bell.Ring();
    EXPECT_FALSE(bell.armed());
    const auto start = Clock::now();
    bell.Sleep(kLongestSleepUs);
    EXPECT_LT(Clock::now() - start, std::chrono::microseconds(kLongestSleepUs));
  }
}

TEST_P(BellTest, SleepEndsByItself) {
  Bell bell;
  for (int i = 0; i < 3; ++i) {
    bell.Arm(Next());
    const auto start = Clock::now();
    bell.StayArmed(1000);
    EXPECT_GE(Clock::now() - start, std::chrono::microseconds(1000));
    EXPECT_TRUE(bell.armed());
    bell.Sleep(1000);
    EXPECT_FALSE(bell.armed());
  }
}

// What they read of it is what the owner said last, armed or not.
TEST(Bell, RingersAreToldWhetherToFence) {
  Bell bell;
  EXPECT_FALSE(bell.ringers_fence());
  for (const bool fence : {true, true, false, false, true}) {
    bell.Arm(fence ? Bell::Fence::kByRingers : Bell::Fence::kBySleeper);
    EXPECT_EQ(bell.ringers_fence(), fence);
    bell.Ring();
    EXPECT_EQ(bell.ringers_fence(), fence);
    bell.Disarm();
    EXPECT_EQ(bell.ringers_fence(), fence);
  }
}

}  // namespace
}  // namespace brigade
