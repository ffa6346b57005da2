// PortBase: what all ports of the eager executor (eager_executor.h) have in common: the call, and
// what it needs of the engine: memory for the one segment of each message, posts, and waits.

#ifndef BRIGADE_PATTERNS_EAGER_PORT_BASE_H_
#define BRIGADE_PATTERNS_EAGER_PORT_BASE_H_

#include <cstddef>

#include "membuf/byte_span.h"
#include "membuf/status.h"
#include "patterns/catalogue/catalogue.h"
#include "patterns/eager/call_wait.h"
#include "patterns/engine/engine.h"
#include "patterns/engine/group_state.h"
#include "patterns/engine/memory_wait.h"
#include "patterns/engine/pattern_call.h"
#include "patterns/engine/segment_mover.h"
#include "patterns/engine/staged_buffer.h"
#include "patterns/engine/wire_header.h"
#include "patterns/schedule/schedule.h"
#include "patterns/schedule/segment_plan.h"
#include "transport/channel.h"
#include "transport/endpoint.h"

namespace brigade {

class PortBase {
 public:
  PortBase(const PortBase&) = delete;
  PortBase& operator=(const PortBase&) = delete;
  OperationStatistics& statistics() { return mover_.statistics; }

 protected:
  // The segment that the current slot of a stream holds.
  struct Current {
    std::byte* payload = nullptr;    // only read, if received; null: it landed where it is wanted
    StagedBuffer* buffer = nullptr;  // where it lies, one's own or leased; null: elsewhere
    bool sent = false;               // it went straight from user memory: there is no slot
  };

  // `call` was validated and must outlive the object.
  PortBase(Engine* engine, GroupState* group, const CatalogueEntry& entry, const PatternCall& call);

  Endpoint* endpoint() const { return engine_->endpoint(); }
  Channel channel() const { return {group_->id, kind_}; }
  size_t WireBytes() const { return mover_.WireBytes(range_.bytes); }
  // In front of what is sent or received now.
  size_t HeaderBytes() const { return segment_ == 0 ? kHeaderBytes : 0; }

  // --- memory ---
  // Takes the buffer that the call will need first; false if there is none. One is all that a
  // locally blocking call needs, and all that it must not wait for.
  bool TakeFirst();
  // Memory for a payload, a received one if `for_receive`. If there is none it waits if it must, or
  // else returns null. kTimedOut: a locally blocking call has waited for as long as it may.
  Status Acquire(size_t payload_bytes, bool for_receive, bool must_wait, StagedBuffer** buffer);
  // Takes memory for a message that is made here, and writes its header.
  Status OpenInStaging(Current* current);
  void Release(StagedBuffer** buffer);

  // --- messages ---
  // Sends what lies in the slot, header and data in one segment or in two.
  Status PostSend(int peer, const Current& current);
  // Sends header and data straight from a matrix, if that takes no waiting.
  bool SendNow(const Matrix& matrix, int peer);
  // Posts a receive by `post()`. If the transport takes none now it waits if it must, or else
  // returns false in `*posted`, as it does when the wait fails.
  template <typename Post>
  Status PostReceive(ReceiveSlot* slot, bool must_wait, const Post& post, bool* posted);
  // Waits for what was posted, and moves it into `current`.
  Status AwaitReceive(ReceiveSlot* slot, Current* current);
  // After the group was closed: gives back what the slot holds.
  void Drop(ReceiveSlot* slot) { engine_->buffers()->Drop(slot); }

  // --- the end ---
  // Waits for the buffers that must be back before it returns.
  Status AwaitOutstanding();
  // Breaks the group after a failure, without a wait: nothing of the group moves any more. Returns
  // the status that the call returns.
  Status Break(const Status& status);
  void ReleaseFirst() {
    if (first_ != nullptr) Release(&first_);
  }

  Engine* const engine_;
  GroupState* const group_;
  const CatalogueEntry& entry_;
  const PatternCall& call_;
  const bool pair_;  // from point to point
  const ChannelKind kind_;
  const Scope& scope_;
  const EdgeConfig& config_;
  SegmentMover mover_;
  SegmentPlan::Range range_{0, 0};  // of the message: all of it, or the segment
  // Of messages that are cut; else the first.
  int64_t segment_ = 0;
  bool header_ahead_ = false;  // of what this rank sends
  WireHeader header_;
  CallWait wait_;
  int outstanding_ = 0;  // buffers that must be back before it returns

 private:
  Status AcquireSlowly(size_t payload_bytes, bool for_receive, StagedBuffer** buffer);

  StagedBuffer* first_ = nullptr;
  size_t held_bytes_ = 0;  // of staging memory
  MemoryWait memory_wait_;
};

template <typename Post>
Status PortBase::PostReceive(ReceiveSlot* slot, bool must_wait, const Post& post, bool* posted) {
  slot->arrived = false;
  slot->status = Status();
  Status status;
  const auto is_taken = [&] {
    status = post();
    return status.code() != StatusCode::kNoResource;
  };
  *posted = is_taken();
  if (!*posted && must_wait) {
    const Status waited = wait_.Until([&] { return *posted = *posted || is_taken(); });
    // Once posted, the receive belongs to the transport until the group is closed, even if the wait
    // has failed.
    if (!*posted) return waited;
  }
  return *posted ? status : Status();
}

}  // namespace brigade

#endif  // BRIGADE_PATTERNS_EAGER_PORT_BASE_H_
