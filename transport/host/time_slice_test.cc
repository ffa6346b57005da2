#include "transport/host/time_slice.h"

#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <thread>

#include "gtest/gtest.h"

namespace brigade {
namespace {

// Its declaration in Linux's headers and that of sched.h exclude each other.
struct Attributes {
  uint32_t size;
  uint32_t policy;
  uint64_t flags;
  int32_t nice;
  uint32_t priority;
  uint64_t runtime;
  uint64_t deadline;
  uint64_t period;
};

Attributes OfThisThread() {
  Attributes attributes{};
  EXPECT_EQ(syscall(SYS_sched_getattr, 0, &attributes, sizeof(attributes), 0), 0);
  return attributes;
}

bool SystemHasThem() {
  utsname system;
  int major = 0;
  int minor = 0;
  return uname(&system) == 0 && std::sscanf(system.release, "%d.%d", &major, &minor) == 2 &&
         (major > 6 || (major == 6 && minor >= 12));
}

TEST(TimeSliceTest, IsShortForTheCallingThreadOnly) {
  if (!SystemHasThem()) GTEST_SKIP() << "older than Linux 6.12";
  const Attributes before = OfThisThread();
  std::thread([] {
    RequestShortTimeSlices();
    EXPECT_EQ(OfThisThread().runtime, 100000u);
  }).join();
  EXPECT_EQ(OfThisThread().runtime, before.runtime);
}

TEST(TimeSliceTest, PriorityStays) {
  std::thread([] {
    ASSERT_EQ(setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), 5), 0);
    RequestShortTimeSlices();
    EXPECT_EQ(OfThisThread().nice, 5);
    EXPECT_EQ(OfThisThread().policy, static_cast<uint32_t>(SCHED_OTHER));
  }).join();
}

}  // namespace
}  // namespace brigade
