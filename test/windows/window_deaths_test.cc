// Ranks are processes, and one of them is killed: whoever waits for it, in whatever call of a
// window, is told.

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <new>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "membuf/element.h"
#include "membuf/status.h"
#include "test/support/run_processes.h"
#include "test/support/stress.h"
#include "test/windows/window_process.h"
#include "transport/bootstrap.h"
#include "windows/core/window.h"
#include "windows/layout/typed_layout.h"
#include "windows/memory/member.h"
#include "windows/message/rma_request.h"

namespace brigade {
namespace {

constexpr int kRanks = 3;
constexpr int kVictim = 2;
constexpr int64_t kSlots = WindowProcess::kSlots;

// Counters that the processes share.
struct Counts {
  std::atomic<int> ready{0};
  std::atomic<int> over{0};
};

void AwaitAll(std::atomic<int>* count, int ranks) {
  for (++*count; *count < ranks;) std::this_thread::sleep_for(std::chrono::microseconds(200));
}

class WindowDeaths : public testing::TestWithParam<ProcessSetup> {
 protected:
  void SetUp() override {
    void* const memory =
        mmap(nullptr, sizeof(Counts), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(memory, MAP_FAILED);
    counts_ = new (memory) Counts;
  }
  void TearDown() override { munmap(counts_, sizeof(Counts)); }

  // live(member, rank) is what ranks do until the victim is dead; it ends with the errors of the
  // calls.
  void Run(const std::function<Status(WindowProcess*, int rank)>& live) {
    counts_->ready = counts_->over = 0;
    const std::vector<int> ends = RunProcesses(kRanks, [&](Bootstrap* bootstrap) {
      WindowProcess member(GetParam(), bootstrap);
      const Status status = live(&member, bootstrap->rank());
      // However often it is called: calls that look for losses do so now and then only.
      Status later = member.window->Progress();
      for (int calls = 0; calls < 1000 && later.code() == StatusCode::kPeerLost; ++calls) {
        later = member.window->Progress();
      }
      // A rank whose process ends is lost, too: it must not end before the others have finished.
      AwaitAll(&counts_->over, kRanks - 1);
      if (status.code() == StatusCode::kPeerLost && later.code() == StatusCode::kPeerLost &&
          status.message().find("rank 2 of") != std::string::npos) {
        _exit(0);
      }
      std::fprintf(stderr, "rank %d ends with %s, and then %s\n", bootstrap->rank(),
                   status.ToString().c_str(), later.ToString().c_str());
      _exit(1);
      return 1;
    });
    for (int rank = 0; rank < kRanks; ++rank) {
      const int end = ends[static_cast<size_t>(rank)];
      if (rank == kVictim) {
        EXPECT_TRUE(WIFSIGNALED(end) && WTERMSIG(end) != SIGABRT) << "it did not die: " << end;
      } else {
        EXPECT_EQ(end, 0) << "rank " << rank;
      }
    }
  }

  Counts* counts_ = nullptr;
};

Status PutToVictim(Window* window) {
  int64_t value = 1;
  const TypedLayout word = TypedLayout::Run(Element::kInt64, 1);
  return window->Put({reinterpret_cast<std::byte*>(&value), word, 1}, {kVictim, 0, word, 1});
}

// Does it until something fails. Memory that is mapped outlives the victim: nobody waits there.
template <typename Epoch>
Status Repeat(Window* window, const Epoch& epoch) {
  Status status = epoch();
  while (status.ok() && window->PointerTo(kVictim) == nullptr) status = epoch();
  return status;
}

struct Wait {
  std::string name;
  std::function<Status(Window*)> call;
};

// A call that succeeds has not waited: a fence follows.
std::vector<Wait> Waits() {
  return {
      {"fence", [](Window* window) { return window->Fence(); }},
      {"lock", [](Window* window) { return window->Lock(LockKind::kShared, 0); }},
      {"lock all", [](Window* window) { return window->LockAll(); }},
      {"wait",
       [](Window* window) {
         const Status posted = window->Post({kVictim});
         return posted.ok() ? window->Wait() : posted;
       }},
      {"test",
       [](Window* window) {
         Status status = window->Post({kVictim});
         for (bool over = false; status.ok() && !over;) status = window->Test(&over);
         return status;
       }},
      {"start", [](Window* window) { return window->Start({kVictim}); }},
      {"complete",
       [](Window* window) -> Status {
         BRIGADE_RETURN_IF_ERROR(window->Start({kVictim}));
         for (int puts = 0; puts < 300; ++puts) BRIGADE_RETURN_IF_ERROR(PutToVictim(window));
         return window->Complete();
       }},
      {"notification", [](Window* window) { return window->NotifyWait(kVictim); }},
      {"notification, looked for",
       [](Window* window) {
         Status status;
         for (bool taken = false; status.ok() && !taken;) {
           status = window->NotifyTest(kVictim, 1, &taken);
         }
         return status;
       }},
      {"put",
       [](Window* window) -> Status {
         BRIGADE_RETURN_IF_ERROR(window->LockUnchecked(kVictim));
         const Status status = Repeat(window, [&] { return PutToVictim(window); });
         const Status unlocked = window->Unlock(kVictim);
         return status.ok() ? unlocked : status;
       }},
      {"flush",
       [](Window* window) -> Status {
         BRIGADE_RETURN_IF_ERROR(window->LockUnchecked(kVictim));
         const Status status = Repeat(window, [&]() -> Status {
           BRIGADE_RETURN_IF_ERROR(PutToVictim(window));
           return window->Flush(kVictim);
         });
         const Status unlocked = window->Unlock(kVictim);
         return status.ok() ? unlocked : status;
       }},
      {"flush all",
       [](Window* window) -> Status {
         BRIGADE_RETURN_IF_ERROR(window->LockAllUnchecked());
         const Status status = Repeat(window, [&]() -> Status {
           BRIGADE_RETURN_IF_ERROR(PutToVictim(window));
           return window->FlushAll();
         });
         const Status unlocked = window->UnlockAll();
         return status.ok() ? unlocked : status;
       }},
      {"unlock",
       [](Window* window) {
         return Repeat(window, [&]() -> Status {
           BRIGADE_RETURN_IF_ERROR(window->Lock(LockKind::kShared, kVictim));
           BRIGADE_RETURN_IF_ERROR(PutToVictim(window));
           return window->Unlock(kVictim);
         });
       }},
      {"free", [](Window* window) { return window->Free(); }},
  };
}

// Loops that wait for what others write: to the own memory, or to memory that others reach.
std::vector<Wait> FlushLoops() {
  return {
      {"flush of its own memory",
       [](Window* window) -> Status {
         Status status = window->LockUnchecked(window->rank());
         while (status.ok()) status = window->Flush(window->rank());
         return status;
       }},
      {"flushes of nothing",
       [](Window* window) -> Status {
         BRIGADE_RETURN_IF_ERROR(window->LockAllUnchecked());
         for (;;) {
           BRIGADE_RETURN_IF_ERROR(window->Flush(kVictim));
           BRIGADE_RETURN_IF_ERROR(window->FlushAll());
         }
       }},
      {"local flushes",
       [](Window* window) -> Status {
         BRIGADE_RETURN_IF_ERROR(window->LockAllUnchecked());
         for (;;) BRIGADE_RETURN_IF_ERROR(window->FlushLocal(kVictim));
       }},
  };
}

TEST_P(WindowDeaths, EndEveryWait) {
  std::vector<Wait> waits = Waits();
  const std::vector<Wait> loops = FlushLoops();
  waits.insert(waits.end(), loops.begin(), loops.end());
  for (const Wait& wait : waits) {
    SCOPED_TRACE(wait.name);
    Run([&](WindowProcess* member, int rank) {
      Window* const window = member->window.get();
      if (rank == kVictim) {
        // It dies while it has the lock.
        WindowProcess::Require(window->Lock(LockKind::kExclusive, 0));
        if (wait.name == "complete") WindowProcess::Require(window->Post({0, 1}));
      }
      // Rank 0 serves requests by messages. A rank that is held up here finds the victim
      // dead already.
      for (++counts_->ready; counts_->ready < kRanks;) {
        const Status status = window->Progress();
        if (status.code() != StatusCode::kPeerLost) WindowProcess::Require(status);
      }
      if (rank == kVictim) {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));  // the others wait, mostly
        raise(SIGKILL);
      }
      const Status status = wait.call(window);
      return status.ok() ? window->Fence() : status;
    });
  }
}

// Wherever the victim is: within a lock, while it combines, or in the middle of a message.
TEST_P(WindowDeaths, AtAnyTimeLeaveNoRankWaiting) {
  const int trials = StressRounds(10, 2000);
  for (int i = 0; i < trials && !HasFailure(); ++i) {
    const unsigned seed = StressSeed() + static_cast<unsigned>(i);
    SCOPED_TRACE("seed " + std::to_string(seed));
    Run([&](WindowProcess* member, int rank) {
      std::mt19937 random(seed * kRanks + static_cast<unsigned>(rank));
      Window* const window = member->window.get();
      std::vector<int64_t> values(kSlots);
      std::vector<int64_t> fetched(kSlots);
      const TypedLayout word = TypedLayout::Run(Element::kInt64, 1);
      TypedLayout every_second;
      WindowProcess::Require(
          TypedLayout::Repeat(kSlots / 2, 2 * sizeof(int64_t), word, &every_second));
      AwaitAll(&counts_->ready, kRanks);
      if (rank == kVictim) ualarm(1 + random() % 20000, 0);
      const auto once = [&]() -> Status {
        const int target = static_cast<int>(random() % kRanks);
        const int64_t count = random() % 2 == 0 ? 1 : kSlots;
        const OriginData from{reinterpret_cast<std::byte*>(values.data()), word, count};
        const OriginData to{reinterpret_cast<std::byte*>(fetched.data()), word, count};
        const TargetData there{target, 0, word, count};
        const auto kind = random() % 2 == 0 ? LockKind::kShared : LockKind::kExclusive;
        BRIGADE_RETURN_IF_ERROR(window->Lock(kind, target));
        BRIGADE_RETURN_IF_ERROR(window->Put(from, there));
        BRIGADE_RETURN_IF_ERROR(
            window->Put({from.data, word, kSlots / 2}, {target, 0, every_second, 1}));
        BRIGADE_RETURN_IF_ERROR(window->GetAccumulate(CombineOp::kSum, from, to, there));
        BRIGADE_RETURN_IF_ERROR(window->Flush(target));
        BRIGADE_RETURN_IF_ERROR(window->Get(to, there));
        BRIGADE_RETURN_IF_ERROR(window->Flush(target));
        BRIGADE_RETURN_IF_ERROR(window->Accumulate(CombineOp::kMax, from, there));
        BRIGADE_RETURN_IF_ERROR(window->Unlock(target));
        return window->Fence();
      };
      Status status;
      while (status.ok()) status = once();
      return status;
    });
  }
}

INSTANTIATE_TEST_SUITE_P(
    Over, WindowDeaths,
    testing::Values(ProcessSetup{"shm", false, true, WindowMemory::kPrivate},
                    ProcessSetup{"shm_shared", false, true, WindowMemory::kShared},
                    ProcessSetup{"shm_by_messages", false, false, WindowMemory::kPrivate},
                    ProcessSetup{"tcp", true, true, WindowMemory::kPrivate},
                    ProcessSetup{"tcp_by_messages", true, false, WindowMemory::kPrivate}),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace brigade
