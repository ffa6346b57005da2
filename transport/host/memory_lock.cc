#include "transport/host/memory_lock.h"

#include <linux/capability.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>

#include "membuf/check.h"

namespace brigade {
namespace {

// The kernel's capable(CAP_IPC_LOCK), which frees from the limit: the capability counts in the
// initial user namespace only, so root of a container may have it and be limited nevertheless.
bool IsFreeOfLimit() {
  constexpr ino_t kInitialUserNamespace = 0xeffffffd;  // PROC_USER_INIT_INO in the kernel
  struct stat user_namespace;
  if (stat("/proc/self/ns/user", &user_namespace) != 0 ||
      user_namespace.st_ino != kInitialUserNamespace) {
    return false;
  }
  __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3];
  if (syscall(SYS_capget, &header, sets) != 0) return false;
  return (sets[CAP_TO_INDEX(CAP_IPC_LOCK)].effective & CAP_TO_MASK(CAP_IPC_LOCK)) != 0;
}

}  // namespace

size_t MemoryLockBudget(int ranks) {
  BRIGADE_CHECK_LE(1, ranks);
  rlimit limit;
  BRIGADE_CHECK_EQ(getrlimit(RLIMIT_MEMLOCK, &limit), 0);
  if (limit.rlim_cur == RLIM_INFINITY || IsFreeOfLimit()) return SIZE_MAX;
  const auto page_bytes = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return limit.rlim_cur / static_cast<size_t>(ranks) / page_bytes * page_bytes;
}

}  // namespace brigade
