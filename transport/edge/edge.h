// Edge: the messages from one rank to another on one channel, in shared memory.
//
// A ring of slots of one cache line each. A slot holds (1) an inline message (a *line*: payload and
// flag arrive together), or (2) the place of a piece, or (3) a jump to an extension, if the ring is
// full of messages that the receiver has not taken or not released. A sender therefore never waits
// for its receiver: extensions are allocated from the sender's memory as long as that lasts, and
// count as overflow memory.
//
// An edge with longer inline messages continues in a wide ring, whose slots hold messages of some
// KiB: the receiver then waits for one cache miss, where a piece costs two dependent ones.
//
// A slot's `full` and `empty` counters hold the number of the message in the ring, on separate
// cache lines for either side: the sender writes `full`, beside the message; the receiver writes
// `empty` when it does not need the message any more, in any order. There is no shared head or
// tail.
//
// The receiver does not trust the sender's process: it checks every number that it reads.
//
// One driver per side; not thread-safe beyond that.

#ifndef BRIGADE_TRANSPORT_EDGE_EDGE_H_
#define BRIGADE_TRANSPORT_EDGE_EDGE_H_

#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>

#include "membuf/byte_span.h"
#include "membuf/rules.h"
#include "membuf/status.h"
#include "membuf/strided_layout.h"
#include "transport/edge/bell.h"
#include "transport/host/process_watch.h"
#include "transport/host_memory/kernel_copy.h"
#include "transport/host_memory/shared_landing.h"
#include "transport/host_memory/shared_segment.h"

namespace brigade {

class EdgeMemory;

// --- shared memory ---

struct alignas(64) Slot {
  enum Kind : uint16_t { kLine, kPiece, kLanded, kJump, kWiden };
  static constexpr size_t kLineBytes = 56;

  std::atomic<uint32_t> full;
  Kind kind;
  uint16_t bytes;  // kLine; kLanded: of the header of a message in the posted buffer
  std::byte payload[kLineBytes];
};
static_assert(sizeof(Slot) == 64, "a slot is a cache line");

// A slot of a wide ring: the payload of its inline message continues behind `slot`.
struct WideSlot {
  static constexpr size_t kLineBytes = Slot::kLineBytes + rules::kShmWideLineBytes;

  Slot slot;
  std::byte more[rules::kShmWideLineBytes];
};
static_assert(sizeof(WideSlot) == sizeof(Slot) + rules::kShmWideLineBytes);

// Returns the payload of an inline message in its slot, wide or not.
inline std::byte* PayloadOf(Slot* slot) {
  return reinterpret_cast<std::byte*>(slot) + offsetof(Slot, payload);
}
// Returns the message in a kLine slot of `most_bytes`; no data if its length exceeds the slot. The
// length is read once: a faulty sender may change it at any time.
inline ConstByteSpan LineIn(const Slot& slot, size_t most_bytes) {
  const uint16_t bytes = __atomic_load_n(&slot.bytes, __ATOMIC_RELAXED);
  return bytes <= most_bytes ? ConstByteSpan(PayloadOf(const_cast<Slot*>(&slot)), bytes)
                             : ConstByteSpan();
}

// Payload of a kPiece slot.
struct PieceAt {
  uint32_t owner = 0;  // the rank of the group in whose segment it lies
  uint64_t offset = 0;
  uint64_t bytes = 0;
};

// A posted buffer: user memory in which the receiver accepts its next message, if the sender copies
// in time.
struct alignas(64) EdgeLanding {
  enum State : uint64_t {
    kLent,   // posted by the receiver
    kTaken,  // claimed: the sender copies to it, or has
  };
  // 0: no buffer is posted. Otherwise twice the number of the message, from 1, plus the State.
  std::atomic<uint64_t> state;
  RemoteStretches memory;
  // Offset in a shared segment, if the buffer lies in one; otherwise 0, and `memory` has its
  // address. The segment rarely changes.
  uint64_t offset;
  alignas(64) SharedSegment::Address segment;
  static uint64_t StateOf(uint64_t number, State state) { return (number + 1) << 1 | state; }
  // Writes only on a change: otherwise the sender's cached copy stays valid.
  void SetSegment(const SharedSegment::Address& address) {
    if (!(segment == address)) segment = address;
  }
};

// A status word, with a text, that the sender publishes beside its messages and the receiver polls.
// It has no number; only the last one is kept.
struct alignas(64) EdgeNotice {
  static constexpr size_t kTextBytes = 120;
  std::atomic<uint64_t> word;  // 0: none yet
  std::byte text[kTextBytes];
};

// Memory that the receiver writes.
struct alignas(64) EdgeReturns {
  static constexpr int kRingSlots = 8;
  std::atomic<uint32_t> empty[kRingSlots];
  std::atomic<uint64_t> released;  // number of pieces, so that the sender need not check each
  // Messages up to the last piece that was taken.
  std::atomic<uint64_t> taken;
  // 0, or one more than the messages that the receiver took before it closed the group.
  std::atomic<uint64_t> closed_at;
  EdgeLanding landing;
};

struct EdgeRing {
  static constexpr int kSlots = EdgeReturns::kRingSlots;
  Slot slots[kSlots];
  EdgeNotice notice;
  EdgeReturns returns;
};
static_assert(sizeof(EdgeRing) == 832, "the memory of an idle edge");

// Only slots and `empty` move to a wide ring; all else stays in the first ring.
struct EdgeWideRing {
  std::atomic<uint32_t> empty[EdgeRing::kSlots];
  alignas(64) WideSlot slots[EdgeRing::kSlots];
};

// The ring in use, of either width, on both sides.
class RingInUse {
 public:
  RingInUse() = default;
  explicit RingInUse(EdgeRing* ring)
      : slots_(reinterpret_cast<std::byte*>(ring->slots)),
        slot_bytes_(sizeof(Slot)),
        empty_(ring->returns.empty) {}
  explicit RingInUse(EdgeWideRing* ring)
      : slots_(reinterpret_cast<std::byte*>(ring->slots)),
        slot_bytes_(sizeof(WideSlot)),
        empty_(ring->empty) {}

  bool is_wide() const { return slot_bytes_ != sizeof(Slot); }
  size_t line_bytes() const { return slot_bytes_ - offsetof(Slot, payload); }
  // Returns the slot of message `number` in the ring.
  Slot* SlotOf(uint64_t number) const {
    return reinterpret_cast<Slot*>(slots_ + number % EdgeRing::kSlots * slot_bytes_);
  }
  std::atomic<uint32_t>* EmptyOf(uint64_t number) const {
    return &empty_[number % EdgeRing::kSlots];
  }

 private:
  std::byte* slots_ = nullptr;
  size_t slot_bytes_ = 0;
  std::atomic<uint32_t>* empty_ = nullptr;
};
static_assert(WideSlot::kLineBytes == sizeof(WideSlot) - offsetof(Slot, payload));
static_assert(WideSlot::kLineBytes <= UINT16_MAX, "Slot::bytes");

struct EdgeExtension {
  static constexpr int kSlots = 56;
  Slot slots[kSlots];
  std::atomic<uint32_t> empty[kSlots];
};
static_assert(sizeof(EdgeExtension) <= 4096, "an extension is a page");

// --- the two sides ---

class OutEdge {
 public:
  // `ring` is zeroed memory. `memory` allocates extensions and must outlive the edge.
  OutEdge(EdgeRing* ring, EdgeMemory* memory, Bell* receiver)
      : ring_(ring), memory_(memory), receiver_(receiver), in_use_(ring) {}
  OutEdge(const OutEdge&) = delete;
  OutEdge& operator=(const OutEdge&) = delete;

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
  // Returns the slot of the next inline message longer than Slot::kLineBytes. Null: send it as a
  // piece.
  Slot* NextForLongLine(size_t bytes) {
    if (bytes > WideSlot::kLineBytes || extension_ != nullptr || lost_ || !RingHasRoom()) {
      return nullptr;
    }
    return in_use_.is_wide() || Widen() ? SlotInRing() : nullptr;
  }
  // Returns the slot of the next piece, even at the limit of overflow memory: the number of pieces
  // is limited by the senders' memory already.
  Slot* NextForPiece() { return NextSlowly(/*beyond_limit=*/true); }
  // REQUIRES: `slot` is the last result of Next().
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
    receiver_->Ring();
    return receipt;
  }

  // Permits copies by the kernel, straight to the memory of `receiver`, for messages in `range`.
  // `watch` is the watch of a ProcessCopy, and must outlive the edge.
  void SetKernelCopies(pid_t receiver, const ProcessWatch* watch, const KernelCopyRange& range) {
    receiver_process_ = receiver;
    receiver_watch_ = watch;
    kernel_copies_ = range;
  }
  const KernelCopyRange& kernel_copies() const { return kernel_copies_; }
  bool CopiesByKernel(const StridedLayout& layout) const { return kernel_copies_.Holds(layout); }
  // Returns whether to try SendToLanding: the receiver has posted a buffer, and the message is long
  // enough.
  bool MayLand(const StridedLayout& layout) const {
    return (layout.bytes() >= rules::kLeastSharedLandingBytes || CopiesByKernel(layout)) &&
           ring_->returns.landing.state.load(std::memory_order_relaxed) ==
               EdgeLanding::StateOf(sent_, EdgeLanding::kLent);
  }
  // Copies a matrix to the buffer that the receiver has posted for its next message, and publishes
  // it with `head`, an inline message at most. Copies by stores if the buffer lies in shared
  // memory, otherwise by the kernel. Returns false without effect if no buffer is posted or if its
  // memory cannot be written to; the buffer stays posted.
  bool SendToLanding(ConstByteSpan head, const StridedLayout& layout, const std::byte* base);

  // --- notices ---
  uint64_t notice() const { return ring_->notice.word.load(std::memory_order_relaxed); }
  // Returns the text of the next notice. REQUIRES: the receiver does not read the text of the last
  // one.
  std::byte* notice_text() { return ring_->notice.text; }
  void SetNotice(uint64_t word) {
    ring_->notice.word.store(word, std::memory_order_release);
    receiver_->Ring();
  }

  // Returns whether the next message needs no extension, or the receiver has closed the edge.
  bool HasRoom() { return RingHasRoom() || closed(); }

  // Returns whether the receiver has closed the group. It takes no further message then.
  bool closed() const { return ring_->returns.closed_at.load(std::memory_order_acquire) != 0; }
  bool NeverTaken(const Receipt& receipt) const {
    const uint64_t closed_at = ring_->returns.closed_at.load(std::memory_order_acquire);
    return closed_at != 0 && receipt.number >= closed_at - 1;
  }
  uint64_t sent() const { return sent_; }
  bool is_wide() const { return in_use_.is_wide(); }
  uint64_t released() const { return ring_->returns.released.load(std::memory_order_acquire); }
  // REQUIRES: it was a piece.
  bool IsTaken(const Receipt& receipt) const {
    return receipt.number < ring_->returns.taken.load(std::memory_order_acquire);
  }
  // Marks the receiver as lost: there is no next slot any more, unless it closed the edge before.
  void SetLost() { lost_ = true; }
  bool lost() const { return lost_; }
  // Declares receipts of messages before `number` unused.
  void KeepReceiptsFrom(uint64_t number) { oldest_receipt_ = number; }
  // Frees all memory except the ring. REQUIRES: neither side uses the edge any more.
  void FreeMemory();

 private:
  // Message `number` in the ring has a free slot.
  bool IsFree(uint64_t number) {
    if (number < EdgeRing::kSlots) return true;
    const int slot = static_cast<int>(number % EdgeRing::kSlots);
    const auto before = static_cast<uint32_t>(number - EdgeRing::kSlots + 1);
    // Reads the receiver's cache line again only if the cached values do not suffice.
    if (empty_[slot] == before) return true;
    for (int i = 0; i < EdgeRing::kSlots; ++i) {
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
  // Claims the posted buffer of the next message, if there is one.
  bool TakeLanding();
  bool CopyTo(const EdgeLanding& landing, const StridedLayout& layout, const std::byte* base);
  friend class EdgeTestPeer;

  EdgeRing* const ring_;
  EdgeMemory* const memory_;
  Bell* const receiver_;
  uint64_t sent_ = 0;          // messages
  uint64_t sent_in_ring_ = 0;  // jumps included
  RingInUse in_use_;
  EdgeWideRing* wide_ = nullptr;           // null: none yet
  uint32_t empty_[EdgeRing::kSlots] = {};  // cached values of it
  int long_lines_ = 0;                     // long messages before the wide ring
  EdgeExtension* extension_ = nullptr;     // in use; null: the ring is
  int sent_in_extension_ = 0;
  bool lost_ = false;
  // All extensions that are not released, each with the number of the first message behind it;
  // unknown for the extension in use.
  struct Extension {
    EdgeExtension* memory;
    uint64_t end = UINT64_MAX;
  };
  std::deque<Extension> extensions_;
  static constexpr size_t kFewExtensions = 8;
  size_t look_at_ = kFewExtensions;  // number of extensions from which on all are checked
  uint64_t oldest_receipt_ = UINT64_MAX;
  Slot discarded_{};  // takes messages that no receiver will take
  pid_t receiver_process_ = 0;
  const ProcessWatch* receiver_watch_ = nullptr;
  KernelCopyRange kernel_copies_;
  SharedLanding shared_landing_;
};

class InEdge {
 public:
  // `entry`, in the sender's memory, holds the offset of the ring in `segment` once the sender has
  // opened the edge, and 0 before.
  InEdge(std::atomic<uint64_t>* entry, SharedSegment* segment, Bell* sender)
      : entry_(entry), segment_(segment), sender_(sender) {}
  InEdge(const InEdge&) = delete;
  InEdge& operator=(const InEdge&) = delete;

  // The directory entry of an edge that its receiver closed before the sender had opened it.
  static constexpr uint64_t kClosedUnopened = 1;

  // Returns the next message, or null. The message stays the next until Take.
  const Slot* Peek() {
    if (next_ == nullptr && !Attach()) return nullptr;
    if (next_->full.load(std::memory_order_acquire) != stamp_) return nullptr;
    return next_->kind >= Slot::kJump ? Follow() : next_;
  }
  // Returns the message in a kLine slot, or the header in a kLanded one. REQUIRES: `slot` is the
  // last result of Peek().
  ConstByteSpan Line(const Slot& slot) const { return LineIn(slot, line_bytes_); }
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
    if (next_->kind == Slot::kPiece) {
      ring_->returns.taken.store(taken_, std::memory_order_release);
    }
    Advance();
    return receipt;
  }
  // Releases a message: exactly once for each message taken, in any order. `piece`: its sender
  // waits for it.
  void GiveBack(const Receipt& receipt, bool piece) {
    receipt.empty->store(receipt.stamp, std::memory_order_release);
    if (!piece) return;
    std::atomic<uint64_t>& released = ring_->returns.released;
    released.store(released.load(std::memory_order_relaxed) + 1, std::memory_order_release);
    sender_->Ring();
  }
  // As OutEdge::SetKernelCopies, for the receiver, which may also read straight from the memory of
  // `sender`.
  void SetKernelCopies(pid_t sender, const ProcessWatch* watch, const KernelCopyRange& range) {
    sender_process_ = sender;
    sender_watch_ = watch;
    kernel_copies_ = range;
  }
  // Posts a buffer in user memory for the next message, if it lies in memory of SharedAllocations
  // or the kernel is to copy there. Returns false if no buffer is posted. To be withdrawn once that
  // message has come, or will be received otherwise.
  bool LendLanding(const StridedLayout& layout, std::byte* base);
  // Withdraws the posted buffer. Returns false if the sender has claimed it: its message will come,
  // unless the sender is lost. After true the sender does not copy to it.
  bool TakeLandingBack();
  // Returns the status word of the last notice of the sender; 0: there is none yet.
  uint64_t notice() {
    if (ring_ == nullptr && !Attach()) return 0;
    return ring_->notice.word.load(std::memory_order_acquire);
  }
  // Returns the text of the notice, which is not trusted. REQUIRES: there is one.
  const std::byte* notice_text() const { return ring_->notice.text; }
  // Maps memory of the sender, whose description it has written, and returns its address here, with
  // its layout; null if it cannot be mapped or does not exist. Valid until this rank maps other
  // memory of the sender.
  const std::byte* Map(const RemoteStretches& memory, const SharedSegment::Address& segment,
                       uint64_t offset, StridedLayout* layout) {
    return mapped_.Find(memory, segment, offset, layout);
  }
  // Returns whether the kernel is to copy this memory of the sender to a matrix of layout `to`, and
  // can: the first and the last byte are tried. After a failure for all memory of the sender the
  // kernel is not tried again. REQUIRES: `memory` has bytes.
  bool MayRead(const RemoteStretches& memory, const StridedLayout& to);
  // Reads as CopyRangeFromProcess; the memory may have been freed since MayRead. REQUIRES: MayRead
  // returned true.
  int Read(const RemoteStretches& memory, size_t offset, size_t bytes, const StridedLayout& layout,
           std::byte* base, size_t at) const {
    return CopyRangeFromProcess(sender_process_, sender_watch_, memory, offset, bytes, layout, base,
                                at);
  }
  // Marks the sender as lost.
  void SetLost() { lost_ = true; }
  bool lost() const { return lost_; }

  // Closes the edge: no further message is taken. Messages that were taken are still released.
  void Close();

 private:
  bool Attach();
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
    line_bytes_ = in_use_.line_bytes();
    stamp_ = static_cast<uint32_t>(number + 1);
  }
  void SetExtension(EdgeExtension* extension, int number) {
    extension_ = extension;
    // The last slot of an extension is always a jump; a sender that forgets it reads no further.
    const int slot = number < EdgeExtension::kSlots ? number : EdgeExtension::kSlots - 1;
    next_ = &extension->slots[slot];
    empty_ = &extension->empty[slot];
    line_bytes_ = Slot::kLineBytes;
    stamp_ = static_cast<uint32_t>(number + 1);
  }
  friend class EdgeTestPeer;

  std::atomic<uint64_t>* const entry_;
  SharedSegment* const segment_;
  Bell* const sender_;
  EdgeRing* ring_ = nullptr;
  RingInUse in_use_;
  Slot* next_ = nullptr;
  size_t line_bytes_ = Slot::kLineBytes;  // of the next slot
  std::atomic<uint32_t>* empty_ = nullptr;
  uint32_t stamp_ = 0;
  uint64_t read_in_ring_ = 0;
  EdgeExtension* extension_ = nullptr;
  uint64_t taken_ = 0;
  pid_t sender_process_ = 0;
  const ProcessWatch* sender_watch_ = nullptr;
  KernelCopyRange kernel_copies_;
  bool is_unreadable_ = false;  // the kernel refuses all memory of the sender
  SharedLanding mapped_;        // memory of the sender
  bool lost_ = false;
  uint64_t jumped_at_ = UINT64_MAX;  // value of taken_ at the last jump
  const char* broken_ = nullptr;
};

}  // namespace brigade

#endif  // BRIGADE_TRANSPORT_EDGE_EDGE_H_
