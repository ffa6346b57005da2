// PageSlots: the used slots of a page, all of one length, so that short allocations share a page.

#ifndef BRIGADE_TRANSPORT_HOST_MEMORY_PAGE_SLOTS_H_
#define BRIGADE_TRANSPORT_HOST_MEMORY_PAGE_SLOTS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "membuf/check.h"

namespace brigade {

class PageSlots {
 public:
  // Returns the length of the slot for `bytes`: a power of two, from a cache line to half a page,
  // so that a slot is aligned to its length. 0: `bytes` is longer than that.
  static size_t SlotBytesFor(size_t bytes, size_t page_bytes) {
    size_t slot_bytes = 64;
    while (slot_bytes < bytes && slot_bytes < page_bytes) slot_bytes *= 2;
    return slot_bytes <= page_bytes / 2 ? slot_bytes : 0;
  }

  PageSlots(size_t slot_bytes, size_t page_bytes)
      : slot_bytes_(slot_bytes), slots_(page_bytes / slot_bytes), used_((slots_ + 63) / 64) {}

  size_t slot_bytes() const { return slot_bytes_; }
  bool empty() const { return used_slots_ == 0; }
  bool full() const { return used_slots_ == slots_; }
  // REQUIRES: slot < the number of slots.
  bool IsUsed(size_t slot) const { return (used_[slot / 64] >> (slot % 64) & 1) != 0; }

  // Allocates the first unused slot. REQUIRES: not full().
  size_t Take() {
    BRIGADE_CHECK(!full());
    size_t slot = 0;
    while (used_[slot / 64] == UINT64_MAX) slot += 64;
    while (IsUsed(slot)) ++slot;
    used_[slot / 64] |= uint64_t{1} << (slot % 64);
    ++used_slots_;
    return slot;
  }
  // REQUIRES: IsUsed(slot).
  void Give(size_t slot) {
    BRIGADE_CHECK(IsUsed(slot));
    used_[slot / 64] &= ~(uint64_t{1} << (slot % 64));
    --used_slots_;
  }

 private:
  size_t slot_bytes_;
  size_t slots_;
  size_t used_slots_ = 0;
  std::vector<uint64_t> used_;  // a bit for each slot
};

}  // namespace brigade

#endif  // BRIGADE_TRANSPORT_HOST_MEMORY_PAGE_SLOTS_H_
