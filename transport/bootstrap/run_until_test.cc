#include "transport/bootstrap/run_until.h"

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>

#include "gtest/gtest.h"

namespace brigade {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

TEST(RunUntil, ReturnsTheResult) {
  const Deadline later = Clock::now() + std::chrono::minutes(1);
  EXPECT_TRUE(RunUntil(later, [] { return Status(); }).ok());
  const Status wrong = RunUntil(later, [] { return Status(StatusCode::kUnavailable, "unknown"); });
  EXPECT_EQ(wrong.ToString(), "unavailable: unknown");
}

TEST(RunUntil, DoesNotWaitBeyondTheDeadline) {
  // The thread may outlive this test.
  const auto may_end = std::make_shared<std::atomic<bool>>(false);
  const auto has_ended = std::make_shared<std::atomic<bool>>(false);
  const Status status = RunUntil(Clock::now() + milliseconds(50), [may_end, has_ended] {
    while (!*may_end) std::this_thread::sleep_for(milliseconds(1));
    *has_ended = true;
    return Status();
  });
  EXPECT_EQ(status.code(), StatusCode::kTimedOut);
  EXPECT_FALSE(*has_ended);
  *may_end = true;
  while (!*has_ended) std::this_thread::sleep_for(milliseconds(1));
}

}  // namespace
}  // namespace brigade
