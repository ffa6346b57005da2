// brigade_alloc on two ranks of a host: messages to it take no staging copy where their receiver
// waits, those from it one copy, by the receiver, and windows of it are mapped.

#include <mpi.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "brigade/brigade.hpp"
#include "gtest/gtest.h"

namespace brigade {
namespace {

constexpr int kManyRounds = 20000;
constexpr int64_t kRows = 1000;
constexpr int64_t kCols = 8;
constexpr int64_t kLd = 1007;
constexpr int kMostSpins = 200;
constexpr double kGap = -1;

double ValueOf(int round, int64_t row, int64_t col) {
  return static_cast<double>(round * 1000000 + col * kRows + row);
}

void SpinForMicroseconds(int us) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(us);
  while (std::chrono::steady_clock::now() < end) continue;
}

class SharedMemory : public testing::Test {
 protected:
  void SetUp() override {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    setenv("BRIGADE_KERNEL_COPIES", "off", /*overwrite=*/1);
    EngineOptions options;
    options.transport = "shm";
    ASSERT_TRUE(engine_.Create(options));
    ASSERT_TRUE(group_.FromMpi(engine_, MPI_Comm_c2f(MPI_COMM_WORLD), 1, 2));
  }

  // Sends from rank `from` to the other rank.
  Statistics Message(int from, const View<double>& matrix) {
    Statistics statistics;
    CallOptions options;
    options.statistics = &statistics;
    const Result result = rank_ == from ? group_.Send(matrix, 1 - from, options)
                                        : group_.Receive(matrix, from, options);
    EXPECT_TRUE(result) << result.text;
    return statistics;
  }

  // Sends matrices from rank 0 to rank 1, which signals when it is about to wait, until this rank
  // has made `copies` copies: it may always be late. The results of both must agree.
  bool ComesIn(uint64_t copies, double* data, int64_t ld, int rounds) {
    const View<double> matrix(data, kRows, kCols, ld);
    double ready = 0;
    for (int round = 0; round < rounds; ++round) {
      for (int64_t i = 0; i < ld * kCols; ++i) {
        const bool is_sent = rank_ == 0 && i % ld < kRows;
        data[i] = is_sent ? ValueOf(round, i % ld, i / ld) : kGap;
      }
      (void)Message(1, ViewOfOne(ready));
      // Beside a load the receiver may get a processor only if this rank sleeps.
      if (rank_ == 0 && round < kMostSpins) SpinForMicroseconds(3);
      if (rank_ == 0 && round >= kMostSpins) {
        std::this_thread::sleep_for(std::chrono::microseconds(round % 20 * 100));
      }
      const Statistics did = Message(0, matrix);
      EXPECT_EQ(did.copies == 0, did.bytes_copied == 0);
      int64_t wrong = 0;
      for (int64_t i = 0; i < ld * kCols; ++i) {
        wrong += data[i] != (i % ld < kRows ? ValueOf(round, i % ld, i / ld) : kGap) ? 1 : 0;
      }
      EXPECT_EQ(wrong, 0) << round;
      if (did.copies == copies) return true;
    }
    return false;
  }

  int rank_ = 0;
  Engine engine_;
  Group group_;
};

TEST_F(SharedMemory, MessagesToItTakeNoStagingCopy) {
  for (const int64_t ld : {kRows, kLd}) {
    const auto data = Allocate<double>(kLd * kCols);
    ASSERT_NE(data, nullptr);
    for (int i = 0; i < 5; ++i) EXPECT_TRUE(ComesIn(0, data.get(), ld, kManyRounds)) << ld;
  }
}

// The sender's may be any.
TEST_F(SharedMemory, TheReceiversIsEnough) {
  const auto shared = Allocate<double>(kLd * kCols);
  std::vector<double> other(kLd * kCols);
  EXPECT_TRUE(ComesIn(0, rank_ == 1 ? shared.get() : other.data(), kLd, kManyRounds));
  EXPECT_FALSE(ComesIn(rank_ == 0 ? 0 : 1, other.data(), kLd, /*rounds=*/100));
}

TEST_F(SharedMemory, WindowsOfItAreMapped) {
  constexpr size_t kCount = 1000;
  const auto shared = Allocate<double>(kCount);
  ASSERT_NE(shared, nullptr);
  std::vector<double> other(kCount);
  shared[0] = other[0] = 10.0 + rank_;
  Window mapped, unmapped;
  ASSERT_TRUE(mapped.Create(group_, shared.get(), kCount * sizeof(double), 8));
  ASSERT_TRUE(unmapped.Create(group_, other.data(), kCount * sizeof(double), 8));
  const auto* const theirs =
      static_cast<const double*>(brigade_window_pointer(mapped.get(), 1 - rank_));
  ASSERT_NE(theirs, nullptr);
  EXPECT_EQ(theirs[0], 11.0 - rank_);
  EXPECT_EQ(brigade_window_pointer(mapped.get(), rank_), shared.get());
  EXPECT_EQ(brigade_window_pointer(unmapped.get(), 1 - rank_), nullptr);
  EXPECT_TRUE(mapped.Free());
  EXPECT_TRUE(unmapped.Free());
}

TEST(Memory, IsGivenInPages) {
  for (const size_t bytes : {size_t{0}, size_t{1}, size_t{5000}}) {
    auto* const memory = static_cast<char*>(brigade_alloc(bytes));
    ASSERT_NE(memory, nullptr);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(memory) % 4096, 0u);
    std::memset(memory, 1, bytes);
    brigade_free(memory);
  }
  brigade_free(nullptr);
}

TEST(Memory, WhereThereIsNoneTheTextSaysSo) {
  EXPECT_EQ(brigade_alloc(SIZE_MAX), nullptr);
  EXPECT_NE(std::string(brigade_error_text()).find(std::to_string(SIZE_MAX)), std::string::npos);
  EXPECT_EQ(Allocate<double>(SIZE_MAX / 2), nullptr);
}

// A process without a descriptor for it.
TEST(Memory, WhatCannotBeSharedIsOrdinary) {
  const pid_t child = fork();
  if (child == 0) {
    const rlimit limit{3, 3};
    if (setrlimit(RLIMIT_NOFILE, &limit) != 0) _exit(1);
    void* const memory = brigade_alloc(5000);
    if (memory == nullptr || reinterpret_cast<uintptr_t>(memory) % 4096 != 0) _exit(2);
    std::memset(memory, 1, 5000);
    brigade_free(memory);
    _exit(0);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace brigade
