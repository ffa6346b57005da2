#include "transport/core/wait_policy.h"

#include <chrono>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "transport/rules.h"

namespace brigade {
namespace {

using Step = WaitPolicy::Step;
using std::chrono::microseconds;

constexpr WaitPolicy::Patience kAlone{2, microseconds(0), 3};
constexpr WaitPolicy::Patience kCrowded{0, microseconds(0), 1};

int YieldBriefly() { return 0; }
int YieldForLong() {
  std::this_thread::sleep_for(microseconds(rules::kLongYieldUs));
  return 0;
}

std::vector<Step> StepsOf(WaitPolicy* policy, uint64_t polls) {
  std::vector<Step> steps;
  for (uint64_t i = 0; i < polls; ++i) steps.push_back(policy->Pause(i));
  return steps;
}

TEST(WaitPolicy, SpinsThenYieldsThenSleeps) {
  WaitPolicy policy(kAlone, kCrowded, /*polls_mpi=*/true, YieldBriefly);
  const std::vector<Step> steps = {Step::kSpin,  Step::kSpin,  Step::kYield, Step::kYield,
                                   Step::kYield, Step::kSleep, Step::kSleep};
  for (int waits = 0; waits < 2; ++waits) {
    EXPECT_EQ(StepsOf(&policy, steps.size()), steps);
    EXPECT_EQ(policy.sleeps(), 2u);
  }
}

TEST(WaitPolicy, SleepsAtOnceAfterManyPolls) {
  EXPECT_EQ(WaitPolicy(kAlone, kCrowded).Pause(1000), Step::kSleep);
}

TEST(WaitPolicy, HasItsOwnTimesWhereRanksOutnumberProcessors) {
  WaitPolicy policy(kAlone, kCrowded, /*polls_mpi=*/true, YieldBriefly);
  policy.SetCrowded(true);
  EXPECT_EQ(StepsOf(&policy, 2), (std::vector<Step>{Step::kYield, Step::kSleep}));
  policy.SetCrowded(false);
  EXPECT_EQ(StepsOf(&policy, 1), std::vector<Step>{Step::kSpin});
}

TEST(WaitPolicy, SpinsForATime) {
  WaitPolicy policy({0, microseconds(5000), 1}, kCrowded);
  const auto start = WaitPolicy::Clock::now();
  uint64_t polls = 0;
  while (policy.Pause(polls) == Step::kSpin) ++polls;
  EXPECT_GE(WaitPolicy::Clock::now() - start, microseconds(5000));
  EXPECT_EQ(policy.Pause(polls + 1), Step::kSleep) << "the step that ended the loop was a yield";
}

TEST(WaitPolicy, NeverSleepsWhereNothingWakes) {
  WaitPolicy policy({1, microseconds(0), WaitPolicy::kForever}, kCrowded, /*polls_mpi=*/true,
                    YieldBriefly);
  EXPECT_EQ(StepsOf(&policy, 1000).back(), Step::kYield);
  EXPECT_EQ(policy.sleeps(), 0u);
}

TEST(WaitPolicy, SleepsForAWhileAfterALongYield) {
  WaitPolicy policy(kAlone, kCrowded, /*polls_mpi=*/true, YieldForLong);
  EXPECT_EQ(policy.PollsBeforeSleep(), 5u);
  const std::vector<Step> first = {Step::kSpin, Step::kSpin, Step::kYield, Step::kSleep};
  EXPECT_EQ(StepsOf(&policy, first.size()), first);
  EXPECT_EQ(policy.PollsBeforeSleep(), 2u);
  std::this_thread::sleep_for(microseconds(rules::kSleepsAfterLongYieldUs));
  EXPECT_EQ(policy.PollsBeforeSleep(), 5u) << "without a Pause";
  EXPECT_EQ(StepsOf(&policy, first.size()), first) << "no yield was tried again";
}

TEST(WaitPolicy, YieldsOnWhereNothingWakesOrOtherRanksComputeMeanwhile) {
  WaitPolicy forever({1, microseconds(0), WaitPolicy::kForever}, kCrowded, /*polls_mpi=*/false,
                     YieldForLong);
  EXPECT_EQ(StepsOf(&forever, 5).back(), Step::kYield);
  WaitPolicy crowded(kAlone, {0, microseconds(0), 4}, /*polls_mpi=*/true, YieldForLong);
  crowded.SetCrowded(true);
  EXPECT_EQ(StepsOf(&crowded, 4).back(), Step::kYield);
}

}  // namespace
}  // namespace brigade
