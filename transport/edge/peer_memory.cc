#include "transport/edge/peer_memory.h"

#include <cerrno>

namespace brigade {

bool PeerMemory::Write(const RemoteStretches& to, const SharedSegment::Address& segment,
                       uint64_t offset, const StridedLayout& layout, const std::byte* base,
                       size_t from) {
  if (layout.bytes() > to.bytes) return false;
  if (offset != 0 && mapped_.CopyTo(to, segment, offset, layout, base, from)) return true;
  const bool has_long_stretches = kernel_copies_.writes.least_bytes <= to.stretch_bytes;
  if (!has_long_stretches || !kernel_copies_.writes.Holds(layout, from)) return false;
  if (CopyToProcess(process_, watch_, layout, base, to, from)) return true;
  kernel_copies_.writes = KernelCopyRange();  // it is refused, or the peer has ended
  return false;
}

bool PeerMemory::ProbeRead(const RemoteStretches& memory, const StridedLayout& to) {
  if (is_unreadable_ || kernel_copies_.reads.least_bytes > memory.stretch_bytes ||
      !kernel_copies_.reads.IsLongEnough(to)) {
    return false;
  }
  const int error = TryToReadFromProcess(process_, watch_, memory);
  is_unreadable_ = error == EPERM || error == ENOSYS || error == ESRCH;
  return error == 0;
}

}  // namespace brigade
