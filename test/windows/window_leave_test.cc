// Windows that ranks leave without a wait, and calls that look while they wait.

#include <atomic>
#include <chrono>
#include <climits>
#include <cstdint>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "patterns/engine/pattern_call.h"
#include "test/support/endpoints/forwarding_endpoint.h"
#include "test/windows/window_ranks.h"
#include "windows/core/window.h"

namespace brigade {
namespace {

void Expect(bool is_so, const std::string& what) {
  if (!is_so) throw std::runtime_error("not so: " + what);
}

class Leaving : public testing::TestWithParam<WindowSetup> {};

// Returns the value in the window of rank `target`.
int64_t Read(Window* window, int target) {
  int64_t value = -1;
  std::atomic<bool> over{false};
  const TypedLayout& one = TypedLayout::One(Element::kInt64);
  Require(window->Get({reinterpret_cast<std::byte*>(&value), one, 1}, {target, 0, one, 1}, &over));
  Require(window->WaitFor(over));
  return value;
}

// `last` leaves when all others have left, whose memory it still reads.
void LeaveBefore(WindowRank* self, int last) {
  std::unique_ptr<Window> window = self->Make(sizeof(int64_t));
  const int64_t mine = self->rank();
  std::memcpy(window->base(), &mine, sizeof(mine));
  Require(window->Fence());
  if (self->rank() != last) Require(window->Leave());
  self->Meet();
  for (int r = 0; self->rank() == last && r < self->size(); ++r) {
    Expect(Read(window.get(), r) == r, "a window that was left is read");
  }
  if (self->rank() != last) Expect(!window->HasEnded(), "one has not left");
  self->Meet();
  if (self->rank() == last) Require(window->Leave());
  while (!window->HasEnded()) std::this_thread::yield();
  Require(window->failure());
  window.reset();
  self->Meet();
}

TEST_P(Leaving, AWindowEndsWhenAllHaveLeft) {
  // A rank has up to eight others below it.
  for (const int ranks : {1, 3, 12}) {
    OnWindowRanks(GetParam(), ranks, [&](WindowRank& self) {
      LeaveBefore(&self, self.size() - 1);
      LeaveBefore(&self, 0);
    });
  }
}

TEST_P(Leaving, LocksAreGivenBackBefore) {
  OnWindowRanks(GetParam(), 2, [&](WindowRank& self) {
    const std::unique_ptr<Window> window = self.Make(8);
    Require(window->LockAll());
    Expect(window->Leave().code() == StatusCode::kInvalidArgument, "holds its locks");
    Require(window->UnlockAll());
    Require(window->Free());
  });
}

// As at the end of a process, before all other ranks have reached their end.
TEST_P(Leaving, AnAbandonedWindowSendsNothing) {
  OnWindowRanks(GetParam(), 3, [&](WindowRank& self) {
    std::unique_ptr<Window> window = self.Make(8);
    self.Meet();
    if (self.rank() == 0) Require(window->Leave());
    if (self.rank() == 1) window->Abandon();
    if (self.rank() < 2) window.reset();
    self.Meet();
    if (self.rank() == 2) {
      Require(window->Progress());
      Require(window->failure());
      window->Abandon();
      window.reset();
    }
    self.Meet();
  });
}

// Ends this rank's part of a window that others still use, as the end of a process does.
void LeaveAndGo(WindowRank* self, std::unique_ptr<Window> window) {
  Require(window->Leave());
  self->SendAll();
  window->Abandon();
}

// Blocks until this rank knows that rank `gone` is gone.
void AwaitLoss(WindowRank* self, int gone) {
  PatternCall receive;
  receive.pattern = Pattern::kReceive;
  receive.root = gone;
  Expect(self->group()->Run(receive).code() == StatusCode::kPeerLost, "a rank is gone");
}

// Along the tree in which they are counted, `gone` is above the others, or below one of them.
TEST_P(Leaving, NeedsNoRankThatIsGone) {
  for (const int gone : {0, 1}) {
    OnWindowRanks(
        GetParam(), 3,
        [&](WindowRank& self) {
          std::unique_ptr<Window> window = self.Make(8);
          if (self.rank() == gone) return LeaveAndGo(&self, std::move(window));
          AwaitLoss(&self, gone);
          Require(window->Leave());
          while (gone != 0 && !window->HasEnded()) std::this_thread::yield();
          Require(window->failure());
          if (gone == 0) window->Abandon();  // no rank counts those that have left
        },
        /*leave_together=*/false);
  }
}

// Its owner makes no progress while it is held.
class HeldEndpoint final : public ForwardingEndpoint {
 public:
  using ForwardingEndpoint::ForwardingEndpoint;
  bool Progress() override {
    while (is_held) {
      waits = true;
      std::this_thread::yield();
    }
    return ForwardingEndpoint::Progress();
  }
  uint64_t PollsAwake() const override { return 0; }
  bool AllowsProgressThread() const override { return false; }

  std::atomic<bool> is_held{false};
  std::atomic<bool> waits{false};
};

// The messages of rank 2's last call have come before rank 0 is gone. The next call needs rank 0.
TEST_P(Leaving, DoesNotFailCallsThatDoNotNeedTheRank) {
  WindowSetup setup = GetParam();
  if (setup.transport != WindowSetup::Transport::kShm) GTEST_SKIP() << "ranks forward messages";
  std::atomic<HeldEndpoint*> late{nullptr};
  setup.wrap = [&](int rank, std::unique_ptr<Endpoint> endpoint) -> std::unique_ptr<Endpoint> {
    if (rank != 2) return endpoint;
    auto held = std::make_unique<HeldEndpoint>(std::move(endpoint));
    late = held.get();
    return held;
  };
  OnWindowRanks(
      setup, 3,
      [&](WindowRank& self) {
        std::unique_ptr<Window> window = self.Make(8);
        const char mine = static_cast<char>('a' + self.rank());
        std::string all(3, ' ');
        if (self.rank() == 2) late.load()->is_held = true;
        while (!late.load()->waits && self.rank() != 2) std::this_thread::yield();
        Require(window->AllGather(&mine, 1, all.data()));
        Expect(all == "abc", "all have sent");
        if (self.rank() == 0) return LeaveAndGo(&self, std::move(window));
        if (self.rank() == 1) {
          AwaitLoss(&self, 0);
          const Status left = window->Leave();
          late.load()->is_held = false;
          Require(left);
        } else {
          const Status status = window->AllGather(&mine, 1, all.data());
          Expect(status.code() == StatusCode::kPeerLost,
                 "a rank is gone, not " + status.ToString());
          Expect(status.message().find("is gone") != std::string::npos, status.message());
        }
        window->Abandon();
      },
      /*leave_together=*/false);
}

TEST_P(Leaving, AFailedLookBreaksTheWindow) {
  OnWindowRanks(GetParam(), 3, [&](WindowRank& self) {
    const std::unique_ptr<Window> window = self.Make(8);
    const char mine = 'a';
    std::vector<char> all(3);
    int looks = 0;
    int looks_that_succeed = INT_MAX;
    const auto look = [&] {
      return ++looks <= looks_that_succeed ? Status() : Status(StatusCode::kMismatch, "late");
    };
    using Clock = std::chrono::steady_clock;
    const Clock::time_point start = Clock::now();
    Require(window->AllGather(&mine, 1, all.data(), look));
    Expect(std::chrono::seconds(looks) <= Clock::now() - start, "not before a rank is late");
    Expect(all[2] == 'a', "all are gathered");
    looks = 0;
    looks_that_succeed = 1;
    if (self.rank() == 0) {
      const Status status = window->AllGather(&mine, 1, all.data(), look);
      Expect(status.code() == StatusCode::kMismatch && looks == 2, status.ToString());
    }
    while (window->failure().ok()) (void)window->Progress();
    const Status failure = window->failure();
    Expect(failure.message().find("late") != std::string::npos, failure.ToString());
  });
}

INSTANTIATE_TEST_SUITE_P(All, Leaving, testing::ValuesIn(WindowSetups()),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace brigade
