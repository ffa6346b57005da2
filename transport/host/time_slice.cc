#include "transport/host/time_slice.h"

#include <linux/sched.h>
#include <linux/sched/types.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>

namespace brigade {

void RequestShortTimeSlices() {
  constexpr uint64_t kShortestNs = 100000;  // that Linux has
  sched_attr attributes{};
  if (syscall(SYS_sched_getattr, 0, &attributes, sizeof(attributes), 0) != 0) return;
  if (attributes.sched_policy != SCHED_NORMAL) return;  // the user's choice
  attributes.sched_runtime = kShortestNs;
  syscall(SYS_sched_setattr, 0, &attributes, 0);
}

}  // namespace brigade
