// How much memory a process may lock, which is what registering memory with io_uring does.

#ifndef BRIGADE_TRANSPORT_HOST_MEMORY_LOCK_H_
#define BRIGADE_TRANSPORT_HOST_MEMORY_LOCK_H_

#include <cstddef>

namespace brigade {

// How many bytes one of `ranks` processes of this user on this machine may lock if each locks as
// many: its share, in whole pages, of the limit (RLIMIT_MEMLOCK), which the kernel charges to the
// user whatever the process, container or network namespace. What io_uring needs for its rings
// comes out of it, too, and so does whatever else the user locks. SIZE_MAX without a limit. `ranks`
// is at least 1. Any thread.
size_t MemoryLockBudget(int ranks);

}  // namespace brigade

#endif  // BRIGADE_TRANSPORT_HOST_MEMORY_LOCK_H_
