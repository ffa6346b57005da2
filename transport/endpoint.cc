#include "transport/endpoint.h"

#include <sched.h>
#include <unistd.h>

namespace brigade {

void Endpoint::Pause(uint64_t idle_polls) {
  // A handful of polls covers a peer that runs on another processor just now; anything longer is
  // time taken from ranks that share this one.
  constexpr uint64_t kSpins = 20;
  if (idle_polls >= kSpins) sched_yield();
}

void Endpoint::Await(int microseconds) { usleep(static_cast<useconds_t>(microseconds)); }

}  // namespace brigade
