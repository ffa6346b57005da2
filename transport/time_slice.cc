#include "transport/time_slice.h"

#include <dirent.h>
#include <sched.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <string>

#include "transport/rules.h"

namespace brigade {
namespace {

// The first version of the kernel's `sched_attr`, which C libraries declare in different headers.
struct Attributes {
  uint32_t size = sizeof(Attributes);
  uint32_t policy = 0;
  uint64_t flags = 0;
  int32_t nice = 0;
  uint32_t priority = 0;
  uint64_t slice_ns = 0;  // `sched_runtime`
  uint64_t deadline_ns = 0;
  uint64_t period_ns = 0;
};

// Returns whether it has shortened the slices of a thread; 0 is the calling one.
bool Shorten(pid_t thread) {
  Attributes attributes;
  if (syscall(SYS_sched_getattr, thread, &attributes, sizeof(attributes), 0) != 0) return false;
  // Older kernels report no slice.
  if (attributes.policy != SCHED_OTHER || attributes.slice_ns <= rules::kTimeSliceNs) return false;
  attributes.slice_ns = rules::kTimeSliceNs;
  // If a sandbox forbids the call, messages are only slower.
  return syscall(SYS_sched_setattr, thread, &attributes, 0) == 0;
}

}  // namespace

Status ReadTimeSlices(bool* shortens) {
  const char* const set = std::getenv("BRIGADE_TIME_SLICES");
  const std::string value = set == nullptr ? "" : set;
  *shortens = value != "system";
  if (!*shortens || value.empty() || value == "short") return Status();
  return Status(StatusCode::kInvalidArgument,
                "BRIGADE_TIME_SLICES=" + value + ": must be short or system");
}

void ShortenTimeSlices() {
  bool shortens = true;
  (void)ReadTimeSlices(&shortens);  // a bad value is an error of ReadSettings
  if (!shortens || !Shorten(0)) return;
  DIR* const threads = opendir("/proc/self/task");
  if (threads == nullptr) return;
  while (const dirent* const entry = readdir(threads)) {
    const pid_t thread = std::atoi(entry->d_name);
    // Signal 0 is sent to nobody. It fails for "." and "..", for threads that have ended, and if
    // /proc has the numbers of another namespace, in which they may be those of other processes.
    if (syscall(SYS_tgkill, getpid(), thread, 0) == 0) (void)Shorten(thread);
  }
  closedir(threads);
}

}  // namespace brigade
