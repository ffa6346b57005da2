// Edge: the messages from one rank to another on one channel, in shared memory.
//
// A ring of slots of one cache line each. A slot holds a short message itself (a *line*: payload
// and flag arrive together), or says where a piece lies, or, where the ring is full of what the
// receiver has not taken or not given back, that the messages go on in an extension. So a sender
// never waits for its receiver: extensions come from the sender's memory while that lasts, and
// count as overflow memory.
//
// An edge that carries longer lines goes on in a wide ring, whose slots hold messages of some KiB:
// the receiver then waits for one cache miss where a piece costs two, one behind the other.
//
// A slot's `full` and `empty` counters hold the number of the message in the ring, on cache lines
// of their own for either side: `full` lies with the message and is written by the sender, `empty`
// by the receiver when it needs the message no more, in any order. There is no shared head or tail.
//
// What the receiver reads may have been written by a process gone wild: it checks every number.
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

// --- what lies in shared memory ---

struct alignas(64) Slot {
  enum Kind : uint16_t { kLine, kPiece, kLanded, kJump, kWiden };
  static constexpr size_t kLineBytes = 56;

  std::atomic<uint32_t> full;
  Kind kind;
  uint16_t bytes;  // kLine; kLanded: of the header, whose message lies where it is wanted
  std::byte payload[kLineBytes];
};
static_assert(sizeof(Slot) == 64, "a slot is a cache line");

// A slot of a wide ring: the payload of its line goes on behind it.
struct WideSlot {
  static constexpr size_t kLineBytes = Slot::kLineBytes + rules::kShmWideLineBytes;

  Slot slot;
  std::byte more[rules::kShmWideLineBytes];
};
static_assert(sizeof(WideSlot) == sizeof(Slot) + rules::kShmWideLineBytes);

// Where a line lies in its slot, wide or not.
inline std::byte* PayloadOf(Slot* slot) {
  return reinterpret_cast<std::byte*>(slot) + offsetof(Slot, payload);
}
// The message in a kLine slot, which holds `most_bytes`; no data if it says that it is longer. Its
// length is read once: a sender gone wild may change it at any time.
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

// Where the receiver wants its next message, if it comes in time: user memory that it lends to the
// sender.
struct alignas(64) EdgeLanding {
  enum State : uint64_t {
    kLent,   // the receiver wants it here
    kTaken,  // the sender copies to it, or did
  };
  // 0: nothing is lent. Else twice the number of the message, from 1, and how it is with that one.
  std::atomic<uint64_t> state;
  RemoteStretches memory;
  // Where in a shared segment it begins, if it lies in one; else 0, and it is where its address
  // says. Hardly another segment than before.
  uint64_t offset;
  alignas(64) SharedSegment::Address segment;
  static uint64_t StateOf(uint64_t number, State state) { return (number + 1) << 1 | state; }
  // Where nothing is written the other side finds what it knows in its cache.
  void SetSegment(const SharedSegment::Address& address) {
    if (!(segment == address)) segment = address;
  }
};

// What the sender says beside its messages, to a receiver that looks for it. It is no message, and
// has no number; only the last one is there.
struct alignas(64) EdgeNotice {
  static constexpr size_t kTextBytes = 120;
  std::atomic<uint64_t> word;  // 0: nothing was said yet
  std::byte text[kTextBytes];
};

// What the receiver writes.
struct alignas(64) EdgeReturns {
  static constexpr int kRingSlots = 8;
  std::atomic<uint32_t> empty[kRingSlots];
  std::atomic<uint64_t> released;  // pieces, so that the sender need not look at each
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

// All that is neither a slot nor `empty` stays in the first ring.
struct EdgeWideRing {
  std::atomic<uint32_t> empty[EdgeRing::kSlots];
  alignas(64) WideSlot slots[EdgeRing::kSlots];
};

// A ring of either width, as both sides step through it.
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
  // Of message `number` in the ring.
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
  // `ring` is zeroed memory. `memory` gives extensions and must outlive the edge.
  OutEdge(EdgeRing* ring, EdgeMemory* memory, Bell* receiver)
      : ring_(ring), memory_(memory), receiver_(receiver), in_use_(ring) {}
  OutEdge(const OutEdge&) = delete;
  OutEdge& operator=(const OutEdge&) = delete;

  // What the receiver gives back: `*empty` becomes `stamp`, or more once the slot is used again.
  struct Receipt {
    const std::atomic<uint32_t>* empty = nullptr;
    uint32_t stamp = 0;
    uint64_t number = 0;  // of the message
    bool given() const {
      return static_cast<int32_t>(empty->load(std::memory_order_acquire) - stamp) >= 0;
    }
  };

  // The slot of the next message, to be filled in and published; null if there is no memory for an
  // extension.
  Slot* Next() {
    if (extension_ == nullptr && !lost_ && RingHasRoom()) return SlotInRing();
    return NextSlowly(/*beyond_limit=*/false);
  }
  // The same for a line that is longer than Slot::kLineBytes. Null: send it as a piece.
  Slot* NextForLongLine(size_t bytes) {
    if (bytes > WideSlot::kLineBytes || extension_ != nullptr || lost_ || !RingHasRoom()) {
      return nullptr;
    }
    return in_use_.is_wide() || Widen() ? SlotInRing() : nullptr;
  }
  // The same for one that says where a piece lies, where Next() is at the limit of overflow memory:
  // there are as many pieces as their senders' memory holds, which has a limit of its own.
  Slot* NextForPiece() { return NextSlowly(/*beyond_limit=*/true); }
  // REQUIRES: `slot` is what Next() returned last.
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

  // From here on such messages may go straight to the memory of `receiver`. `watch` is that of a
  // ProcessCopy, and must outlive the edge.
  void SetKernelCopies(pid_t receiver, const ProcessWatch* watch, const KernelCopyRange& range) {
    receiver_process_ = receiver;
    receiver_watch_ = watch;
    kernel_copies_ = range;
  }
  const KernelCopyRange& kernel_copies() const { return kernel_copies_; }
  bool CopiesByKernel(const StridedLayout& layout) const { return kernel_copies_.Holds(layout); }
  // Whether to try SendToLanding: the receiver has lent a landing, and the message is long enough.
  bool MayLand(const StridedLayout& layout) const {
    return (layout.bytes() >= rules::kLeastSharedLandingBytes || CopiesByKernel(layout)) &&
           ring_->returns.landing.state.load(std::memory_order_relaxed) ==
               EdgeLanding::StateOf(sent_, EdgeLanding::kLent);
  }
  // Copies a matrix to where the receiver wants its next message, and publishes that with `head`,
  // of a line at most: by itself, where the landing lies in shared memory, or else by the kernel.
  // False: nothing is sent, for the receiver has not said where, or cannot be written
  // to. What it has lent stays so.
  bool SendToLanding(ConstByteSpan head, const StridedLayout& layout, const std::byte* base);

  // --- notices ---
  uint64_t notice() const { return ring_->notice.word.load(std::memory_order_relaxed); }
  // What belongs to the next notice. REQUIRES: the receiver does not read that of the last one.
  std::byte* notice_text() { return ring_->notice.text; }
  void SetNotice(uint64_t word) {
    ring_->notice.word.store(word, std::memory_order_release);
    receiver_->Ring();
  }

  // Whether the next message needs no extension, or nobody receives it.
  bool HasRoom() { return RingHasRoom() || closed(); }

  // The receiver has closed the group, and what it has not taken it never will.
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
  // The receiver is gone: there is no next slot any more, unless it closed the edge before.
  void SetLost() { lost_ = true; }
  bool lost() const { return lost_; }
  // Receipts of earlier messages will not be looked at any more.
  void KeepReceiptsFrom(uint64_t number) { oldest_receipt_ = number; }
  // Nobody looks at the edge any more: frees all but the ring.
  void FreeMemory();

 private:
  // Message `number` in the ring has a free slot.
  bool IsFree(uint64_t number) {
    if (number < EdgeRing::kSlots) return true;
    const int slot = static_cast<int>(number % EdgeRing::kSlots);
    const auto before = static_cast<uint32_t>(number - EdgeRing::kSlots + 1);
    // The receiver's cache line is read again only when what is known of it does not do.
    if (empty_[slot] == before) return true;
    for (int i = 0; i < EdgeRing::kSlots; ++i) {
      empty_[i] = in_use_.EmptyOf(static_cast<uint64_t>(i))->load(std::memory_order_acquire);
    }
    return empty_[slot] == before;
  }
  // For a message, and a jump behind it.
  bool RingHasRoom() { return IsFree(sent_in_ring_) && IsFree(sent_in_ring_ + 1); }
  Slot* SlotInRing() const { return in_use_.SlotOf(sent_in_ring_); }
  Slot* NextSlowly(bool beyond_limit);
  void Jump(Slot* slot, uint64_t to);
  // Goes on in a wide ring, where the edge has use for one and there is memory. REQUIRES: the next
  // message is in the ring.
  bool Widen();
  struct Extension;
  // Whether all its slots have come back, and no receipt of it is needed.
  bool IsOver(const Extension& extension) const;
  void FreeUsedExtensions();
  // Takes the landing for the next message, if one is lent for it.
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
  uint32_t empty_[EdgeRing::kSlots] = {};  // what is known of it
  int long_lines_ = 0;                     // that had no wide ring
  EdgeExtension* extension_ = nullptr;     // where messages go now, if not to the ring
  int sent_in_extension_ = 0;
  bool lost_ = false;
  // All that are not given back, and the number of the first message behind them; of the one in use
  // it is not known.
  struct Extension {
    EdgeExtension* memory;
    uint64_t end = UINT64_MAX;
  };
  std::deque<Extension> extensions_;
  static constexpr size_t kFewExtensions = 8;
  size_t look_at_ = kFewExtensions;  // of them
  uint64_t oldest_receipt_ = UINT64_MAX;
  Slot discarded_{};  // takes what nobody will receive
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

  // The next message, or null. Stays the next until Take.
  const Slot* Peek() {
    if (next_ == nullptr && !Attach()) return nullptr;
    if (next_->full.load(std::memory_order_acquire) != stamp_) return nullptr;
    return next_->kind >= Slot::kJump ? Follow() : next_;
  }
  // The message in a kLine slot, or the header in a kLanded one. REQUIRES: `slot` is what Peek()
  // returned last.
  ConstByteSpan Line(const Slot& slot) const { return LineIn(slot, line_bytes_); }
  // Not null once the sender has written what it cannot have meant.
  const char* broken() const { return broken_; }

  // What the sender waits for.
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
  // Exactly once for each message taken, in any order. `piece`: its sender waits for it.
  void GiveBack(const Receipt& receipt, bool piece) {
    receipt.empty->store(receipt.stamp, std::memory_order_release);
    if (!piece) return;
    std::atomic<uint64_t>& released = ring_->returns.released;
    released.store(released.load(std::memory_order_relaxed) + 1, std::memory_order_release);
    sender_->Ring();
  }
  // The same of the receiver, which may also read straight from the memory of `sender`.
  void SetKernelCopies(pid_t sender, const ProcessWatch* watch, const KernelCopyRange& range) {
    sender_process_ = sender;
    sender_watch_ = watch;
    kernel_copies_ = range;
  }
  // Lends user memory to the sender, for the next message, if it lies in memory of
  // SharedAllocations or the kernel is to copy there. False: nothing is lent. To be taken back once
  // that message is there, or will be received otherwise.
  bool LendLanding(const StridedLayout& layout, std::byte* base);
  // False if the sender is copying to it: its message comes, unless it is lost. Copies nothing
  // afterwards, if true.
  bool TakeLandingBack();
  // The last notice of the sender; 0: there is none yet.
  uint64_t notice() {
    if (ring_ == nullptr && !Attach()) return 0;
    return ring_->notice.word.load(std::memory_order_acquire);
  }
  // REQUIRES: there is one. Nothing of what it says is to be believed.
  const std::byte* notice_text() const { return ring_->notice.text; }
  // Memory of the sender, as it has written, and what it is here; null if it cannot be mapped or is
  // not there. It stays for as long as this rank maps nothing else of the sender's.
  const std::byte* Map(const RemoteStretches& memory, const SharedSegment::Address& segment,
                       uint64_t offset, StridedLayout* layout) {
    return mapped_.Find(memory, segment, offset, layout);
  }
  // Whether the kernel is to copy such memory, as the sender has written, to a matrix of that
  // layout, and does, as its first byte and its last one show. What it refuses of all memory of the
  // sender it is not asked again. REQUIRES: `memory` has bytes.
  bool MayRead(const RemoteStretches& memory, const StridedLayout& to);
  // REQUIRES: it may. As CopyRangeFromProcess; what was there a moment ago may be no more.
  int Read(const RemoteStretches& memory, size_t offset, size_t bytes, const StridedLayout& layout,
           std::byte* base, size_t at) const {
    return CopyRangeFromProcess(sender_process_, sender_watch_, memory, offset, bytes, layout, base,
                                at);
  }
  // The sender is gone.
  void SetLost() { lost_ = true; }
  bool lost() const { return lost_; }

  // What was not taken will not be. Nothing is taken afterwards; what was is still given back.
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
  size_t line_bytes_ = Slot::kLineBytes;  // that it may hold
  std::atomic<uint32_t>* empty_ = nullptr;
  uint32_t stamp_ = 0;
  uint64_t read_in_ring_ = 0;
  EdgeExtension* extension_ = nullptr;
  uint64_t taken_ = 0;
  pid_t sender_process_ = 0;
  const ProcessWatch* sender_watch_ = nullptr;
  KernelCopyRange kernel_copies_;
  bool is_unreadable_ = false;  // all memory of the sender, by the kernel
  SharedLanding mapped_;        // of the sender
  bool lost_ = false;
  uint64_t jumped_at_ = UINT64_MAX;  // what had been taken when the last jump was followed
  const char* broken_ = nullptr;
};

}  // namespace brigade

#endif  // BRIGADE_TRANSPORT_EDGE_EDGE_H_
