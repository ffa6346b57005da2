#include "test/support/run_processes.h"

#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <thread>

#include "membuf/check.h"

namespace brigade {
namespace {

// Far beyond any test, even beside a load.
constexpr std::chrono::seconds kHang{200};
constexpr size_t kMostBytes = 4096;  // of one text of a rank

// The shared memory of the processes.
struct Shared {
  pthread_barrier_t barrier;
  std::byte said[][kMostBytes];
};

class SharedBootstrap : public Bootstrap {
 public:
  SharedBootstrap(Shared* shared, int rank, int size) : shared_(shared), rank_(rank), size_(size) {}
  int rank() const override { return rank_; }
  int size() const override { return size_; }
  Status AllGather(const void* mine, size_t bytes, void* all) override {
    BRIGADE_CHECK_LE(bytes, kMostBytes);
    std::memcpy(shared_->said[rank_], mine, bytes);
    pthread_barrier_wait(&shared_->barrier);
    for (int rank = 0; rank < size_; ++rank) {
      std::memcpy(static_cast<std::byte*>(all) + static_cast<size_t>(rank) * bytes,
                  shared_->said[rank], bytes);
    }
    pthread_barrier_wait(&shared_->barrier);
    return Status();
  }

 private:
  Shared* const shared_;
  const int rank_;
  const int size_;
};

}  // namespace

std::vector<int> RunProcesses(int ranks, const std::function<int(Bootstrap* bootstrap)>& body) {
  const size_t bytes = sizeof(Shared) + static_cast<size_t>(ranks) * kMostBytes;
  void* const memory =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  BRIGADE_CHECK(memory != MAP_FAILED);
  auto* const shared = static_cast<Shared*>(memory);
  pthread_barrierattr_t between_processes;
  pthread_barrierattr_init(&between_processes);
  pthread_barrierattr_setpshared(&between_processes, PTHREAD_PROCESS_SHARED);
  pthread_barrier_init(&shared->barrier, &between_processes, static_cast<unsigned>(ranks));
  pthread_barrierattr_destroy(&between_processes);

  std::fflush(nullptr);
  std::vector<pid_t> children;
  for (int rank = 0; rank < ranks; ++rank) {
    const pid_t child = fork();
    BRIGADE_CHECK_LE(0, child);
    if (child == 0) {
      SharedBootstrap bootstrap(shared, rank, ranks);
      const int code = body(&bootstrap);
      std::fflush(nullptr);
      _exit(code);
    }
    children.push_back(child);
  }
  // A process that has died is waited for at once, since it would look alive otherwise.
  std::vector<int> ends(children.size(), 0);
  const auto start = std::chrono::steady_clock::now();
  bool killed = false;
  for (int left = ranks; left > 0;) {
    int end = 0;
    const pid_t child = waitpid(-1, &end, WNOHANG);
    if (child > 0) {
      const auto at = std::find(children.begin(), children.end(), child);
      if (at == children.end()) continue;
      ends[static_cast<size_t>(at - children.begin())] = end;
      *at = 0;
      --left;
      continue;
    }
    std::this_thread::sleep_for(std::chrono::microseconds(200));
    if (killed || std::chrono::steady_clock::now() - start < kHang) continue;
    killed = true;
    for (size_t rank = 0; rank < children.size(); ++rank) {
      if (children[rank] == 0) continue;
      std::fprintf(stderr, "rank %zu hangs\n", rank);
      kill(children[rank], SIGABRT);
      kill(children[rank], SIGCONT);  // should it be stopped
    }
  }
  munmap(memory, bytes);
  return ends;
}

}  // namespace brigade
