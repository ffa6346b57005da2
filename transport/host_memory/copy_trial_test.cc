#include "transport/host_memory/copy_trial.h"

#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <thread>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

namespace brigade {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kLong(20000);
const ProcessWatch kThisOne;

TEST(FasterByKernel, TakesTheFirstStretch) {
  const auto range = [](const std::vector<CopyTimes>& times) {
    const KernelCopyRange found = FasterByKernel(times);
    return std::make_pair(found.least_bytes, found.most_bytes);
  };
  const auto none = std::make_pair(SIZE_MAX, size_t{0});
  EXPECT_EQ(range({}), none);
  EXPECT_EQ(range({{8, 2, 1}, {16, 3, 2}}), none);
  EXPECT_EQ(range({{8, 1, 2}, {16, 1, 2}}), std::make_pair(size_t{8}, size_t{16}));
  EXPECT_EQ(range({{8, 3, 2}, {16, 2, 2}, {32, 3, 2}, {64, 1, 2}}),
            std::make_pair(size_t{16}, size_t{16}));
}

TEST(GuessedKernelCopyRange, IsARange) {
  const KernelCopyRange& range = GuessedKernelCopyRange();
  EXPECT_EQ(&range, &GuessedKernelCopyRange());
  EXPECT_EQ(range.least_bytes == SIZE_MAX, range.most_bytes == 0);
  EXPECT_FALSE(range.Holds(StridedLayout()));
}

class CopyTrialTest : public testing::Test {
 protected:
  struct alignas(4096) Page {
    std::byte bytes[4096];
  };
  // Zeroed.
  std::vector<Page> pages_{CopyTrial::Bytes() / sizeof(Page) + 1};
  std::byte* const memory_ = pages_[0].bytes;
};

TEST_F(CopyTrialTest, BothSidesComeToAnEnd) {
  CopyTrial receiver(memory_);
  std::thread receives([&] { receiver.Receive(kLong); });
  KernelCopyRange range{1, 1};
  EXPECT_TRUE(CopyTrial(memory_).Send(getpid(), &kThisOne, kLong, &range));
  receives.join();
  EXPECT_NE(range.least_bytes, 1u);
  EXPECT_EQ(range.least_bytes == SIZE_MAX, range.most_bytes == 0);
}

TEST_F(CopyTrialTest, ARefusedCopyIsNeverFaster) {
  CopyTrial receiver(memory_);
  std::thread receives([&] { receiver.Receive(kLong); });
  KernelCopyRange range{1, 1};
  constexpr pid_t kNobody = 0x7fffffff;
  EXPECT_TRUE(CopyTrial(memory_).Send(kNobody, &kThisOne, kLong, &range));
  receives.join();
  EXPECT_EQ(range.most_bytes, 0u);
}

TEST_F(CopyTrialTest, WaitsEndAtTheirTimeLimit) {
  KernelCopyRange range{1, 1};
  EXPECT_FALSE(CopyTrial(memory_).Send(getpid(), &kThisOne, milliseconds(5), &range));
  EXPECT_EQ(range.least_bytes, 1u);
  CopyTrial(memory_).Receive(milliseconds(5));
}

}  // namespace
}  // namespace brigade
