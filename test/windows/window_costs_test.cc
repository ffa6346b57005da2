// Operations of a window cost the messages and the copies that windows/message/README.md promises,
// and nothing else, in virtual time.

#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "test/support/counted_new.h"
#include "test/windows/window_ranks.h"
#include "transport/machines/machine_description.h"
#include "windows/core/window.h"
#include "windows/rules.h"

namespace {
thread_local int looks_at_clock = 0;
}  // namespace

// Replaces the function that clocks of the standard library call, and counts the calls.
extern "C" int clock_gettime(clockid_t clock, timespec* now) noexcept {
  ++looks_at_clock;
  return static_cast<int>(syscall(SYS_clock_gettime, clock, now));
}

namespace brigade {
namespace {

constexpr int64_t kSegment = 1024;  // of WindowRank
constexpr double kMessageUs = 10;
constexpr double kCopyUs = 1;  // per byte; an add takes twice as long

// Nothing takes any time.
MachineDescription Ideal() {
  MachineDescription machine;
  machine.name = "ideal";
  machine.memories.resize(1);
  machine.copies.resize(1);
  machine.copies[0].rate.points = {{1, kUnlimitedRate}};
  machine.adds = machine.copies;
  machine.preferred_segment_bytes = kSegment;
  return machine;
}

// A message takes its time, whatever its length; messages of one rank do so one after the other.
MachineDescription OnlyMessages() {
  MachineDescription machine = Ideal();
  machine.between_hosts.message_us = kMessageUs;
  return machine;
}

MachineDescription OnlyCopies() {
  MachineDescription machine = Ideal();
  machine.copies[0].rate.points = {{1, 1 / kCopyUs}};
  machine.adds[0].rate.points = {{1, 1 / (2 * kCopyUs)}};
  return machine;
}

// The operations that both ranks start at one moment.
struct Program {
  std::function<void(Window*)> of_0;
  std::function<void(Window*)> of_1;
};

// Until both have done it, the second time: layouts are known then.
double MicrosecondsOf(const MachineDescription& machine, const Program& program) {
  WindowSetup setup;
  setup.transport = WindowSetup::Transport::kSim;
  setup.machine = machine;
  double took = 0;
  OnWindowRanks(setup, 2, [&](WindowRank& self) {
    const std::unique_ptr<Window> window = self.Make(8 * kSegment);
    Require(window->LockAllUnchecked());
    for (const bool counts : {false, true}) {
      // A gather takes no time, and ends at one time on all.
      int both[2] = {};
      Require(self.MakeBootstrap()->AllGather(&both[self.rank()], sizeof(int), both));
      const double begin = self.Clock();
      (self.rank() == 0 ? program.of_0 : program.of_1)(window.get());
      if (counts) took = std::max(took, self.Clock() - begin);
    }
    Require(window->UnlockAll());
    Require(window->Free());
  });
  return took;
}

std::vector<std::byte>& Memory() {
  static std::vector<std::byte> memory(8 * kSegment);
  return memory;
}
OriginData Here(int64_t bytes) {
  return {Memory().data(), TypedLayout::Run(Element::kByte, bytes), 1};
}
TargetData There(int64_t bytes) { return {1, 0, TypedLayout::Run(Element::kByte, bytes), 1}; }
TargetData ScatteredThere(int64_t bytes) {
  TypedLayout layout;
  Require(TypedLayout::Repeat(bytes / 8, 16, TypedLayout::Run(Element::kByte, 8), &layout));
  return {1, 0, layout, 1};
}

Program PutAndNotify(int64_t bytes) {
  return {[=](Window* window) { Require(window->PutNotify(Here(bytes), There(bytes))); },
          [](Window* window) { Require(window->NotifyWait(0)); }};
}
Program Get(int64_t bytes) {
  return {[=](Window* window) {
            std::atomic<bool> over{false};
            Require(window->Get(Here(bytes), There(bytes), &over));
            Require(window->WaitFor(over));
            Require(window->PutNotify(Here(0), There(0)));
          },
          [](Window* window) { Require(window->NotifyWait(0)); }};
}

TEST(WindowCosts, MessagesOfAPut) {
  // The notification of nothing is a frame.
  EXPECT_DOUBLE_EQ(MicrosecondsOf(OnlyMessages(), PutAndNotify(0)), kMessageUs);
  // The data are in the frame, and that it notifies.
  EXPECT_DOUBLE_EQ(MicrosecondsOf(OnlyMessages(), PutAndNotify(16)), kMessageUs);
  // For each segment a frame and the segment itself. The first frame says what is put.
  EXPECT_DOUBLE_EQ(MicrosecondsOf(OnlyMessages(), PutAndNotify(17)), 2 * kMessageUs);
  EXPECT_DOUBLE_EQ(MicrosecondsOf(OnlyMessages(), PutAndNotify(kSegment)), 2 * kMessageUs);
  EXPECT_DOUBLE_EQ(MicrosecondsOf(OnlyMessages(), PutAndNotify(3 * kSegment)), 6 * kMessageUs);
}

TEST(WindowCosts, MessagesOfAGet) {
  // There and back, and the notification that ends the program.
  EXPECT_DOUBLE_EQ(MicrosecondsOf(OnlyMessages(), Get(16)), 3 * kMessageUs);
  EXPECT_DOUBLE_EQ(MicrosecondsOf(OnlyMessages(), Get(kSegment)), 4 * kMessageUs);
  EXPECT_DOUBLE_EQ(MicrosecondsOf(OnlyMessages(), Get(3 * kSegment)), 8 * kMessageUs);
}

TEST(WindowCosts, ALongSegmentWaitsForItsPlaceAndForNoCall) {
  MachineDescription machine = OnlyMessages();
  machine.between_hosts.eager_bytes = 100;
  machine.between_hosts.grant_us = 25;
  // The place is known once the frame has come.
  EXPECT_DOUBLE_EQ(MicrosecondsOf(machine, PutAndNotify(kSegment)), 2 * kMessageUs + 25);
}

TEST(WindowCosts, CopiesOfAPut) {
  // Into staging memory, and where it lands there is its place.
  EXPECT_DOUBLE_EQ(MicrosecondsOf(OnlyCopies(), PutAndNotify(16)), 0);
  EXPECT_DOUBLE_EQ(MicrosecondsOf(OnlyCopies(), PutAndNotify(kSegment)), kSegment * kCopyUs);
  MachineDescription machine = OnlyCopies();
  machine.needs_staging = true;
  EXPECT_DOUBLE_EQ(MicrosecondsOf(machine, PutAndNotify(kSegment)), 2 * kSegment * kCopyUs);
  // The target copies a segment while the origin copies the next.
  EXPECT_DOUBLE_EQ(MicrosecondsOf(machine, PutAndNotify(3 * kSegment)), 4 * kSegment * kCopyUs);
}

TEST(WindowCosts, MessagesOfAFence) {
  WindowSetup setup;
  setup.transport = WindowSetup::Transport::kSim;
  setup.machine = OnlyMessages();
  const auto microseconds_of = [&](const FencePromise& promise) {
    double took = 0;
    OnWindowRanks(setup, 2, [&](WindowRank& self) {
      const std::unique_ptr<Window> window = self.Make(8);
      int both[2] = {};
      Require(self.MakeBootstrap()->AllGather(&both[self.rank()], sizeof(int), both));
      const double begin = self.Clock();
      Require(window->Fence(promise));
      took = std::max(took, self.Clock() - begin);
      Require(window->Free());
    });
    return took;
  };
  const double barrier_us = microseconds_of({/*nothing_precedes=*/true, false});
  const double sum_us = microseconds_of({});
  EXPECT_DOUBLE_EQ(sum_us, kMessageUs);
  EXPECT_DOUBLE_EQ(microseconds_of({false, /*nothing_succeeds=*/true}), sum_us + barrier_us);
}

// Returns the time of the work of all ranks between two fences, the second included.
double MicrosecondsOfEpoch(const MachineDescription& machine, int ranks,
                           const std::function<void(int rank, Window*)>& puts) {
  WindowSetup setup;
  setup.transport = WindowSetup::Transport::kSim;
  setup.machine = machine;
  double took = 0;
  OnWindowRanks(setup, ranks, [&](WindowRank& self) {
    const std::unique_ptr<Window> window = self.Make(8 * kSegment);
    Require(window->Fence());
    std::vector<int> all(static_cast<size_t>(ranks));
    Require(self.MakeBootstrap()->AllGather(&ranks, sizeof(int), all.data()));
    const double begin = self.Clock();
    puts(self.rank(), window.get());
    Require(window->Fence());
    took = std::max(took, self.Clock() - begin);
    Require(window->Free());
  });
  return took;
}

// A rank waits for one message of each peer: a put, or the notice that there is none.
TEST(WindowCosts, AFenceOfFewIsOneRound) {
  MachineDescription machine = Ideal();
  machine.between_hosts.latency_us = kMessageUs;
  const auto microseconds_of = [&](int ranks, bool puts) {
    return MicrosecondsOfEpoch(machine, ranks, [=](int rank, Window* window) {
      for (int r = 0; r < ranks && puts; ++r) {
        TargetData there = There(kSegment);
        there.rank = r;
        if (r != rank) Require(window->Put(Here(kSegment), there));
      }
    });
  };
  for (const bool puts : {false, true}) {
    EXPECT_DOUBLE_EQ(microseconds_of(2, puts), kMessageUs);
    EXPECT_DOUBLE_EQ(microseconds_of(8, puts), kMessageUs);
    EXPECT_GT(microseconds_of(9, puts), kMessageUs);
  }
}

// A short put before a fence that the caller has announced, and the frame of the fence, are one
// packet.
TEST(WindowCosts, AShortPutLeavesWithTheFenceBehindIt) {
  MachineDescription machine = OnlyMessages();
  machine.between_hosts.joins_control = true;
  const auto microseconds_of = [&](int64_t bytes, bool fence_follows) {
    return MicrosecondsOfEpoch(machine, 2, [=](int rank, Window* window) {
      if (rank != 0) return;
      std::atomic<bool> over{false};
      Require(window->Put(Here(bytes), There(bytes), &over, fence_follows));
      Require(window->WaitFor(over));  // its memory is the caller's, whether it is sent or not
    });
  };
  for (const int64_t bytes : {int64_t{16}, int64_t{17}, kSegment}) {
    EXPECT_DOUBLE_EQ(microseconds_of(bytes, /*fence_follows=*/true), kMessageUs) << bytes;
    EXPECT_DOUBLE_EQ(microseconds_of(bytes, /*fence_follows=*/false), 2 * kMessageUs) << bytes;
  }
  // The bytes beyond the first segment are sent meanwhile.
  EXPECT_DOUBLE_EQ(microseconds_of(3 * kSegment, /*fence_follows=*/true), 3 * kMessageUs);
}

// Puts that are their frames, a packet of so many at a time; and in it what ends their epoch.
TEST(WindowCosts, ShortPutsLeaveTogether) {
  constexpr int kTogether = static_cast<int>(rules::kMostHeldRequests) + 1;
  MachineDescription machine = OnlyMessages();
  machine.between_hosts.joins_control = true;
  const auto microseconds_of = [&](int puts) {
    return MicrosecondsOfEpoch(machine, 2, [=](int rank, Window* window) {
      for (int put = 0; rank == 0 && put < puts; ++put) {
        Require(window->Put(Here(8), There(8), /*over=*/nullptr, /*fence_follows=*/true));
      }
    });
  };
  EXPECT_DOUBLE_EQ(microseconds_of(kTogether - 1), kMessageUs);
  EXPECT_DOUBLE_EQ(microseconds_of(kTogether), 2 * kMessageUs);
  EXPECT_DOUBLE_EQ(microseconds_of(5 * kTogether + 1), 6 * kMessageUs);
}

TEST(WindowCosts, RunsAreAsFastAsTheyAreLong) {
  MachineDescription machine = OnlyCopies();
  machine.copies[0].rate.points = {{8, 0.5}, {static_cast<double>(kSegment), 1}};
  const Program program = {
      [](Window* window) { Require(window->PutNotify(Here(kSegment), ScatteredThere(kSegment))); },
      [](Window* window) { Require(window->NotifyWait(0)); }};
  EXPECT_DOUBLE_EQ(MicrosecondsOf(machine, program), kSegment + 2 * kSegment);
}

TEST(WindowCosts, AddsOfAnAccumulate) {
  const Program program = {
      [](Window* window) {
        Require(window->Accumulate(CombineOp::kBitXor, Here(kSegment), There(kSegment)));
        Require(window->PutNotify(Here(0), There(0)));
      },
      [](Window* window) { Require(window->NotifyWait(0)); }};
  EXPECT_DOUBLE_EQ(MicrosecondsOf(OnlyCopies(), program), 3 * kSegment * kCopyUs);
}

TEST(WindowCosts, CopiesOfAGet) {
  EXPECT_DOUBLE_EQ(MicrosecondsOf(OnlyCopies(), Get(kSegment)), kSegment * kCopyUs);
  MachineDescription machine = OnlyCopies();
  machine.needs_staging = true;
  EXPECT_DOUBLE_EQ(MicrosecondsOf(machine, Get(kSegment)), 2 * kSegment * kCopyUs);
}

// Nor does what gives it back.
TEST(WindowCosts, AFreeLockLooksAtNoClock) {
  WindowSetup setup;
  setup.transport = WindowSetup::Transport::kShm;
  setup.goes_directly = [](int) { return true; };
  setup.kind = WindowMemory::kShared;
  OnWindowRanks(setup, 2, [&](WindowRank& self) {
    const std::unique_ptr<Window> window = self.Make(kSegment);
    self.Meet();
    const int before = looks_at_clock;
    for (int i = 0; i < 100 && self.rank() == 0; ++i) {
      Require(window->Lock(LockKind::kExclusive, 1));
      Require(window->Put(Here(8), There(8)));
      Require(window->Unlock(1));
    }
    EXPECT_EQ(looks_at_clock, before);
    Require(window->Free());
  });
}

// Whether it is a store or a frame. The first ones make what later ones use again.
TEST(WindowCosts, AShortPutAllocatesNothing) {
  for (const bool goes_directly : {false, true}) {
    WindowSetup setup;
    setup.transport = WindowSetup::Transport::kShm;
    setup.goes_directly = [=](int) { return goes_directly; };
    setup.kind = goes_directly ? WindowMemory::kShared : WindowMemory::kPrivate;
    OnWindowRanks(setup, 2, [&](WindowRank& self) {
      const std::unique_ptr<Window> window = self.Make(kSegment);
      Require(window->LockAllUnchecked());
      const int other = 1 - self.rank();
      const OriginData here = Here(8);
      TargetData there = There(8);
      there.rank = other;
      for (int i = 0; i < 100; ++i) {
        if (self.rank() == 1) Require(window->NotifyWait(other));
        const int before = allocations;
        Require(window->PutNotify(here, there));
        if (i >= 10) {
          EXPECT_EQ(allocations, before) << goes_directly;
        }
        if (self.rank() == 0) Require(window->NotifyWait(other));
      }
      Require(window->UnlockAll());
      Require(window->Free());
    });
  }
}

// In real time. A rank that waits for a write of another rank polls for a while before it sleeps,
// if it has a processor of its own: the wake-up from a nap takes longer than most waits.
TEST(WindowCosts, AShortWaitTakesNoNap) {
  if (std::thread::hardware_concurrency() < 2) GTEST_SKIP() << "one processor";
  constexpr int kRounds = 100;
  WindowSetup setup;
  setup.transport = WindowSetup::Transport::kShm;
  setup.goes_directly = [](int) { return true; };
  setup.kind = WindowMemory::kShared;
  long fewest = 1000;  // in a round; a machine that is busy makes others longer
  OnWindowRanks(setup, 2, [&](WindowRank& self) {
    const std::unique_ptr<Window> window = self.Make(kSegment);
    Require(window->LockAllUnchecked());
    for (int i = 0; i < kRounds; ++i) {
      int both[2] = {};
      Require(self.MakeBootstrap()->AllGather(&both[self.rank()], sizeof(int), both));
      if (self.rank() == 1) {
        rusage before{}, after{};
        getrusage(RUSAGE_THREAD, &before);
        const auto begin = std::chrono::steady_clock::now();
        Require(window->NotifyWait(0));
        const auto waited = std::chrono::steady_clock::now() - begin;
        getrusage(RUSAGE_THREAD, &after);
        if (waited < std::chrono::microseconds(500)) continue;  // this rank came late
        fewest = std::min(fewest, after.ru_nvcsw - before.ru_nvcsw);
      } else {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        Require(window->PutNotify(Here(0), There(0)));
      }
    }
    Require(window->UnlockAll());
    Require(window->Free());
  });
  EXPECT_LE(fewest, 1);
}

}  // namespace
}  // namespace brigade
