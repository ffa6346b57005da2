#include "transport/edge/doorbell.h"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <new>
#include <thread>

#include "gtest/gtest.h"

namespace brigade {
namespace {

// Two that hand a number to and fro, each asleep whenever it is the other's turn. A signal that is
// missed shows as a sleep to its end, which is far beyond any hand-over.
struct Table {
  Doorbell doorbells[2];
  alignas(64) std::atomic<uint64_t> number{0};
  alignas(64) std::atomic<uint64_t> slept_to_the_end{0};
};
constexpr uint64_t kTurns = 20000;
constexpr int kLongestSleepUs = 30000000;

void Play(Table* table, uint64_t me) {
  ASSERT_TRUE(Doorbell::Prepare());
  for (uint64_t turn = me; turn < kTurns; turn += 2) {
    while (table->number.load(std::memory_order_acquire) != turn) {
      table->doorbells[me].Arm();
      if (table->number.load(std::memory_order_acquire) == turn) {
        table->doorbells[me].Disarm();
        break;
      }
      const auto start = std::chrono::steady_clock::now();
      table->doorbells[me].Sleep(kLongestSleepUs);
      if (std::chrono::steady_clock::now() - start >= std::chrono::microseconds(kLongestSleepUs)) {
        ++table->slept_to_the_end;
      }
      table->doorbells[me].Disarm();
    }
    table->number.store(turn + 1, std::memory_order_release);
    table->doorbells[1 - me].Signal();
  }
}

TEST(DoorbellTest, ThreadsMissNoSignal) {
  Table table;
  std::thread other([&] { Play(&table, 1); });
  Play(&table, 0);
  other.join();
  EXPECT_EQ(table.number, kTurns);
  EXPECT_EQ(table.slept_to_the_end, 0u);
}

TEST(DoorbellTest, ProcessesMissNoSignal) {
  void* const memory =
      mmap(nullptr, sizeof(Table), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  auto* const table = new (memory) Table;
  const pid_t child = fork();
  Play(table, child == 0 ? 1 : 0);
  if (child == 0) _exit(0);
  int status = -1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(table->number, kTurns);
  EXPECT_EQ(table->slept_to_the_end, 0u);
  munmap(memory, sizeof(Table));
}

TEST(DoorbellTest, ASignalBetweenArmingAndSleepingIsNotMissed) {
  Doorbell doorbell;
  doorbell.Arm();
  EXPECT_TRUE(doorbell.armed());
  doorbell.Signal();
  const auto start = std::chrono::steady_clock::now();
  doorbell.Sleep(kLongestSleepUs);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::microseconds(kLongestSleepUs));
}

TEST(DoorbellTest, SleepEndsByItself) {
  Doorbell doorbell;
  doorbell.Arm();
  doorbell.Sleep(1000);
  EXPECT_TRUE(doorbell.armed());  // for one more poll and the next sleep
}

}  // namespace
}  // namespace brigade
