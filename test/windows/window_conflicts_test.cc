// The checking mode of windows: what must not meet is found and named, whatever the ranks are fast,
// and nothing else is.

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "membuf/status.h"
#include "test/windows/window_ranks.h"
#include "windows/core/window.h"

namespace brigade {
namespace {

constexpr int kRanks = 4;
constexpr int64_t kBytes = 4096;  // of each member

void Expect(bool yes, const std::string& what) {
  if (!yes) throw std::runtime_error(what);
}

// Operations of one rank on some bytes of the memory of rank 0. Long enough for segments.
class Operations {
 public:
  explicit Operations(Window* window) : window_(*window) {}

  Status Put(int64_t offset, int64_t bytes = 8, std::atomic<bool>* over = nullptr) {
    return window_.Put(Bytes(bytes), At(offset, bytes), over);
  }
  Status Get(int64_t offset, int64_t bytes = 8, std::atomic<bool>* over = nullptr) {
    return window_.Get({result_.data(), TypedLayout::Run(Element::kByte, bytes), 1},
                       At(offset, bytes), over);
  }
  Status PutNotify(int64_t offset, int64_t bytes = 8) {
    return window_.PutNotify(Bytes(bytes), At(offset, bytes));
  }
  Status Add(int64_t offset, Element element = Element::kInt64, CombineOp op = CombineOp::kSum) {
    return window_.Accumulate(op, Eight(element), {0, offset, TypedLayout::Run(element, 1), 1});
  }
  Status Fetch(int64_t offset, CombineOp op = CombineOp::kSum) {
    return window_.FetchAndOp(op, Element::kInt64, memory_.data(), result_.data(), 0, offset);
  }
  Status Swap(int64_t offset) {
    return window_.CompareAndSwap(Element::kInt64, memory_.data(), memory_.data(), result_.data(),
                                  0, offset);
  }
  // All earlier requests have come to rank 0, which no rank need know.
  Status Arrive() {
    std::atomic<bool> over{false};
    BRIGADE_RETURN_IF_ERROR(Get(kBytes - 8, 8, &over));
    return window_.WaitFor(over);
  }

 private:
  OriginData Bytes(int64_t bytes) {
    return {memory_.data(), TypedLayout::Run(Element::kByte, bytes), 1};
  }
  OriginData Eight(Element element) { return {memory_.data(), TypedLayout::Run(element, 1), 1}; }
  static TargetData At(int64_t offset, int64_t bytes) {
    return {0, offset, TypedLayout::Run(Element::kByte, bytes), 1};
  }

  Window& window_;
  std::array<std::byte, kBytes> memory_{};
  std::array<std::byte, kBytes> result_{};
};

using Operation = std::function<Status(Operations&)>;

struct Meeting {
  Operation of_1;
  Operation of_2;
  std::string bytes;
  std::string kind_1;
  std::string kind_2;
};

std::vector<Meeting> Meetings() {
  const auto name = [](CombineOp op, Element element) {
    return std::string("(") + CombineOpName(op) + " of " + ElementName(element) + ") of rank ";
  };
  const std::string sum = name(CombineOp::kSum, Element::kInt64);
  return {
      {[](Operations& o) { return o.Put(8, 16); }, [](Operations& o) { return o.Put(16, 16); },
       "16 to 23", "a put of rank ", "a put of rank "},
      {[](Operations& o) { return o.Put(0, 3000); }, [](Operations& o) { return o.Get(2000, 100); },
       "2000 to 2099", "a put of rank ", "a get of rank "},
      {[](Operations& o) { return o.Add(64); }, [](Operations& o) { return o.Put(64); }, "64 to 71",
       "an accumulate " + sum, "a put of rank "},
      {[](Operations& o) { return o.Get(0, 2000); }, [](Operations& o) { return o.Add(64); },
       "64 to 71", "a get of rank ", "an accumulate " + sum},
      {[](Operations& o) { return o.Fetch(64); }, [](Operations& o) { return o.Put(68, 4); },
       "68 to 71", "a fetch " + sum, "a put of rank "},
      {[](Operations& o) { return o.Add(64); },
       [](Operations& o) { return o.Add(64, Element::kInt64, CombineOp::kMax); }, "64 to 71",
       "an accumulate " + sum, "an accumulate " + name(CombineOp::kMax, Element::kInt64)},
      {[](Operations& o) { return o.Add(64); },
       [](Operations& o) { return o.Add(64, Element::kDouble); }, "64 to 71",
       "an accumulate " + sum, "an accumulate " + name(CombineOp::kSum, Element::kDouble)},
      {[](Operations& o) { return o.Swap(64); }, [](Operations& o) { return o.Get(64); },
       "64 to 71",
       std::string("a compare-and-swap (of ") + ElementName(Element::kInt64) + ") of rank ",
       "a get of rank "},
  };
}

std::vector<WindowSetup> CheckedSetups() {
  std::vector<WindowSetup> setups;
  for (WindowSetup& setup : WindowSetups()) {
    if (setup.name == "messages_over_tcp" || setup.name == "both_at_once") continue;
    setup.is_checked = [](int rank) { return rank == 2; };  // which suffices
    setups.push_back(setup);
  }
  return setups;
}

class WindowConflicts : public testing::TestWithParam<WindowSetup> {
 protected:
  using Body = std::function<Status(WindowRank&, Window*)>;

  // The window is broken on all ranks; who finds it names both operations.
  static void ExpectFound(const Body& body, const std::string& bytes, const std::string& one,
                          const std::string& other) {
    OnWindowRanks(GetParam(), kRanks, [&](WindowRank& self) {
      const std::unique_ptr<Window> window = self.Make(kBytes);
      Status status = body(self, window.get());
      if (status.ok()) status = window->Fence();
      Expect(status.code() == StatusCode::kMismatch, "found: " + status.ToString());
      for (const std::string& part :
           {"the window of rank 0, bytes " + bytes + ":", one, other, std::string(" is over")}) {
        Expect(status.message().find(part) != std::string::npos,
               status.message() + " names " + part);
      }
    });
  }
  static void ExpectNothing(const Body& body) {
    OnWindowRanks(GetParam(), kRanks, [&](WindowRank& self) {
      const std::unique_ptr<Window> window = self.Make(kBytes);
      Require(body(self, window.get()));
      Require(window->Free());
    });
  }
};

TEST_P(WindowConflicts, BetweenFences) {
  for (const Meeting& meeting : Meetings()) {
    SCOPED_TRACE(meeting.kind_1 + meeting.kind_2);
    ExpectFound(
        [&](WindowRank& self, Window* window) {
          Operations mine(window);
          BRIGADE_RETURN_IF_ERROR(window->Fence());
          if (self.rank() == 1) BRIGADE_RETURN_IF_ERROR(meeting.of_1(mine));
          if (self.rank() == 2) BRIGADE_RETURN_IF_ERROR(meeting.of_2(mine));
          return window->Fence();
        },
        meeting.bytes, meeting.kind_1 + "1", meeting.kind_2 + "2");
  }
}

// The first is complete for its origin, and yet nobody may take it for done.
TEST_P(WindowConflicts, BetweenPostAndWait) {
  for (const Meeting& meeting : Meetings()) {
    SCOPED_TRACE(meeting.kind_1 + meeting.kind_2);
    ExpectFound(
        [&](WindowRank& self, Window* window) {
          Operations mine(window);
          if (self.rank() == 0) {
            BRIGADE_RETURN_IF_ERROR(window->Post({1, 2}));
            self.Meet();
            return window->Wait();
          }
          if (self.rank() == 1) {
            BRIGADE_RETURN_IF_ERROR(window->Start({0}));
            BRIGADE_RETURN_IF_ERROR(meeting.of_1(mine));
            BRIGADE_RETURN_IF_ERROR(window->Complete());
          }
          self.Meet();
          if (self.rank() != 2) return Status();
          BRIGADE_RETURN_IF_ERROR(window->Start({0}));
          BRIGADE_RETURN_IF_ERROR(meeting.of_2(mine));
          return window->Complete();
        },
        meeting.bytes, meeting.kind_1 + "1", meeting.kind_2 + "2");
  }
}

TEST_P(WindowConflicts, WhileALockIsShared) {
  for (const Meeting& meeting : Meetings()) {
    SCOPED_TRACE(meeting.kind_1 + meeting.kind_2);
    for (const bool is_checked : {true, false}) {  // the locks
      ExpectFound(
          [&](WindowRank& self, Window* window) {
            Operations mine(window);
            if (self.rank() == 1 || self.rank() == 2) {
              BRIGADE_RETURN_IF_ERROR(is_checked ? window->Lock(LockKind::kShared, 0)
                                                 : window->LockAllUnchecked());
            }
            if (self.rank() == 1) {
              BRIGADE_RETURN_IF_ERROR(meeting.of_1(mine));
              BRIGADE_RETURN_IF_ERROR(mine.Arrive());
            }
            self.Meet();
            Status status;
            if (self.rank() == 2) {
              status = meeting.of_2(mine);
              if (status.ok()) status = window->Flush(0);
            }
            self.Meet();
            if (self.rank() == 1) status = window->Flush(0);
            return status;
          },
          meeting.bytes, meeting.kind_1 + "1", meeting.kind_2 + "2");
    }
  }
}

TEST_P(WindowConflicts, OfOneOrigin) {
  for (const bool gets : {false, true}) {
    for (const int origin : {0, 1}) {  // the target itself is one, too
      const std::string of = " of rank " + std::to_string(origin);
      ExpectFound(
          [&](WindowRank& self, Window* window) {
            Operations mine(window);
            BRIGADE_RETURN_IF_ERROR(window->LockAll());
            Status status;
            if (self.rank() == origin) {
              status = gets ? mine.Get(8) : mine.Put(8);
              if (status.ok()) status = mine.Put(12, 40);
            }
            if (status.ok()) status = window->UnlockAll();
            return status;
          },
          "12 to 15", (gets ? "a get" : "a put") + of, "a put" + of);
    }
  }
}

TEST_P(WindowConflicts, WithTheTargetsOwn) {
  ExpectFound(
      [&](WindowRank& self, Window* window) {
        Operations mine(window);
        BRIGADE_RETURN_IF_ERROR(window->Fence());
        if (self.rank() == 0) BRIGADE_RETURN_IF_ERROR(mine.Fetch(16));
        if (self.rank() == 3) BRIGADE_RETURN_IF_ERROR(mine.Put(0, 20));
        return window->Fence();
      },
      "16 to 19", "of rank 0", "a put of rank 3");
}

TEST_P(WindowConflicts, WriteNothing) {
  OnWindowRanks(GetParam(), kRanks, [](WindowRank& self) {
    std::vector<std::byte> memory(kBytes);
    const std::unique_ptr<Window> window = self.MakeOf(memory.data(), memory.size());
    Operations mine(window.get());
    const std::vector<std::byte> ones(2000, std::byte{1});
    Require(window->Fence());
    Status status;
    if (self.rank() == 1) {
      status = mine.Get(1000, 1000);
      if (status.ok()) status = mine.Arrive();
    }
    self.Meet();
    if (self.rank() == 2) {
      status = window->Put(
          {const_cast<std::byte*>(ones.data()), TypedLayout::Run(Element::kByte, 2000), 1},
          {0, 0, TypedLayout::Run(Element::kByte, 2000), 1});
    }
    if (status.ok()) status = window->Fence();
    Expect(status.code() == StatusCode::kMismatch, "found: " + status.ToString());
    Expect(memory == std::vector<std::byte>(kBytes), "the memory of a rank has changed");
  });
}

TEST_P(WindowConflicts, OfPutsWithNotification) {
  ExpectFound(
      [&](WindowRank& self, Window* window) {
        Operations mine(window);
        BRIGADE_RETURN_IF_ERROR(window->Fence());
        if (self.rank() == 1) {
          BRIGADE_RETURN_IF_ERROR(mine.Get(0, 1000));
          BRIGADE_RETURN_IF_ERROR(mine.Arrive());
        }
        self.Meet();
        Status status;
        if (self.rank() == 2) status = mine.PutNotify(992, 100);
        self.Meet();
        return status.ok() ? window->Fence() : status;
      },
      "992 to 999", "a get of rank 1", "a put of rank 2");
}

TEST_P(WindowConflicts, RunsOfOneLayoutMeet) {
  ExpectFound(
      [&](WindowRank& self, Window* window) {
        std::array<std::byte, 64> data{};
        TypedLayout runs;
        Require(TypedLayout::Repeat(8, 64, TypedLayout::Run(Element::kByte, 8), &runs));
        const OriginData here{data.data(), TypedLayout::Run(Element::kByte, 64), 1};
        BRIGADE_RETURN_IF_ERROR(window->Fence());
        // Rank 1 between those of rank 3, rank 2 on the last one of these.
        const int64_t places[] = {0, 8, 64 * 7 - 4, 0};
        if (self.rank() != 0) {
          BRIGADE_RETURN_IF_ERROR(window->Put(here, {0, places[self.rank()], runs, 1}));
        }
        return window->Fence();
      },
      "448 to 451", "of rank 2", "a put of rank 3");
}

// --- what is legal ---

TEST_P(WindowConflicts, AreNotBetweenOperationsThatMayMeet) {
  ExpectNothing([](WindowRank& self, Window* window) {
    Operations mine(window);
    for (int i = 0; i < 10; ++i) {
      BRIGADE_RETURN_IF_ERROR(window->Fence());
      BRIGADE_RETURN_IF_ERROR(mine.Put(100 * self.rank() + i, 100 - 2 * i));
      BRIGADE_RETURN_IF_ERROR(mine.Get(1000, 2000));
      BRIGADE_RETURN_IF_ERROR(mine.Fetch(1000, CombineOp::kNoOp));
      BRIGADE_RETURN_IF_ERROR(mine.Add(3000));
      BRIGADE_RETURN_IF_ERROR(mine.Fetch(3000));
      BRIGADE_RETURN_IF_ERROR(mine.Fetch(3000, CombineOp::kNoOp));
      BRIGADE_RETURN_IF_ERROR(mine.Swap(3008));
      BRIGADE_RETURN_IF_ERROR(mine.Fetch(3008, CombineOp::kReplace));
      BRIGADE_RETURN_IF_ERROR(mine.Add(3016 + 8 * self.rank()));
      BRIGADE_RETURN_IF_ERROR(mine.Add(3016 + 8 * self.rank(), Element::kInt64, CombineOp::kMax));
    }
    return window->Fence();
  });
}

TEST_P(WindowConflicts, AreNotBehindAFlush) {
  ExpectNothing([](WindowRank& self, Window* window) {
    Operations mine(window);
    BRIGADE_RETURN_IF_ERROR(window->LockAll());
    for (int turn = 0; turn < 3 * kRanks; ++turn) {
      if (turn % kRanks == self.rank()) {
        BRIGADE_RETURN_IF_ERROR(mine.Put(0, 2000));
        BRIGADE_RETURN_IF_ERROR(window->FlushAll());
        BRIGADE_RETURN_IF_ERROR(mine.Put(8, 1000));
        BRIGADE_RETURN_IF_ERROR(window->Flush(0));
        BRIGADE_RETURN_IF_ERROR(mine.Get(0, 1500));
        BRIGADE_RETURN_IF_ERROR(window->FlushLocal(0));
        // The get is complete and the put is not, but no other access overlaps it.
        BRIGADE_RETURN_IF_ERROR(mine.Put(3000 + 8 * turn));
        BRIGADE_RETURN_IF_ERROR(mine.Get(0, 1500));
        BRIGADE_RETURN_IF_ERROR(window->FlushLocalAll());
        BRIGADE_RETURN_IF_ERROR(mine.Put(0));
        BRIGADE_RETURN_IF_ERROR(window->Flush(0));
        std::atomic<bool> over{false};
        BRIGADE_RETURN_IF_ERROR(mine.Get(0, 1500, &over));
        BRIGADE_RETURN_IF_ERROR(window->WaitFor(over));
      }
      self.Meet();
    }
    return window->UnlockAll();
  });
}

TEST_P(WindowConflicts, AreNotBetweenExclusiveLocks) {
  ExpectNothing([](WindowRank&, Window* window) {
    Operations mine(window);
    for (int i = 0; i < 20; ++i) {
      BRIGADE_RETURN_IF_ERROR(window->Lock(LockKind::kExclusive, 0));
      BRIGADE_RETURN_IF_ERROR(mine.Put(8, 1500));
      BRIGADE_RETURN_IF_ERROR(window->Unlock(0));
    }
    return Status();
  });
}

TEST_P(WindowConflicts, AreNotBehindAnEpoch) {
  ExpectNothing([](WindowRank& self, Window* window) {
    Operations mine(window);
    for (int i = 0; i < 12; ++i) {
      const int origin = i % kRanks;
      if (self.rank() == 0) BRIGADE_RETURN_IF_ERROR(window->Post({origin}));
      if (self.rank() == origin) {
        BRIGADE_RETURN_IF_ERROR(window->Start({0}));
        BRIGADE_RETURN_IF_ERROR(mine.Put(0, 1500));
        BRIGADE_RETURN_IF_ERROR(window->Complete());
      }
      bool over = false;
      while (self.rank() == 0 && !over) BRIGADE_RETURN_IF_ERROR(window->Test(&over));
    }
    BRIGADE_RETURN_IF_ERROR(window->Fence());
    for (int origin = 0; origin < kRanks; ++origin) {
      if (self.rank() == origin) BRIGADE_RETURN_IF_ERROR(mine.Put(0, 1500));
      BRIGADE_RETURN_IF_ERROR(window->Fence());
    }
    return Status();
  });
}

TEST_P(WindowConflicts, AreNotBehindANotification) {
  ExpectNothing([](WindowRank& self, Window* window) {
    Operations mine(window);
    for (int turn = 0; turn < 3 * kRanks; ++turn) {
      const int origin = turn % kRanks;
      for (int twice = 0; self.rank() == origin && twice < 2; ++twice) {
        BRIGADE_RETURN_IF_ERROR(mine.PutNotify(twice * 1500, 1500));
      }
      if (self.rank() == 0) BRIGADE_RETURN_IF_ERROR(window->NotifyWait(origin, 2));
      self.Meet();
    }
    return Status();
  });
}

INSTANTIATE_TEST_SUITE_P(Over, WindowConflicts, testing::ValuesIn(CheckedSetups()),
                         [](const auto& i) { return i.param.name; });

}  // namespace
}  // namespace brigade
