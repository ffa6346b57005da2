#include "transport/edge/edge.h"

#include <cstring>

namespace brigade {

bool OutEdge::SendToPostedBuffer(ConstByteSpan head, const StridedLayout& layout,
                                 const std::byte* base, size_t from) {
  PostedBuffer& posted = shared_->posted;
  Slot* const slot = Next();
  if (slot == nullptr || IsDiscarded(slot) || !posted.Claim(sent())) return false;
  const RemoteStretches to = posted.memory;
  const uint64_t offset = posted.offset;
  // Its cache line is read only where it counts.
  const SharedSegment::Address segment =
      offset == 0 ? SharedSegment::Address() : SharedSegment::Address(posted.segment);
  if (!peer_memory_.Write(to, segment, offset, layout, base, from)) {
    posted.Unclaim(sent());
    return false;
  }
  slot->kind = Slot::kInPosted;
  slot->bytes = static_cast<uint16_t>(head.bytes);
  if (head.bytes > 0) std::memcpy(slot->payload, head.data, head.bytes);
  Publish(slot);
  return true;
}

bool InEdge::Attach() {
  const uint64_t offset = entry_->load(std::memory_order_acquire);
  if (offset == 0 || offset == kClosedUnopened || broken() != nullptr) return false;
  std::byte* const shared =
      offset % alignof(EdgeShared) == 0 ? segment()->At(offset, sizeof(EdgeShared)) : nullptr;
  if (shared == nullptr) {
    SetBroken("an edge outside its memory");
    return false;
  }
  shared_ = reinterpret_cast<EdgeShared*>(shared);
  InRing::Attach(shared_->slots, &shared_->returns);
  return true;
}

void InEdge::Close() {
  uint64_t unopened = 0;
  if (!is_attached() &&
      (entry_->compare_exchange_strong(unopened, kClosedUnopened, std::memory_order_acq_rel) ||
       !Attach())) {
    return;
  }
  CloseRing();
}

}  // namespace brigade
