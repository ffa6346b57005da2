// Kernel copies: user memory of this process straight to that of another of this host, or from
// there (process_vm_writev, process_vm_readv): one copy where staging takes two, at the price of a
// system call, and with one processor where staging keeps two busy.

#ifndef BRIGADE_TRANSPORT_HOST_MEMORY_KERNEL_COPY_H_
#define BRIGADE_TRANSPORT_HOST_MEMORY_KERNEL_COPY_H_

#include <sys/types.h>

#include <cstddef>
#include <cstdint>

#include "membuf/strided_layout.h"
#include "transport/host/process_watch.h"

namespace brigade {

// Memory at an address of another process: stretches at equal distances, packed one behind the
// other.
struct RemoteStretches {
  uint64_t address = 0;  // of the first
  uint64_t stretch_bytes = 0;
  uint64_t stride_bytes = 0;
  uint64_t bytes = 0;  // in all
};

// What a layout at `base` is; false if it is nothing of that form.
bool AsStretches(const StridedLayout& layout, const std::byte* base, RemoteStretches* stretches);

// Copies all of a matrix to the first bytes of `to`. REQUIRES: it has no more. False if the system
// refuses, the process has ended, or the memory is not there: part of it may be written. `watch` is
// that of a ProcessCopy.
bool CopyToProcess(pid_t process, const ProcessWatch* watch, const StridedLayout& layout,
                   const std::byte* base, const RemoteStretches& to);
// The other way: packed bytes [offset, offset + bytes) of `from` to those from `at` on of a matrix.
// REQUIRES: it has them. 0, or the system's error, as of ProcessCopy: part of it may be copied
// then.
int CopyRangeFromProcess(pid_t process, const ProcessWatch* watch, const RemoteStretches& from,
                         size_t offset, size_t bytes, const StridedLayout& layout, std::byte* base,
                         size_t at);
// Whether the kernel reads the first byte of `from` and the last one: 0, or the system's error, as
// of ProcessCopy. EFAULT: they are not there, or no memory that it reads. REQUIRES: there are some.
int TryToReadFromProcess(pid_t process, const ProcessWatch* watch, const RemoteStretches& from);

// The lengths for which that is the fastest way. A stretch costs the system what a message does: it
// looks up the pages of each. So messages go that way whose stretches alone would.
struct KernelCopyRange {
  size_t least_bytes = SIZE_MAX;
  size_t most_bytes = 0;
  bool is_tried = false;  // by two ranks; else one has guessed
  bool Holds(const StridedLayout& layout) const {
    return IsLongEnough(layout) && layout.bytes() <= most_bytes;
  }
  // Also of where such a message, or a shorter one, is to go.
  bool IsLongEnough(const StridedLayout& layout) const { return least_bytes <= layout.run_bytes(); }
};

// What one process by itself can find out, once: it takes some milliseconds. Ranks that have a
// processor each find out by a CopyTrial.
const KernelCopyRange& GuessedKernelCopyRange();

}  // namespace brigade

#endif  // BRIGADE_TRANSPORT_HOST_MEMORY_KERNEL_COPY_H_
