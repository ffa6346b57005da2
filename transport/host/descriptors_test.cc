#include "transport/host/descriptors.h"

#include <sys/resource.h>

#include <algorithm>

#include "gtest/gtest.h"

namespace brigade {
namespace {

TEST(DescriptorsTest, TheLimitIsRaisedWhereItIsLow) {
  rlimit before;
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlim_t enough = std::min(before.rlim_max, kEnoughDescriptors);
  for (const rlim_t limit : {rlim_t{16}, before.rlim_max}) {
    const rlimit set = {limit, before.rlim_max};
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &set), 0);
    RaiseDescriptorLimit();
    rlimit after;
    ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &after), 0);
    EXPECT_EQ(after.rlim_cur, std::max(limit, enough));
    EXPECT_EQ(after.rlim_max, before.rlim_max);
  }
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
}

}  // namespace
}  // namespace brigade
