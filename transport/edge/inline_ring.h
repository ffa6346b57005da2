// InlineRing: the messages of an edge (edge.h), in their order.
//
// A ring of slots of one cache line each. A slot holds a short message itself (an inline message:
// payload and flag arrive together), or says where a segment lies, or, where the ring is full of
// what the receiver has not taken or not given back, that the messages go on in an extension. So a
// sender never waits for its receiver: extensions come from the sender's memory while that lasts,
// and count as overflow memory.
//
// A ring that carries longer inline messages goes on in a wide ring, whose slots hold messages of
// some KiB: the receiver then waits for one cache miss where a segment costs two, one behind the
// other.
//
// A slot's `full` and `empty` counters hold the number of the message in the ring, on separate
// cache lines for either side: the sender writes `full`, beside the message; the receiver writes
// `empty` when it does not need the message any more, in any order. There is no shared head or
// tail.
//
// The receiver checks every number that it reads: a faulty process may have written it.
//
// One progress owner per side; not thread-safe beyond that.

#ifndef BRIGADE_TRANSPORT_EDGE_INLINE_RING_H_
#define BRIGADE_TRANSPORT_EDGE_INLINE_RING_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>

#include "membuf/byte_span.h"
#include "transport/edge/doorbell.h"
#include "transport/edge/ring_memory.h"
#include "transport/host_memory/shared_segment.h"

namespace brigade {

class EdgeMemory;

// The ring in use, of either width, on both sides.
class RingInUse {
 public:
  RingInUse() = default;
  RingInUse(Slot* slots, RingReturns* returns)
      : slots_(reinterpret_cast<std::byte*>(slots)),
        slot_bytes_(sizeof(Slot)),
        empty_(returns->empty) {}
  explicit RingInUse(WideRing* ring)
      : slots_(reinterpret_cast<std::byte*>(ring->slots)),
        slot_bytes_(sizeof(WideSlot)),
        empty_(ring->empty) {}

  bool is_wide() const { return slot_bytes_ != sizeof(Slot); }
  size_t inline_bytes() const { return is_wide() ? WideSlot::kInlineBytes : Slot::kInlineBytes; }
  // Returns the slot of message `number` in the ring.
  Slot* SlotOf(uint64_t number) const {
    return reinterpret_cast<Slot*>(slots_ + number % kRingSlots * slot_bytes_);
  }
  std::atomic<uint32_t>* EmptyOf(uint64_t number) const { return &empty_[number % kRingSlots]; }

 private:
  std::byte* slots_ = nullptr;
  size_t slot_bytes_ = 0;
  std::atomic<uint32_t>* empty_ = nullptr;
};

class OutRing {
 public:
  // `slots` and `returns` are zeroed memory. `memory` gives extensions and must outlive the ring.
  OutRing(Slot* slots, RingReturns* returns, EdgeMemory* memory, Doorbell* receiver)
      : returns_(returns), memory_(memory), receiver_(receiver), in_use_(slots, returns) {}
  OutRing(const OutRing&) = delete;
  OutRing& operator=(const OutRing&) = delete;

  // The release of a message: the receiver sets `*empty` to `stamp`; it grows further once the slot
  // is used again.
  struct Receipt {
    const std::atomic<uint32_t>* empty = nullptr;
    uint32_t stamp = 0;
    uint64_t number = 0;  // of the message
    bool given() const {
      return static_cast<int32_t>(empty->load(std::memory_order_acquire) - stamp) >= 0;
    }
  };

  // Returns the slot of the next message, to be filled in and published; null if there is no memory
  // for an extension.
  Slot* Next() {
    if (extension_ == nullptr && !lost_ && RingHasRoom()) return SlotInRing();
    return NextSlowly(/*beyond_limit=*/false);
  }
  // The same for an inline message of `bytes` with its header. If it is longer than
  // Slot::kInlineBytes, null: it goes as a segment.
  Slot* NextForInline(size_t bytes) {
    if (bytes <= Slot::kInlineBytes) return Next();
    if (bytes > WideSlot::kInlineBytes || extension_ != nullptr || lost_ || !RingHasRoom()) {
      return nullptr;
    }
    return in_use_.is_wide() || Widen() ? SlotInRing() : nullptr;
  }
  // Returns the slot of the next message where Next() has found none for the limit of overflow
  // memory, if it says where a segment lies: the memory of segments has a limit of its own.
  // REQUIRES: Next() has returned null.
  Slot* NextForSegment() { return NextSlowly(/*beyond_limit=*/true); }
  // REQUIRES: `slot` is the last result of one of these three.
  Receipt Publish(Slot* slot) {
    Receipt receipt;
    receipt.number = sent_++;
    if (slot == &discarded_) return {&discarded_.full, 0, receipt.number};
    if (extension_ == nullptr) {
      receipt.empty = in_use_.EmptyOf(sent_in_ring_);
      receipt.stamp = static_cast<uint32_t>(++sent_in_ring_);
    } else {
      receipt.empty = &extension_->empty[sent_in_extension_];
      receipt.stamp = static_cast<uint32_t>(++sent_in_extension_);
    }
    slot->full.store(receipt.stamp, std::memory_order_release);
    Signal();
    return receipt;
  }

  // Returns whether the next message needs no extension, or the receiver has closed the edge.
  bool HasRoom() { return RingHasRoom() || closed(); }

  // Returns whether the receiver has closed the group. It takes no further message then.
  bool closed() const { return returns_->closed_at.load(std::memory_order_acquire) != 0; }
  bool NeverTaken(const Receipt& receipt) const {
    const uint64_t closed_at = returns_->closed_at.load(std::memory_order_acquire);
    return closed_at != 0 && receipt.number >= closed_at - 1;
  }
  uint64_t sent() const { return sent_; }
  bool is_wide() const { return in_use_.is_wide(); }
  uint64_t released() const { return returns_->released.load(std::memory_order_acquire); }
  // REQUIRES: it was a segment.
  bool IsTaken(const Receipt& receipt) const {
    return receipt.number < returns_->taken.load(std::memory_order_acquire);
  }
  // Marks the receiver as lost: there is no next slot any more, unless it closed the edge before.
  void SetLost() { lost_ = true; }
  bool lost() const { return lost_; }
  // Declares receipts of messages before `number` unused.
  void KeepReceiptsFrom(uint64_t number) { oldest_receipt_ = number; }
  // Frees all but the first ring. REQUIRES: the receiver does not look at them any more.
  void FreeMemory();

 protected:
  void Signal() { receiver_->Signal(); }
  // Whether no rank receives what is written to a slot that Next() returned.
  bool IsDiscarded(const Slot* slot) const { return slot == &discarded_; }

 private:
  // Message `number` in the ring has a free slot.
  bool IsFree(uint64_t number) {
    if (number < kRingSlots) return true;
    const int slot = static_cast<int>(number % kRingSlots);
    const auto before = static_cast<uint32_t>(number - kRingSlots + 1);
    // Reads the receiver's cache line again only if the cached values do not suffice.
    if (empty_[slot] == before) return true;
    for (int i = 0; i < kRingSlots; ++i) {
      empty_[i] = in_use_.EmptyOf(static_cast<uint64_t>(i))->load(std::memory_order_acquire);
    }
    return empty_[slot] == before;
  }
  // Room for a message, and a jump behind it.
  bool RingHasRoom() { return IsFree(sent_in_ring_) && IsFree(sent_in_ring_ + 1); }
  Slot* SlotInRing() const { return in_use_.SlotOf(sent_in_ring_); }
  Slot* NextSlowly(bool beyond_limit);
  void Jump(Slot* slot, uint64_t to);
  // Continues in a wide ring, if the edge has use for one and there is memory. REQUIRES: the next
  // message is in the ring.
  bool Widen();
  struct Extension;
  // Returns whether all its slots are released, and no receipt of it is needed.
  bool IsOver(const Extension& extension) const;
  void FreeUsedExtensions();
  friend class EdgeTestPeer;

  RingReturns* const returns_;
  EdgeMemory* const memory_;
  Doorbell* const receiver_;
  uint64_t sent_ = 0;          // messages
  uint64_t sent_in_ring_ = 0;  // jumps included
  RingInUse in_use_;
  WideRing* wide_ = nullptr;            // null: none yet
  uint32_t empty_[kRingSlots] = {};     // what is known of it
  int long_inlines_ = 0;                // that had no wide ring
  RingExtension* extension_ = nullptr;  // where messages go now, if not to the ring
  int sent_in_extension_ = 0;
  bool lost_ = false;
  // All extensions that are not released, each with the number of the first message behind it;
  // unknown for the extension in use.
  struct Extension {
    RingExtension* memory;
    uint64_t end = UINT64_MAX;
  };
  std::deque<Extension> extensions_;
  static constexpr size_t kFewExtensions = 8;
  size_t look_at_ = kFewExtensions;  // number of extensions from which on all are checked
  uint64_t oldest_receipt_ = UINT64_MAX;
  Slot discarded_{};  // takes messages that no receiver will take
};

class InRing {
 public:
  // `segment`: the sender's memory.
  InRing(SharedSegment* segment, Doorbell* sender) : segment_(segment), sender_(sender) {}
  InRing(const InRing&) = delete;
  InRing& operator=(const InRing&) = delete;

  // The next message, or null. Stays the next until Take. REQUIRES: is_attached().
  const Slot* Peek() {
    if (next_->full.load(std::memory_order_acquire) != stamp_) return nullptr;
    return next_->kind >= Slot::kJump ? Follow() : next_;
  }
  // Returns the message in a kInline slot, or the header in a kInPosted one. REQUIRES: `slot` is
  // the last result of Peek().
  ConstByteSpan Inline(const Slot& slot) const { return InlineIn(slot, inline_bytes_); }
  // Returns the reason why the edge is broken, if the sender has written invalid values; null
  // otherwise.
  const char* broken() const { return broken_; }

  // The release that the sender waits for.
  struct Receipt {
    std::atomic<uint32_t>* empty = nullptr;
    uint32_t stamp = 0;
  };
  // REQUIRES: Peek() is not null.
  Receipt Take() {
    const Receipt receipt{empty_, stamp_};
    ++taken_;
    if (next_->kind == Slot::kSegment) returns_->taken.store(taken_, std::memory_order_release);
    Advance();
    return receipt;
  }
  // Releases a message: exactly once for each message taken, in any order. `is_segment`: its sender
  // waits for it.
  void GiveBack(const Receipt& receipt, bool is_segment) {
    receipt.empty->store(receipt.stamp, std::memory_order_release);
    if (is_segment) Release();
  }
  // Marks the sender as lost.
  void SetLost() { lost_ = true; }
  bool lost() const { return lost_; }

 protected:
  bool is_attached() const { return next_ != nullptr; }
  void Attach(Slot* slots, RingReturns* returns) {
    returns_ = returns;
    in_use_ = RingInUse(slots, returns);
    SetRing(0);
  }
  void SetBroken(const char* what) { broken_ = what; }
  SharedSegment* segment() const { return segment_; }
  // Messages.
  uint64_t taken() const { return taken_; }
  // Nothing is taken afterwards. REQUIRES: is_attached().
  void CloseRing() {
    returns_->closed_at.store(taken_ + 1, std::memory_order_release);
    Release();
  }

 private:
  void Release() {
    std::atomic<uint64_t>& released = returns_->released;
    released.store(released.load(std::memory_order_relaxed) + 1, std::memory_order_release);
    sender_->Signal();
  }
  const Slot* Follow();
  const Slot* FollowToWideRing();
  void Advance() {
    if (extension_ == nullptr) {
      SetRing(read_in_ring_ + 1);
    } else {
      SetExtension(extension_, static_cast<int>(stamp_));
    }
  }
  void SetRing(uint64_t number) {
    read_in_ring_ = number;
    extension_ = nullptr;
    next_ = in_use_.SlotOf(number);
    empty_ = in_use_.EmptyOf(number);
    inline_bytes_ = in_use_.inline_bytes();
    stamp_ = static_cast<uint32_t>(number + 1);
  }
  void SetExtension(RingExtension* extension, int number) {
    extension_ = extension;
    // The last slot of an extension is always a jump; a sender that forgets it reads no further.
    const int slot = number < RingExtension::kSlots ? number : RingExtension::kSlots - 1;
    next_ = &extension->slots[slot];
    empty_ = &extension->empty[slot];
    inline_bytes_ = Slot::kInlineBytes;
    stamp_ = static_cast<uint32_t>(number + 1);
  }
  friend class EdgeTestPeer;

  SharedSegment* const segment_;
  Doorbell* const sender_;
  RingReturns* returns_ = nullptr;
  RingInUse in_use_;
  Slot* next_ = nullptr;
  size_t inline_bytes_ = Slot::kInlineBytes;  // of the next slot
  std::atomic<uint32_t>* empty_ = nullptr;
  uint32_t stamp_ = 0;
  uint64_t read_in_ring_ = 0;
  RingExtension* extension_ = nullptr;
  uint64_t taken_ = 0;
  uint64_t jumped_at_ = UINT64_MAX;  // value of taken_ at the last jump
  const char* broken_ = nullptr;
  bool lost_ = false;
};

}  // namespace brigade

#endif  // BRIGADE_TRANSPORT_EDGE_INLINE_RING_H_
