#include "transport/edge/bell.h"

#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

namespace brigade {

static_assert(sizeof(std::atomic<uint32_t>) == sizeof(uint32_t), "a futex is a plain word");

bool Bell::Prepare() {
  static const bool prepared =
      syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0) == 0;
  return prepared;
}

// GCC warns that ThreadSanitizer knows nothing of fences. What is behind them it sees ordered by
// the messages.
#ifdef __SANITIZE_THREAD__
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wtsan"
#endif

void Bell::RingWithCare() {
  if (ringers_fence()) std::atomic_thread_fence(std::memory_order_seq_cst);
  if (!armed() || (state_.fetch_and(~kArmed, std::memory_order_acq_rel) & kArmed) == 0) return;
  syscall(SYS_futex, &state_, FUTEX_WAKE, 1, nullptr, nullptr, 0);
}

void Bell::Arm(Fence fence) {
  const bool ringers_know = ringers_fence();
  const bool ringers_shall = fence == Fence::kByRingers;
  state_.store(ringers_shall ? kArmed | kRingersFence : kArmed, std::memory_order_relaxed);
  if (ringers_shall && ringers_know) {
    std::atomic_thread_fence(std::memory_order_seq_cst);
  } else {  // behind it all ringers know
    syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL_EXPEDITED, 0, 0);
  }
}

#ifdef __SANITIZE_THREAD__
#pragma GCC diagnostic pop
#endif

void Bell::StayArmed(int longest_us) {
  const timespec timeout{longest_us / 1000000, longest_us % 1000000 * 1000L};
  const uint32_t armed = state_.load(std::memory_order_relaxed) | kArmed;
  // Whatever ends it, the caller looks for messages next.
  syscall(SYS_futex, &state_, FUTEX_WAIT, armed, &timeout, nullptr, 0);
}

void Bell::Sleep(int longest_us) {
  StayArmed(longest_us);
  Disarm();
}

}  // namespace brigade
