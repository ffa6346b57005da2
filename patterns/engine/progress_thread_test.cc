#include "patterns/engine/progress_thread.h"

#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "gtest/gtest.h"
#include "patterns/rules.h"
#include "transport/time_slice.h"

namespace brigade {
namespace {

using Step = ProgressThread::Step;

template <typename Condition>
void Until(const Condition& condition) {
  while (!condition()) std::this_thread::yield();
}

std::unique_ptr<ProgressThread> NewProgressThread(
    std::function<Step()> step, std::function<void(int)> await = [](int) {}) {
  ShortenTimeSlices();  // as every process that has an endpoint
  std::unique_ptr<ProgressThread> progress_thread;
  const Status made = ProgressThread::Create(std::move(step), std::move(await), &progress_thread);
  EXPECT_TRUE(made.ok()) << made.ToString();
  return progress_thread;
}

TEST(ProgressThreadTest, MakesProgressOnceItHasTheRole) {
  for (const bool now : {true, false}) {
    std::atomic<int> steps{0};
    const auto progress_thread =
        NewProgressThread([&] { return ++steps < 3 ? Step::kMoved : Step::kNothingLeft; });
    EXPECT_EQ(steps, 0);
    progress_thread->Give(now);
    Until([&] { return steps == 3; });
    progress_thread->Take();
    progress_thread->Give(now);
    Until([&] { return steps == 4; });
    progress_thread->Take();
    EXPECT_EQ(steps, 4) << "nothing was left";
  }
}

// A message for an owner that has left only just now would wake the thread in vain.
TEST(ProgressThreadTest, DoesNotAwaitMessagesBeforeItsFirstStep) {
  std::atomic<int> steps{0};
  std::atomic<bool> awaited_first{false};
  const auto progress_thread = NewProgressThread(
      [&] {
        ++steps;
        return Step::kNothingMoved;
      },
      [&](int) { awaited_first = awaited_first || steps == 0; });
  progress_thread->Give(false);
  Until([&] { return steps > 0; });
  progress_thread->Take();
  EXPECT_FALSE(awaited_first);
}

// Returns how long a progress thread takes for so many looks at an owner that is never away for
// long. The thread waits after each step only while it makes progress for an owner that is away for
// long. `soon`: the owner requests frequent looks. None: other programs computed, so the owner was
// away for long nearly always.
std::optional<std::chrono::microseconds> TimeOfLooks(int looks, bool soon) {
  constexpr std::chrono::microseconds kShort(20);
  constexpr int kMostTurns = 10000;
  std::atomic<int> steps{0};
  std::atomic<int> waits{0};
  const auto progress_thread = NewProgressThread(
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
    if (soon) progress_thread->LookSoon();
    progress_thread->Give(false);
    std::this_thread::sleep_for(kShort);
    progress_thread->Take();
    without_wait = steps;
    without_wait -= waits;
  }
  if (turns == kMostTurns) return std::nullopt;
  const auto time = std::chrono::steady_clock::now() - began;
  return std::chrono::duration_cast<std::chrono::microseconds>(time);
}

// It sleeps for so long at least, however busy the processors are.
TEST(ProgressThreadTest, LooksLessAndLessOftenAtAnOwnerThatComesBack) {
  std::optional<std::chrono::microseconds> time;
  while (!time) time = TimeOfLooks(5, /*soon=*/false);
  EXPECT_GE(time->count(), (1 + 2 + 4 + 8) * rules::kProgressThreadGraceUs);
}

TEST(ProgressThreadTest, LooksSoonAgainIfItIsTold) {
  constexpr int kLooks = 100;
  constexpr int kLeastIfNot = (kLooks - 10) * rules::kProgressThreadLongestGraceUs;
  // Other processes may keep it from the processors, for some 5 ms at each look.
  bool is_sooner = false;
  for (int attempt = 0; attempt < 50 && !is_sooner; ++attempt) {
    const auto time = TimeOfLooks(kLooks, /*soon=*/true);
    is_sooner = time && time->count() < kLeastIfNot;
  }
  EXPECT_TRUE(is_sooner);
}

// Returns how long an owner is away before the progress thread makes progress, if the thread has
// just begun its longest sleep when LookSoon is called.
std::chrono::microseconds TimeToProgress() {
  constexpr std::chrono::microseconds kShort(20);
  std::atomic<int> steps{0};
  std::atomic<bool> progresses{false};
  std::chrono::steady_clock::time_point progressed;  // this thread may get a processor later
  const auto progress_thread = NewProgressThread(
      [&] {
        ++steps;
        return Step::kNothingMoved;
      },
      [&](int) {
        if (!progresses) progressed = std::chrono::steady_clock::now();
        progresses = true;
      });
  // Until it has slept for the longest time once.
  for (int us = rules::kProgressThreadGraceUs; us <= rules::kProgressThreadLongestGraceUs;
       us *= 2) {
    progresses = false;
    for (const int before = steps; steps == before || progresses;) {
      progresses = false;
      progress_thread->Give(false);
      std::this_thread::sleep_for(kShort);
      progress_thread->Take();
    }
  }
  progresses = false;
  progress_thread->LookSoon();
  const auto began = std::chrono::steady_clock::now();
  progress_thread->Give(false);
  Until([&] { return progresses.load(); });
  progress_thread->Take();
  return std::chrono::duration_cast<std::chrono::microseconds>(progressed - began);
}

TEST(ProgressThreadTest, IsWokenFromALongSleepIfItIsToLookSoon) {
  // Other processes may keep either thread from the processors longer than the sleep. A progress
  // thread that nobody wakes is in time by chance only.
  constexpr int kEnough = 10;
  int soon = 0;
  for (int attempt = 0; attempt < 200 && soon < kEnough; ++attempt) {
    if (TimeToProgress().count() < rules::kProgressThreadLongestGraceUs / 2) ++soon;
  }
  EXPECT_EQ(soon, kEnough);
}

// It waits to be woken after a while.
TEST(ProgressThreadTest, MakesProgressAfterALongCallOfItsOwner) {
  std::atomic<int> steps{0};
  const auto progress_thread = NewProgressThread([&] {
    ++steps;
    return Step::kNothingLeft;
  });
  std::this_thread::sleep_for(
      std::chrono::microseconds(3 * rules::kProgressThreadGraceUs * rules::kProgressThreadPolls));
  progress_thread->Give(false);
  Until([&] { return steps == 1; });
  progress_thread->Take();
}

TEST(ProgressThreadTest, SleepsBetweenStepsThatMoveNothing) {
  std::atomic<int> idle_steps{0};
  std::atomic<int> sleeps{0};
  std::atomic<bool> awake{false};
  const auto progress_thread = NewProgressThread(
      [&] {
        ++idle_steps;
        return Step::kNothingMoved;
      },
      [&](int microseconds) {
        EXPECT_GT(microseconds, 0);
        ++sleeps;
        Until([&] { return awake.load(); });
      });
  progress_thread->Give(true);
  Until([&] { return sleeps == 1; });
  // The role is free while it sleeps.
  progress_thread->Take();
  progress_thread->Give(true);
  EXPECT_EQ(idle_steps, 1);
  awake = true;
  Until([&] { return sleeps > 3; });
  progress_thread->Take();
  EXPECT_LE(idle_steps, sleeps + 1);
}

TEST(ProgressThreadTest, TheOwnerWaitsForTheEndOfAStep) {
  std::atomic<bool> begun{false};
  std::atomic<bool> go_on{false};
  std::atomic<bool> ended{false};
  const auto progress_thread = NewProgressThread([&] {
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
  progress_thread->Give(true);
  Until([&] { return begun.load(); });
  progress_thread->Take();
  EXPECT_TRUE(ended);
  other.join();
}

// The role protects plain memory, which the thread sanitizer watches.
TEST(ProgressThreadTest, OneProgressOwnerAtATime) {
  int64_t moved = 0;
  int64_t moved_by_progress_thread = 0;
  int left = 0;
  const auto progress_thread = NewProgressThread(
      [&] {
        if (left == 0) return Step::kNothingLeft;
        ++moved;
        ++moved_by_progress_thread;
        return --left % 3 == 0 ? Step::kNothingMoved : Step::kMoved;
      },
      [](int) { std::this_thread::yield(); });
  const int64_t turns = 20000;
  for (int64_t turn = 0; turn < turns || moved_by_progress_thread == 0; ++turn) {
    ++moved;
    left = static_cast<int>(turn % 7);
    const int64_t before = moved;
    const int left_before = left;
    progress_thread->Give(turn % 2 == 0);
    if (turn % 5 == 0) std::this_thread::yield();
    progress_thread->Take();
    ASSERT_EQ(moved + left, before + left_before);
  }
}

// The child's copy is as it was between two steps, and the role can be had.
TEST(ProgressThreadTest, AProcessForksBetweenSteps) {
  std::atomic<bool> in_step{false};
  const auto progress_thread = NewProgressThread([&] {
    in_step = true;
    std::this_thread::yield();
    in_step = false;
    return Step::kMoved;
  });
  progress_thread->Give(true);
  for (int i = 0; i < 50; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      const bool found_one = in_step;
      progress_thread->Take();
      progress_thread->Give(true);
      progress_thread->Take();
      _exit(found_one ? 1 : 0);
    }
    int outcome = -1;
    EXPECT_EQ(waitpid(child, &outcome, 0), child);
    ASSERT_EQ(outcome, 0);
  }
  progress_thread->Take();
}

TEST(ProgressThreadTest, TakesNoSignalsAndHasAName) {
  sigset_t before;
  pthread_sigmask(SIG_SETMASK, nullptr, &before);
  std::string name;
  bool blocked = false;
  std::atomic<bool> over{false};
  const auto progress_thread = NewProgressThread([&] {
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
  progress_thread->Give(true);
  Until([&] { return over.load(); });
  progress_thread->Take();
  EXPECT_EQ(name, "brigade");
  EXPECT_TRUE(blocked);
}

}  // namespace
}  // namespace brigade
