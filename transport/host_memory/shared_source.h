// SharedSource: a matrix as other ranks of the host may read it where it lies: they map it, if that
// is memory of SharedAllocations, or have the kernel copy it.

#ifndef BRIGADE_TRANSPORT_HOST_MEMORY_SHARED_SOURCE_H_
#define BRIGADE_TRANSPORT_HOST_MEMORY_SHARED_SOURCE_H_

#include <cstddef>
#include <cstdint>
#include <memory>

#include "membuf/strided_layout.h"
#include "transport/host_memory/kernel_copy.h"
#include "transport/host_memory/shared_segment.h"

namespace brigade {

struct SharedSource {
  std::shared_ptr<SharedSegment> segment;  // null: it cannot be mapped
  uint64_t offset = 0;
  RemoteStretches memory;  // empty: the matrix has another form

  static SharedSource Of(const StridedLayout& layout, const std::byte* base);
};

}  // namespace brigade

#endif  // BRIGADE_TRANSPORT_HOST_MEMORY_SHARED_SOURCE_H_
