#include "transport/time_slice.h"

#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <thread>

#include "gtest/gtest.h"
#include "transport/core/wait_policy.h"
#include "transport/rules.h"

namespace brigade {
namespace {

// The words of the kernel's `sched_attr`: size and policy, flags, nice and priority, runtime, ...
using Attributes = std::array<uint64_t, 6>;
constexpr size_t kRuntime = 3;

constexpr uint64_t kLongNs = 3'000'000;

Attributes Read(pid_t thread = 0) {
  Attributes attributes = {};
  EXPECT_EQ(syscall(SYS_sched_getattr, thread, attributes.data(), sizeof(attributes), 0), 0);
  return attributes;
}

// Other threads of the process have long slices at first.
template <typename Body>
void OnAThread(const Body& body) {
  Attributes attributes = Read();
  if (attributes[kRuntime] == 0) GTEST_SKIP() << "this kernel has no slices per thread";
  attributes[kRuntime] = kLongNs;
  ASSERT_EQ(syscall(SYS_sched_setattr, 0, attributes.data(), 0), 0);
  std::thread(body).join();
}

TEST(TimeSlice, ShortensSlicesAndChangesNothingElse) {
  OnAThread([] {
    const auto self = static_cast<id_t>(gettid());
    const int niceness = getpriority(PRIO_PROCESS, self);
    ASSERT_EQ(setpriority(PRIO_PROCESS, self, std::min(niceness + 5, 19)), 0);
    Attributes expected = Read();
    ASSERT_EQ(expected[kRuntime], kLongNs);
    expected[kRuntime] = rules::kTimeSliceNs;
    ShortenTimeSlices();
    EXPECT_EQ(Read(), expected);
  });
}

TEST(TimeSlice, ShortensThoseOfThreadsThatComputeForARank) {
  const pid_t computes = gettid();
  OnAThread([&] {
    ASSERT_EQ(Read(computes)[kRuntime], kLongNs);
    ShortenTimeSlices();
    EXPECT_EQ(Read(computes)[kRuntime], rules::kTimeSliceNs);
  });
}

TEST(TimeSlice, AreTheSystemsIfASettingSaysSo) {
  OnAThread([] {
    setenv("BRIGADE_TIME_SLICES", "system", /*overwrite=*/1);
    ShortenTimeSlices();
    EXPECT_EQ(Read()[kRuntime], kLongNs);
    unsetenv("BRIGADE_TIME_SLICES");
  });
}

TEST(TimeSlice, LeavesOtherPoliciesAlone) {
  OnAThread([] {
    const sched_param none = {};
    ASSERT_EQ(sched_setscheduler(0, SCHED_BATCH, &none), 0);
    const Attributes before = Read();
    ShortenTimeSlices();
    EXPECT_EQ(Read(), before);
  });
}

TEST(TimeSlice, IsThatOfEachRankThatWaits) {
  OnAThread([] {
    const WaitPolicy policy({}, {});
    EXPECT_LE(Read()[kRuntime], rules::kTimeSliceNs);
  });
}

}  // namespace
}  // namespace brigade
