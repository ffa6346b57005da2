// EdgePort: a short call's messages over a transport that shows its edges (edge.h). Nothing is
// posted: what comes is used where its sender wrote it, and inline messages, header included,
// need no staging memory. Where user memory goes to one peer only, longer inline messages need none
// either: it is copied straight into the edge.
//
// Edges and posts of one stream are one order, so that a message goes by a post where the edge
// cannot take it, or is not to be kept waiting, and so that other paths may use the same streams.

#ifndef BRIGADE_PATTERNS_EAGER_EDGE_PORT_H_
#define BRIGADE_PATTERNS_EAGER_EDGE_PORT_H_

#include <cstdint>
#include <cstring>
#include <utility>

#include "membuf/byte_span.h"
#include "membuf/status.h"
#include "patterns/eager/group_edges.h"
#include "patterns/eager/port_base.h"
#include "patterns/engine/wire_header.h"
#include "patterns/schedule/schedule.h"
#include "patterns/trace/trace.h"
#include "transport/edge/edge.h"
#include "transport/edge/edge_access.h"

namespace brigade {

class EdgePort : public PortBase {
 protected:
  struct Current : PortBase::Current {
    // Received, and read where it is: the edge and what to give back to it.
    InEdge* edge = nullptr;
    InEdge::Receipt receipt;
    bool segment = false;
  };
  using PortBase::PortBase;

  // Of a message from point to point the sender's length counts, and shows in what it wrote.
  bool SeesArrivals() const { return true; }
  // Messages may take some segments: each costs little more than its copies. With more than two
  // ranks a rank that combines should receive the next segment meanwhile, so the engine runs those.
  bool CutsMessages() const { return !entry_.combines || scope_.size == 2; }
  bool Cuts(const SegmentPlan& plan) const {
    return CutsMessages() && !plan.header_ahead &&
           plan.Count() <=
               (MayBeForwarded() ? rules::kMostEagerSegments : rules::kMostInlineSegments) &&
           !ExpectsPostedBlocks();
  }
  // Waits a little for the next message from the call's peer. Returns whether the message
  // fits and its first segment is there.
  bool HasFirstSegment();

  void StartReceives() {}
  // Waits for the message of `step`. The payload follows its header.
  Status Receive(const Lane& lane, const Step& step, Current* current, ConstByteSpan* message);
  // No header goes ahead.
  Status ReceiveData(Current*) { return Status(StatusCode::kInternal, "data without a header"); }
  Status Open(Current* current) { return OpenInStaging(current); }
  // Sends what `copy` would copy to staging memory beside its flag; false if it must be copied.
  bool SendInPlace(const Step& copy);
  Status Send(int peer, const Current& current) { return PostSend(peer, current); }
  // Waits for the next message by a posted receive.
  Status ReceivePosted(Current* current, ConstByteSpan* message);
  void Free(Current* current) {
    if (current->edge != nullptr) {
      std::exchange(current->edge, nullptr)->GiveBack(current->receipt, current->segment);
    } else if (current->buffer != nullptr) {
      Release(&current->buffer);
    }
  }
  void DropReceives() { Drop(&group_->edge_slot); }

 private:
  // Which takes a lease.
  bool MayBeForwarded() const { return !pair_ && scope_.size > 2; }
  // Whether the blocks of the call had better go to posted buffers, of which the executor knows.
  bool ExpectsPostedBlocks() const;
  // The message in the next slot of an edge, wherever it lies; no data if it is nowhere.
  ConstByteSpan MessageIn(const InEdge& edge, const Slot& slot) const {
    return slot.kind == Slot::kInline ? edge.Inline(slot)
                                      : group_->edges->SegmentIn(group_->id, slot);
  }
  OutEdge* EdgeTo(int peer) const { return brigade::EdgeTo(engine_, group_, kind_, peer); }
  InEdge* EdgeFrom(int peer) const { return brigade::EdgeFrom(group_, kind_, peer); }
};

}  // namespace brigade

#endif  // BRIGADE_PATTERNS_EAGER_EDGE_PORT_H_
