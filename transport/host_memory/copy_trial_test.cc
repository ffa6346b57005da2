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

TEST(FasterByKernelFrom, TakesTheLastStretchWithoutALimit) {
  const auto least = [](const std::vector<CopyTimes>& times) {
    const KernelCopyRange found = FasterByKernelFrom(times);
    EXPECT_EQ(found.most_bytes, found.empty() ? 0 : SIZE_MAX);
    return found.least_bytes;
  };
  EXPECT_EQ(least({}), SIZE_MAX);
  EXPECT_EQ(least({{8, 1, 2}, {16, 3, 2}}), SIZE_MAX);
  EXPECT_EQ(least({{8, 1, 2}, {16, 2, 2}}), 8u);
  EXPECT_EQ(least({{8, 1, 2}, {16, 3, 2}, {32, 1, 2}, {64, 1, 2}}), 32u);
}

TEST(GuessedKernelCopies, AreOneRange) {
  const KernelCopies& copies = GuessedKernelCopies();
  EXPECT_EQ(&copies, &GuessedKernelCopies());
  EXPECT_EQ(copies.writes.least_bytes == SIZE_MAX, copies.writes.most_bytes == 0);
  EXPECT_FALSE(copies.writes.Holds(StridedLayout()));
  EXPECT_EQ(copies.reads.least_bytes, copies.writes.least_bytes);
  EXPECT_FALSE(copies.is_tried);
}

class CopyTrialTest : public testing::Test {
 protected:
  const KernelCopies kNothing = KernelCopies::Both({1, 1});

  bool Run(CopyTrial::Side side, pid_t peer, KernelCopies* copies, milliseconds most = kLong) {
    return CopyTrial(memory_, side, peer, &kThisOne).Run(most, copies);
  }
  // Runs both sides: `peers` are those of the sender and the receiver.
  KernelCopies RunBoth(pid_t sender_peer, pid_t receiver_peer) {
    KernelCopies received;
    std::thread receives([&] { EXPECT_TRUE(Run(CopyTrial::kReceiver, receiver_peer, &received)); });
    KernelCopies copies = kNothing;
    EXPECT_TRUE(Run(CopyTrial::kSender, sender_peer, &copies));
    receives.join();
    return copies;
  }

 private:
  struct alignas(4096) Page {
    std::byte bytes[4096];
  };
  // Zeroed.
  std::vector<Page> pages_{CopyTrial::Bytes() / sizeof(Page) + 1};
  std::byte* const memory_ = pages_[0].bytes;
};

TEST_F(CopyTrialTest, BothSidesComeToAnEnd) {
  const KernelCopies copies = RunBoth(getpid(), getpid());
  EXPECT_TRUE(copies.is_tried);
  for (const KernelCopyRange& range : {copies.writes, copies.reads}) {
    EXPECT_NE(range.least_bytes, 1u);
    EXPECT_EQ(range.least_bytes == SIZE_MAX, range.most_bytes == 0);
  }
}

class RefusedCopyTrial : public CopyTrialTest,
                         public testing::WithParamInterface<CopyTrial::Side> {};

TEST_P(RefusedCopyTrial, FindsNoCopyFaster) {
  constexpr pid_t kNobody = 0x7fffffff;
  const bool by_sender = GetParam() == CopyTrial::kSender;
  const KernelCopies copies =
      RunBoth(by_sender ? kNobody : getpid(), by_sender ? getpid() : kNobody);
  EXPECT_TRUE(copies.writes.empty());
  EXPECT_TRUE(copies.reads.empty());
}

INSTANTIATE_TEST_SUITE_P(Of, RefusedCopyTrial,
                         testing::Values(CopyTrial::kSender, CopyTrial::kReceiver));

class LonelyCopyTrial : public CopyTrialTest,
                        public testing::WithParamInterface<CopyTrial::Side> {};

TEST_P(LonelyCopyTrial, EndsAtItsTimeLimit) {
  KernelCopies copies = kNothing;
  EXPECT_FALSE(Run(GetParam(), getpid(), &copies, milliseconds(5)));
  EXPECT_EQ(copies.writes.least_bytes, 1u);
  EXPECT_EQ(copies.reads.least_bytes, 1u);
}

INSTANTIATE_TEST_SUITE_P(Of, LonelyCopyTrial,
                         testing::Values(CopyTrial::kSender, CopyTrial::kReceiver));

}  // namespace
}  // namespace brigade
