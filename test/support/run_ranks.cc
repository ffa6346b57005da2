#include "test/support/run_ranks.h"

#include <execinfo.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "transport/time_slice.h"

namespace brigade {
namespace {

using Clock = std::chrono::steady_clock;

const Clock::time_point kStart = Clock::now();

// Returns when ranks that start now count as hanging: before Bazel kills the program, so that their
// stacks are printed. Without Bazel only these ranks have a limit, not the program.
Clock::time_point HangsAt() {
  const char* const limit = std::getenv("TEST_TIMEOUT");
  if (limit == nullptr) return Clock::now() + std::chrono::seconds(240);
  return kStart + std::chrono::seconds(std::atoi(limit) * 8 / 10);
}

void PrintStack(int) {
  void* frames[64];
  backtrace_symbols_fd(frames, backtrace(frames, 64), STDERR_FILENO);
}

[[noreturn]] void AbortWithStacks(std::vector<std::thread>* threads,
                                  const std::vector<char>& finished) {
  signal(SIGUSR1, PrintStack);
  for (size_t rank = 0; rank < threads->size(); ++rank) {
    if (finished[rank]) continue;
    std::fprintf(stderr, "rank %zu hangs:\n", rank);
    pthread_kill((*threads)[rank].native_handle(), SIGUSR1);
    sleep(1);  // so that stacks do not mix
  }
  std::abort();
}

}  // namespace

void RunRanks(int ranks, const InprocOptions& options,
              const std::function<void(InprocWorld& world, int rank)>& body) {
  InprocWorld world(ranks, options);
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<char> finished(ranks);
  int running = ranks;
  std::exception_ptr first_failure;

  const Clock::time_point hangs_at = HangsAt();
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank) {
    threads.emplace_back([&, rank] {
      ShortenTimeSlices();  // ranks that are threads wait without a WaitPolicy, which does this
      std::exception_ptr failure;
      try {
        body(world, rank);
      } catch (...) {
        failure = std::current_exception();
      }
      world.MarkLost(rank);
      std::lock_guard<std::mutex> lock(mutex);
      if (!first_failure) first_failure = failure;
      finished[rank] = true;
      --running;
      changed.notify_all();
    });
  }
  {
    std::unique_lock<std::mutex> lock(mutex);
    if (!changed.wait_until(lock, hangs_at, [&] { return running == 0; })) {
      AbortWithStacks(&threads, finished);
    }
  }
  for (std::thread& thread : threads) thread.join();
  if (first_failure) std::rethrow_exception(first_failure);
}

}  // namespace brigade
