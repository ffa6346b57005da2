#include "transport/edge/doorbell.h"

#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

namespace brigade {

static_assert(sizeof(std::atomic<uint32_t>) == sizeof(uint32_t), "a futex is a plain word");

bool Doorbell::Prepare() {
  static const bool prepared =
      syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0) == 0;
  return prepared;
}

void Doorbell::Arm() {
  asleep_.store(1, std::memory_order_seq_cst);
  syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL_EXPEDITED, 0, 0);
}

void Doorbell::Sleep(int longest_us) {
  const timespec timeout{longest_us / 1000000, longest_us % 1000000 * 1000L};
  // Whatever ends it, the caller looks for messages next.
  syscall(SYS_futex, &asleep_, FUTEX_WAIT, 1, &timeout, nullptr, 0);
}

void Doorbell::Wake() {
  if (asleep_.exchange(0, std::memory_order_acq_rel) == 0) return;
  syscall(SYS_futex, &asleep_, FUTEX_WAKE, 1, nullptr, nullptr, 0);
}

}  // namespace brigade
