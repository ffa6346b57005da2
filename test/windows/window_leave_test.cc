// Windows that ranks leave without a wait, and calls that look while they wait.

#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "test/windows/window_ranks.h"
#include "windows/core/window.h"

namespace brigade {
namespace {

void Expect(bool is_so, const std::string& what) {
  if (!is_so) throw std::runtime_error("not so: " + what);
}

class Leaving : public testing::TestWithParam<WindowWay> {};

// What rank `target` has in its window.
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
    Expect(window->Leave().code() == StatusCode::kInvalidArgument, "locks are held");
    Require(window->UnlockAll());
    Require(window->Free());
  });
}

// As at the end of a process, whose ranks are not all so far.
TEST_P(Leaving, AbandonedWindowsTellNobody) {
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

TEST_P(Leaving, AFailedLookBreaksTheWindow) {
  OnWindowRanks(GetParam(), 3, [&](WindowRank& self) {
    const std::unique_ptr<Window> window = self.Make(8);
    const char mine = 'a';
    std::vector<char> all(3);
    int looks = 0;
    const auto look = [&] {
      return ++looks < 2 ? Status() : Status(StatusCode::kMismatch, "late");
    };
    Require(window->AllGather(&mine, 1, all.data(), look));
    Expect(looks == 0 && all[2] == 'a', "nobody was late");
    if (self.rank() == 0) {
      const Status status = window->AllGather(&mine, 1, all.data(), look);
      Expect(status.code() == StatusCode::kMismatch && looks == 2, status.ToString());
    }
    while (window->failure().ok()) (void)window->Progress();
    const Status failure = window->failure();
    Expect(failure.message().find("late") != std::string::npos, failure.ToString());
  });
}

INSTANTIATE_TEST_SUITE_P(All, Leaving, testing::ValuesIn(WindowWays()),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace brigade
