// PeerMemory: user memory of the rank at the other end of an edge, which this rank maps, or has the
// kernel copy to and from. Nothing that the peer has written about it is believed.

#ifndef BRIGADE_TRANSPORT_EDGE_PEER_MEMORY_H_
#define BRIGADE_TRANSPORT_EDGE_PEER_MEMORY_H_

#include <sys/types.h>

#include <cstddef>
#include <cstdint>

#include "membuf/strided_layout.h"
#include "transport/host/process_watch.h"
#include "transport/host_memory/kernel_copy.h"
#include "transport/host_memory/peer_mapping.h"
#include "transport/host_memory/shared_segment.h"

namespace brigade {

class PeerMemory {
 public:
  // From here on the kernel copies as `copies` say. `watch` is that of a ProcessCopy, and must
  // outlive the object.
  void SetKernelCopies(pid_t process, const ProcessWatch* watch, const KernelCopies& copies) {
    process_ = process;
    watch_ = watch;
    kernel_copies_ = copies;
  }
  pid_t process() const { return process_; }
  const KernelCopies& kernel_copies() const { return kernel_copies_; }

  // Copies a matrix, from packed byte `from` on, to the same packed bytes of `to`, which begins at
  // `offset` of `segment`, or, if that is 0, where its address says. False: part of it may be
  // written, and the message goes another way.
  bool Write(const RemoteStretches& to, const SharedSegment::Address& segment, uint64_t offset,
             const StridedLayout& layout, const std::byte* base, size_t from = 0);

  // Where memory of the peer is here; null if it cannot be mapped or is not there. It stays until
  // this object maps another shared segment.
  const std::byte* Map(const RemoteStretches& memory, const SharedSegment::Address& segment,
                       uint64_t offset, StridedLayout* layout) {
    return mapped_.Find(memory, segment, offset, layout);
  }
  // Whether the kernel is to copy such memory to a matrix of that layout, and does, as its first
  // byte and its last one show. If the kernel refuses all memory of the peer, it is not tried
  // again. REQUIRES: `memory` has bytes.
  bool ProbeRead(const RemoteStretches& memory, const StridedLayout& to);
  // As CopyRangeFromProcess: the memory may be gone since. REQUIRES: ProbeRead().
  int Read(const RemoteStretches& memory, size_t offset, size_t bytes, const StridedLayout& layout,
           std::byte* base, size_t at) const {
    return CopyRangeFromProcess(process_, watch_, memory, offset, bytes, layout, base, at);
  }

 private:
  pid_t process_ = 0;
  const ProcessWatch* watch_ = nullptr;
  KernelCopies kernel_copies_;
  bool is_unreadable_ = false;  // all memory of the peer, by the kernel
  PeerMapping mapped_;
};

}  // namespace brigade

#endif  // BRIGADE_TRANSPORT_EDGE_PEER_MEMORY_H_
