#include "transport/time_slice.h"

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>

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

}  // namespace

void ShortenTimeSlice() {
  Attributes attributes;
  if (syscall(SYS_sched_getattr, 0, &attributes, sizeof(attributes), 0) != 0) return;
  // Older kernels report no slice.
  if (attributes.policy != SCHED_OTHER || attributes.slice_ns <= rules::kTimeSliceNs) return;
  attributes.slice_ns = rules::kTimeSliceNs;
  // If a sandbox forbids the call, messages are only slower.
  (void)syscall(SYS_sched_setattr, 0, &attributes, 0);
}

}  // namespace brigade
