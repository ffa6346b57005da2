#include "transport/tcp/io/read_trial.h"

#include <dirent.h>
#include <sched.h>

#include <memory>

#include "gtest/gtest.h"
#include "transport/tcp/io/socket_io.h"

namespace brigade {
namespace {

int CountDescriptors() {
  DIR* const directory = opendir("/proc/self/fd");
  int count = 0;
  while (readdir(directory) != nullptr) ++count;
  closedir(directory);
  return count;
}

// A busy machine may take longer than a trial may; then there are no times.
TEST(ReadTrial, HasTimesOfBothWaysAndLeavesNothingBehind) {
  std::unique_ptr<SocketIo> io;
  const Status has_ring = CreateUringIo(&io);
  io.reset();
  cpu_set_t before;
  ASSERT_EQ(sched_getaffinity(0, sizeof(before), &before), 0);
  const int descriptors = CountDescriptors();
  for (const bool shares_processor : {false, true}) {
    ReadTimes times;
    const Status status = TryReads(shares_processor, &times);
    EXPECT_EQ(status.ok(), times.ring_us > 0) << status.ToString();
    EXPECT_EQ(status.ok(), times.plain_us > 0) << status.ToString();
    if (!has_ring.ok()) {
      EXPECT_EQ(status.code(), StatusCode::kUnavailable) << status.ToString();
    }
    cpu_set_t after;
    ASSERT_EQ(sched_getaffinity(0, sizeof(after), &after), 0);
    EXPECT_TRUE(CPU_EQUAL(&before, &after));
    EXPECT_EQ(CountDescriptors(), descriptors);
  }
}

}  // namespace
}  // namespace brigade
