#include "transport/time_slice.h"

#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <thread>

#include "gtest/gtest.h"
#include "transport/rules.h"
#include "transport/wait_policy.h"

namespace brigade {
namespace {

// The words of the kernel's `sched_attr`: size and policy, flags, nice and priority, runtime, ...
using Attributes = std::array<uint64_t, 6>;
constexpr size_t kRuntime = 3;

Attributes Read() {
  Attributes attributes = {};
  EXPECT_EQ(syscall(SYS_sched_getattr, 0, attributes.data(), sizeof(attributes), 0), 0);
  return attributes;
}

template <typename Body>
void OnAThread(const Body& body) {
  std::thread(body).join();  // this thread keeps its slices
}

TEST(TimeSlice, ShortensSlicesAndChangesNothingElse) {
  OnAThread([] {
    ASSERT_EQ(setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), 5), 0);
    Attributes expected = Read();
    if (expected[kRuntime] == 0) GTEST_SKIP() << "this kernel has no slices per thread";
    ASSERT_GT(expected[kRuntime], rules::kTimeSliceNs);
    expected[kRuntime] = rules::kTimeSliceNs;
    ShortenTimeSlice();
    EXPECT_EQ(Read(), expected);
  });
}

TEST(TimeSlice, LeavesOtherPoliciesAlone) {
  OnAThread([] {
    const sched_param none = {};
    ASSERT_EQ(sched_setscheduler(0, SCHED_BATCH, &none), 0);
    const Attributes before = Read();
    ShortenTimeSlice();
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
