// The rings of inline_ring.h as they lie in memory that two ranks share.

#ifndef BRIGADE_TRANSPORT_EDGE_RING_MEMORY_H_
#define BRIGADE_TRANSPORT_EDGE_RING_MEMORY_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "membuf/byte_span.h"
#include "transport/rules.h"

namespace brigade {

struct alignas(64) Slot {
  enum Kind : uint16_t { kInline, kSegment, kInPosted, kJump, kWiden };
  static constexpr size_t kInlineBytes = 56;

  std::atomic<uint32_t> full;
  Kind kind;
  uint16_t bytes;  // kInline; kInPosted: of the header, whose payload lies in the posted buffer
  std::byte payload[kInlineBytes];
};
static_assert(sizeof(Slot) == 64, "a slot is a cache line");

// A slot of a wide ring: the payload of its message goes on behind it. Of a message that does not
// fit a slot, just the head lies there, so that WriteInline can write its line last.
struct WideSlot {
  static constexpr size_t kHeadBytes = 32;
  static constexpr size_t kInlineBytes = kHeadBytes + rules::kShmWideInlineBytes;

  Slot slot;
  std::byte more[rules::kShmWideInlineBytes];
};
static_assert(sizeof(WideSlot) == sizeof(Slot) + rules::kShmWideInlineBytes);
static_assert(WideSlot::kInlineBytes <= UINT16_MAX, "Slot::bytes");

// Where an inline message of `bytes` lies in its slot, wide or not.
inline std::byte* PayloadOf(Slot* slot, size_t bytes) {
  return reinterpret_cast<std::byte*>(slot) + (bytes <= Slot::kInlineBytes
                                                   ? offsetof(Slot, payload)
                                                   : sizeof(Slot) - WideSlot::kHeadBytes);
}
// Fills in an inline message of `bytes`: `head`, and what `write` writes behind it. The receiver
// looks at the line of the head. A line that is written in two parts goes to the receiver and back
// in between, so the head comes last, together with the flag.
template <typename Write>
inline void WriteInline(Slot* slot, ConstByteSpan head, size_t bytes, const Write& write) {
  std::byte* const message = PayloadOf(slot, bytes);
  write(message + head.bytes);
  if (head.bytes > 0) std::memcpy(message, head.data, head.bytes);
  slot->kind = Slot::kInline;
  slot->bytes = static_cast<uint16_t>(bytes);
}

// The message in a kInline slot, which holds `most_bytes`; no data if it says that it is longer.
// Its length is read once: a sender gone wild may change it at any time.
inline ConstByteSpan InlineIn(const Slot& slot, size_t most_bytes) {
  const uint16_t bytes = __atomic_load_n(&slot.bytes, __ATOMIC_RELAXED);
  return bytes <= most_bytes ? ConstByteSpan(PayloadOf(const_cast<Slot*>(&slot), bytes), bytes)
                             : ConstByteSpan();
}

// Payload of a kSegment slot.
struct SegmentAt {
  uint32_t owner = 0;  // the rank of the group in whose shared segment it lies
  uint64_t offset = 0;
  uint64_t bytes = 0;
};

// Memory that the receiver writes.
struct alignas(64) RingReturns {
  static constexpr int kSlots = 8;
  std::atomic<uint32_t> empty[kSlots];
  std::atomic<uint64_t> released;  // number of segments, so that the sender need not check each
  // Messages up to the last segment that was taken.
  std::atomic<uint64_t> taken;
  // 0, or one more than the messages that the receiver took before it closed the group.
  std::atomic<uint64_t> closed_at;
};

inline constexpr int kRingSlots = RingReturns::kSlots;

// `taken`, `released` and `closed_at` stay in the first ring.
struct WideRing {
  std::atomic<uint32_t> empty[kRingSlots];
  alignas(64) WideSlot slots[kRingSlots];
};

struct RingExtension {
  static constexpr int kSlots = 56;
  Slot slots[kSlots];
  std::atomic<uint32_t> empty[kSlots];
};
static_assert(sizeof(RingExtension) <= 4096, "an extension is a page");

}  // namespace brigade

#endif  // BRIGADE_TRANSPORT_EDGE_RING_MEMORY_H_
