#include "transport/host/memory_lock.h"

#include <linux/capability.h>
#include <linux/io_uring.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <functional>

#include "gtest/gtest.h"

namespace brigade {
namespace {

// More than other tests of this user, which are charged to the same account, lock at the same time;
// little enough to lock for a test.
constexpr size_t kLimitBytes = size_t{32} << 20;
constexpr size_t kPageBytes = 4096;

constexpr int kNotPermitted = 77;

// Runs the body in a child, with limits and capabilities of its own. False if the body returns that
// the system forbids its actions.
bool InChild(const std::function<bool()>& body) {
  const pid_t child = fork();
  if (child == 0) {
    const bool permitted = body();
    _exit(testing::Test::HasFailure() ? 1 : permitted ? 0 : kNotPermitted);
  }
  int status = -1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  if (WEXITSTATUS(status) == kNotPermitted) return false;
  EXPECT_EQ(WEXITSTATUS(status), 0);
  return true;
}

void SetLimit(rlim_t bytes) {
  rlimit limit;
  ASSERT_EQ(getrlimit(RLIMIT_MEMLOCK, &limit), 0);
  limit.rlim_cur = std::min(bytes, limit.rlim_max);
  ASSERT_EQ(setrlimit(RLIMIT_MEMLOCK, &limit), 0);
}
size_t Limit() {
  rlimit limit;
  EXPECT_EQ(getrlimit(RLIMIT_MEMLOCK, &limit), 0);
  return limit.rlim_cur;
}

bool HasCapability() {
  __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3];
  EXPECT_EQ(syscall(SYS_capget, &header, sets), 0);
  return (sets[0].effective & CAP_TO_MASK(CAP_IPC_LOCK)) != 0;
}
void DropCapability() {
  __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3];
  ASSERT_EQ(syscall(SYS_capget, &header, sets), 0);
  sets[0].effective &= ~CAP_TO_MASK(CAP_IPC_LOCK);
  ASSERT_EQ(syscall(SYS_capset, &header, sets), 0);
  ASSERT_FALSE(HasCapability());
}

enum class Registration { kDone, kTooMuch, kNoIoUring };

// Tries to register `bytes` bytes with the kernel. They stay registered until the child ends.
Registration Register(size_t bytes) {
  io_uring_params parameters = {};
  const long ring = syscall(__NR_io_uring_setup, 4, &parameters);
  if (ring < 0) return Registration::kNoIoUring;
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  EXPECT_NE(memory, MAP_FAILED);
  const iovec buffer = {memory, bytes};
  if (syscall(__NR_io_uring_register, ring, IORING_REGISTER_BUFFERS, &buffer, 1) == 0) {
    return Registration::kDone;
  }
  EXPECT_EQ(errno, ENOMEM) << std::strerror(errno);
  return Registration::kTooMuch;
}

TEST(MemoryLockTest, RanksShareTheLimit) {
  EXPECT_TRUE(InChild([] {
    DropCapability();
    SetLimit(size_t{8} << 20);
    EXPECT_EQ(MemoryLockBudget(1), Limit());
    EXPECT_EQ(MemoryLockBudget(2), Limit() / 2);
    // Whole pages.
    EXPECT_EQ(MemoryLockBudget(3), Limit() / 3 / kPageBytes * kPageBytes);
    EXPECT_EQ(MemoryLockBudget(1 << 20), 0u);
    return true;
  }));
}

TEST(MemoryLockTest, MoreThanTheBudgetIsRefused) {
  if (!InChild([] {
        DropCapability();
        SetLimit(kLimitBytes);
        const Registration one_page = Register(kPageBytes);
        if (one_page == Registration::kNoIoUring) return false;
        EXPECT_EQ(one_page, Registration::kDone);
        EXPECT_EQ(Register(MemoryLockBudget(1) + kPageBytes), Registration::kTooMuch);
        return true;
      })) {
    GTEST_SKIP() << "no io_uring";
  }
}

TEST(MemoryLockTest, NoLimit) {
  if (!InChild([] {
        DropCapability();
        SetLimit(RLIM_INFINITY);
        if (Limit() != RLIM_INFINITY) return false;
        EXPECT_EQ(MemoryLockBudget(4), SIZE_MAX);
        return true;
      })) {
    GTEST_SKIP() << "this user's limit cannot be lifted";
  }
}

TEST(MemoryLockTest, TheCapabilityFreesFromTheLimit) {
  if (!InChild([] {
        if (!HasCapability()) return false;
        SetLimit(kLimitBytes);
        const Registration registration = Register(kLimitBytes + kPageBytes);
        if (registration == Registration::kNoIoUring) return false;
        // In a container it may free from nothing.
        EXPECT_EQ(MemoryLockBudget(4) == SIZE_MAX, registration == Registration::kDone);
        return true;
      })) {
    GTEST_SKIP() << "no capability, or no io_uring";
  }
}

TEST(MemoryLockTest, NotTheCapabilityOfAUserNamespace) {
  if (!InChild([] {
        if (unshare(CLONE_NEWUSER) != 0) return false;
        EXPECT_TRUE(HasCapability());
        SetLimit(kLimitBytes);
        EXPECT_EQ(MemoryLockBudget(1), Limit());
        EXPECT_NE(Register(kLimitBytes + kPageBytes), Registration::kDone);
        return true;
      })) {
    GTEST_SKIP() << "no user namespaces";
  }
}

}  // namespace
}  // namespace brigade
