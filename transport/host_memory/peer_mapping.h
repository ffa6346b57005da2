// PeerMapping: memory that another rank shares, mapped: this rank copies there, or reads from
// there, without a system call.

#ifndef BRIGADE_TRANSPORT_HOST_MEMORY_PEER_MAPPING_H_
#define BRIGADE_TRANSPORT_HOST_MEMORY_PEER_MAPPING_H_

#include <cstddef>
#include <cstdint>
#include <memory>

#include "membuf/strided_layout.h"
#include "transport/host_memory/kernel_copy.h"
#include "transport/host_memory/shared_segment.h"

namespace brigade {

// Returns the bytes from the first stretch to the end of the last one. REQUIRES: `stretches` comes
// from AsStretches.
size_t ExtentOf(const RemoteStretches& stretches);

// Returns whether CopyAcross makes one pass. Short runs that differ take a block in between, which
// is no faster than staging.
bool GoesInOneCopy(const StridedLayout& a, const StridedLayout& b);

class PeerMapping {
 public:
  // Copies a matrix, from packed byte `from` on, to the same packed bytes of `to`, which begins at
  // `offset` in `segment`, as the receiver has written; these values are not trusted. Returns
  // false, without writing, if the memory cannot be mapped or does not exist, or if staging the
  // bytes is better.
  bool CopyTo(const RemoteStretches& to, const SharedSegment::Address& segment, uint64_t offset,
              const StridedLayout& layout, const std::byte* base, size_t from);
  // Maps all of `from`, and returns its address here, as a matrix of `*layout`; null if it cannot
  // be mapped, or does not exist. Valid until another segment is mapped.
  const std::byte* Find(const RemoteStretches& from, const SharedSegment::Address& segment,
                        uint64_t offset, StridedLayout* layout);

 private:
  // Returns the address of the first `bytes` of `memory` here; null if they cannot be mapped.
  std::byte* Map(RemoteStretches memory, size_t bytes, const SharedSegment::Address& segment,
                 uint64_t offset);

  SharedSegment::Address address_;          // of the last one
  std::shared_ptr<SharedSegment> segment_;  // it; null: it cannot be mapped
};

}  // namespace brigade

#endif  // BRIGADE_TRANSPORT_HOST_MEMORY_PEER_MAPPING_H_
