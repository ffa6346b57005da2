// brigade_alloc on two ranks of a host: blocks that come there are copied once, by their sender, if
// their receiver waits, and windows of it are mapped.

#include <mpi.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "brigade/brigade.hpp"
#include "gtest/gtest.h"

namespace brigade {
namespace {

constexpr int64_t kRows = 1000;
constexpr int64_t kCols = 8;
constexpr int64_t kLd = 1007;
constexpr uint64_t kBlockBytes = kRows * kCols * sizeof(double);
constexpr double kGap = -1;

double ValueOf(int64_t i) { return static_cast<double>(i) + 0.5; }

class SharedMemory : public testing::Test {
 protected:
  void SetUp() override {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    setenv("BRIGADE_KERNEL_COPIES", "off", /*overwrite=*/1);
    EngineOptions options;
    options.transport = "shm";
    ASSERT_TRUE(engine_.Create(options));
    ASSERT_TRUE(group_.FromMpi(engine_, MPI_Comm_c2f(MPI_COMM_WORLD), 1, 2));
    std::vector<double> first(2 * kRows * kCols);
    (void)Gather(first.data(), kRows);  // only ranks that have had a message post buffers
  }

  // Rank 0 sends columns to rank 1, which waits with a matrix in `memory`. Returns the number of
  // bytes that this rank has copied, without its own columns.
  uint64_t Gather(double* memory, int64_t ld) {
    for (int64_t i = 0; i < ld * 2 * kCols; ++i) memory[i] = kGap;
    double* const own_data = memory + rank_ * kCols * ld;
    const View<double> own(own_data, kRows, kCols, ld);
    for (int64_t i = 0; i < kRows * kCols; ++i) own_data[i / kRows * ld + i % kRows] = ValueOf(i);
    double ready = 1;
    Operation gather;
    if (rank_ == 0) {
      EXPECT_TRUE(group_.Receive(ViewOfOne(ready), 1));
    }
    EXPECT_TRUE(
        group_.StartGather(own, View<double>(memory, kRows, 2 * kCols, ld), /*root=*/1, &gather));
    if (rank_ == 1) {
      EXPECT_TRUE(group_.Send(ViewOfOne(ready), 0));
    }
    Statistics did;
    EXPECT_TRUE(gather.Wait(&did));
    int64_t wrong = 0;
    for (int64_t i = 0; i < ld * 2 * kCols; ++i) {
      const int64_t row = i % ld;
      const int64_t col = i / ld;
      const bool is_set = row < kRows && (rank_ == 1 || col < kCols);
      wrong += memory[i] == (is_set ? ValueOf(col % kCols * kRows + row) : kGap) ? 0 : 1;
    }
    EXPECT_EQ(wrong, 0);
    return did.bytes_copied;
  }

  int rank_ = 0;
  Engine engine_;
  Group group_;
};

// A call that returns BRIGADE_UNAVAILABLE has no effect.
TEST_F(SharedMemory, APlanOfTheParentChangesNothingInAChild) {
  const double own[1] = {7};
  double both[2] = {kGap, kGap};
  Plan plan;
  ASSERT_TRUE(group_.PlanAllGather(View<const double>(own, 1, 1), View<double>(both, 1, 2), &plan));
  const pid_t child = fork();
  if (child == 0) {
    const Result result = plan.Run();
    _exit(result.status == BRIGADE_UNAVAILABLE && both[0] == kGap && both[1] == kGap ? 0 : 1);
  }
  int code = -1;
  ASSERT_EQ(waitpid(child, &code, 0), child);
  EXPECT_EQ(code, 0);
  ASSERT_TRUE(plan.Run());
  EXPECT_EQ(both[0] + both[1], 14);
}

TEST_F(SharedMemory, BlocksToItAreCopiedOnceIfTheirReceiverWaits) {
  for (const int64_t ld : {kRows, kLd}) {
    const auto shared = Allocate<double>(2 * kLd * kCols);
    ASSERT_NE(shared, nullptr);
    EXPECT_EQ(Gather(shared.get(), ld), rank_ == 0 ? kBlockBytes : 0) << ld;
  }
}

// The sender's may be any.
TEST_F(SharedMemory, TheReceiversIsEnough) {
  const auto shared = Allocate<double>(2 * kLd * kCols);
  std::vector<double> other(2 * kLd * kCols);
  EXPECT_EQ(Gather(rank_ == 1 ? shared.get() : other.data(), kLd), rank_ == 0 ? kBlockBytes : 0);
  EXPECT_EQ(Gather(rank_ == 0 ? shared.get() : other.data(), kLd), kBlockBytes);
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

TEST(Memory, AFailedAllocationSetsTheErrorText) {
  EXPECT_EQ(brigade_alloc(SIZE_MAX), nullptr);
  EXPECT_NE(std::string(brigade_error_text()).find(std::to_string(SIZE_MAX)), std::string::npos);
  EXPECT_EQ(Allocate<double>(SIZE_MAX / 2), nullptr);
}

// A process without a descriptor for it.
TEST(Memory, IsPrivateIfItCannotBeShared) {
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
