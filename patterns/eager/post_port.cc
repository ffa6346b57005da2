#include "patterns/eager/post_port.h"

#include <algorithm>
#include <utility>

#include "patterns/rules.h"
#include "patterns/trace/trace.h"

namespace brigade {

Status PostPort::Receive(const Lane& lane, const Step& step, Current* current,
                         ConstByteSpan* message) {
  const bool they_wait = WireBytes() > config_.settings.eager_bytes;
  const size_t most = they_wait ? rules::kMostReceivesAhead : rules::kReceivesAhead;
  for (bool posted = true; posted && posted_ < awaited_ + most; ++next_) {
    while (next_ < lane.receives.size() && lane.receives[next_].lead != step.lead) ++next_;
    if (next_ == lane.receives.size()) break;
    BRIGADE_RETURN_IF_ERROR(Post(lane.receives[next_], &posted));
    if (!posted) break;
  }
  ReceiveSlot& slot = receives_[awaited_++ % rules::kMostReceivesAhead];
  BRIGADE_RETURN_IF_ERROR(AwaitReceive(&slot, current));
  *message = {slot.lease.data, slot.lease.bytes};
  return Status();
}

Status PostPort::Post(const Step& step, bool* posted) {
  ReceiveSlot& slot = receives_[posted_ % rules::kMostReceivesAhead];
  const int peer = scope_.GroupRank(step.peer);
  const size_t room =
      config_.FirstRoom(pair_ ? std::min(range_.bytes, config_.settings.eager_bytes) : WireBytes());
  const bool must_wait = posted_ < awaited_ + rules::kReceivesAhead;
  ByteSpan where{nullptr, room + kHeaderBytes};
  if (config_.capabilities->needs_receive_buffer) {
    BRIGADE_RETURN_IF_ERROR(
        Acquire(MostPayload(config_.settings), /*for_receive=*/true, must_wait, &slot.buffer));
    *posted = slot.buffer != nullptr;
    if (!*posted) return Status();
    where.data = slot.buffer->memory.data + kHeaderRoom - kHeaderBytes;
  }
  const Status status = PostReceive(
      &slot, must_wait, [&] { return endpoint()->PostReceive(channel(), peer, where, &slot); },
      posted);
  if (!*posted) {
    if (slot.buffer != nullptr) Release(&slot.buffer);
    return status;
  }
  Trace::Mark(TraceKind::kPostReceive, room, peer);
  ++posted_;
  return status;
}

Status PostPort::ReceiveData(Current* current) {
  const LayoutRange in_place{&call_.matrix.layout, call_.matrix.data, 0, range_.bytes};
  const bool lands = endpoint()->LandsInPlace(channel(), wait_.peer, in_place);
  // The header has been read: the chunk is the data's, unless it is the sender's.
  if (!lands && current->buffer->origin == StagedBuffer::Origin::kLease) {
    Free(current);
    BRIGADE_RETURN_IF_ERROR(
        Acquire(range_.bytes, /*for_receive=*/true, /*must_wait=*/true, &current->buffer));
  }
  ReceiveSlot& slot = receives_[0];
  slot.buffer = std::exchange(current->buffer, nullptr);
  bool posted = false;
  BRIGADE_RETURN_IF_ERROR(PostReceive(
      &slot, /*must_wait=*/true,
      [&] {
        if (lands) return endpoint()->PostReceiveInPlace(channel(), wait_.peer, in_place, &slot);
        const ByteSpan where{slot.buffer->memory.data + kHeaderRoom, range_.bytes};
        return endpoint()->PostReceive(channel(), wait_.peer, where, &slot);
      },
      &posted));
  Trace::Mark(TraceKind::kPostReceive, range_.bytes, wait_.peer);
  BRIGADE_RETURN_IF_ERROR(AwaitReceive(&slot, current));
  Trace::Mark(TraceKind::kReceived, slot.lease.bytes, wait_.peer);
  BRIGADE_RETURN_IF_ERROR(CheckLength(range_.bytes, slot.lease.bytes));
  current->payload = const_cast<std::byte*>(slot.lease.data);
  return Status();
}

bool PostPort::SendInPlace(const Step& copy) {
  if (copy.only_sent_to < 0 || header_ahead_ || call_.locations != nullptr) return false;
  return SendNow(mover_.MatrixAt(copy.left), scope_.GroupRank(copy.only_sent_to));
}

void PostPort::DropReceives() {
  for (ReceiveSlot& slot : receives_) Drop(&slot);
}

}  // namespace brigade
