#include "transport/edge/inline_ring.h"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "transport/edge/edge_memory.h"
#include "transport/rules.h"

namespace brigade {
namespace {

// Where a jump leads that goes back to the ring.
constexpr uint64_t kToRing = 0;

}  // namespace

// Of the free slots at the end of a ring, one is kept for the jump.
Slot* OutRing::NextSlowly(bool beyond_limit) {
  if (lost_) return closed() ? &discarded_ : nullptr;
  if (extension_ != nullptr && sent_in_extension_ + 1 < RingExtension::kSlots) {
    return &extension_->slots[sent_in_extension_];
  }
  if (extension_ != nullptr && RingHasRoom()) {
    Jump(&extension_->slots[sent_in_extension_], kToRing);
    FreeUsedExtensions();
    return SlotInRing();
  }
  if (closed()) return &discarded_;
  FreeUsedExtensions();
  RingExtension* const next = memory_->NewExtension(beyond_limit);
  if (next == nullptr) return nullptr;
  Jump(extension_ == nullptr ? SlotInRing() : &extension_->slots[sent_in_extension_],
       memory_->OffsetOf(next));
  extensions_.push_back({next});
  extension_ = next;
  sent_in_extension_ = 0;
  return &next->slots[0];
}

void OutRing::Jump(Slot* slot, uint64_t to) {
  slot->kind = Slot::kJump;
  std::memcpy(slot->payload, &to, sizeof(to));
  const uint64_t number = extension_ == nullptr ? sent_in_ring_++ : sent_in_extension_;
  if (extension_ != nullptr) extensions_.back().end = sent_;
  slot->full.store(static_cast<uint32_t>(number + 1), std::memory_order_release);
  extension_ = nullptr;
}

bool OutRing::Widen() {
  if (++long_inlines_ < rules::kShmInlinesBeforeWide || closed()) return false;
  WideRing* const wide = memory_->NewWideRing();
  if (wide == nullptr) {
    long_inlines_ = 0;  // looks again later
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

bool OutRing::IsOver(const Extension& extension) const {
  if (extension.end > oldest_receipt_ || extension.memory == extension_) return false;
  for (int i = 0; i < RingExtension::kSlots; ++i) {
    if (extension.memory->empty[i].load(std::memory_order_acquire) !=
        static_cast<uint32_t>(i + 1)) {
      return false;
    }
  }
  return true;
}

// Receivers mostly give back in order. The others are looked at when they have doubled: to look at
// all of them for each new one would take longer and longer.
void OutRing::FreeUsedExtensions() {
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

void OutRing::FreeMemory() {
  for (const Extension& extension : extensions_) {
    memory_->FreeExtension(extension.memory);
  }
  extensions_.clear();
  if (wide_ != nullptr) memory_->FreeWideRing(wide_);
}

const Slot* InRing::Follow() {
  if (next_->kind == Slot::kWiden) return FollowToWideRing();
  if (next_->kind != Slot::kJump) return next_;  // its reader checks the kind
  uint64_t to = 0;
  std::memcpy(&to, next_->payload, sizeof(to));
  std::byte* const memory = to == kToRing || to % alignof(RingExtension) != 0
                                ? nullptr
                                : segment_->At(to, sizeof(RingExtension));
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
    SetExtension(reinterpret_cast<RingExtension*>(memory), 0);
  }
  // Behind this, the sender may use the slot again, or free the extension it was in.
  jump.empty->store(jump.stamp, std::memory_order_release);
  return Peek();
}

// Once, and from the first ring.
const Slot* InRing::FollowToWideRing() {
  uint64_t to = 0;
  std::memcpy(&to, next_->payload, sizeof(to));
  const bool may_be = broken_ == nullptr && !in_use_.is_wide() && extension_ == nullptr &&
                      to != 0 && to % alignof(WideRing) == 0;
  std::byte* const memory = may_be ? segment_->At(to, sizeof(WideRing)) : nullptr;
  if (memory == nullptr) {
    broken_ = "a wide ring that is nowhere";
    return nullptr;
  }
  in_use_ = RingInUse(reinterpret_cast<WideRing*>(memory));
  SetRing(0);
  return Peek();
}

}  // namespace brigade
