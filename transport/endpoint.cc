#include "transport/endpoint.h"

#include <sched.h>
#include <unistd.h>

#include <set>

#include "transport/rules.h"

namespace brigade {

int Endpoint::CountHosts(GroupId group, int first, int stride, int count) const {
  std::set<int> hosts;
  for (int i = 0; i < count; ++i) hosts.insert(HostOf(group, first + i * stride));
  return static_cast<int>(hosts.size());
}

void Endpoint::Pause(uint64_t idle_polls) {
  if (idle_polls >= rules::kSpins) sched_yield();
}

void Endpoint::Await(int microseconds) { usleep(static_cast<useconds_t>(microseconds)); }

}  // namespace brigade
