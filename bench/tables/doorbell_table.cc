// Times the two handshakes between a sleeping rank and the rank that wakes it, with few ranks and
// with many: the measurement behind transport/edge/doorbell.h.
//
// Either the sleeper makes all ranks execute a fence before its last poll, as Doorbell does, or
// every sender executes a fence after each message. Ranks are processes that wait like ranks over
// shared memory. They pass a token around, so that all but one wait; or all send to all, and then
// wait for all, as in an exchange. The handshakes alternate, so that a disturbance of the machine
// affects both; medians count.

#include <linux/futex.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <vector>

#include "CLI/CLI.hpp"
#include "transport/edge/doorbell.h"
#include "transport/rules.h"

namespace brigade {
namespace {

constexpr int kMostRanks = 64;
constexpr int kRepetitions = 5;
using Clock = std::chrono::steady_clock;

// As Doorbell, but senders fence.
class FencingDoorbell {
 public:
  void Signal() {
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if (asleep_.load(std::memory_order_relaxed) == 0) return;
    if (asleep_.exchange(0, std::memory_order_acq_rel) == 0) return;
    syscall(SYS_futex, &asleep_, FUTEX_WAKE, 1, nullptr, nullptr, 0);
  }
  void Arm() { asleep_.store(1, std::memory_order_seq_cst); }
  void Sleep(int longest_us) {
    const timespec timeout{longest_us / 1000000, longest_us % 1000000 * 1000L};
    syscall(SYS_futex, &asleep_, FUTEX_WAIT, 1, &timeout, nullptr, 0);
    Disarm();
  }
  void Disarm() { asleep_.store(0, std::memory_order_relaxed); }

 private:
  std::atomic<uint32_t> asleep_{0};
};

// In memory that all ranks share.
template <typename AnyDoorbell>
struct Table {
  struct alignas(64) Word {
    std::atomic<uint64_t> messages{0};
  };
  struct alignas(64) Sleeper {
    AnyDoorbell doorbell;
    alignas(64) std::atomic<uint64_t> sleeps{0};
    std::atomic<uint64_t> arming_ns{0};
  };
  Word sent[kMostRanks][kMostRanks];  // from each to each
  Sleeper sleepers[kMostRanks];
};

template <typename AnyDoorbell>
class Rank {
 public:
  Rank(Table<AnyDoorbell>* table, int rank, int ranks)
      : table_(*table),
        me_(table->sleepers[rank]),
        rank_(rank),
        ranks_(ranks),
        crowded_(ranks > static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN))) {}

  // Turns `first` to `last`.
  void PassTokens(int first, int last) {
    for (int turn = first; turn <= last; ++turn) {
      if (rank_ > 0) Await((rank_ + ranks_ - 1) % ranks_, turn);
      Send((rank_ + 1) % ranks_, turn);
      if (rank_ == 0) Await(ranks_ - 1, turn);
    }
  }
  void Exchange(int first, int last) {
    for (int turn = first; turn <= last; ++turn) {
      for (int i = 1; i < ranks_; ++i) Send((rank_ + i) % ranks_, turn);
      for (int i = 1; i < ranks_; ++i) Await((rank_ + i) % ranks_, turn);
    }
  }

 private:
  void Send(int to, int turn) {
    table_.sent[rank_][to].messages.store(static_cast<uint64_t>(turn), std::memory_order_release);
    table_.sleepers[to].doorbell.Signal();
  }
  void Await(int from, int turn) {
    const std::atomic<uint64_t>& messages = table_.sent[from][rank_].messages;
    const auto came = [&] {
      return messages.load(std::memory_order_acquire) >= static_cast<uint64_t>(turn);
    };
    const uint64_t spins = crowded_ ? rules::kShmSpinsIfCrowded : rules::kShmSpins;
    const uint64_t yields = crowded_ ? rules::kShmYieldsIfCrowded : rules::kShmYields;
    for (uint64_t polls = 0; !came(); ++polls) {
      if (polls < spins) continue;
      if (polls < spins + yields) {
        sched_yield();
        continue;
      }
      const Clock::time_point start = Clock::now();
      me_.doorbell.Arm();
      const auto took = std::chrono::nanoseconds(Clock::now() - start);
      me_.arming_ns.fetch_add(static_cast<uint64_t>(took.count()), std::memory_order_relaxed);
      me_.sleeps.fetch_add(1, std::memory_order_relaxed);
      if (came()) {
        me_.doorbell.Disarm();
        return;
      }
      me_.doorbell.Sleep(rules::kShmSleepUs);
    }
  }

  Table<AnyDoorbell>& table_;
  typename Table<AnyDoorbell>::Sleeper& me_;
  const int rank_;
  const int ranks_;
  const bool crowded_;
};

enum class Traffic { kToken, kExchange };

struct Figures {
  double us = 0;         // of a hop of the token, or of an exchange
  double sleeps = 0;     // of all ranks, of a thousand of these
  double arming_us = 0;  // each
};

// REQUIRES: 2 <= ranks <= kMostRanks.
template <typename AnyDoorbell>
Figures Measure(Traffic traffic, int ranks) {
  void* const memory = mmap(nullptr, sizeof(Table<AnyDoorbell>), PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) std::abort();
  auto* const table = new (memory) Table<AnyDoorbell>;
  constexpr int kWarmUp = 10;
  const int turns = std::max(traffic == Traffic::kToken ? 20000 / ranks : 10000 / ranks, 200);
  const auto run = [&](int rank, int first, int last) {
    Rank<AnyDoorbell> me(table, rank, ranks);
    if (traffic == Traffic::kToken) {
      me.PassTokens(first, last);
    } else {
      me.Exchange(first, last);
    }
  };
  for (int rank = 1; rank < ranks; ++rank) {
    if (fork() != 0) continue;
    (void)Doorbell::Prepare();
    run(rank, 1, kWarmUp + turns);
    _exit(0);
  }
  (void)Doorbell::Prepare();
  run(0, 1, kWarmUp);
  const Clock::time_point start = Clock::now();
  run(0, kWarmUp + 1, kWarmUp + turns);
  const std::chrono::duration<double, std::micro> took = Clock::now() - start;
  for (int rank = 1; rank < ranks; ++rank) (void)wait(nullptr);
  Figures found;
  const double hops = traffic == Traffic::kToken ? static_cast<double>(turns) * ranks : turns;
  found.us = took.count() / hops;
  uint64_t sleeps = 0;
  uint64_t arming_ns = 0;
  for (int rank = 0; rank < ranks; ++rank) {
    sleeps += table->sleepers[rank].sleeps;
    arming_ns += table->sleepers[rank].arming_ns;
  }
  found.sleeps = 1000.0 * static_cast<double>(sleeps) / hops;
  if (sleeps > 0) {
    found.arming_us = 0.001 * static_cast<double>(arming_ns) / static_cast<double>(sleeps);
  }
  munmap(memory, sizeof(Table<AnyDoorbell>));
  return found;
}

Figures Median(std::vector<Figures> all) {
  const auto middle = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
  std::nth_element(all.begin(), middle, all.end(),
                   [](const Figures& a, const Figures& b) { return a.us < b.us; });
  return *middle;
}

void PrintRow(Traffic traffic, int ranks) {
  std::vector<Figures> of_sleeper, of_senders;
  for (int i = 0; i < kRepetitions; ++i) {
    of_sleeper.push_back(Measure<Doorbell>(traffic, ranks));
    of_senders.push_back(Measure<FencingDoorbell>(traffic, ranks));
  }
  const Figures sleeper = Median(of_sleeper);
  const Figures senders = Median(of_senders);
  std::printf("| %s | %d | %.2f | %.2f | %.2f | %.0f | %.2f | %.2f |\n",
              traffic == Traffic::kToken ? "token" : "exchange", ranks, sleeper.us, senders.us,
              senders.us / sleeper.us, sleeper.sleeps, sleeper.arming_us, senders.arming_us);
  std::fflush(stdout);
}

}  // namespace
}  // namespace brigade

int main(int argc, char** argv) {
  CLI::App app("Times the handshakes between a sleeping rank and the rank that wakes it");
  std::vector<int> ranks = {2, 4, 8, 32};
  app.add_option("--ranks", ranks, "Numbers of ranks")
      ->delimiter(',')
      ->check(CLI::Range(2, brigade::kMostRanks));
  CLI11_PARSE(app, argc, argv);
  std::printf(
      "| traffic | ranks | us, the sleeper fences | us, senders fence | ratio |"
      " sleeps per 1000 | us to arm | without the fence |\n");
  std::printf("|---|---|---|---|---|---|---|---|\n");
  std::fflush(stdout);  // children would print it again
  for (const auto traffic : {brigade::Traffic::kToken, brigade::Traffic::kExchange}) {
    for (const int count : ranks) brigade::PrintRow(traffic, count);
  }
  return 0;
}
