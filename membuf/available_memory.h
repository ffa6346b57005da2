// How much memory the system could still give this process.

#ifndef BRIGADE_MEMBUF_AVAILABLE_MEMORY_H_
#define BRIGADE_MEMBUF_AVAILABLE_MEMORY_H_

#include <cstddef>
#include <string>

namespace brigade {

enum class Swapping { kAvoided, kAllowed };

// Returns the bytes that the machine has, and that the limits of the control groups above this
// process leave (versions 1 and 2). SIZE_MAX if the system does not report them. `proc`, `cgroups`:
// where these are mounted. Cost: reads of some files.
size_t AvailableMemory(Swapping swapping, const std::string& proc = "/proc",
                       const std::string& cgroups = "/sys/fs/cgroup");

// Returns whether the system grants more memory than it can back (vm.overcommit_memory is not 2).
// If it does not, a process that touches a page of a shared file which cannot be backed gets
// SIGBUS. `proc`: its mount point. Cost: the read of a file.
bool MayOvercommit(const std::string& proc = "/proc");

// Checks the memory for many allocations: reads the system's free memory, swap included, and again
// once a part of it is allocated, since a read takes 0.1 ms. For one thread at a time.
class AvailableShare {
 public:
  // Between two reads of the free memory a rank takes 1/1024 of it at most, and 1/64 of what is
  // charged when it is touched, since programs touch only a part of that.
  explicit AvailableShare(bool is_charged_at_once = true)
      : parts_(is_charged_at_once ? 1024 : 64) {}
  bool Take(size_t bytes);
  // Makes the next Take read the free memory again.
  void LookAnew() { until_look_ = 0; }
  int looks() const { return looks_; }

 private:
  size_t parts_;
  int looks_ = 0;
  size_t until_look_ = 0;  // bytes to be taken
};

}  // namespace brigade

#endif  // BRIGADE_MEMBUF_AVAILABLE_MEMORY_H_
