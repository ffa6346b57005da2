#include "transport/mpi_polls.h"

#include <unistd.h>

#include <algorithm>
#include <vector>

#include "gtest/gtest.h"
#include "transport/rules.h"

namespace brigade {
namespace {

int polls = 0;

class MpiPollsTest : public testing::Test {
 protected:
  MpiPollsTest() { polls = 0; }
  ~MpiPollsTest() override { MpiPolls::Set(nullptr); }

  static void Start() {
    MpiPolls::Set([] { ++polls; });
  }
};

TEST_F(MpiPollsTest, MpiIsNotPolledUntilACallbackIsSet) {
  MpiPolls wait;
  wait.Begin();
  std::vector<int> sleeps;
  wait.SleepFor(10000, [&](int us) { sleeps.push_back(us); });
  EXPECT_EQ(sleeps, std::vector<int>{10000}) << "one sleep, which is as long as it is without MPI";
  wait.PollIfDue();
  MpiPolls::PollIfLate();
  EXPECT_FALSE(MpiPolls::are_on());
}

TEST_F(MpiPollsTest, AWaitThatDoesNotSleepPollsAgainAndAgain) {
  Start();
  MpiPolls wait;
  wait.Begin();
  while (polls < 3) wait.PollIfDue();
}

TEST_F(MpiPollsTest, ASleepIsInterruptedForEachPoll) {
  Start();
  MpiPolls wait;
  wait.Begin();
  std::vector<int> sleeps;
  while (polls < 3) {
    wait.SleepFor(10 * rules::kMpiLongestPollUs, [&](int us) {
      sleeps.push_back(us);
      usleep(static_cast<useconds_t>(us));
    });
  }
  EXPECT_LE(*std::max_element(sleeps.begin(), sleeps.end()), rules::kMpiLongestPollUs);
}

TEST_F(MpiPollsTest, ASleepThatIsWokenEnds) {
  Start();
  MpiPolls wait;
  wait.Begin();
  constexpr int kHalfAnHourUs = 2000000000;
  int sleeps = 0;
  wait.SleepFor(kHalfAnHourUs, [&](int us) {
    if (++sleeps < 20) usleep(static_cast<useconds_t>(us));
  });
  EXPECT_GE(sleeps, 20);
}

TEST_F(MpiPollsTest, WaitsThatAreShortPollInAll) {
  Start();
  while (polls < 3) {
    MpiPolls wait;
    wait.Begin();
    wait.PollIfDue();
  }
}

TEST_F(MpiPollsTest, CallsThatDoNotWaitPollInAll) {
  Start();
  while (polls < 3) MpiPolls::PollIfLate();
}

}  // namespace
}  // namespace brigade
