#include "transport/family/part.h"

#include <gtest/gtest.h>
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace brigade {
namespace {

// The kernel refuses fences to a process that is not registered.
TEST(PartTest, LoadingRegistersForFences) {
  if (syscall(SYS_membarrier, MEMBARRIER_CMD_QUERY, 0, 0) < 0) GTEST_SKIP() << "no membarrier";
  EXPECT_EQ(syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0), 0);
  EXPECT_FALSE(MpiRuns());
}

}  // namespace
}  // namespace brigade
