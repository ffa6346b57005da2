#include "windows/sync/process_lock.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>

#include "test/support/stress.h"
#include "transport/time_slice.h"

namespace brigade {
namespace {

struct Shared {
  ProcessLock lock;
  int64_t count;
};

// Zeroed memory that children share.
Shared* NewShared() {
  void* const memory =
      mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  EXPECT_NE(memory, MAP_FAILED);
  return static_cast<Shared*>(memory);
}

TEST(ProcessLockTest, NamesItsHolder) {
  Shared* const shared = NewShared();
  EXPECT_EQ(shared->lock.holder(), -1);
  EXPECT_TRUE(shared->lock.TryLock(0));
  EXPECT_EQ(shared->lock.holder(), 0);
  EXPECT_FALSE(shared->lock.TryLock(5));
  EXPECT_FALSE(shared->lock.TryLock(0));
  shared->lock.Unlock();
  EXPECT_EQ(shared->lock.holder(), -1);
  EXPECT_TRUE(shared->lock.TryLock(5));
  EXPECT_EQ(shared->lock.holder(), 5);
}

TEST(ProcessLockTest, IsHeldByOneProcessAtATime) {
  Shared* const shared = NewShared();
  constexpr int kProcesses = 3;
  const int turns = StressRounds(200000, 2000000);
  for (int rank = 0; rank < kProcesses; ++rank) {
    if (fork() != 0) continue;
    ShortenTimeSlices();  // each yield gives up a slice
    for (int i = 0; i < turns; ++i) {
      for (int tries = 1; !shared->lock.TryLock(rank); ++tries) {
        if (tries % 1000 == 0) sched_yield();
      }
      const int64_t before = shared->count;
      if (i % 64 == 0) sched_yield();  // so that others come meanwhile
      shared->count = before + 1;
      shared->lock.Unlock();
    }
    _exit(0);
  }
  for (int rank = 0; rank < kProcesses; ++rank) EXPECT_GT(wait(nullptr), 0);
  EXPECT_EQ(shared->count, kProcesses * turns);
}

TEST(ProcessLockTest, ADeadProcessKeepsTheLock) {
  Shared* const shared = NewShared();
  const pid_t child = fork();
  if (child == 0) _exit(shared->lock.TryLock(7) ? 0 : 1);
  int status = -1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(shared->lock.holder(), 7);
  EXPECT_FALSE(shared->lock.TryLock(0));
}

}  // namespace
}  // namespace brigade
