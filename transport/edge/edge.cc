#include "transport/edge/edge.h"

#include <algorithm>
#include <cerrno>
#include <iterator>

#include "membuf/check.h"
#include "transport/edge/edge_memory.h"
#include "transport/host_memory/shared_allocations.h"

namespace brigade {
namespace {

// Where a jump leads that goes back to the ring.
constexpr uint64_t kToRing = 0;

}  // namespace

// Of the free slots at the end of a ring, one is kept for the jump.
Slot* OutEdge::NextSlowly(bool beyond_limit) {
  if (lost_) return closed() ? &discarded_ : nullptr;
  if (extension_ != nullptr && sent_in_extension_ + 1 < EdgeExtension::kSlots) {
    return &extension_->slots[sent_in_extension_];
  }
  if (extension_ != nullptr && RingHasRoom()) {
    Jump(&extension_->slots[sent_in_extension_], kToRing);
    FreeUsedExtensions();
    return SlotInRing();
  }
  if (closed()) return &discarded_;
  FreeUsedExtensions();
  EdgeExtension* const next = memory_->NewExtension(beyond_limit);
  if (next == nullptr) return nullptr;
  Jump(extension_ == nullptr ? SlotInRing() : &extension_->slots[sent_in_extension_],
       memory_->OffsetOf(next));
  extensions_.push_back({next});
  extension_ = next;
  sent_in_extension_ = 0;
  return &next->slots[0];
}

void OutEdge::Jump(Slot* slot, uint64_t to) {
  slot->kind = Slot::kJump;
  std::memcpy(slot->payload, &to, sizeof(to));
  const uint64_t number = extension_ == nullptr ? sent_in_ring_++ : sent_in_extension_;
  if (extension_ != nullptr) extensions_.back().end = sent_;
  slot->full.store(static_cast<uint32_t>(number + 1), std::memory_order_release);
  extension_ = nullptr;
}

bool OutEdge::Widen() {
  if (++long_lines_ < rules::kShmLinesBeforeWide || closed()) return false;
  EdgeWideRing* const wide = memory_->NewWideRing();
  if (wide == nullptr) {
    long_lines_ = 0;  // looks again later
    return false;
  }
  Slot* const slot = SlotInRing();
  slot->kind = Slot::kWiden;
  const uint64_t offset = memory_->OffsetOf(wide);
  std::memcpy(slot->payload, &offset, sizeof(offset));
  slot->full.store(static_cast<uint32_t>(sent_in_ring_ + 1), std::memory_order_release);
  wide_ = wide;
  in_use_ = RingInUse(wide);
  sent_in_ring_ = 0;
  std::fill(std::begin(empty_), std::end(empty_), 0);
  return true;
}

bool OutEdge::TakeLanding() {
  uint64_t now = EdgeLanding::StateOf(sent_, EdgeLanding::kLent);
  std::atomic<uint64_t>& word = ring_->returns.landing.state;
  return word.load(std::memory_order_relaxed) == now &&
         word.compare_exchange_strong(now, EdgeLanding::StateOf(sent_, EdgeLanding::kTaken),
                                      std::memory_order_acq_rel);
}

bool OutEdge::SendToLanding(ConstByteSpan head, const StridedLayout& layout,
                            const std::byte* base) {
  const EdgeLanding& landing = ring_->returns.landing;
  Slot* const slot = Next();
  if (slot == nullptr || slot == &discarded_ || !TakeLanding()) return false;
  if (!CopyTo(landing, layout, base)) {
    ring_->returns.landing.state.store(EdgeLanding::StateOf(sent_, EdgeLanding::kLent),
                                       std::memory_order_release);
    return false;
  }
  slot->kind = Slot::kLanded;
  slot->bytes = static_cast<uint16_t>(head.bytes);
  std::memcpy(PayloadOf(slot), head.data, head.bytes);
  Publish(slot);
  return true;
}

// The receiver lets it be until its message is there.
bool OutEdge::CopyTo(const EdgeLanding& landing, const StridedLayout& layout,
                     const std::byte* base) {
  const RemoteStretches to = landing.memory;
  if (layout.bytes() > to.bytes) return false;
  if (const uint64_t offset = landing.offset) {
    const SharedSegment::Address segment = landing.segment;
    if (shared_landing_.CopyTo(to, segment, offset, layout, base)) return true;
  }
  const bool has_long_stretches = kernel_copies_.least_bytes <= to.stretch_bytes;
  if (!has_long_stretches || !kernel_copies_.Holds(layout)) return false;
  if (CopyToProcess(receiver_process_, receiver_watch_, layout, base, to)) return true;
  kernel_copies_ = KernelCopyRange();  // it is refused, or the receiver has ended
  return false;
}

bool OutEdge::IsOver(const Extension& extension) const {
  if (extension.end > oldest_receipt_ || extension.memory == extension_) return false;
  for (int i = 0; i < EdgeExtension::kSlots; ++i) {
    if (extension.memory->empty[i].load(std::memory_order_acquire) !=
        static_cast<uint32_t>(i + 1)) {
      return false;
    }
  }
  return true;
}

// Receivers mostly give back in order. The others are looked at when they have doubled: to look at
// all of them for each new one would take longer and longer.
void OutEdge::FreeUsedExtensions() {
  while (!extensions_.empty() && IsOver(extensions_.front())) {
    memory_->FreeExtension(extensions_.front().memory);
    extensions_.pop_front();
  }
  if (extensions_.size() < look_at_) return;
  const auto over = [&](const Extension& extension) {
    const bool is_over = IsOver(extension);
    if (is_over) memory_->FreeExtension(extension.memory);
    return is_over;
  };
  extensions_.erase(std::remove_if(extensions_.begin(), extensions_.end(), over),
                    extensions_.end());
  look_at_ = std::max(kFewExtensions, 2 * extensions_.size());
}

void OutEdge::FreeMemory() {
  for (const Extension& extension : extensions_) {
    memory_->FreeExtension(extension.memory);
  }
  extensions_.clear();
  if (wide_ != nullptr) memory_->FreeWideRing(wide_);
}

bool InEdge::Attach() {
  const uint64_t offset = entry_->load(std::memory_order_acquire);
  if (offset == 0 || offset == kClosedUnopened || broken_ != nullptr) return false;
  std::byte* const ring =
      offset % alignof(EdgeRing) == 0 ? segment_->At(offset, sizeof(EdgeRing)) : nullptr;
  if (ring == nullptr) {
    broken_ = "an edge outside its memory";
    return false;
  }
  ring_ = reinterpret_cast<EdgeRing*>(ring);
  in_use_ = RingInUse(ring_);
  SetRing(0);
  return true;
}

const Slot* InEdge::Follow() {
  if (next_->kind == Slot::kWiden) return FollowToWideRing();
  if (next_->kind != Slot::kJump) return next_;  // its reader checks the kind
  uint64_t to = 0;
  std::memcpy(&to, next_->payload, sizeof(to));
  std::byte* const memory = to == kToRing || to % alignof(EdgeExtension) != 0
                                ? nullptr
                                : segment_->At(to, sizeof(EdgeExtension));
  // A sender jumps to put a message; jumps alone could lead round for ever.
  if (broken_ != nullptr || jumped_at_ == taken_ ||
      (memory == nullptr && (to != kToRing || extension_ == nullptr))) {
    broken_ = "a jump to nowhere";
    return nullptr;
  }
  jumped_at_ = taken_;
  const Receipt jump{empty_, stamp_};
  if (extension_ == nullptr) ++read_in_ring_;
  if (memory == nullptr) {
    SetRing(read_in_ring_);
  } else {
    SetExtension(reinterpret_cast<EdgeExtension*>(memory), 0);
  }
  // Behind this, the sender may use the slot again, or free the extension it was in.
  jump.empty->store(jump.stamp, std::memory_order_release);
  return Peek();
}

// Once, and from the first ring.
const Slot* InEdge::FollowToWideRing() {
  uint64_t to = 0;
  std::memcpy(&to, next_->payload, sizeof(to));
  const bool may_be = broken_ == nullptr && !in_use_.is_wide() && extension_ == nullptr &&
                      to != 0 && to % alignof(EdgeWideRing) == 0;
  std::byte* const memory = may_be ? segment_->At(to, sizeof(EdgeWideRing)) : nullptr;
  if (memory == nullptr) {
    broken_ = "a wide ring that is nowhere";
    return nullptr;
  }
  in_use_ = RingInUse(reinterpret_cast<EdgeWideRing*>(memory));
  SetRing(0);
  return Peek();
}

bool InEdge::LendLanding(const StridedLayout& layout, std::byte* base) {
  const bool may_be_shared = layout.bytes() >= rules::kLeastSharedLandingBytes;
  const bool may_go_by_kernel = kernel_copies_.IsLongEnough(layout);
  if (ring_ == nullptr || !(may_be_shared || may_go_by_kernel)) return false;
  RemoteStretches memory;
  if (!AsStretches(layout, base, &memory)) return false;
  const std::shared_ptr<SharedSegment> segment =
      may_be_shared ? SharedAllocations::Here().Find(base, ExtentOf(memory)) : nullptr;
  if (segment == nullptr && !may_go_by_kernel) return false;
  EdgeLanding& landing = ring_->returns.landing;
  landing.memory = memory;
  landing.offset = segment == nullptr ? 0 : static_cast<uint64_t>(base - segment->base());
  if (segment != nullptr) landing.SetSegment(segment->address());
  landing.state.store(EdgeLanding::StateOf(taken_, EdgeLanding::kLent), std::memory_order_release);
  return true;
}

bool InEdge::TakeLandingBack() {
  std::atomic<uint64_t>& state = ring_->returns.landing.state;
  uint64_t now = EdgeLanding::StateOf(taken_, EdgeLanding::kLent);
  return state.compare_exchange_strong(now, 0, std::memory_order_acq_rel) ||
         now != EdgeLanding::StateOf(taken_, EdgeLanding::kTaken);
}

bool InEdge::MayRead(const RemoteStretches& memory, const StridedLayout& to) {
  if (is_unreadable_ || kernel_copies_.least_bytes > memory.stretch_bytes ||
      !kernel_copies_.IsLongEnough(to)) {
    return false;
  }
  const int error = TryToReadFromProcess(sender_process_, sender_watch_, memory);
  is_unreadable_ = error == EPERM || error == ENOSYS || error == ESRCH;
  return error == 0;
}

void InEdge::Close() {
  uint64_t unopened = 0;
  if (ring_ == nullptr &&
      (entry_->compare_exchange_strong(unopened, kClosedUnopened, std::memory_order_acq_rel) ||
       !Attach())) {
    return;
  }
  ring_->returns.closed_at.store(taken_ + 1, std::memory_order_release);
  std::atomic<uint64_t>& released = ring_->returns.released;
  released.store(released.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  sender_->Ring();
}

}  // namespace brigade
