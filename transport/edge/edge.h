// Edge: what leads from one rank to another on one channel, in shared memory: messages in a ring
// (inline_ring.h), the buffer in which the receiver waits for the next one (posted_buffer.h), and a
// status word of the sender (edge_status.h).
//
// One progress owner per side; not thread-safe beyond that.

#ifndef BRIGADE_TRANSPORT_EDGE_EDGE_H_
#define BRIGADE_TRANSPORT_EDGE_EDGE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "membuf/byte_span.h"
#include "membuf/strided_layout.h"
#include "transport/edge/doorbell.h"
#include "transport/edge/edge_status.h"
#include "transport/edge/inline_ring.h"
#include "transport/edge/peer_memory.h"
#include "transport/edge/posted_buffer.h"
#include "transport/host_memory/shared_segment.h"
#include "transport/rules.h"

namespace brigade {

// In the sender's shared segment.
struct EdgeShared {
  Slot slots[kRingSlots];
  EdgeStatus status;
  RingReturns returns;
  PostedBuffer posted;
};
static_assert(sizeof(EdgeShared) == 832, "the memory of an idle edge");

class OutEdge : public OutRing {
 public:
  // `shared` is zeroed memory. `memory` gives extensions and must outlive the edge.
  OutEdge(EdgeShared* shared, EdgeMemory* memory, Doorbell* receiver)
      : OutRing(shared->slots, &shared->returns, memory, receiver), shared_(shared) {}

  // Of the receiver.
  PeerMemory& peer_memory() { return peer_memory_; }

  // Whether to try SendToPostedBuffer: one is posted for the next message, which is long enough.
  bool MayWritePostedBuffer(const StridedLayout& layout, size_t from = 0) const {
    return (layout.bytes() - from >= rules::kLeastPostedBytes ||
            peer_memory_.kernel_copies().writes.Holds(layout, from)) &&
           shared_->posted.IsPosted(sent());
  }
  // Copies a matrix, from packed byte `from` on, to the same place in the receiver's posted buffer,
  // by itself or by the kernel, and publishes the message with `head`, of Slot::kInlineBytes at
  // most. False: nothing is sent, and the buffer stays posted: none is posted for this message, it
  // is too short, or it cannot be written to.
  bool SendToPostedBuffer(ConstByteSpan head, const StridedLayout& layout, const std::byte* base,
                          size_t from = 0);

  uint64_t status() const { return shared_->status.word.load(std::memory_order_relaxed); }
  // REQUIRES: the receiver does not read the text of the last status.
  std::byte* status_text() { return shared_->status.text; }
  void SetStatus(uint64_t word) {
    shared_->status.word.store(word, std::memory_order_release);
    Signal();
  }

 private:
  friend class EdgeTestPeer;

  EdgeShared* const shared_;
  PeerMemory peer_memory_;
};

class InEdge : public InRing {
 public:
  // `entry`, in the sender's memory, holds the offset of the edge in `segment` once the sender has
  // opened it, and 0 before.
  InEdge(std::atomic<uint64_t>* entry, SharedSegment* segment, Doorbell* sender)
      : InRing(segment, sender), entry_(entry) {}

  // The directory entry of an edge that its receiver closed before the sender had opened it.
  static constexpr uint64_t kClosedUnopened = 1;

  // Returns the next message, or null. The message stays the next until Take.
  const Slot* Peek() { return is_attached() || Attach() ? InRing::Peek() : nullptr; }

  // Of the sender.
  PeerMemory& peer_memory() { return peer_memory_; }

  // Posts a buffer for the next message, as PostedBuffer::Post.
  bool PostBuffer(const StridedLayout& layout, std::byte* base) {
    return is_attached() &&
           shared_->posted.Post(taken(), layout, base, peer_memory_.kernel_copies().writes);
  }
  // As PostedBuffer::Withdraw. REQUIRES: PostBuffer() has returned true.
  bool WithdrawBuffer() { return shared_->posted.Withdraw(taken()); }

  // Returns the status word of the last status of the sender; 0: there is none yet.
  uint64_t status() {
    return is_attached() || Attach() ? shared_->status.word.load(std::memory_order_acquire) : 0;
  }
  // REQUIRES: there is one. Nothing of it is to be believed.
  const std::byte* status_text() const { return shared_->status.text; }

  // Closes the edge: no further message is taken. Messages that were taken are still released.
  void Close();

 private:
  bool Attach();

  std::atomic<uint64_t>* const entry_;
  EdgeShared* shared_ = nullptr;
  PeerMemory peer_memory_;
};

}  // namespace brigade

#endif  // BRIGADE_TRANSPORT_EDGE_EDGE_H_
