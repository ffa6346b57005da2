#include "blacs_shim/system_handles.h"

#include "gtest/gtest.h"

namespace brigade {
namespace blacs {
namespace {

// The table never looks inside a communicator, so addresses of anything will do.
int targets[3];
MPI_Comm Fake(int i) { return reinterpret_cast<MPI_Comm>(&targets[i]); }

TEST(SystemHandlesTest, WorldIsZeroFromTheStartAndForEver) {
  SystemHandles handles;
  EXPECT_EQ(handles.Communicator(0), MPI_COMM_WORLD);
  EXPECT_EQ(handles.HandleOf(MPI_COMM_WORLD), 0);
  EXPECT_TRUE(handles.Free(0));
  EXPECT_EQ(handles.Communicator(0), MPI_COMM_WORLD);
}

TEST(SystemHandlesTest, OneHandlePerCommunicator) {
  SystemHandles handles;
  EXPECT_EQ(handles.HandleOf(Fake(0)), 1);
  EXPECT_EQ(handles.HandleOf(Fake(1)), 2);
  EXPECT_EQ(handles.HandleOf(Fake(0)), 1);
  EXPECT_EQ(handles.Communicator(2), Fake(1));
}

TEST(SystemHandlesTest, FreedHandleIsReusedAndOthersKeepTheirs) {
  SystemHandles handles;
  handles.HandleOf(Fake(0));
  handles.HandleOf(Fake(1));
  EXPECT_TRUE(handles.Free(1));
  EXPECT_EQ(handles.Communicator(1), MPI_COMM_NULL);
  EXPECT_EQ(handles.Communicator(2), Fake(1));
  EXPECT_EQ(handles.HandleOf(Fake(2)), 1);
}

TEST(SystemHandlesTest, BadHandlesAreRefused) {
  SystemHandles handles;
  for (int bad : {-1, 1, 1000000}) {
    EXPECT_EQ(handles.Communicator(bad), MPI_COMM_NULL);
    EXPECT_FALSE(handles.Free(bad));
  }
}

TEST(SystemHandlesTest, ForgottenHandleIsNotReusedUntilFreed) {
  SystemHandles handles;
  const int first = handles.HandleOf(Fake(0), 3);
  handles.Forget(Fake(0), 3);
  handles.Forget(Fake(1), 4);  // has none: nothing happens
  EXPECT_EQ(handles.Communicator(first), MPI_COMM_NULL);
  const int second = handles.HandleOf(Fake(0));  // the value has come back as another's
  EXPECT_NE(second, first);
  EXPECT_NE(handles.HandleOf(Fake(1), 5), first);
  EXPECT_TRUE(handles.Free(first));
  EXPECT_FALSE(handles.Free(first));
  EXPECT_EQ(handles.Communicator(second), Fake(0));
  EXPECT_EQ(handles.HandleOf(Fake(2)), first);
}

// A program that gets the handle of every context, and frees none, thus needs no further handles.
TEST(SystemHandlesTest, ForgottenHandleIsUsedAgainByItsContextsNumber) {
  SystemHandles handles;
  const int first = handles.HandleOf(Fake(0), 3);
  EXPECT_EQ(handles.HandleOf(Fake(0), 3), first);
  handles.Forget(Fake(0), 3);
  EXPECT_EQ(handles.HandleOf(Fake(1), 3), first);
  EXPECT_EQ(handles.Communicator(first), Fake(1));
}

}  // namespace
}  // namespace blacs
}  // namespace brigade
