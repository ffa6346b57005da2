#include "windows/core/epochs.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "membuf/status.h"

namespace brigade {
namespace {

using Hold = Epochs::Hold;

constexpr int kMembers = 3;

void ExpectRefused(const Status& status, const std::string& text) {
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << status.ToString();
  EXPECT_NE(status.message().find(text), std::string::npos) << status.message();
}

TEST(Epochs, AnOperationNeedsAnEpochOfItsTarget) {
  Epochs epochs(kMembers);
  ExpectRefused(epochs.BeginAccess(1), "no epoch is open for accesses to the memory of rank 1");
  epochs.LockOne(1, Hold::kLock);
  EXPECT_TRUE(epochs.BeginAccess(1).ok());
  ExpectRefused(epochs.BeginAccess(2), "rank 2");
}

TEST(Epochs, AStartAllowsItsTargetsUntilComplete) {
  Epochs epochs(kMembers);
  ASSERT_TRUE(epochs.CheckStart().ok());
  epochs.Start({2});
  ExpectRefused(epochs.CheckStart(), "call complete first");
  EXPECT_TRUE(epochs.HasStarted(2));
  EXPECT_TRUE(epochs.BeginAccess(2).ok());
  ExpectRefused(epochs.BeginAccess(1), "rank 1");
  ASSERT_TRUE(epochs.CheckComplete().ok());
  epochs.Complete();
  ExpectRefused(epochs.BeginAccess(2), "rank 2");
  ExpectRefused(epochs.CheckComplete(), "a complete without a start");
}

TEST(Epochs, AFenceOpensAnEpochUnlessNothingSucceeds) {
  Epochs epochs(kMembers);
  ASSERT_TRUE(epochs.Fence(/*opens=*/true).ok());
  EXPECT_TRUE(epochs.BeginAccess(0).ok());
  ASSERT_TRUE(epochs.Fence(/*opens=*/false).ok());
  ExpectRefused(epochs.BeginAccess(0), "rank 0");
}

// An epoch of a fence without operations is none.
TEST(Epochs, OperationsBehindAFenceMustEndInAFence) {
  Epochs epochs(kMembers);
  ASSERT_TRUE(epochs.Fence(/*opens=*/true).ok());
  EXPECT_TRUE(epochs.CheckStart().ok());
  EXPECT_TRUE(epochs.CheckLock(1).ok());
  EXPECT_TRUE(epochs.CheckLockAll().ok());
  ASSERT_TRUE(epochs.BeginAccess(1).ok());
  ExpectRefused(epochs.CheckStart(), "a start after operations in the epoch of a fence");
  ExpectRefused(epochs.CheckLock(1), "a lock after operations in the epoch of a fence");
  ExpectRefused(epochs.CheckLockAll(), "a lock of all after operations in the epoch of a fence");
}

TEST(Epochs, AFenceIsRefusedWithinOtherEpochs) {
  Epochs locked(kMembers);
  locked.LockOne(0, Hold::kPromise);
  ExpectRefused(locked.Fence(true), "a fence while locks of the window are held");
  Epochs started(kMembers);
  started.Start({1});
  ExpectRefused(started.Fence(true), "between start and complete");
  Epochs posted(kMembers);
  posted.Post({1});
  ExpectRefused(posted.Fence(true), "between post and wait");
  posted.Wait();
  EXPECT_TRUE(posted.Fence(true).ok());
}

TEST(Epochs, APostIsOpenUntilWait) {
  Epochs epochs(kMembers);
  ExpectRefused(epochs.CheckWait(), "a wait or test without a post");
  ASSERT_TRUE(epochs.CheckPost().ok());
  epochs.Post({0, 2});
  EXPECT_EQ(epochs.posted(), (std::vector<int>{0, 2}));
  ExpectRefused(epochs.CheckPost(), "call wait first");
  EXPECT_TRUE(epochs.CheckWait().ok());
  ExpectRefused(epochs.BeginAccess(0), "rank 0");
}

TEST(Epochs, ALockAllowsFlushesOfItsTargetAlone) {
  Epochs epochs(kMembers);
  ExpectRefused(epochs.CheckFlushAll(), "a lock of none is held");
  epochs.LockOne(1, Hold::kLock);
  EXPECT_TRUE(epochs.CheckFlush(1).ok());
  EXPECT_TRUE(epochs.CheckFlushAll().ok());
  ExpectRefused(epochs.CheckFlush(0), "a flush of rank 0, where no lock is held");
  ExpectRefused(epochs.CheckLock(1), "which is held already");
  ExpectRefused(epochs.CheckLockAll(), "while locks of the window are held");
  ExpectRefused(epochs.CheckStart(), "a start while locks of the window are held");
}

TEST(Epochs, LocksAreHeldUntilTheyAreUnlocked) {
  Epochs epochs(kMembers);
  ExpectRefused(epochs.UnlockOne(1), "an unlock of rank 1, where no lock is held");
  epochs.LockOne(0, Hold::kLock);
  epochs.LockOne(1, Hold::kPromise);
  EXPECT_EQ(epochs.hold_of(0), Hold::kLock);
  EXPECT_EQ(epochs.hold_of(1), Hold::kPromise);
  ASSERT_TRUE(epochs.UnlockOne(1).ok());
  EXPECT_TRUE(epochs.has_locks());
  ASSERT_TRUE(epochs.UnlockOne(0).ok());
  EXPECT_FALSE(epochs.has_locks());
}

TEST(Epochs, ALockOfAllIsNoLockOfOne) {
  Epochs epochs(kMembers);
  ExpectRefused(epochs.UnlockAll(), "an unlock of all without a lock of all");
  epochs.LockAll(Hold::kLock);
  EXPECT_TRUE(epochs.HasLock(2));
  EXPECT_TRUE(epochs.BeginAccess(2).ok());
  ExpectRefused(epochs.CheckLock(2), "a lock while all are locked");
  ExpectRefused(epochs.UnlockOne(2), "where no lock is held");
  ASSERT_TRUE(epochs.UnlockAll().ok());
  ExpectRefused(epochs.BeginAccess(2), "rank 2");
}

}  // namespace
}  // namespace brigade
