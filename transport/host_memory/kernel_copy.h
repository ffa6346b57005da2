// Kernel copies: between user memory of this process and of another process of this host, by
// ProcessCopy. One copy instead of two, but a system call, and one processor instead of two.

#ifndef BRIGADE_TRANSPORT_HOST_MEMORY_KERNEL_COPY_H_
#define BRIGADE_TRANSPORT_HOST_MEMORY_KERNEL_COPY_H_

#include <sys/types.h>

#include <cstddef>
#include <cstdint>

#include "membuf/strided_layout.h"
#include "transport/host/process_watch.h"

namespace brigade {

// Memory of another process: stretches at equal distances, packed in order.
struct RemoteStretches {
  uint64_t address = 0;  // of the first
  uint64_t stretch_bytes = 0;
  uint64_t stride_bytes = 0;
  uint64_t bytes = 0;  // in all
};

// Converts a layout at `base`; false if it does not have this form.
bool AsStretches(const StridedLayout& layout, const std::byte* base, RemoteStretches* stretches);

// Copies a matrix, from packed byte `from` on, to the same packed bytes of `to`. REQUIRES: the
// matrix has no more bytes than `to`, and more than `from`. Returns false if the system refuses,
// the process has ended, or the memory does not exist: part of it may be written then. `watch` is
// the watch of a ProcessCopy.
bool CopyToProcess(pid_t process, const ProcessWatch* watch, const StridedLayout& layout,
                   const std::byte* base, const RemoteStretches& to, size_t from = 0);
// Copies packed bytes [offset, offset + bytes) of `from` to the packed bytes from `at` on of a
// matrix. REQUIRES: both have these bytes. Returns 0, or the system's error as of ProcessCopy: part
// may be copied then.
int CopyRangeFromProcess(pid_t process, const ProcessWatch* watch, const RemoteStretches& from,
                         size_t offset, size_t bytes, const StridedLayout& layout, std::byte* base,
                         size_t at);
// Tries to read the first and the last byte of `from`: returns 0, or the system's error as of
// ProcessCopy. EFAULT: the memory does not exist, or the kernel cannot read it. REQUIRES: `from` is
// not empty.
int TryToReadFromProcess(pid_t process, const ProcessWatch* watch, const RemoteStretches& from);

// The lengths for which kernel copies are fastest. Each stretch costs a look-up of its pages, like
// a message, so its stretches must be as long as a message would have to be.
struct KernelCopyRange {
  size_t least_bytes = SIZE_MAX;
  size_t most_bytes = 0;
  bool empty() const { return least_bytes > most_bytes; }
  // `from`: the packed byte of the layout with which a message begins. The rest of a longer layout
  // is not copied either: two processors at once are faster.
  bool Holds(const StridedLayout& layout, size_t from = 0) const {
    return IsLongEnough(layout) && least_bytes <= layout.bytes() - from &&
           layout.bytes() <= most_bytes;
  }
  // Also for the destination of a message of this length or a shorter one.
  bool IsLongEnough(const StridedLayout& layout) const { return least_bytes <= layout.run_bytes(); }
};

// Compared with staging memory, reads gain more than writes: each rank copies once instead of
// twice, into its own cache.
struct KernelCopies {
  static KernelCopies Both(const KernelCopyRange& range) { return {range, range}; }

  KernelCopyRange writes;  // one rank copies to another that waits
  KernelCopyRange reads;   // all ranks copy from each other at once
  // Measured by two ranks; otherwise estimated by one. Not a bool: ranks gather it.
  int32_t is_tried = 0;
};

}  // namespace brigade

#endif  // BRIGADE_TRANSPORT_HOST_MEMORY_KERNEL_COPY_H_
