// PeerMapping: memory that another rank shares, mapped: this rank copies there, or reads from there,
// without a system call.

#ifndef BRIGADE_TRANSPORT_HOST_MEMORY_PEER_MAPPING_H_
#define BRIGADE_TRANSPORT_HOST_MEMORY_PEER_MAPPING_H_

#include <cstddef>
#include <cstdint>
#include <memory>

#include "membuf/strided_layout.h"
#include "transport/host_memory/kernel_copy.h"
#include "transport/host_memory/shared_segment.h"

namespace brigade {

// The bytes from the first stretch to the end of the last one. REQUIRES: AsStretches made them.
size_t ExtentOf(const RemoteStretches& stretches);

// Whether CopyAcross makes one pass. Short runs that differ go through a block: that takes no less
// than to stage them.
bool GoesInOneCopy(const StridedLayout& a, const StridedLayout& b);

class PeerMapping {
 public:
  // Copies all of a matrix to the first bytes of `to`, which begin at `offset` in `segment`, as the
  // receiver has written; none of it is believed. False: nothing is written, for the memory cannot
  // be mapped or is not there, or the bytes are better staged.
  bool CopyTo(const RemoteStretches& to, const SharedSegment::Address& segment, uint64_t offset,
              const StridedLayout& layout, const std::byte* base);
  // Where all of `from` is here, as a matrix of `*layout`; null if it cannot be mapped, or is not
  // there. Until another segment is.
  const std::byte* Find(const RemoteStretches& from, const SharedSegment::Address& segment,
                        uint64_t offset, StridedLayout* layout);

 private:
  // Where the first `bytes` of `memory` are here; null if they are not.
  std::byte* Map(RemoteStretches memory, size_t bytes, const SharedSegment::Address& segment,
                 uint64_t offset);

  SharedSegment::Address address_;          // of the last one
  std::shared_ptr<SharedSegment> segment_;  // it; null: it cannot be mapped
};

}  // namespace brigade

#endif  // BRIGADE_TRANSPORT_HOST_MEMORY_PEER_MAPPING_H_
