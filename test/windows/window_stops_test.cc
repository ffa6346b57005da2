// A target that is stopped now and then: its origin goes on when it does, and holds no more
// meanwhile, however much it has to say.

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "membuf/element.h"
#include "test/support/run_processes.h"
#include "test/support/stress.h"
#include "test/windows/window_process.h"
#include "transport/bootstrap.h"
#include "windows/core/window.h"
#include "windows/layout/typed_layout.h"
#include "windows/memory/member.h"
#include "windows/message/rma_request.h"
#include "windows/rules.h"

namespace brigade {
namespace {

// Of this process, in memory that is there. A sanitizer keeps what was freed.
int64_t BytesHeld() {
#ifdef __SANITIZE_ADDRESS__
  return 0;
#else
  std::ifstream file("/proc/self/statm");
  int64_t mapped = 0;
  int64_t resident = 0;
  file >> mapped >> resident;
  return resident * sysconf(_SC_PAGESIZE);
#endif
}

// Stops a process for a while, and again, until it is destroyed.
class Stops {
 public:
  explicit Stops(pid_t process) : process_(process), thread_([this] { Run(); }) {}
  ~Stops() {
    is_over_ = true;
    thread_.join();
  }

 private:
  void Run() {
    while (!is_over_) {
      kill(process_, SIGSTOP);
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      kill(process_, SIGCONT);
      std::this_thread::sleep_for(std::chrono::milliseconds(40));
    }
  }

  const pid_t process_;
  std::atomic<bool> is_over_{false};
  std::thread thread_;
};

// Stops a process at once, and for a while.
class Stop {
 public:
  explicit Stop(pid_t process) {
    kill(process, SIGSTOP);
    end_ = std::thread([process] {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      kill(process, SIGCONT);
    });
  }
  ~Stop() { end_.join(); }

 private:
  std::thread end_;
};

constexpr int64_t kWordsOfPut = 12;
constexpr int64_t kPlaces = 200;
// Of the i-th put, behind the sum.
int64_t Place(int64_t i) { return 1 + i % kPlaces * kWordsOfPut; }

class WindowStops : public testing::TestWithParam<ProcessSetup> {};

TEST_P(WindowStops, HoldTheirOriginUpAndItsMemoryIsFlat) {
  constexpr int64_t kMostMore = int64_t{1} << 20;
  const int64_t pairs = StressRounds(20000, 500000);  // of a put and an accumulate
  const std::vector<int> ends = RunProcesses(2, [&](Bootstrap* bootstrap) {
    const auto require = WindowProcess::Require;
    const pid_t own = getpid();
    pid_t all[2] = {};
    require(bootstrap->AllGather(&own, sizeof(own), all));
    WindowProcess self(GetParam(), bootstrap);
    Window* const window = self.window.get();
    // The data of a put stay until they are sent. Fewer than kKept puts are in flight at once.
    constexpr int64_t kKept = rules::kMostPending;
    std::vector<int64_t> values(kKept * kWordsOfPut);
    int64_t held_at_first = 0;
    int64_t held = 0;
    require(window->Fence());
    if (bootstrap->rank() == 0) {
      const Stops stops(all[1]);
      const TypedLayout word = TypedLayout::Run(Element::kInt64, 1);
      for (int64_t i = 1; i <= pairs; ++i) {
        int64_t* const value = &values[static_cast<size_t>(i % kKept * kWordsOfPut)];
        std::fill_n(value, kWordsOfPut, i);
        const OriginData sent{reinterpret_cast<std::byte*>(value), word, kWordsOfPut};
        require(window->Put(sent, {1, Place(i), word, kWordsOfPut}));
        require(window->Accumulate(CombineOp::kSum, {sent.data, word, 1}, {1, 0, word, 1}));
        if (i % 100 == 0) held = std::max(held, BytesHeld());
        if (i == pairs / 4) held_at_first = held;
      }
    }
    require(window->Fence());
    bool is_right = held - held_at_first <= kMostMore;
    if (!is_right) {
      std::fprintf(stderr, "%lld bytes, and before %lld\n", static_cast<long long>(held),
                   static_cast<long long>(held_at_first));
    }
    if (bootstrap->rank() == 1) {
      is_right = self.memory[0] == pairs * (pairs + 1) / 2;
      for (int64_t i = pairs; i > pairs - kPlaces; --i) {
        is_right = is_right && self.memory[static_cast<size_t>(Place(i) + kWordsOfPut - 1)] == i;
      }
    }
    require(window->Free());
    return is_right ? 0 : 1;
  });
  EXPECT_EQ(ends, std::vector<int>(2, 0));
}

// More segments than a transport grants places for ahead.
constexpr int64_t kLongWords = int64_t{1} << 19;

bool AllAre(const std::vector<int64_t>& words, int64_t value) {
  return std::all_of(words.begin(), words.end(), [&](int64_t word) { return word == value; });
}

// Data sent directly from the caller's memory are read before the buffer may be reused, however
// long the target is stopped. Data behind copied data wait for the copied data.
TEST_P(WindowStops, PutsDeliverTheirDataThoughTheOriginReusesItsBuffer) {
  constexpr int64_t kMostMore = int64_t{2} << 20;
  const int rounds = StressRounds(12, 500);
  const std::vector<int> ends = RunProcesses(2, [&](Bootstrap* bootstrap) {
    const auto require = WindowProcess::Require;
    const pid_t own = getpid();
    pid_t all[2] = {};
    require(bootstrap->AllGather(&own, sizeof(own), all));
    WindowProcess self(GetParam(), bootstrap, 3 * kLongWords);
    Window* const window = self.window.get();
    const TypedLayout word = TypedLayout::Run(Element::kInt64, 1);
    TypedLayout every_second;
    require(TypedLayout::Repeat(kLongWords, 2 * sizeof(int64_t), word, &every_second));
    bool is_right = true;
    require(window->Fence());
    if (bootstrap->rank() == 0) {
      std::vector<int64_t> sent(kLongWords);
      std::vector<int64_t> copied(kLongWords);
      std::vector<int64_t> got(kLongWords);
      const auto data = [&](std::vector<int64_t>* words) {
        return OriginData{reinterpret_cast<std::byte*>(words->data()), word, kLongWords};
      };
      const auto fetch = [&](const TargetData& there) {
        require(window->Get(data(&got), there));
        require(window->Flush(1));
      };
      const TargetData there{1, 2 * kLongWords, word, kLongWords};
      const TargetData apart{1, 0, every_second, 1};
      const int64_t held = BytesHeld();
      require(window->LockUnchecked(1));
      for (int round = 1; round <= rounds && is_right; ++round) {
        const Stop stop(all[1]);
        std::fill(copied.begin(), copied.end(), -round);
        std::fill(sent.begin(), sent.end(), round);
        std::atomic<bool> over{false};
        if (round % 3 != 0) require(window->Put(data(&copied), apart));
        require(window->Put(data(&sent), there, &over));
        require(round % 2 == 0 ? window->WaitFor(over) : window->FlushLocal(1));
        std::fill(sent.begin(), sent.end(), 0);
        require(window->Flush(1));
        fetch(there);
        is_right = AllAre(got, round) && BytesHeld() - held <= kMostMore;
        if (round % 3 == 0) continue;
        fetch(apart);
        is_right = is_right && AllAre(got, -round);
      }
      require(window->Unlock(1));
    }
    require(window->Fence());
    require(window->Free());
    return is_right ? 0 : 1;
  });
  EXPECT_EQ(ends, std::vector<int>(2, 0));
}

// An origin that requests more than it receives costs no memory at the target: the data stay in the
// window.
TEST_P(WindowStops, OfAnOriginLeaveTheMemoryOfItsTargetFlat) {
  constexpr int64_t kMostMore = int64_t{2} << 20;
  constexpr int kAtOnce = 8;
  const int rounds = StressRounds(12, 500);
  const std::vector<int> ends = RunProcesses(2, [&](Bootstrap* bootstrap) {
    const auto require = WindowProcess::Require;
    const pid_t own = getpid();
    pid_t all[2] = {};
    require(bootstrap->AllGather(&own, sizeof(own), all));
    WindowProcess self(GetParam(), bootstrap, kLongWords);
    Window* const window = self.window.get();
    const TypedLayout word = TypedLayout::Run(Element::kInt64, 1);
    std::fill(self.memory.begin(), self.memory.end(), 7);
    bool is_right = true;
    require(window->Fence());
    if (bootstrap->rank() == 0) {
      std::vector<std::vector<int64_t>> got(kAtOnce, std::vector<int64_t>(kLongWords));
      require(window->LockUnchecked(1));
      for (int round = 0; round < rounds; ++round) {
        for (std::vector<int64_t>& words : got) {
          std::fill(words.begin(), words.end(), 0);
          const OriginData data{reinterpret_cast<std::byte*>(words.data()), word, kLongWords};
          require(window->Get(data, {1, 0, word, kLongWords}));
        }
        require(window->Flush(1));
        for (const std::vector<int64_t>& words : got) is_right = is_right && AllAre(words, 7);
        if (round == 0) require(window->PutNotify({nullptr, word, 0}, {1, 0, word, 0}));
      }
      require(window->Unlock(1));
      require(window->PutNotify({nullptr, word, 0}, {1, 0, word, 0}));
    } else {
      const Stops stops(all[0]);
      int64_t held = -1;  // at the end of the first round
      for (int told = 0; told < 2;) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));  // a progress thread answers
        is_right = is_right && (told == 0 || BytesHeld() - held <= kMostMore);
        bool comes = false;
        require(window->NotifyTest(0, 1, &comes));
        if (!comes) continue;
        if (told++ == 0) held = BytesHeld();
      }
    }
    require(window->Fence());
    require(window->Free());
    return is_right ? 0 : 1;
  });
  EXPECT_EQ(ends, std::vector<int>(2, 0));
}

INSTANTIATE_TEST_SUITE_P(
    Over, WindowStops,
    testing::Values(ProcessSetup{"shm_by_messages", false, false, WindowMemory::kPrivate},
                    ProcessSetup{"tcp_by_messages", true, false, WindowMemory::kPrivate}),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace brigade
