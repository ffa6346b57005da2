#include "patterns/engine/helper.h"

#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "gtest/gtest.h"
#include "patterns/rules.h"

namespace brigade {
namespace {

using Step = Helper::Step;

template <typename Condition>
void Until(const Condition& condition) {
  while (!condition()) std::this_thread::yield();
}

std::unique_ptr<Helper> NewHelper(
    std::function<Step()> step, std::function<void(int)> await = [](int) {}) {
  std::unique_ptr<Helper> helper;
  const Status made = Helper::Create(std::move(step), std::move(await), &helper);
  EXPECT_TRUE(made.ok()) << made.ToString();
  return helper;
}

TEST(HelperTest, DrivesOnceItIsGivenTheRole) {
  for (const bool now : {true, false}) {
    std::atomic<int> steps{0};
    const auto helper = NewHelper([&] { return ++steps < 3 ? Step::kMoved : Step::kNothingLeft; });
    EXPECT_EQ(steps, 0);
    helper->Give(now);
    Until([&] { return steps == 3; });
    helper->Take();
    helper->Give(now);
    Until([&] { return steps == 4; });
    helper->Take();
    EXPECT_EQ(steps, 4) << "nothing was left";
  }
}

// What comes for an owner that is only just away would wake it for nothing.
TEST(HelperTest, ListensToNothingBeforeItDrives) {
  std::atomic<int> steps{0};
  std::atomic<bool> listened_first{false};
  const auto helper = NewHelper(
      [&] {
        ++steps;
        return Step::kNothingMoved;
      },
      [&](int) { listened_first = listened_first || steps == 0; });
  helper->Give(false);
  Until([&] { return steps > 0; });
  helper->Take();
  EXPECT_FALSE(listened_first);
}

// How long a helper takes for so many looks at an owner that is never away for long. Only while it
// drives for one that is, it waits behind each step. `soon`: the owner asks for frequent looks.
std::chrono::microseconds TimeOfLooks(int looks, bool soon) {
  constexpr std::chrono::microseconds kShort(20);
  constexpr int kMostTurns = 100000;
  std::atomic<int> steps{0};
  std::atomic<int> waits{0};
  const auto helper = NewHelper(
      [&] {
        ++steps;
        return Step::kNothingMoved;
      },
      [&](int) {
        ++waits;
        std::this_thread::sleep_for(kShort);
      });
  const auto began = std::chrono::steady_clock::now();
  int turns = 0;
  for (int without_wait = 0; without_wait <= looks && turns < kMostTurns; ++turns) {
    if (soon) helper->LookSoon();
    helper->Give(false);
    std::this_thread::sleep_for(kShort);
    helper->Take();
    without_wait = steps;
    without_wait -= waits;
  }
  EXPECT_LT(turns, kMostTurns) << "it moves only when the owner stays away";
  const auto time = std::chrono::steady_clock::now() - began;
  return std::chrono::duration_cast<std::chrono::microseconds>(time);
}

// It sleeps for so long at least, however busy the processors are.
TEST(HelperTest, LooksLessAndLessOftenAtAnOwnerThatComesBack) {
  EXPECT_GE(TimeOfLooks(5, /*soon=*/false).count(), (1 + 2 + 4 + 8) * rules::kHelperGraceUs);
}

TEST(HelperTest, LooksSoonAgainIfItIsTold) {
  constexpr int kLooks = 20;
  constexpr int kLeastIfNot = (kLooks - 10) * rules::kHelperLongestGraceUs;
  // Other processes may keep it from the processors.
  bool is_sooner = false;
  for (int attempt = 0; attempt < 50 && !is_sooner; ++attempt) {
    is_sooner = TimeOfLooks(kLooks, /*soon=*/true).count() < kLeastIfNot;
  }
  EXPECT_TRUE(is_sooner);
}

// How long an owner is away before it is driven for, if the helper has just begun its longest sleep
// and is told then that something waits.
std::chrono::microseconds TimeToDrive() {
  constexpr std::chrono::microseconds kShort(20);
  std::atomic<int> steps{0};
  std::atomic<bool> drives{false};
  const auto helper = NewHelper(
      [&] {
        ++steps;
        return Step::kNothingMoved;
      },
      [&](int) { drives = true; });
  // Until it has slept for the longest time once.
  for (int us = rules::kHelperGraceUs; us <= rules::kHelperLongestGraceUs; us *= 2) {
    drives = false;
    for (const int before = steps; steps == before || drives;) {
      drives = false;
      helper->Give(false);
      std::this_thread::sleep_for(kShort);
      helper->Take();
    }
  }
  drives = false;
  helper->LookSoon();
  const auto began = std::chrono::steady_clock::now();
  helper->Give(false);
  Until([&] { return drives.load(); });
  helper->Take();
  return std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() -
                                                               began);
}

TEST(HelperTest, IsWokenFromALongSleepIfItIsToLookSoon) {
  // Other processes may keep either thread from the processors longer than the sleep. A helper that
  // nobody wakes is in time by chance only.
  constexpr int kEnough = 10;
  int soon = 0;
  for (int attempt = 0; attempt < 200 && soon < kEnough; ++attempt) {
    if (TimeToDrive().count() < rules::kHelperLongestGraceUs / 2) ++soon;
  }
  EXPECT_EQ(soon, kEnough);
}

// It waits to be woken after a while.
TEST(HelperTest, DrivesForAnOwnerThatWasLongInACall) {
  std::atomic<int> steps{0};
  const auto helper = NewHelper([&] {
    ++steps;
    return Step::kNothingLeft;
  });
  std::this_thread::sleep_for(
      std::chrono::microseconds(3 * rules::kHelperGraceUs * rules::kHelperLooks));
  helper->Give(false);
  Until([&] { return steps == 1; });
  helper->Take();
}

TEST(HelperTest, SleepsBetweenStepsThatMoveNothing) {
  std::atomic<int> idle_steps{0};
  std::atomic<int> sleeps{0};
  std::atomic<bool> awake{false};
  const auto helper = NewHelper(
      [&] {
        ++idle_steps;
        return Step::kNothingMoved;
      },
      [&](int microseconds) {
        EXPECT_GT(microseconds, 0);
        ++sleeps;
        Until([&] { return awake.load(); });
      });
  helper->Give(true);
  Until([&] { return sleeps == 1; });
  // The role is free while it sleeps.
  helper->Take();
  helper->Give(true);
  EXPECT_EQ(idle_steps, 1);
  awake = true;
  Until([&] { return sleeps > 3; });
  helper->Take();
  EXPECT_LE(idle_steps, sleeps + 1);
}

TEST(HelperTest, TheOwnerWaitsForTheEndOfAStep) {
  std::atomic<bool> begun{false};
  std::atomic<bool> go_on{false};
  std::atomic<bool> ended{false};
  const auto helper = NewHelper([&] {
    begun = true;
    Until([&] { return go_on.load(); });
    ended = true;
    return Step::kMoved;
  });
  // Give() waits for the step, too, if the thread has begun it by then.
  std::thread other([&] {
    Until([&] { return begun.load(); });
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    go_on = true;
  });
  helper->Give(true);
  Until([&] { return begun.load(); });
  helper->Take();
  EXPECT_TRUE(ended);
  other.join();
}

// What the role protects is plain memory, which the thread sanitizer watches.
TEST(HelperTest, OneDriverAtATime) {
  int64_t moved = 0;
  int64_t moved_by_helper = 0;
  int left = 0;
  const auto helper = NewHelper(
      [&] {
        if (left == 0) return Step::kNothingLeft;
        ++moved;
        ++moved_by_helper;
        return --left % 3 == 0 ? Step::kNothingMoved : Step::kMoved;
      },
      [](int) { std::this_thread::yield(); });
  const int64_t turns = 20000;
  for (int64_t turn = 0; turn < turns || moved_by_helper == 0; ++turn) {
    ++moved;
    left = static_cast<int>(turn % 7);
    const int64_t before = moved;
    const int left_before = left;
    helper->Give(turn % 2 == 0);
    if (turn % 5 == 0) std::this_thread::yield();
    helper->Take();
    ASSERT_EQ(moved + left, before + left_before);
  }
}

// The child's copy is as it was between two steps, and the role can be had.
TEST(HelperTest, AProcessForksBetweenSteps) {
  std::atomic<bool> in_step{false};
  const auto helper = NewHelper([&] {
    in_step = true;
    std::this_thread::yield();
    in_step = false;
    return Step::kMoved;
  });
  helper->Give(true);
  for (int i = 0; i < 50; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      const bool found_one = in_step;
      helper->Take();
      helper->Give(true);
      helper->Take();
      _exit(found_one ? 1 : 0);
    }
    int outcome = -1;
    EXPECT_EQ(waitpid(child, &outcome, 0), child);
    ASSERT_EQ(outcome, 0);
  }
  helper->Take();
}

TEST(HelperTest, TakesNoSignalsAndHasAName) {
  sigset_t before;
  pthread_sigmask(SIG_SETMASK, nullptr, &before);
  std::string name;
  bool blocked = false;
  std::atomic<bool> over{false};
  const auto helper = NewHelper([&] {
    char text[16] = "";
    pthread_getname_np(pthread_self(), text, sizeof(text));
    name = text;
    sigset_t mask;
    pthread_sigmask(SIG_SETMASK, nullptr, &mask);
    blocked = true;
    for (const int number : {SIGINT, SIGTERM, SIGCHLD, SIGALRM, SIGUSR1, SIGPROF}) {
      blocked = blocked && sigismember(&mask, number) == 1;
    }
    over = true;
    return Step::kNothingLeft;
  });
  sigset_t after;
  pthread_sigmask(SIG_SETMASK, nullptr, &after);
  EXPECT_EQ(sigismember(&after, SIGTERM), sigismember(&before, SIGTERM)) << "of the caller";
  helper->Give(true);
  Until([&] { return over.load(); });
  helper->Take();
  EXPECT_EQ(name, "brigade");
  EXPECT_TRUE(blocked);
}

}  // namespace
}  // namespace brigade
