#include "transport/endpoint.h"

#include <sched.h>
#include <unistd.h>

#include <set>

namespace brigade {

int Endpoint::CountHosts(GroupId group, int first, int stride, int count) const {
  std::set<int> hosts;
  for (int i = 0; i < count; ++i) hosts.insert(HostOf(group, first + i * stride));
  return static_cast<int>(hosts.size());
}

void Endpoint::Pause(uint64_t idle_polls) {
  // A handful of polls covers a peer that runs on another processor just now; anything longer is
  // time taken from ranks that share this one.
  constexpr uint64_t kSpins = 20;
  if (idle_polls >= kSpins) sched_yield();
}

void Endpoint::Await(int microseconds) { usleep(static_cast<useconds_t>(microseconds)); }

}  // namespace brigade
