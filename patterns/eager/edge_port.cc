#include "patterns/eager/edge_port.h"

#include <algorithm>

#include "patterns/engine/posted_blocks.h"
#include "patterns/rules.h"
#include "patterns/schedule/pattern.h"

namespace brigade {
namespace {

bool IsForwarded(const Lane& lane, int stream) {
  return std::any_of(lane.work.begin(), lane.work.end(), [&](const Step& step) {
    return step.opcode == Opcode::kSend && step.left.index == stream;
  });
}

}  // namespace

bool EdgePort::ExpectsPostedBlocks() const {
  if (!PostedBlocks::MayServe(call_)) return false;
  const PostedBlocks blocks(engine_, *group_, kind_, /*serves=*/true);
  const bool has_one_peer = entry_.rooted && scope_.rank != call_.root;
  const int peer = has_one_peer ? call_.root : (scope_.rank + 1) % scope_.size;
  return std::any_of(call_.blocks, call_.blocks + scope_.size, [&](const Matrix& block) {
    return blocks.Expects(scope_.GroupRank(peer), block);
  });
}

bool EdgePort::HasFirstSegment() {
  InEdge* const edge = EdgeFrom(call_.root);
  const Slot* const slot = edge == nullptr ? nullptr : Poll(engine_, edge, call_.root);
  if (slot == nullptr) return false;
  const ConstByteSpan message = MessageIn(*edge, *slot);
  WireHeader theirs;
  if (message.data == nullptr || message.bytes < kHeaderBytes) return false;
  std::memcpy(&theirs, message.data, sizeof(theirs));
  const SegmentPlan plan = PlanMessage(config_.settings, theirs.total_bytes);
  return Cuts(plan) && message.bytes == kHeaderBytes + plan.RangeOf(0).bytes;
}

Status EdgePort::Receive(const Lane& lane, const Step& step, Current* current,
                         ConstByteSpan* message) {
  InEdge* const edge = EdgeFrom(wait_.peer);
  const Slot* const slot = edge == nullptr ? nullptr : Poll(engine_, edge, wait_.peer);
  // A message that is forwarded, and not copied for that, must stay until its receivers have it:
  // it needs a lease. Point-to-point messages are not forwarded.
  if (slot != nullptr && (pair_ || !IsForwarded(lane, step.left.index))) {
    *message = MessageIn(*edge, *slot);
    if (message->data != nullptr) {
      current->segment = slot->kind == Slot::kSegment;
      current->edge = edge;
      current->receipt = edge->Take();
      return Status();
    }
  }
  return ReceivePosted(current, message);
}

Status EdgePort::ReceivePosted(Current* current, ConstByteSpan* message) {
  // Forwarded leases are released in Progress only. A rank whose messages have all arrived never
  // waits, and would keep the leases until its senders' rings are full.
  endpoint()->Progress();
  ReceiveSlot& slot = group_->edge_slot;
  // The header of a message that is too long is still read: it names the sender's call.
  const ByteSpan where{nullptr, kHeaderBytes + MostPayload(config_.settings)};
  bool posted = false;
  BRIGADE_RETURN_IF_ERROR(PostReceive(
      &slot, /*must_wait=*/true,
      [&] { return endpoint()->PostReceive(channel(), wait_.peer, where, &slot); }, &posted));
  BRIGADE_RETURN_IF_ERROR(AwaitReceive(&slot, current));
  *message = {slot.lease.data, slot.lease.bytes};
  return Status();
}

bool EdgePort::SendInPlace(const Step& copy) {
  const size_t bytes = HeaderBytes() + WireBytes();
  if (header_ahead_ || copy.only_sent_to < 0 ||
      (MayBeForwarded() && WireBytes() > rules::kMostInlineCollectiveBytes)) {
    return false;
  }
  const int peer = scope_.GroupRank(copy.only_sent_to);
  OutEdge* const edge = EdgeTo(peer);
  if (edge == nullptr) return false;
  Slot* const slot = edge->NextForInline(bytes);
  if (slot == nullptr) return false;
  const TraceSpan span(TraceKind::kPostSend, bytes, peer);
  const ConstByteSpan head(reinterpret_cast<const std::byte*>(&header_), HeaderBytes());
  WriteInline(slot, head, bytes,
              [&](std::byte* payload) { mover_.Apply(copy, payload, nullptr, nullptr, range_); });
  edge->Publish(slot);
  ++mover_.statistics.messages_sent;
  mover_.statistics.bytes_sent += bytes;
  return true;
}

}  // namespace brigade
