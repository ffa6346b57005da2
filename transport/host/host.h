// Host: the properties that two processes must have in common to reach each other through shared
// memory, and the number of processors that they share.

#ifndef BRIGADE_TRANSPORT_HOST_HOST_H_
#define BRIGADE_TRANSPORT_HOST_HOST_H_

#include <sched.h>

#include <cstdint>
#include <type_traits>

namespace brigade {

// Compared byte by byte. Boot id and network namespace identify the host (ranks on one machine in
// different network namespaces are on two hosts); process namespace and user decide whether one
// process may open the other's shared memory.
struct Host {
  char boot_id[40] = {};
  uint64_t network_namespace = 0;
  uint64_t process_namespace = 0;
  uint64_t user = 0;

  // Of the calling process. A process that enters other namespaces later stays with its first ones,
  // in which others know it.
  static Host Here();
  bool operator==(const Host& other) const;
};
static_assert(std::is_trivially_copyable_v<Host>, "hosts travel as bytes");

// Processors that the calling process may use at once: its affinity mask.
cpu_set_t AllowedProcessors();
// How many processors' worth of time the process's control group may use, rounded up; INT_MAX
// without a limit.
int ProcessorQuota();

}  // namespace brigade

#endif  // BRIGADE_TRANSPORT_HOST_HOST_H_
