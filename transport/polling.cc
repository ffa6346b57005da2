#include "transport/polling.h"

#include <sched.h>
#include <unistd.h>

namespace brigade {

void Polling::Pause(uint64_t idle_polls) {
  if (idle_polls >= rules::kSpins) sched_yield();
}

void Polling::Await(int microseconds) { usleep(static_cast<useconds_t>(microseconds)); }

}  // namespace brigade
