#include "patterns/engine/posted_blocks.h"

#include "patterns/engine/engine.h"
#include "patterns/engine/group_state.h"
#include "patterns/trace/trace.h"
#include "transport/edge/edge.h"
#include "transport/edge/posted_buffer.h"

namespace brigade {

PostedBlocks::PostedBlocks(Engine* engine, const GroupState& group, ChannelKind channel,
                           bool serves)
    : engine_(engine), edges_(serves ? group.edges : nullptr), channel_{group.id, channel} {}

bool PostedBlocks::Send(int peer, ConstByteSpan head, const Matrix& block, size_t from,
                        OperationStatistics* did) const {
  if (edges_ == nullptr || engine_->sends()->has_deferred()) return false;
  OutEdge* const edge = edges_->EdgeTo(channel_, peer);
  if (edge == nullptr || !edge->MayWritePostedBuffer(block.layout, from)) return false;
  const size_t bytes = block.layout.bytes() - from;
  {
    TraceSpan span(TraceKind::kCopyIn, bytes);
    if (!edge->SendToPostedBuffer(head, block.layout, block.data, from)) {
      span.Cancel();
      return false;
    }
  }
  Trace::Mark(TraceKind::kPostSend, head.bytes + bytes, peer);
  ++did->messages_sent;
  did->bytes_sent += head.bytes + bytes;
  did->CountCopy(bytes);
  return true;
}

bool PostedBlocks::Expects(int peer, const Matrix& block) const {
  OutEdge* const edge = edges_ == nullptr ? nullptr : edges_->EdgeTo(channel_, peer);
  return edge != nullptr && block.data != nullptr &&
         PostedBuffer::IsFor(block.layout, block.data, edge->peer_memory().kernel_copies().writes);
}

}  // namespace brigade
