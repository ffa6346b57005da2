// SharedLanding: a landing in memory that its receiver shares: the sender maps it and copies there,
// one copy without a system call.

#ifndef BRIGADE_TRANSPORT_EDGE_SHARED_LANDING_H_
#define BRIGADE_TRANSPORT_EDGE_SHARED_LANDING_H_

#include <cstddef>
#include <cstdint>
#include <memory>

#include "membuf/strided_layout.h"
#include "transport/edge/kernel_copy.h"
#include "transport/edge/shared_segment.h"

namespace brigade {

// The bytes from the first stretch to the end of the last one. REQUIRES: AsStretches made them.
size_t ExtentOf(const RemoteStretches& stretches);

// What the sender of an edge maps of its receiver.
class SharedLanding {
 public:
  // Copies all of a matrix to the first bytes of `to`, which begin at `offset` in `segment`, as the
  // receiver has written; none of it is believed. False: nothing is written, for the memory cannot
  // be mapped or is not there, or the bytes are better staged.
  bool Copy(const StridedLayout& layout, const std::byte* base, const RemoteStretches& to,
            const SharedSegment::Address& segment, uint64_t offset);

 private:
  SharedSegment::Address address_;          // of the last one
  std::shared_ptr<SharedSegment> segment_;  // it; null: it cannot be mapped
};

}  // namespace brigade

#endif  // BRIGADE_TRANSPORT_EDGE_SHARED_LANDING_H_
