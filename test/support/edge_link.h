// EdgeLink: an edge of one rank to itself; the test calls both sides.

#ifndef BRIGADE_TEST_SUPPORT_EDGE_LINK_H_
#define BRIGADE_TEST_SUPPORT_EDGE_LINK_H_

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "gtest/gtest.h"
#include "membuf/byte_span.h"
#include "membuf/strided_layout.h"
#include "transport/edge/edge.h"
#include "transport/edge/edge_memory.h"
#include "transport/host_memory/shared_allocations.h"
#include "transport/host_memory/shared_segment.h"

namespace brigade {

class EdgeLink {
 public:
  EdgeLink() {
    EXPECT_TRUE(SharedSegment::Create(&segment).ok());
    memory = std::make_unique<EdgeMemory>(segment.get());
    doorbells = static_cast<Doorbell*>(memory->Allocate(2 * sizeof(Doorbell)));
    entry = static_cast<std::atomic<uint64_t>*>(memory->Allocate(sizeof(*entry)));
    ring = static_cast<EdgeShared*>(memory->Allocate(sizeof(EdgeShared)));
    out = std::make_unique<OutEdge>(ring, memory.get(), &doorbells[0]);
    in = std::make_unique<InEdge>(entry, segment.get(), &doorbells[1]);
    *entry = memory->OffsetOf(ring);
  }

  OutEdge::Receipt Send(uint64_t number) {
    Slot* const slot = out->Next();
    EXPECT_NE(slot, nullptr);
    slot->kind = Slot::kInline;
    slot->bytes = sizeof(number);
    std::memcpy(slot->payload, &number, sizeof(number));
    return out->Publish(slot);
  }
  bool InRing(const Slot* slot) const {
    return slot >= ring->slots && slot < ring->slots + kRingSlots;
  }
  // The next message must be there and be this one; it is not given back.
  InEdge::Receipt Take(uint64_t number) {
    const Slot* const slot = in->Peek();
    EXPECT_NE(slot, nullptr) << "message " << number;
    if (slot == nullptr) return {};
    EXPECT_EQ(in->Peek(), slot) << "it stays the next until it is taken";
    EXPECT_EQ(slot->bytes, sizeof(number));
    EXPECT_EQ(NumberIn(slot), number);
    return in->Take();
  }
  void Receive(uint64_t number) { in->GiveBack(Take(number), false); }
  static uint64_t NumberIn(const Slot* slot) {
    uint64_t number = 0;
    std::memcpy(&number, slot->payload, sizeof(number));
    return number;
  }

  std::shared_ptr<SharedSegment> segment;
  std::unique_ptr<EdgeMemory> memory;
  Doorbell* doorbells = nullptr;
  std::atomic<uint64_t>* entry = nullptr;
  EdgeShared* ring = nullptr;
  std::unique_ptr<OutEdge> out;
  std::unique_ptr<InEdge> in;
};

constexpr size_t kSharedBytes = size_t{48} << 10;

// The kernel copies nothing by default.
struct SharedBufferLink : EdgeLink {
  SharedBufferLink() {
    EXPECT_TRUE(SharedAllocations::Here().Allocate(2 * kSharedBytes, &allocated_).ok());
    buffer = static_cast<uint8_t*>(allocated_);
    std::fill_n(buffer, 2 * kSharedBytes, 9);
    EXPECT_EQ(in->Peek(), nullptr);  // attaches it
  }
  ~SharedBufferLink() { SharedAllocations::Here().Free(allocated_); }
  SharedBufferLink(const SharedBufferLink&) = delete;
  SharedBufferLink& operator=(const SharedBufferLink&) = delete;

  bool Post(const StridedLayout& layout = StridedLayout::Contiguous(kSharedBytes)) const {
    return in->PostBuffer(layout, reinterpret_cast<std::byte*>(buffer));
  }
  bool SendToPostedBuffer(const std::vector<uint8_t>& data, const StridedLayout& layout) const {
    const uint64_t head = layout.bytes();
    return out->SendToPostedBuffer({reinterpret_cast<const std::byte*>(&head), sizeof(head)},
                                   layout, reinterpret_cast<const std::byte*>(data.data()));
  }
  bool SendToPostedBuffer(const std::vector<uint8_t>& data) const {
    return SendToPostedBuffer(data, StridedLayout::Contiguous(data.size()));
  }
  PostedBuffer* posted() const { return &ring->posted; }

  uint8_t* buffer;

 private:
  void* allocated_ = nullptr;
};

// Every other half run is a gap.
inline StridedLayout Columns(size_t run_bytes, size_t bytes = kSharedBytes) {
  StridedLayout layout;
  const auto rows = static_cast<int64_t>(run_bytes);
  const auto cols = static_cast<int64_t>(bytes / run_bytes);
  EXPECT_TRUE(StridedLayout::General(rows, cols, rows + rows / 2, 1, &layout).ok());
  return layout;
}

}  // namespace brigade

#endif  // BRIGADE_TEST_SUPPORT_EDGE_LINK_H_
