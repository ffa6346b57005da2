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
#include <memory>
#include <new>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "membuf/status.h"
#include "patterns/engine/engine.h"
#include "test/support/run_processes.h"
#include "test/support/stress.h"
#include "transport/bootstrap.h"
#include "transport/endpoint.h"
#include "transport/shm/shm_transport.h"
#include "transport/tcp/tcp_transport.h"
#include "windows/core/window.h"
#include "windows/layout/typed_layout.h"
#include "windows/message/window_space.h"

namespace brigade {
namespace {

constexpr int kRanks = 3;
constexpr int kVictim = 2;
constexpr int64_t kSlots = 3000;

struct Way {
  std::string name;
  bool over_tcp;
  bool goes_directly;
  WindowMemory kind;
};

// What the processes count together.
struct Counts {
  std::atomic<int> ready{0};
  std::atomic<int> over{0};
};

void AwaitAll(std::atomic<int>* count, int ranks) {
  for (++*count; *count < ranks;) std::this_thread::sleep_for(std::chrono::microseconds(200));
}

// One rank, with a window. It ends without more ado, as its process does.
struct Member {
  Member(const Way& way, Bootstrap* bootstrap) {
    TcpOptions loopback;
    loopback.interface = "lo";
    Require(way.over_tcp ? CreateTcpEndpoint(loopback, &endpoint) : CreateShmEndpoint(&endpoint));
    Require(Engine::Create(endpoint.get(), EngineOptions(), &engine));
    Require(WindowSpace::Create(engine.get(), &space));
    WindowOptions options;
    options.kind = way.kind;
    options.bytes = kSlots * sizeof(int64_t);
    options.unit = sizeof(int64_t);
    options.goes_directly = way.goes_directly;
    if (way.kind == WindowMemory::kPrivate) {
      options.memory = reinterpret_cast<std::byte*>(memory.data());
    }
    Require(Window::Create(space.get(), bootstrap, options, &window));
  }
  static void Require(const Status& status) {
    if (status.ok()) return;
    std::fprintf(stderr, "%s\n", status.ToString().c_str());
    _exit(2);
  }

  std::vector<int64_t> memory = std::vector<int64_t>(kSlots);
  std::unique_ptr<Endpoint> endpoint;
  std::unique_ptr<Engine> engine;
  std::unique_ptr<WindowSpace> space;
  std::unique_ptr<Window> window;
};

class WindowDeaths : public testing::TestWithParam<Way> {
 protected:
  void SetUp() override {
    void* const memory =
        mmap(nullptr, sizeof(Counts), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(memory, MAP_FAILED);
    counts_ = new (memory) Counts;
  }
  void TearDown() override { munmap(counts_, sizeof(Counts)); }

  // live(member, rank) is what ranks do until the victim is dead; it ends with what they are told.
  void Run(const std::function<Status(Member*, int rank)>& live) {
    counts_->ready = counts_->over = 0;
    const std::vector<int> ends = RunProcesses(kRanks, [&](Bootstrap* bootstrap) {
      Member member(GetParam(), bootstrap);
      const Status status = live(&member, bootstrap->rank());
      const Status later = member.window->Progress();
      // Whose process ends is lost, too.
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

// Puts to the victim, and flushes or not, until that fails. Memory that is mapped outlives it:
// nobody waits, and a fence tells.
Status PutOn(Window* window, bool flushes) {
  int64_t value = 1;
  const TypedLayout word = TypedLayout::Run(Element::kInt64, 1);
  Status status = window->LockUnchecked(kVictim);
  while (status.ok() && window->PointerTo(kVictim) == nullptr) {
    status = window->Put({reinterpret_cast<std::byte*>(&value), word, 1}, {kVictim, 0, word, 1});
    if (status.ok() && flushes) status = window->Flush(kVictim);
  }
  const Status unlocked = window->Unlock(kVictim);
  if (status.ok()) status = unlocked;
  return status.ok() ? window->Fence() : status;
}

TEST_P(WindowDeaths, EndEveryWait) {
  struct Wait {
    const char* name;
    std::function<Status(Window*)> call;
  };
  const std::vector<Wait> waits = {
      {"fence", [](Window* window) { return window->Fence(); }},
      {"lock", [](Window* window) { return window->Lock(LockKind::kShared, 0); }},
      {"lock all", [](Window* window) { return window->LockAll(); }},
      {"start", [](Window* window) { return window->Start({kVictim}); }},
      {"wait",
       [](Window* window) {
         const Status posted = window->Post({kVictim});
         return posted.ok() ? window->Wait() : posted;
       }},
      {"notification", [](Window* window) { return window->NotifyWait(kVictim); }},
      {"put", [](Window* window) { return PutOn(window, /*flushes=*/false); }},
      {"flush", [](Window* window) { return PutOn(window, /*flushes=*/true); }},
      {"free", [](Window* window) { return window->Free(); }},
  };
  for (const Wait& wait : waits) {
    SCOPED_TRACE(wait.name);
    Run([&](Member* member, int rank) {
      // It dies while it has the lock.
      if (rank == kVictim) Member::Require(member->window->Lock(LockKind::kExclusive, 0));
      // Rank 0 does what it is asked for by messages.
      for (++counts_->ready; counts_->ready < kRanks;) Member::Require(member->window->Progress());
      if (rank == kVictim) {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));  // the others wait, mostly
        raise(SIGKILL);
      }
      return wait.call(member->window.get());
    });
  }
}

// Wherever the victim is: within a lock, while it combines, or in the middle of a message.
TEST_P(WindowDeaths, AtAnyTimeLeaveNobodyWaiting) {
  const int trials = StressRounds(10, 2000);
  for (int i = 0; i < trials && !HasFailure(); ++i) {
    const unsigned seed = StressSeed() + static_cast<unsigned>(i);
    SCOPED_TRACE("seed " + std::to_string(seed));
    Run([&](Member* member, int rank) {
      std::mt19937 random(seed * kRanks + static_cast<unsigned>(rank));
      Window* const window = member->window.get();
      std::vector<int64_t> values(kSlots);
      std::vector<int64_t> fetched(kSlots);
      const TypedLayout word = TypedLayout::Run(Element::kInt64, 1);
      TypedLayout every_second;
      Member::Require(TypedLayout::Repeat(kSlots / 2, 2 * sizeof(int64_t), word, &every_second));
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
        BRIGADE_RETURN_IF_ERROR(window->GetAccumulate(AccumulateOp::kSum, from, to, there));
        BRIGADE_RETURN_IF_ERROR(window->Flush(target));
        BRIGADE_RETURN_IF_ERROR(window->Accumulate(AccumulateOp::kMax, from, there));
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
    testing::Values(Way{"shm", false, true, WindowMemory::kPrivate},
                    Way{"shm_shared", false, true, WindowMemory::kShared},
                    Way{"shm_by_messages", false, false, WindowMemory::kPrivate},
                    Way{"tcp", true, true, WindowMemory::kPrivate},
                    Way{"tcp_by_messages", true, false, WindowMemory::kPrivate}),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace brigade
