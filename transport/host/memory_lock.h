// The limit on locked memory of a process: registering memory with io_uring locks it.

#ifndef BRIGADE_TRANSPORT_HOST_MEMORY_LOCK_H_
#define BRIGADE_TRANSPORT_HOST_MEMORY_LOCK_H_

#include <cstddef>

namespace brigade {

// Returns how many bytes one of `ranks` processes of this user on this machine may lock: its share,
// in whole pages, of the limit (RLIMIT_MEMLOCK), which the kernel charges to the user for all
// processes, containers and network namespaces. The rings of io_uring, and all other locked memory
// of the user, count, too. SIZE_MAX without a limit. `ranks` is at least 1. Any thread.
size_t MemoryLockBudget(int ranks);

}  // namespace brigade

#endif  // BRIGADE_TRANSPORT_HOST_MEMORY_LOCK_H_
