#include "windows/core/epoch_counters.h"

#include <cstddef>
#include <memory>
#include <vector>

#include "gtest/gtest.h"
#include "windows/memory/cache_line.h"
#include "windows/memory/member_page.h"
#include "windows/message/served_window.h"

namespace brigade {
namespace {

constexpr int kMembers = 2;

// Two members in one process, which see each other's pages.
class EpochCountersTest : public testing::Test {
 protected:
  EpochCountersTest() {
    for (int r = 0; r < kMembers; ++r) {
      memory_.emplace_back(MemberPage::BytesFor(kMembers) + kCacheLineBytes);
      void* at = memory_.back().data();
      size_t space = memory_.back().size();
      std::align(kCacheLineBytes, MemberPage::BytesFor(kMembers), at, space);
      pages_.emplace_back(static_cast<std::byte*>(at), kMembers);
      served_[r].rank = r;
      served_[r].page = pages_.back();
      served_[r].posted_by.resize(kMembers);
      served_[r].completed_by.resize(kMembers);
    }
  }

  std::vector<std::vector<std::byte>> memory_;
  std::vector<MemberPage> pages_;
  ServedWindow served_[kMembers];
};

TEST_F(EpochCountersTest, CountsControlMessagesWithoutFlags) {
  EpochCounters counters(&served_[0], kMembers);
  EXPECT_FALSE(counters.uses_flags());
  EXPECT_FALSE(counters.HasPosted(1));
  served_[0].posted_by[1] = 2;
  served_[0].completed_by[1] = 1;
  EXPECT_TRUE(counters.HasPosted(1));
  EXPECT_FALSE(counters.HasPosted(0));
  counters.UsePost(1);
  EXPECT_TRUE(counters.HasPosted(1)) << "there were two";
  counters.UsePost(1);
  EXPECT_FALSE(counters.HasPosted(1));
  EXPECT_EQ(counters.posts_used(1), 2U);
  EXPECT_TRUE(counters.HasCompleted(1));
  counters.UseComplete(1);
  EXPECT_FALSE(counters.HasCompleted(1));
  EXPECT_EQ(counters.completes_used(1), 1U);
}

TEST_F(EpochCountersTest, AFlagIsSeenByTheMemberThatItIsSetFor) {
  EpochCounters zero(&served_[0], kMembers);
  EpochCounters one(&served_[1], kMembers);
  zero.UseFlags(pages_);
  one.UseFlags(pages_);
  zero.SetPost({1});
  EXPECT_TRUE(one.HasPosted(0));
  EXPECT_FALSE(zero.HasPosted(0)) << "it was not set for rank 0";
  one.UsePost(0);
  EXPECT_FALSE(one.HasPosted(0));
  one.SetComplete({0, 1});
  EXPECT_TRUE(zero.HasCompleted(1));
  EXPECT_TRUE(one.HasCompleted(1));
  // Counters of messages are not looked at.
  served_[0].posted_by[1] = 7;
  EXPECT_FALSE(zero.HasPosted(1));
}

TEST_F(EpochCountersTest, AMemberIsAtAFenceUntilThisRankComesToTheNext) {
  EpochCounters zero(&served_[0], kMembers);
  EpochCounters one(&served_[1], kMembers);
  zero.UseFlags(pages_);
  one.UseFlags(pages_);
  one.SetFence();
  zero.SetFence();
  EXPECT_TRUE(zero.IsAtFence(0));
  EXPECT_TRUE(zero.IsAtFence(1));
  zero.SetFence();
  EXPECT_FALSE(zero.IsAtFence(1));
  EXPECT_TRUE(one.IsAtFence(0)) << "rank 0 is ahead";
}

}  // namespace
}  // namespace brigade
