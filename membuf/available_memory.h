// How much memory the system could still give this process.

#ifndef BRIGADE_MEMBUF_AVAILABLE_MEMORY_H_
#define BRIGADE_MEMBUF_AVAILABLE_MEMORY_H_

#include <cstddef>
#include <string>

namespace brigade {

enum class Swapping { kAvoided, kAllowed };

// Bytes: what the machine has, and what the limits of the control groups above this process leave
// (versions 1 and 2). SIZE_MAX where the system does not say. `proc`, `cgroups`: where these are
// mounted. Cost: reads of some files.
size_t AvailableMemory(Swapping swapping, const std::string& proc = "/proc",
                       const std::string& cgroups = "/sys/fs/cgroup");

}  // namespace brigade

#endif  // BRIGADE_MEMBUF_AVAILABLE_MEMORY_H_
