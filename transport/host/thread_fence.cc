#include "transport/host/thread_fence.h"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <thread>

namespace brigade {

ThreadFence::ThreadFence()
    : by_system_(syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0) {}

void ThreadFence::Heavy() {
  Full();
  if (!by_system_.load(std::memory_order_relaxed) ||
      syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) == 0) {
    return;
  }
  // The call fails if a filter of system calls was added meanwhile. The sleep makes earlier stores
  // of the other side visible; from then on the other side fences.
  by_system_.store(false, std::memory_order_relaxed);
  std::this_thread::sleep_for(std::chrono::milliseconds(10));
  Full();
}

// GCC warns that ThreadSanitizer does not support fences. The words themselves order the data for
// it.
#ifdef __SANITIZE_THREAD__
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wtsan"
#endif
void ThreadFence::Full() { std::atomic_thread_fence(std::memory_order_seq_cst); }
#ifdef __SANITIZE_THREAD__
#pragma GCC diagnostic pop
#endif

}  // namespace brigade
