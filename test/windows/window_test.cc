// Windows, over every way to another rank's memory: what operations do, what synchronisation
// promises, errors of wrong calls. The ranks are threads.

#include "windows/core/window.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "membuf/accumulate.h"
#include "test/support/endpoints/forwarding_endpoint.h"
#include "test/support/stress.h"
#include "test/windows/window_ranks.h"
#include "windows/message/rma_frame.h"
#include "windows/rules.h"

namespace brigade {
namespace {

class Windows : public testing::TestWithParam<WindowSetup> {
 protected:
  void OnRanks(int ranks, const std::function<void(WindowRank&)>& body) {
    OnWindowRanks(GetParam(), ranks, body);
  }
};

void Expect(bool yes, const std::string& what) {
  if (!yes) throw std::runtime_error(what);
}

template <typename T>
OriginData Data(T* values, int64_t count, Element element) {
  return {reinterpret_cast<std::byte*>(values), TypedLayout::Run(element, 1), count};
}
OriginData Bytes(void* data, int64_t bytes) {
  return {static_cast<std::byte*>(data), TypedLayout::Run(Element::kByte, bytes), 1};
}
TargetData At(int rank, int64_t displacement, int64_t bytes) {
  return {rank, displacement, TypedLayout::Run(Element::kByte, bytes), 1};
}
TargetData At(int rank, int64_t displacement, int64_t count, Element element) {
  return {rank, displacement, TypedLayout::Run(element, 1), count};
}

// Every rank writes to, adds to and reads from its part of every other's memory, and knows what
// must be there.
class Random {
 public:
  static constexpr int64_t kSlotBytes = 4096;
  static constexpr int kSlots = 4;
  static constexpr int64_t kPart = kSlots * kSlotBytes;  // of one origin

  Random(WindowRank* self, unsigned seed)
      : self_(*self),
        random_(seed + static_cast<unsigned>(self->rank())),
        window_(self->Make(static_cast<size_t>(kPart * self->size()))),
        shadow_(static_cast<size_t>(self->size()), std::vector<std::byte>(kPart)) {}

  void Run(int epochs) {
    Require(window_->Fence());
    for (int i = 0; i < epochs; ++i) {
      std::vector<std::vector<std::byte>> kept;  // what the caller must not touch
      std::vector<Fetch> fetched;
      kept.reserve(1000);
      for (int target = 0; target < self_.size(); ++target) {
        for (int slot = 0; slot < kSlots; ++slot) Operate(target, slot, &kept, &fetched);
      }
      Require(window_->Fence());
      for (const Fetch& fetch : fetched) {
        Expect(*fetch.got == fetch.wanted, "a get brings something else");
      }
    }
    // All that was done to others is there: each sends what it expects.
    for (int target = 0; target < self_.size(); ++target) {
      std::vector<std::byte> there(kPart);
      Require(window_->Get(Bytes(there.data(), kPart), At(target, Mine(), kPart)));
      Require(window_->Fence());
      Expect(there == shadow_[static_cast<size_t>(target)], "the memory of a target differs");
    }
    Require(window_->Free());
  }

 private:
  struct Fetch {
    std::vector<std::byte>* got;
    std::vector<std::byte> wanted;
  };

  int64_t Mine() const { return self_.rank() * kPart; }
  int64_t Draw(int64_t below) {
    return static_cast<int64_t>(random_() % static_cast<uint64_t>(below));
  }

  void Operate(int target, int slot, std::vector<std::vector<std::byte>>* kept,
               std::vector<Fetch>* fetched) {
    std::byte* const shadow = shadow_[static_cast<size_t>(target)].data() + slot * kSlotBytes;
    const int64_t place = Mine() + slot * kSlotBytes;
    const auto filled = [&](int64_t bytes) {
      kept->emplace_back(static_cast<size_t>(bytes));
      for (std::byte& byte : kept->back()) byte = static_cast<std::byte>(random_());
      return kept->back().data();
    };
    switch (Draw(5)) {
      case 0: {  // adjacent bytes
        const int64_t bytes = 1 + Draw(Draw(2) == 0 ? 24 : kSlotBytes);
        const int64_t offset = Draw(kSlotBytes - bytes + 1);
        std::byte* const data = filled(bytes);
        Require(window_->Put(Bytes(data, bytes), At(target, place + offset, bytes)));
        std::memcpy(shadow + offset, data, static_cast<size_t>(bytes));
        break;
      }
      case 1: {  // blocks on both sides
        const int64_t block = 1 + Draw(64);
        const int64_t count = 1 + Draw(kSlotBytes / (2 * block));
        TypedLayout there;
        Require(
            TypedLayout::Repeat(count, 2 * block, TypedLayout::Run(Element::kByte, block), &there));
        TypedLayout here;
        Require(
            TypedLayout::Repeat(count, 3 * block, TypedLayout::Run(Element::kByte, block), &here));
        std::byte* const data = filled(3 * block * count);
        Require(window_->Put({data, here, 1}, {target, place, there, 1}));
        for (int64_t i = 0; i < count; ++i) {
          std::memcpy(shadow + 2 * block * i, data + 3 * block * i, static_cast<size_t>(block));
        }
        break;
      }
      case 2: {  // sums, two after the other
        const int64_t count = 1 + Draw(kSlotBytes / 8);
        for (int twice = 0; twice < 2; ++twice) {
          std::byte* const data = filled(8 * count);
          Require(window_->Accumulate(CombineOp::kSum, Data(data, count, Element::kInt64),
                                      At(target, place, count, Element::kInt64)));
          Accumulate(CombineOp::kSum, Element::kInt64, static_cast<size_t>(count), shadow, data);
        }
        break;
      }
      case 3: {
        const int64_t bytes = 1 + Draw(kSlotBytes);
        kept->emplace_back(static_cast<size_t>(bytes));
        Require(window_->Get(Bytes(kept->back().data(), bytes), At(target, place, bytes)));
        fetched->push_back({&kept->back(), std::vector<std::byte>(shadow, shadow + bytes)});
        break;
      }
      default: {  // fetches
        const int64_t count = 1 + Draw(kSlotBytes / 4);
        const CombineOp op = Draw(3) == 0 ? CombineOp::kNoOp : CombineOp::kBitXor;
        std::byte* const data = filled(4 * count);
        kept->emplace_back(static_cast<size_t>(4 * count));
        fetched->push_back({&kept->back(), std::vector<std::byte>(shadow, shadow + 4 * count)});
        Require(window_->GetAccumulate(op, Data(data, count, Element::kUint32),
                                       Data(kept->back().data(), count, Element::kUint32),
                                       At(target, place, count, Element::kUint32)));
        if (op == CombineOp::kNoOp) break;
        Accumulate(op, Element::kUint32, static_cast<size_t>(count), shadow, data);
      }
    }
  }

  WindowRank& self_;
  std::mt19937 random_;
  std::unique_ptr<Window> window_;
  std::vector<std::vector<std::byte>> shadow_;  // this rank's part of each target
};

TEST_P(Windows, RandomOperationsMatchAShadowCopy) {
  for (const int ranks : {1, 2, 5}) {
    OnRanks(ranks,
            [&](WindowRank& self) { Random(&self, StressSeed()).Run(StressRounds(20, 500)); });
  }
}

TEST_P(Windows, LongDataAllAtOnce) {
  constexpr int64_t kBytes = 300 * 1000;
  OnRanks(4, [&](WindowRank& self) {
    const std::unique_ptr<Window> window = self.Make(4 * kBytes);
    std::vector<std::byte> sent(kBytes, static_cast<std::byte>(self.rank() + 1));
    std::vector<std::vector<std::byte>> got(4, std::vector<std::byte>(kBytes));
    Require(window->Fence());
    for (int r = 0; r < 4; ++r) {
      Require(window->Put(Bytes(sent.data(), kBytes), At(r, self.rank() * kBytes, kBytes)));
    }
    Require(window->Fence());
    for (int r = 0; r < 4; ++r) {
      Require(window->GetAccumulate(CombineOp::kSum, Data(sent.data(), kBytes, Element::kUint8),
                                    Data(got[r].data(), kBytes, Element::kUint8),
                                    At(r, self.rank() * kBytes, kBytes, Element::kUint8)));
    }
    Require(window->Fence());
    for (int r = 0; r < 4; ++r) {
      Expect(got[r] == sent, "what was there");
      Expect(std::all_of(window->base() + r * kBytes, window->base() + (r + 1) * kBytes,
                         [&](std::byte b) { return b == static_cast<std::byte>(2 * (r + 1)); }),
             "what is there");
    }
    Require(window->Free());
  });
}

TEST_P(Windows, LayoutsAreSentOncePerTarget) {
  OnRanks(3, [&](WindowRank& self) {
    const std::unique_ptr<Window> window = self.Make(4096, 16);
    TypedLayout layout;
    Require(TypedLayout::Repeat(8, 64, TypedLayout::Run(Element::kDouble, 2), &layout));
    std::vector<double> data(16, 1.0);
    Require(window->Fence());
    for (int i = 0; i < 50; ++i) {
      for (int r = 0; r < 3; ++r) {
        Require(window->Put(Data(data.data(), 16, Element::kDouble), {r, self.rank(), layout, 1}));
      }
      Require(window->Fence());
    }
    int by_messages = 0;
    for (int r = 0; r < 3; ++r) by_messages += window->reaches(r) ? 0 : 1;
    Expect(window->layouts_sent() == static_cast<uint64_t>(by_messages), "told once per target");
    Require(window->Free());
  });
}

TEST_P(Windows, FetchesAreAtomic) {
  const int rounds = StressRounds(200, 20000);
  OnRanks(4, [&](WindowRank& self) {
    const std::unique_ptr<Window> window = self.Make(64, 8);
    std::vector<int64_t> got(static_cast<size_t>(rounds));
    const int64_t one = 1;
    Require(window->LockAll());
    for (int64_t& value : got) {
      Require(window->FetchAndOp(CombineOp::kSum, Element::kInt64, &one, &value, 0, 3));
      Require(window->Flush(0));
    }
    Expect(std::is_sorted(got.begin(), got.end()), "values go up");
    Expect(std::adjacent_find(got.begin(), got.end()) == got.end(), "nobody gets one twice");
    Require(window->UnlockAll());
    self.Meet();
    Require(window->Lock(LockKind::kShared, 0));
    int64_t sum = 0;
    Require(window->FetchAndOp(CombineOp::kNoOp, Element::kInt64, nullptr, &sum, 0, 3));
    Require(window->Unlock(0));
    Expect(sum == 4 * rounds, "all were counted");
    Require(window->Free());
  });
}

TEST_P(Windows, SwapsAreAtomic) {
  const int rounds = StressRounds(50, 5000);
  OnRanks(3, [&](WindowRank& self) {
    const std::unique_ptr<Window> window = self.Make(16);
    Require(window->LockAll());
    for (int i = 0; i < rounds; ++i) {
      int32_t seen = 0;
      int32_t expected = 0;
      do {  // add one
        expected = seen;
        const int32_t desired = expected + 1;
        Require(window->CompareAndSwap(Element::kInt32, &expected, &desired, &seen, 1, 4));
        Require(window->Flush(1));
      } while (seen != expected);
    }
    Require(window->UnlockAll());
    self.Meet();
    if (self.rank() == 1) {
      int32_t sum = 0;
      std::memcpy(&sum, window->base() + 4, sizeof(sum));
      Expect(sum == 3 * rounds, "all were counted");
    }
    Require(window->Free());
  });
}

TEST_P(Windows, AnExclusiveLockIsExclusive) {
  const int rounds = StressRounds(100, 10000);
  OnRanks(4, [&](WindowRank& self) {
    const std::unique_ptr<Window> window = self.Make(8);
    for (int i = 0; i < rounds; ++i) {
      int64_t value = 0;
      Require(window->Lock(LockKind::kExclusive, 2));
      Require(window->Get(Data(&value, 1, Element::kInt64), At(2, 0, 8)));
      Require(window->Flush(2));
      ++value;
      Require(window->Put(Data(&value, 1, Element::kInt64), At(2, 0, 8)));
      Require(window->Unlock(2));
    }
    self.Meet();
    if (self.rank() == 2) {
      int64_t value = 0;
      std::memcpy(&value, window->base(), sizeof(value));
      Expect(value == 4 * rounds, "all were counted");
    }
    Require(window->Free());
  });
}

TEST_P(Windows, UncheckedLocksDoNotWait) {
  OnRanks(3, [&](WindowRank& self) {
    const std::unique_ptr<Window> window = self.Make(24);
    auto mine = static_cast<int64_t>(self.rank());
    if (self.rank() == 0) Require(window->Lock(LockKind::kExclusive, 2));
    self.Meet();
    if (self.rank() == 1) {
      Require(window->LockUnchecked(2));
      Require(window->Put(Data(&mine, 1, Element::kInt64), At(2, 8, 8)));
      Require(window->Unlock(2));
      Expect(!window->Unlock(2).ok(), "it is unlocked");
    }
    if (self.rank() == 2) {
      Require(window->LockAllUnchecked());
      Expect(!window->LockUnchecked(0).ok(), "all are locked");
      Require(window->Put(Data(&mine, 1, Element::kInt64), At(2, 16, 8)));
      Require(window->UnlockAll());
      Expect(!window->UnlockAll().ok(), "they are unlocked");
    }
    self.Meet();
    if (self.rank() == 0) Require(window->Unlock(2));
    if (self.rank() == 2) {
      int64_t values[3];
      std::memcpy(values, window->base(), sizeof(values));
      Expect(values[1] == 1 && values[2] == 2, "both are there");
    }
    Require(window->Free());
  });
}

TEST_P(Windows, PostAndStart) {
  const int rounds = StressRounds(50, 5000);
  OnRanks(4, [&](WindowRank& self) {
    const std::unique_ptr<Window> window = self.Make(8 * 4);
    const int next = (self.rank() + 1) % 4;
    const int last = (self.rank() + 3) % 4;
    for (int64_t i = 1; i <= rounds; ++i) {
      const bool tests = i % 2 == 0;
      Require(window->Post({last, next}));
      Require(window->Start({next, last}));
      for (const int target : {next, last}) {
        Require(window->Put(Data(&i, 1, Element::kInt64), At(target, 8 * self.rank(), 8)));
      }
      Require(window->Complete());
      bool over = false;
      while (tests && !over) Require(window->Test(&over));
      if (!tests) Require(window->Wait());
      for (const int origin : {next, last}) {
        int64_t value = 0;
        std::memcpy(&value, window->base() + 8 * origin, sizeof(value));
        Expect(value == i, "what was put in this epoch");
      }
    }
    Require(window->Free());
  });
}

TEST_P(Windows, ANotificationComesBehindItsData) {
  const int rounds = StressRounds(100, 10000);
  OnRanks(3, [&](WindowRank& self) {
    const std::unique_ptr<Window> window = self.Make(3 * 2000);
    const int next = (self.rank() + 1) % 3;
    const int last = (self.rank() + 2) % 3;
    std::vector<std::byte> data(2000);
    for (int i = 0; i < rounds; ++i) {
      const int64_t bytes = i % 3 == 0 ? 8 : 2000;
      std::fill(data.begin(), data.end(), static_cast<std::byte>(i));
      Require(window->PutNotify(Bytes(data.data(), bytes), At(next, self.rank() * 2000, bytes)));
      Require(window->NotifyWait(last));
      const std::byte* const came = window->base() + last * 2000;
      Expect(came[0] == static_cast<std::byte>(i) && came[bytes - 1] == static_cast<std::byte>(i),
             "the data are there");
      // The last rank may write again.
      Require(window->PutNotify(Bytes(data.data(), 0), At(last, 0, 0)));
      bool taken = false;
      while (!taken) Require(window->NotifyTest(next, 1, &taken));
    }
    Require(window->Free());
  });
}

// A rank that has left a fence sees no operation of the earlier epoch, though other ranks are still
// in it.
TEST_P(Windows, AFenceSeparatesEpochs) {
  if (GetParam().transport == WindowSetup::Transport::kSim) {
    GTEST_SKIP() << "in virtual time nobody is late who makes calls";
  }
  constexpr int64_t kBytes = 1500;  // two segments, which wait in staging memory
  constexpr int kMostRefused = 100;
  std::atomic<bool> is_late{false};
  // Its segments are on their way for long.
  class Late : public ForwardingEndpoint {
   public:
    Late(std::unique_ptr<Endpoint> inner, const std::atomic<bool>* is_late)
        : ForwardingEndpoint(std::move(inner)), is_late_(*is_late) {}
    Status PostSend(const Channel& channel, int peer, ConstByteSpan segment,
                    Completion* completion) override {
      if (channel.kind != kRequestChannel || !is_late_) {
        refused_ = 0;
      } else if (++refused_ < kMostRefused) {
        return {StatusCode::kNoResource, "not yet"};
      }
      return ForwardingEndpoint::PostSend(channel, peer, segment, completion);
    }

   private:
    const std::atomic<bool>& is_late_;
    int refused_ = 0;
  };
  WindowSetup setup = GetParam();
  setup.wrap = [&](int rank, std::unique_ptr<Endpoint> inner) -> std::unique_ptr<Endpoint> {
    if (rank != 0) return inner;
    return std::make_unique<Late>(std::move(inner), &is_late);
  };
  OnWindowRanks(setup, 3, [&](WindowRank& self) {
    const std::unique_ptr<Window> window = self.Make(kBytes);
    std::vector<std::byte> data(kBytes);
    std::vector<std::byte> got(kBytes);
    const auto all = [&](const std::byte* bytes, int value) {
      return std::all_of(bytes, bytes + kBytes,
                         [&](std::byte b) { return b == static_cast<std::byte>(value); });
    };
    Require(window->Fence());
    for (int i = 0; i < 8; ++i) {
      const bool reads = i % 2 == 0;
      const int put = 2 * i + 1;
      const int put_behind = 2 * i + 2;
      if (self.rank() == 0) {
        is_late = true;
        std::fill(data.begin(), data.end(), static_cast<std::byte>(put));
        Require(window->Put(Bytes(data.data(), kBytes), At(1, 0, kBytes)));
      }
      Require(window->Fence());
      if (self.rank() == 2 && reads) {
        Require(window->Get(Bytes(got.data(), kBytes), At(1, 0, kBytes)));
      } else if (self.rank() == 2) {
        std::fill(data.begin(), data.end(), static_cast<std::byte>(put_behind));
        Require(window->Put(Bytes(data.data(), kBytes), At(1, 0, kBytes)));
      }
      if (self.rank() == 2) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        is_late = false;
      }
      Require(window->Fence());
      Expect(self.rank() != 2 || !reads || all(got.data(), put), "a get meets what was put before");
      Expect(self.rank() != 1 || all(window->base(), reads ? put : put_behind),
             "what was put last stays");
      Require(window->Fence());
    }
    Require(window->Free());
  });
}

// Puts that wait for a fence of one window keep no memory that another window needs before it.
TEST_P(Windows, PutsOfSeveralWindowsWaitForNoFence) {
  constexpr int kRanks = 8;
  constexpr int kWindows = 3;
  constexpr int64_t kBytes = 100;
  OnRanks(kRanks, [&](WindowRank& self) {
    std::vector<std::unique_ptr<Window>> windows;
    for (int w = 0; w < kWindows; ++w) windows.push_back(self.Make(kRanks * kBytes));
    for (const auto& window : windows) Require(window->Fence());
    std::vector<std::byte> data(kBytes, static_cast<std::byte>(1 + self.rank()));
    for (const auto& window : windows) {
      std::vector<std::atomic<bool>> over(kRanks);
      for (int to = 0; to < kRanks; ++to) {
        Require(window->Put(Bytes(data.data(), kBytes), At(to, self.rank() * kBytes, kBytes),
                            &over[static_cast<size_t>(to)], /*fence_follows=*/true));
      }
      for (const auto& each : over) Require(window->WaitFor(each));
    }
    for (const auto& window : windows) {
      Require(window->Fence());
      for (int64_t i = 0; i < kRanks * kBytes; ++i) {
        Expect(window->base()[i] == static_cast<std::byte>(1 + i / kBytes),
               "what was put is there");
      }
    }
    for (const auto& window : windows) Require(window->Free());
  });
}

// Random operations and delays: few ranks send each other a message for each fence, many ranks sum
// their numbers of requests.
TEST_P(Windows, AFenceCompletesAllEarlierOperations) {
  const int rounds = StressRounds(30, 1000);
  constexpr int64_t kSlot = 2500;  // up to three segments, of one origin
  const unsigned seed = StressSeed();
  for (const int ranks : {2, 5, 9}) {
    OnRanks(ranks, [&](WindowRank& self) {
      // Halves in turn: others may be a fence ahead.
      const std::unique_ptr<Window> window = self.Make(static_cast<size_t>(2 * ranks * kSlot));
      std::vector<std::byte> data(static_cast<size_t>(kSlot));
      std::mt19937 random(seed + static_cast<unsigned>(self.rank()));
      const auto any = [](std::mt19937* from, int most) {
        return std::uniform_int_distribution<int>(0, most)(*from);
      };
      // How much one rank puts to another in a round: nothing, a frame, or segments.
      const auto bytes_of = [&](int round, int from, int to) -> int64_t {
        std::mt19937 plan(seed + static_cast<unsigned>((round * ranks + from) * ranks + to));
        constexpr int64_t kBytes[] = {0, 0, 8, 16, 100, 1024, kSlot};
        return kBytes[any(&plan, 6)];
      };
      Require(window->Fence());
      for (int round = 0; round < rounds; ++round) {
        const int64_t half = round % 2 * ranks * kSlot;
        const auto value = [&](int from) { return static_cast<std::byte>(1 + round + 7 * from); };
        std::fill(data.begin(), data.end(), value(self.rank()));
        for (int to = 0; to < ranks; ++to) {
          const int64_t bytes = bytes_of(round, self.rank(), to);
          if (bytes == 0) continue;
          Require(window->Put(Bytes(data.data(), bytes), At(to, half + self.rank() * kSlot, bytes),
                              nullptr, /*fence_follows=*/any(&random, 1) == 0));
        }
        if (any(&random, 3) == 0) {
          std::this_thread::sleep_for(std::chrono::microseconds(any(&random, 300)));
        }
        Require(window->Fence());
        for (int from = 0; from < ranks; ++from) {
          const int64_t bytes = bytes_of(round, from, self.rank());
          const std::byte* const there = window->base() + half + from * kSlot;
          Expect(std::all_of(there, there + bytes, [&](std::byte b) { return b == value(from); }),
                 "round " + std::to_string(round) + " of " + std::to_string(ranks) +
                     ": what rank " + std::to_string(from) + " put is there");
        }
      }
      Require(window->Free());
    });
  }
}

// Of one origin and of several. Whose value stays is not said, but it is one of theirs.
TEST_P(Windows, PutsToTheSameBytesDoNoHarm) {
  if (GetParam().is_checked(0)) GTEST_SKIP() << "it would be told";
  if (GetParam().transport != WindowSetup::Transport::kSim && GetParam().goes_directly(1)) {
    GTEST_SKIP() << "threads would write to the same bytes";
  }
  const int rounds = StressRounds(20, 1000);
  constexpr int64_t kBytes = 3000;
  OnRanks(3, [&](WindowRank& self) {
    const std::unique_ptr<Window> window = self.Make(kBytes + 500);
    std::vector<std::vector<std::byte>> data;
    for (int i = 0; i < 4; ++i) data.emplace_back(kBytes, static_cast<std::byte>(self.rank() + 1));
    for (int round = 0; round < rounds; ++round) {
      Require(window->Fence());
      // Segments of one lie across those of another.
      for (int i = 0; i < 4 && self.rank() != 0; ++i) {
        Require(window->Put(Bytes(data[static_cast<size_t>(i)].data(), kBytes),
                            At(0, i % 2 * 500, kBytes)));
      }
      Require(window->Fence());
      for (int64_t i = 0; i < kBytes && self.rank() == 0; ++i) {
        Expect(window->base()[i] == std::byte{2} || window->base()[i] == std::byte{3},
               "what one of them has put");
      }
    }
    Require(window->Free());
  });
}

TEST_P(Windows, ManyShortAccumulatesToALateRank) {
  const int puts = StressRounds(3000, 1000000);
  OnRanks(2, [&](WindowRank& self) {
    const std::unique_ptr<Window> window = self.Make(8);
    Require(window->Fence());
    if (self.rank() == 0) {
      for (int64_t i = 0; i < puts; ++i) {
        Require(window->Accumulate(CombineOp::kSum, Data(&i, 1, Element::kInt64),
                                   At(1, 0, 1, Element::kInt64)));
      }
    } else {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    Require(window->Fence());
    int64_t sum = 0;
    std::memcpy(&sum, window->base(), sizeof(sum));
    Expect(self.rank() == 0 || sum == int64_t{puts} * (puts - 1) / 2, "all came");
    Require(window->Free());
  });
}

TEST_P(Windows, OperationsInFlightToALateRankAreBounded) {
  if (GetParam().transport == WindowSetup::Transport::kSim) {
    GTEST_SKIP() << "in virtual time nobody is late who makes no calls";
  }
  std::atomic<bool> is_full{false};
  OnRanks(2, [&](WindowRank& self) {
    const std::unique_ptr<Window> window = self.Make(3000 * 100);
    std::vector<std::byte> data(100, std::byte{7});
    Require(window->Fence());
    if (self.rank() == 0) {
      for (int i = 0; i < 3000; ++i) {
        // Where nothing stays under way it is never full.
        const auto under_way = [&] {
          const Engine::ProgressGuard guard(self.engine());  // excludes a progress thread
          return window->under_way(1);
        };
        if (under_way() >= rules::kMostPending || i == 2999) is_full = true;
        Require(window->Put(Bytes(data.data(), 100), At(1, 100 * i, 100)));
        const auto after = under_way();
        Expect(after <= rules::kMostPending, std::to_string(after) + " are under way");
      }
    } else {
      while (!is_full) std::this_thread::yield();
    }
    Require(window->Fence());
    Expect(self.rank() == 0 || window->base()[299999] == std::byte{7}, "all came");
    Require(window->Free());
  });
}

// Without a progress thread, or with one that checks rarely, no other call makes progress for the
// requests of other ranks.
TEST_P(Windows, SyncAndFlushesMakeProgressForOtherRanks) {
  std::atomic<int> moves{0};
  std::atomic<bool> is_done{false};
  class Counting : public ForwardingEndpoint {
   public:
    Counting(std::unique_ptr<Endpoint> inner, std::atomic<int>* moves)
        : ForwardingEndpoint(std::move(inner)), moves_(moves) {}
    bool Progress() override {
      ++*moves_;
      return ForwardingEndpoint::Progress();
    }

   private:
    std::atomic<int>* const moves_;
  };
  WindowSetup setup = GetParam();
  setup.wrap = [&](int rank, std::unique_ptr<Endpoint> inner) -> std::unique_ptr<Endpoint> {
    if (rank != 1) return inner;
    return std::make_unique<Counting>(std::move(inner), &moves);
  };
  OnWindowRanks(setup, 2, [&](WindowRank& self) {
    const std::unique_ptr<Window> window = self.Make(8);
    int64_t value = 5;
    Require(window->LockAll());
    if (self.rank() == 0) {
      Require(window->Put(Bytes(&value, 8), At(1, 0, 8)));
      Require(window->Flush(1));
      is_done = true;
    } else {
      do {
        const int before = moves;
        Require(window->Sync());
        const int by_sync = moves - before;
        Expect(by_sync > 0, "a sync that moves nothing");
        Require(window->Flush(1));
        Expect(window->is_direct() || moves - before > by_sync,
               "a flush of its own memory that moves nothing");
      } while (!is_done);
      Require(window->Sync());
      Expect(std::memcmp(window->base(), &value, 8) == 0, "it is there");
    }
    Require(window->UnlockAll());
    Require(window->Free());
  });
}

TEST_P(Windows, WrongCallsFailAndHaveNoEffect) {
  OnRanks(2, [&](WindowRank& self) {
    const std::unique_ptr<Window> window = self.Make(self.rank() == 0 ? 64 : 128, 8);
    const int other = 1 - self.rank();
    int64_t value = 7;
    const OriginData one = Data(&value, 1, Element::kInt64);
    const auto is_refused = [](const Status& status, const std::string& why) {
      Expect(status.code() == StatusCode::kInvalidArgument &&
                 status.message().find(why) != std::string::npos,
             "expected '" + why + "', got '" + status.ToString() + "'");
    };
    is_refused(window->Put(one, At(other, 0, 8)), "no epoch is open");
    is_refused(window->Complete(), "without a start");
    is_refused(window->Wait(), "without a post");
    is_refused(window->Unlock(other), "no lock is held");
    is_refused(window->UnlockAll(), "without a lock of all");
    is_refused(window->Flush(other), "no lock is held");
    is_refused(window->FlushAll(), "a lock of none is held");
    is_refused(window->FlushLocalAll(), "a lock of none is held");
    is_refused(window->Lock(LockKind::kShared, 2), "rank 2 of a window of 2");
    Require(window->Lock(LockKind::kShared, other));
    is_refused(window->Lock(LockKind::kShared, other), "held already");
    is_refused(window->LockAll(), "locks of the window are held");
    is_refused(window->Fence(), "locks of the window are held");
    is_refused(window->Free(), "holds its locks");
    is_refused(window->Put(one, At(self.rank(), 0, 8)), "no epoch is open");
    is_refused(window->Put(one, At(other, window->bytes_of(other) / 8, 8)),
               "bytes, ends 8 bytes beyond the window: displacement ");
    is_refused(window->Put(one, At(other, -1, 8)),
               "begins 8 bytes before the window: displacement -1");
    is_refused(window->Put(one, At(other, 0, 4)), "8 bytes here, and 4");
    is_refused(window->Accumulate(CombineOp::kSum, one, At(other, 0, 1, Element::kDouble)),
               "int64 into double");
    is_refused(window->Accumulate(CombineOp::kMaxLocation, one, At(other, 0, 1, Element::kInt64)),
               "not defined");
    is_refused(window->CompareAndSwap(Element::kLongDouble, &value, &value, &value, other, 0),
               "compare-and-swap of");
    Require(window->Put(one, At(other, window->bytes_of(other) / 8 - 1, 8)));
    Require(window->Unlock(other));
    Require(window->Fence({/*nothing_precedes=*/true, /*nothing_succeeds=*/false}));
    Require(window->Put(one, At(other, 0, 8)));
    is_refused(window->Lock(LockKind::kShared, other), "call fence first");
    is_refused(window->LockAll(), "call fence first");
    is_refused(window->Start({}), "call fence first");
    is_refused(window->FlushAll(), "a lock of none is held");
    Require(window->Fence());
    Require(window->LockAll());
    Require(window->UnlockAll());
    is_refused(window->FlushAll(), "a lock of none is held");
    Require(window->Fence({/*nothing_precedes=*/false, /*nothing_succeeds=*/true}));
    is_refused(window->Put(one, At(other, 0, 8)), "no epoch is open");
    Require(window->Free());
    if (self.rank() == 0) Require(window->Free());  // of a freed one, which waits for no rank
  });
}

TEST_P(Windows, ADatatypeMayLieBeforeItsDisplacement) {
  OnRanks(2, [&](WindowRank& self) {
    const std::unique_ptr<Window> window = self.Make(16, 8);
    const int other = 1 - self.rank();
    TypedLayout before;
    Require(TypedLayout::List({{-16, &TypedLayout::One(Element::kInt64)}}, &before));
    int64_t value = 5 + self.rank();
    int64_t got = 0;
    Require(window->Fence());
    Require(window->Put(Data(&value, 1, Element::kInt64), {other, 3, before, 1}));
    Require(window->Fence());
    Require(window->Get(Data(&got, 1, Element::kInt64), At(self.rank(), 1, 1, Element::kInt64)));
    Require(window->Fence());
    Expect(got == 5 + other, "put");
    Require(window->Free());
  });
}

TEST_P(Windows, ADynamicWindowReachesAttachedMemory) {
  std::vector<std::vector<double>> memory(3, std::vector<double>(3000));
  OnRanks(3, [&](WindowRank& self) {
    const std::unique_ptr<Window> window = self.MakeDynamic();
    const int other = (self.rank() + 1) % 3;
    const auto address = [&](int rank, size_t i) {
      return static_cast<int64_t>(
          reinterpret_cast<uint64_t>(&memory[static_cast<size_t>(rank)][i]));
    };
    std::byte* const mine = reinterpret_cast<std::byte*>(memory[self.rank()].data());
    const size_t bytes = memory[self.rank()].size() * sizeof(double);
    Require(window->Attach(mine, bytes));
    Expect(!window->Attach(mine + bytes - 1, 1).ok(), "twice");
    Require(window->Attach(mine + bytes, 0));
    self.Meet();
    std::vector<double> data(3000, self.rank());
    std::vector<double> got(2);
    int64_t before = -1;
    Require(window->Lock(LockKind::kShared, other));
    Require(window->Put(Data(data.data(), 2990, Element::kDouble),
                        {other, address(other, 0), TypedLayout::Run(Element::kDouble, 2990), 1}));
    Require(window->Flush(other));
    Require(window->Accumulate(CombineOp::kSum, Data(data.data(), 2, Element::kDouble),
                               At(other, address(other, 1), 2, Element::kDouble)));
    Require(
        window->Get(Data(got.data(), 2, Element::kDouble), At(other, address(other, 2989), 16)));
    const int64_t one = 1;
    Require(window->FetchAndOp(CombineOp::kSum, Element::kInt64, &one, &before, other,
                               address(other, 2995)));
    Require(window->Flush(other));
    const int64_t two = 2;
    Require(
        window->CompareAndSwap(Element::kInt64, &one, &two, &before, other, address(other, 2995)));
    // Addresses in the layout, behind address 0.
    TypedLayout whole;
    Require(TypedLayout::List({{address(other, 2996), &TypedLayout::One(Element::kDouble)},
                               {address(other, 2998), &TypedLayout::One(Element::kDouble)}},
                              &whole));
    double pair[2] = {20.0 + self.rank(), 30.0 + self.rank()};
    Require(window->Put(Data(pair, 2, Element::kDouble), {other, 0, whole, 1}));
    Require(window->Unlock(other));
    Expect(got[0] == self.rank() && got[1] == 0 && before == 1, "got");
    self.Meet();
    const std::vector<double>& have = memory[self.rank()];
    const double from = (self.rank() + 2) % 3;
    Expect(have[0] == from && have[1] == 2 * from && have[2] == 2 * from && have[3] == from &&
               have[2989] == from && have[2990] == 0 && have[2996] == 20 + from &&
               have[2997] == 0 && have[2998] == 30 + from,
           "put and added");
    // An access to unattached memory is refused if this rank can reach the list of ranges.
    const bool looks = window->reaches(other);
    Require(window->Lock(LockKind::kShared, other));
    if (looks) {
      const Status status =
          window->Put(Data(data.data(), 2, Element::kDouble), At(other, address(other, 2999), 16));
      Expect(status.code() == StatusCode::kInvalidArgument &&
                 status.message().find("has not attached") != std::string::npos,
             status.ToString());
    }
    Require(window->Unlock(other));
    self.Meet();
    Require(window->Detach(mine));
    Require(window->Detach(mine + bytes));
    for (const std::byte* const detached : {mine, mine + bytes}) {
      Expect(window->Detach(detached).code() == StatusCode::kInvalidArgument, "detached twice");
    }
    self.Meet();
    Require(window->Lock(LockKind::kShared, other));
    if (looks) {
      Expect(!window->Put(Data(data.data(), 1, Element::kDouble), At(other, address(other, 0), 8))
                  .ok(),
             "detached");
    }
    Require(window->Unlock(other));
    Require(window->Free());
  });
}

TEST_P(Windows, TheTargetDetectsAccessesToUnattachedMemory) {
  // Short data come with their request, and long data behind it.
  for (const int64_t doubles : {1, 250}) {
    std::vector<double> memory(500);
    std::atomic<bool> origin_looks{false};
    OnRanks(2, [&](WindowRank& self) {
      const std::unique_ptr<Window> window = self.MakeDynamic();
      if (self.rank() == 0) {
        Require(window->Attach(reinterpret_cast<std::byte*>(memory.data()), sizeof(double)));
      } else {
        origin_looks = window->reaches(0);
      }
      self.Meet();
      if (origin_looks) {
        Require(window->Free());
        return;
      }
      const auto address = static_cast<int64_t>(reinterpret_cast<uint64_t>(memory.data()));
      std::vector<double> ones(static_cast<size_t>(doubles), 1);
      Status status = window->Fence();
      if (self.rank() == 1 && status.ok()) {
        status = window->Put(Data(ones.data(), doubles, Element::kDouble),
                             At(0, address + 8, 8 * doubles));
      }
      if (status.ok()) status = window->Fence();
      Expect(!status.ok() && status.message().find("not attached") != std::string::npos,
             status.ToString());
    });
    EXPECT_EQ(memory, std::vector<double>(500));
  }
}

TEST_P(Windows, AreMadeByAllOrNone) {
  OnRanks(3, [&](WindowRank& self) {
    bool made = true;
    try {
      self.Make(8, self.rank() == 1 ? 0 : 8);
    } catch (const std::runtime_error& error) {
      made = false;
      Expect(
          std::string(error.what()).find("rank 1: a displacement unit of 0") != std::string::npos,
          error.what());
    }
    Expect(!made, "there is no window");
    const std::unique_ptr<Window> window = self.Make(8);
    Require(window->Free());
  });
}

TEST_P(Windows, SharedMemoryIsInOnePieceIfItMustBe) {
  OnRanks(4, [&](WindowRank& self) {
    const auto bytes_of = [](int rank) { return rank == 1 ? 0 : 100 + rank; };
    const std::unique_ptr<Window> window =
        self.MakeInOnePiece(static_cast<size_t>(bytes_of(self.rank())));
    std::vector<std::byte> theirs(static_cast<size_t>(bytes_of(3)));
    std::memset(window->base(), self.rank() + 1, static_cast<size_t>(bytes_of(self.rank())));
    Require(window->Fence());
    for (int r = 0; r < self.size(); ++r) {
      Expect(window->bytes_of(r) == bytes_of(r), "each has what it asked for");
      Require(window->Get(Bytes(theirs.data(), bytes_of(r)), At(r, 0, bytes_of(r))));
      Require(window->Fence());
      for (int i = 0; i < bytes_of(r); ++i) {
        Expect(theirs[static_cast<size_t>(i)] == static_cast<std::byte>(r + 1), "what it wrote");
      }
    }
    const std::byte* next = window->PointerTo(0);
    for (int r = 0; next != nullptr && r < self.size(); ++r) {
      Expect(window->PointerTo(r) == nullptr || window->PointerTo(r) == next, "all in a row");
      next += bytes_of(r);
    }
    Require(window->Free());
    // Nobody has a part of what cannot be had.
    bool made = true;
    try {
      self.MakeInOnePiece(size_t{1} << 60);
    } catch (const std::runtime_error& error) {
      made = false;
      Expect(std::string(error.what()).find("a window on rank 0") != std::string::npos,
             error.what());
    }
    Expect(!made, "there is no window");
  });
}

// A target need not call if a progress thread makes progress for it.
bool NeedsCalls(const WindowSetup& setup) {
  return setup.transport == WindowSetup::Transport::kSim ||
         (setup.transport == WindowSetup::Transport::kInproc &&
          !setup.inproc.allows_progress_thread);
}

// An epoch of rank 1 at rank 0, in which all comes back that it has done.
void WorkOn(Window* window, int64_t words, int64_t value) {
  std::vector<int64_t> sent(static_cast<size_t>(words), value);
  std::vector<int64_t> got(sent.size());
  const TargetData there = At(0, 0, words, Element::kInt64);
  Require(window->Lock(LockKind::kExclusive, 0));
  Require(window->Put(Data(sent.data(), words, Element::kInt64), there));
  Require(window->Accumulate(CombineOp::kSum, Data(sent.data(), words, Element::kInt64), there));
  Require(window->Flush(0));
  Require(window->Get(Data(got.data(), words, Element::kInt64), there));
  Require(window->Unlock(0));
  const auto is_twice = [&](int64_t word) { return word == 2 * value; };
  Expect(std::all_of(got.begin(), got.end(), is_twice), "a put, a sum, and then a get");
}

constexpr int64_t kManyWords = int64_t{1}
                               << 17;  // more segments than there is memory for at a time

TEST_P(Windows, ATargetThatComputesIsReached) {
  if (NeedsCalls(GetParam())) GTEST_SKIP() << "this way needs the target's calls";
  std::atomic<bool> over{false};
  OnRanks(2, [&](WindowRank& self) {
    const std::unique_ptr<Window> window = self.Make(kManyWords * 8);
    if (self.rank() == 0) {
      while (!over) std::this_thread::yield();  // no call
    } else {
      for (const int64_t words : {int64_t{1}, kManyWords}) WorkOn(window.get(), words, words);
      over = true;
    }
    Require(window->Free());
  });
}

// Of two threads that progress by turns each finds what came in the other's call.
TEST_P(Windows, ATargetThatComesAndGoesIsReached) {
  if (NeedsCalls(GetParam())) GTEST_SKIP() << "this way needs the target's calls";
  const int rounds = StressRounds(100, 10000);
  std::atomic<int> epochs{0};
  OnRanks(2, [&](WindowRank& self) {
    const std::unique_ptr<Window> window = self.Make(kManyWords * 8);
    std::mt19937 random(StressSeed() + static_cast<unsigned>(self.rank()));
    if (self.rank() == 0) {
      while (epochs < rounds) {
        const int before = epochs;
        for (unsigned calls = random() % 100; calls > 0; --calls) Require(window->Progress());
        if (random() % 4 == 0) std::this_thread::sleep_for(std::chrono::microseconds(300));
        if (random() % 4 != 0) continue;
        while (epochs == before && epochs < rounds) std::this_thread::yield();  // no call
      }
    } else {
      for (; epochs < rounds; ++epochs) {
        WorkOn(window.get(), random() % 10 == 0 ? 5000 : 1 + random() % 10, 1 + epochs);
      }
    }
    Require(window->Free());
  });
}

// A get returns data from while its epoch was open, however long the reply takes.
TEST_P(Windows, AGetIsReadWithinItsEpoch) {
  constexpr int64_t kBytes = 100 * 1000;
  const int rounds = StressRounds(10, 500);
  OnRanks(3, [&](WindowRank& self) {
    const std::unique_ptr<Window> window = self.Make(kBytes);
    std::vector<std::byte> got(kBytes);
    std::vector<std::byte> sent(kBytes);
    const auto is_even = [&] {
      return std::all_of(got.begin(), got.end(), [&](std::byte b) { return b == got[0]; });
    };
    for (int i = 0; i < rounds; ++i) {  // under a lock
      Require(window->Lock(LockKind::kExclusive, 0));
      Require(window->Get(Bytes(got.data(), kBytes), At(0, 0, kBytes)));
      Require(window->Unlock(0));
      Expect(is_even(), "no other holder's data are mixed in");
      std::fill(sent.begin(), sent.end(), static_cast<std::byte>(3 * i + self.rank()));
      Require(window->Lock(LockKind::kExclusive, 0));
      Require(window->Put(Bytes(sent.data(), kBytes), At(0, 0, kBytes)));
      Require(window->Unlock(0));
    }
    self.Meet();
    for (int i = 0; i < rounds; ++i) {  // between post and wait
      if (self.rank() == 0) {
        std::fill(window->base(), window->base() + kBytes, static_cast<std::byte>(i));
        Require(window->Post({1, 2}));
        Require(window->Wait());
        std::fill(window->base(), window->base() + kBytes, std::byte{255});
      } else {
        Require(window->Start({0}));
        Require(window->Get(Bytes(got.data(), kBytes), At(0, 0, kBytes)));
        Require(window->Complete());
        Expect(is_even() && got[0] == static_cast<std::byte>(i), "what the target had posted");
      }
    }
    Require(window->Free());
  });
}

TEST_P(Windows, AFetchIsInOrderWithSums) {
  OnRanks(2, [&](WindowRank& self) {
    const std::unique_ptr<Window> window = self.Make(8);
    const int64_t one = 1;
    std::vector<int64_t> got(200, -1);
    Require(window->Fence());
    for (int64_t& value : got) {
      if (self.rank() == 1) break;
      Require(window->FetchAndOp(CombineOp::kNoOp, Element::kInt64, nullptr, &value, 1, 0));
      Require(window->FetchAndOp(CombineOp::kSum, Element::kInt64, &one, &got[0], 1, 0));
    }
    Require(window->Fence());
    for (size_t i = 1; self.rank() == 0 && i < got.size(); ++i) {
      Expect(got[i] == static_cast<int64_t>(i), "the sums before it, and none behind it");
    }
    Require(window->Free());
  });
}

// Short ones may be held, but not past others.
TEST_P(Windows, ShortAccumulatesAreInOrderWithLongOnes) {
  constexpr int64_t kWords = 300;  // more than two segments
  const int rounds = StressRounds(500, 20000);
  OnRanks(2, [&](WindowRank& self) {
    const std::unique_ptr<Window> window = self.Make(kWords * 8);
    Require(window->Fence());
    std::mt19937 random(StressSeed());
    std::vector<int64_t> there(kWords);
    for (int i = 0; i < rounds && self.rank() == 0; ++i) {
      const int64_t count = 1 + random() % (random() % 10 == 0 ? kWords : 2);
      const int64_t at = random() % (kWords - count + 1);
      const bool fetches = random() % 8 == 0;
      std::vector<int64_t> sent(static_cast<size_t>(count), i + 1);
      std::vector<int64_t> got(sent.size());
      const OriginData here = Data(sent.data(), count, Element::kInt64);
      const TargetData target = At(1, 8 * at, count, Element::kInt64);
      std::atomic<bool> over{false};
      if (fetches) {
        Require(window->GetAccumulate(CombineOp::kReplace, here,
                                      Data(got.data(), count, Element::kInt64), target, &over));
        Require(window->WaitFor(over));
        Expect(std::equal(got.begin(), got.end(), there.begin() + at), "all before it is done");
      } else if (count <= 2) {
        Require(window->Accumulate(CombineOp::kReplace, here, target));
      } else {
        Require(window->Accumulate(CombineOp::kReplace, here, target, &over));
        Require(window->WaitFor(over));
      }
      std::fill_n(there.begin() + at, count, i + 1);
    }
    std::vector<int64_t> all(kWords);
    if (self.rank() == 0) {
      Require(window->GetAccumulate(CombineOp::kNoOp, OriginData(),
                                    Data(all.data(), kWords, Element::kInt64),
                                    At(1, 0, kWords, Element::kInt64)));
    }
    Require(window->Fence());
    Expect(self.rank() == 1 || all == there, "in order");
    Require(window->Free());
  });
}

// Rank 0 puts a few short values to rank 1, does `behind`, and then waits outside until they have
// come: under a guard, so that not even a progress thread sends them, or not.
void AwaitHeldPuts(const WindowSetup& setup, int ranks, bool guarded,
                   const std::function<void(Window*)>& behind) {
  constexpr int64_t kPuts = 5;
  std::atomic<bool> is_over{false};
  OnWindowRanks(setup, ranks, [&](WindowRank& self) {
    const std::unique_ptr<Window> window = self.Make(200);
    Require(window->Fence());
    if (self.rank() == 0) {
      for (int64_t value = 1; value <= kPuts; ++value) {
        Require(window->Put(Data(&value, 1, Element::kInt64),
                            At(1, 8 * (value - 1), 1, Element::kInt64)));
      }
      behind(window.get());
      std::optional<Engine::ProgressGuard> guard;
      if (guarded) guard.emplace(self.engine());
      while (!is_over) std::this_thread::yield();
    } else if (self.rank() == 1) {
      const auto have_come = [&] {
        Require(window->Sync());
        const Engine::ProgressGuard guard(self.engine());  // no progress thread writes meanwhile
        int64_t values[kPuts];
        std::memcpy(values, window->base(), sizeof(values));
        return std::all_of(values, values + kPuts,
                           [&](const int64_t& value) { return value == 1 + (&value - values); });
      };
      const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(100);
      bool come = false;
      while (!come && std::chrono::steady_clock::now() < end) come = have_come();
      is_over = true;
      Expect(come, "they come without another call");
    }
    Require(window->Fence());
    Require(window->Free());
  });
}

bool SendsAllAtOnce(const WindowSetup& setup) {
  return setup.transport != WindowSetup::Transport::kSim && !setup.is_disturbed &&
         !setup.goes_directly(0);
}

TEST_P(Windows, ShortPutsComeThoughTheirRankMakesNoCall) {
  if (!SendsAllAtOnce(GetParam())) GTEST_SKIP() << "no messages, or nobody sends them then";
  AwaitHeldPuts(GetParam(), 2, /*guarded=*/false, [](Window*) {});
}

TEST_P(Windows, AnyProgressSendsShortPuts) {
  if (!SendsAllAtOnce(GetParam())) GTEST_SKIP() << "no messages, or they may be refused";
  AwaitHeldPuts(GetParam(), 2, /*guarded=*/true, [](Window* window) { Require(window->Sync()); });
}

// A get behind them, for which there is no memory.
TEST_P(Windows, ShortPutsComeThoughOthersWaitForMemory) {
  if (!SendsAllAtOnce(GetParam())) GTEST_SKIP() << "no messages, or they may be refused";
  constexpr int kRanks = 8;
  TypedLayout apart;  // so that none lands in its place
  Require(TypedLayout::Repeat(5, 16, TypedLayout::Run(Element::kByte, 8), &apart));
  std::byte got[80];
  AwaitHeldPuts(GetParam(), kRanks, /*guarded=*/true, [&](Window* window) {
    for (int from = 2; from < kRanks; ++from) {
      for (int i = 0; i < 6; ++i) Require(window->Get({got, apart, 1}, At(from, 100, 40)));
    }
    Require(window->Get({got, apart, 1}, At(1, 100, 40)));
  });
}

// Gets that are frames, but for the first, and the flush behind them; and their answers, if their
// target finds all of them at once. Should their owner be away for a moment its progress thread
// sends what there is.
TEST(Held, ShortGetsLeaveTogetherAndSoDoTheirAnswers) {
  class Counting : public ForwardingEndpoint {
   public:
    using ForwardingEndpoint::ForwardingEndpoint;
    Status SendControl(GroupId group, int peer, ConstByteSpan message, Urgency urgency) override {
      if (urgency != Urgency::kWithNext) ++packets;
      const Status status = ForwardingEndpoint::SendControl(group, peer, message, urgency);
      ++frames;
      return status;
    }
    std::atomic<int> frames{0};
    std::atomic<int> packets{0};
  };
  constexpr int64_t kGets = 10;
  constexpr int kTrials = 100;
  std::vector<Counting*> endpoints(2);
  WindowSetup setup;
  setup.inproc.allows_progress_thread = true;
  setup.wrap = [&](int rank, std::unique_ptr<Endpoint> inner) {
    auto made = std::make_unique<Counting>(std::move(inner));
    endpoints[static_cast<size_t>(rank)] = made.get();
    return made;
  };
  std::atomic<bool> is_away{false};
  std::atomic<bool> is_over{false};
  std::atomic<bool> are_together[2] = {{false}, {false}};
  OnWindowRanks(setup, 2, [&](WindowRank& self) {
    const std::unique_ptr<Window> window = self.Make(kGets * 8);
    for (int64_t i = 0; i < kGets; ++i) std::memcpy(window->base() + 8 * i, &i, sizeof(i));
    Require(window->LockAllUnchecked());
    Counting& mine = *endpoints[static_cast<size_t>(self.rank())];
    for (int trial = 0; trial < kTrials && !(are_together[0] && are_together[1]); ++trial) {
      self.Meet();
      is_away = is_over = false;
      mine.frames = mine.packets = 0;
      self.Meet();
      if (self.rank() == 1) {
        const Engine::ProgressGuard guard(self.engine());  // nor does a progress thread answer
        is_away = true;
        while (endpoints[0]->frames <= kGets) std::this_thread::yield();
      } else {
        while (!is_away) std::this_thread::yield();
        std::vector<int64_t> got(kGets);
        for (int64_t i = 0; i < kGets; ++i) {
          Require(window->Get(Data(&got[static_cast<size_t>(i)], 1, Element::kInt64),
                              At(1, 8 * i, 1, Element::kInt64)));
          Expect(mine.packets >= 1, "the first leaves at once");
        }
        Require(window->Flush(1));
        for (int64_t i = 0; i < kGets; ++i) Expect(got[static_cast<size_t>(i)] == i, "as it was");
        is_over = true;
      }
      while (!is_over) std::this_thread::yield();
      Expect(mine.frames == kGets + 1, "none is spare");
      if (mine.packets == (self.rank() == 0 ? 2 : 1)) are_together[self.rank()] = true;
      self.Meet();
    }
    Require(window->UnlockAll());
    Require(window->Free());
  });
  EXPECT_TRUE(are_together[0]) << "gets";
  EXPECT_TRUE(are_together[1]) << "answers";
}

bool SendsUnstaged(const WindowSetup& setup) {
  return !setup.is_disturbed && !setup.is_checked(0) &&
         (setup.transport == WindowSetup::Transport::kTcp || setup.inproc.sends_in_place);
}

// From where they lie to their places, where the transport can: what is put, and what comes back.
TEST_P(Windows, LongDataTakeNoStagingMemory) {
  if (!SendsUnstaged(GetParam())) GTEST_SKIP() << "they do";
  class Counting : public ForwardingEndpoint {
   public:
    using ForwardingEndpoint::ForwardingEndpoint;
    Status PostSend(const Channel& channel, int peer, ConstByteSpan segment,
                    Completion* completion) override {
      if (is_counted(channel)) ++posts;
      return ForwardingEndpoint::PostSend(channel, peer, segment, completion);
    }
    Status PostReceive(const Channel& channel, int peer, ByteSpan receive_buffer,
                       Completion* completion) override {
      if (is_counted(channel)) ++posts;
      return ForwardingEndpoint::PostReceive(channel, peer, receive_buffer, completion);
    }
    std::atomic<int> posts{0};

   private:
    static bool is_counted(const Channel& channel) {
      return channel.kind == kRequestChannel || channel.kind == kReplyChannel;
    }
  };
  std::vector<Counting*> endpoints(2);
  WindowSetup setup = GetParam();
  setup.wrap = [&](int rank, std::unique_ptr<Endpoint> inner) -> std::unique_ptr<Endpoint> {
    auto counting = std::make_unique<Counting>(std::move(inner));
    endpoints[static_cast<size_t>(rank)] = counting.get();
    return counting;
  };
  OnWindowRanks(setup, 2, [&](WindowRank& self) {
    const std::unique_ptr<Window> window = self.Make(kManyWords * 8);
    std::vector<int64_t> sent(kManyWords, 1 + self.rank());
    std::vector<int64_t> got(kManyWords);
    std::vector<int64_t> fetched(kManyWords);
    const auto all_are = [](const int64_t* words, int64_t count, int64_t value) {
      return std::all_of(words, words + count, [&](int64_t word) { return word == value; });
    };
    for (const int64_t words : {int64_t{129}, int64_t{1000}, kManyWords}) {
      Require(window->Fence());
      self.Meet();
      const int before = endpoints[static_cast<size_t>(self.rank())]->posts;
      const TargetData there = At(1 - self.rank(), 0, words, Element::kInt64);
      Require(window->Put(Data(sent.data(), words, Element::kInt64), there));
      Require(window->Fence());
      Require(window->Get(Data(got.data(), words, Element::kInt64), there));
      Require(window->GetAccumulate(CombineOp::kNoOp, OriginData(),
                                    Data(fetched.data(), words, Element::kInt64), there));
      Require(window->Fence());
      Expect(endpoints[static_cast<size_t>(self.rank())]->posts == before, "nothing is staged");
      Expect(all_are(got.data(), words, 1 + self.rank()), "a get");
      Expect(all_are(fetched.data(), words, 1 + self.rank()), "a fetch");
    }
    Expect(all_are(reinterpret_cast<const int64_t*>(window->base()), kManyWords, 2 - self.rank()),
           "all came");
    Require(window->Free());
  });
}

// A put looks for its places a while. It counts idle polls in a row, behind which comes a sleep.
TEST_P(Windows, APutThatLooksForPlacesDoesNotSleep) {
  if (!SendsUnstaged(GetParam())) GTEST_SKIP() << "none looks";
  class Watching : public ForwardingEndpoint {
   public:
    using ForwardingEndpoint::ForwardingEndpoint;
    bool Progress() override {
      const bool any = ForwardingEndpoint::Progress();
      if (any) idle_polls_ = 0;
      return any;
    }
    void Pause(uint64_t idle_polls) override {
      is_right = is_right && idle_polls <= idle_polls_++;
      ForwardingEndpoint::Pause(idle_polls);
    }
    std::atomic<bool> is_right{true};

   private:
    std::atomic<uint64_t> idle_polls_{0};
  };
  Watching* watching = nullptr;
  WindowSetup setup = GetParam();
  setup.wrap = [&](int rank, std::unique_ptr<Endpoint> inner) -> std::unique_ptr<Endpoint> {
    if (rank != 0) return inner;
    auto made = std::make_unique<Watching>(std::move(inner));
    watching = made.get();
    return made;
  };
  OnWindowRanks(setup, 2, [&](WindowRank& self) {
    const std::unique_ptr<Window> window = self.Make(kManyWords * 8);
    std::vector<int64_t> sent(kManyWords, 1);
    Require(window->Fence());
    for (int puts = 0; puts < 20 && self.rank() == 0; ++puts) {
      Require(self.engine()->Drain());
      watching->is_right = true;
      Require(window->Put(Data(sent.data(), kManyWords, Element::kInt64),
                          At(1, 0, kManyWords, Element::kInt64)));
      Expect(watching->is_right, "idle polls are counted in a row");
    }
    Require(window->Fence());
    Require(window->Free());
  });
}

TEST_P(Windows, OperationsSetTheirFlagWhenComplete) {
  constexpr int64_t kBytes = 20 * 1000;
  OnRanks(2, [&](WindowRank& self) {
    const std::unique_ptr<Window> window = self.Make(2 * kBytes);
    const int other = 1 - self.rank();
    std::vector<std::byte> data(kBytes, std::byte{1});
    std::vector<std::byte> got(kBytes);
    const TargetData there = At(other, 0, kBytes);
    Require(window->LockAll());
    std::atomic<bool> is_put{false};
    Require(window->Put(Bytes(data.data(), kBytes), there, &is_put));
    Require(window->WaitFor(is_put));
    std::fill(data.begin(), data.end(), std::byte{2});  // it is the caller's again
    Require(window->Flush(other));
    std::atomic<bool> is_got{false};
    Require(window->Get(Bytes(got.data(), kBytes), there, &is_got));
    while (!is_got) Require(window->Progress());
    Expect(std::all_of(got.begin(), got.end(), [](std::byte b) { return b == std::byte{1}; }),
           "a put, and a get behind its flush");
    std::fill(got.begin(), got.end(), std::byte{0});
    Require(window->Put(Bytes(data.data(), kBytes), there));
    Require(window->FlushLocal(other));
    std::fill(data.begin(), data.end(), std::byte{3});
    Require(window->FlushAll());
    Require(window->Get(Bytes(got.data(), kBytes), there));
    Require(window->FlushLocalAll());
    Expect(std::all_of(got.begin(), got.end(), [](std::byte b) { return b == std::byte{2}; }),
           "what was put, not what its memory was used for then");
    Require(window->Sync());
    Require(window->UnlockAll());
    Require(window->Free());
  });
}

// Every call that waits for a lost rank fails.
TEST_P(Windows, ALostRankEndsEveryWait) {
  if (GetParam().transport != WindowSetup::Transport::kInproc) {
    GTEST_SKIP() << "threads of one process are lost together";
  }
  using Wait = Status (*)(Window*);
  const std::vector<Wait> waits = {
      [](Window* window) { return window->Fence(); },
      [](Window* window) { return window->Lock(LockKind::kExclusive, 0); },
      [](Window* window) { return window->LockAll(); },
      [](Window* window) { return window->Start({2}); },
      [](Window* window) {
        const Status posted = window->Post({2});
        return posted.ok() ? window->Wait() : posted;
      },
      [](Window* window) { return window->NotifyWait(2); },
  };
  for (const Wait& wait : waits) {
    std::atomic<bool> is_locked{false};
    std::atomic<int> waiting{0};
    OnWindowRanks(
        GetParam(), 3,
        [&](WindowRank& self) {
          std::unique_ptr<Window> window = self.Make(8);
          if (self.rank() == 2) {
            // It is gone while it has the lock.
            Require(window->Lock(LockKind::kExclusive, 0));
            is_locked = true;
            while (waiting < 2) Require(window->Progress());
            self.Die(std::move(window));
            return;
          }
          while (!is_locked) Require(window->Progress());
          ++waiting;
          const Status status = wait(window.get());
          Expect(status.code() == StatusCode::kPeerLost, "lost, not " + status.ToString());
          Expect(window->Progress().code() == StatusCode::kPeerLost, "it stays so");
        },
        /*leave_together=*/false);
  }
}

// --- what ranks say in pages that all of them see ---

// A waiting rank requests a wake message when it is about to sleep, and not before. No other rank
// gets a message.
TEST(Pages, ARankThatIsAboutToSleepIsWoken) {
  constexpr int kPollsAwake = 10;
  constexpr int kPollsBeforeSleep = 20;
  class Waiting : public ForwardingEndpoint {
   public:
    using ForwardingEndpoint::ForwardingEndpoint;
    uint64_t PollsAwake() const override { return kPollsAwake; }
    uint64_t PollsBeforeSleep() const override { return kPollsBeforeSleep; }
    void Pause(uint64_t idle_polls) override {
      if (left == 0) {
        ForwardingEndpoint::Pause(idle_polls);
      } else if (--left == 0) {
        behind();
      }
    }
    Status SendControl(GroupId group, int peer, ConstByteSpan message, Urgency urgency) override {
      if (message.data[0] == static_cast<std::byte>(RmaKind::kWake)) ++wakes;
      return ForwardingEndpoint::SendControl(group, peer, message, urgency);
    }

    int left = 0;                  // pauses that are none, behind the last of which
    std::function<void()> behind;  // this is called
    int wakes = 0;                 // that were sent
  };
  std::vector<Waiting*> endpoints(2);
  WindowSetup setup;
  setup.transport = WindowSetup::Transport::kShm;
  setup.kind = WindowMemory::kShared;
  setup.goes_directly = [](int) { return true; };
  setup.wrap = [&](int rank, std::unique_ptr<Endpoint> inner) {
    auto made = std::make_unique<Waiting>(std::move(inner));
    endpoints[static_cast<size_t>(rank)] = made.get();
    return made;
  };
  // The wait of rank 0; and the calls of rank 1: before it, late, and behind it.
  struct Epoch {
    std::function<void(Window*)> wait;
    std::function<void(Window*)> before;
    std::function<void(Window*)> come;
    std::function<void(Window*)> behind;
  };
  const auto nothing = [](Window*) {};
  const auto fence = [](Window* window) { Require(window->Fence()); };
  const auto post = [](Window* window) { Require(window->Post({1 - window->rank()})); };
  const auto start = [](Window* window) { Require(window->Start({1 - window->rank()})); };
  const auto complete = [](Window* window) { Require(window->Complete()); };
  const auto wait = [](Window* window) { Require(window->Wait()); };
  const auto then = [](auto first, auto second) {
    return [=](Window* window) {
      first(window);
      second(window);
    };
  };
  const std::vector<Epoch> epochs = {
      {fence, nothing, fence, nothing},
      {then(start, complete), nothing, post, wait},
      {then(post, wait), start, complete, nothing},
  };
  std::atomic<bool> is_awaited{false};
  std::atomic<bool> has_come{false};
  OnWindowRanks(setup, 2, [&](WindowRank& self) {
    const std::unique_ptr<Window> window = self.Make(8);
    for (const Epoch& epoch : epochs) {
      for (const int polls : {1, kPollsAwake, kPollsAwake + 1, kPollsBeforeSleep,
                              kPollsBeforeSleep + 1, kPollsBeforeSleep + kPollsAwake}) {
        is_awaited = has_come = false;
        self.Meet();
        if (self.rank() == 0) {
          endpoints[0]->behind = [&] {
            is_awaited = true;
            while (!has_come) std::this_thread::yield();
          };
          endpoints[0]->left = polls;
          epoch.wait(window.get());
        } else {
          epoch.before(window.get());
          while (!is_awaited) std::this_thread::yield();
          const int before = endpoints[1]->wakes;
          epoch.come(window.get());
          const int wakes = endpoints[1]->wakes - before;
          has_come = true;
          epoch.behind(window.get());
          Expect(wakes == (polls > kPollsBeforeSleep ? 1 : 0), "woken if it would sleep");
        }
        self.Meet();
      }
    }
    Require(window->Free());
  });
}

// More ranks than poll each other's pages.
TEST(Pages, FencesOfManyRanks) {
  constexpr int kRanks = 17;
  WindowSetup setup;
  setup.goes_directly = [](int) { return true; };
  OnWindowRanks(setup, kRanks, [&](WindowRank& self) {
    const std::unique_ptr<Window> window = self.Make(sizeof(int64_t));
    Require(window->Fence());
    for (int64_t i = 1; i <= 20; ++i) {
      Require(window->Put(Data(&i, 1, Element::kInt64),
                          At((self.rank() + static_cast<int>(i)) % kRanks, 0, 8)));
      Require(window->Fence());
      int64_t value = 0;
      std::memcpy(&value, window->base(), sizeof(value));
      Expect(value == i, "what was put in this epoch");
      Require(window->Fence());
    }
    Require(window->Free());
  });
}

INSTANTIATE_TEST_SUITE_P(Over, Windows, testing::ValuesIn(WindowSetups()),
                         [](const auto& test) { return test.param.name; });
INSTANTIATE_TEST_SUITE_P(In, Windows, testing::ValuesIn(SimulatedWindowSetups()),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace brigade
