// MessageContext: what all parts of one window's messages use.

#ifndef BRIGADE_WINDOWS_MESSAGE_MESSAGE_CONTEXT_H_
#define BRIGADE_WINDOWS_MESSAGE_MESSAGE_CONTEXT_H_

#include <cstddef>
#include <cstdint>

#include "membuf/byte_span.h"
#include "membuf/status.h"
#include "patterns/engine/engine.h"
#include "patterns/engine/group_state.h"
#include "patterns/engine/staged_buffer.h"
#include "transport/endpoint.h"
#include "windows/message/frame_sender.h"
#include "windows/message/mover.h"
#include "windows/message/rma_frame.h"
#include "windows/message/window_space.h"

namespace brigade {

class MessageContext {
 public:
  MessageContext(WindowSpace* space, GroupState* group)
      : space_(space),
        group_(group),
        frames_(engine()->endpoint(), group->id),
        mover_(engine()->processor()) {}

  Engine* engine() const { return space_->engine(); }
  Endpoint* endpoint() const { return engine()->endpoint(); }
  WindowSpace* space() const { return space_; }
  GroupState* group() const { return group_; }
  FrameSender* frames() { return &frames_; }
  bool has_kept_frames() const { return frames_.has_kept(); }
  // Fences of the window that this rank has behind it, modulo 256.
  uint8_t fences() const { return fences_; }
  void EndFence() { ++fences_; }
  // For what does not fit into a frame: that costs what a frame costs.
  const Mover& mover() const { return mover_; }
  Channel channel(ChannelKind kind) const { return Channel{group_->id, kind}; }

  // The longest segment of whole elements.
  int64_t SegmentBytes(Element element) const {
    return WholeElements(static_cast<int64_t>(space_->segment_bytes()), element);
  }
  // As many of so many bytes.
  static int64_t WholeElements(int64_t bytes, Element element) {
    if (element == Element::kMixed) return bytes;
    return bytes - bytes % static_cast<int64_t>(ElementBytes(element));
  }
  // Sends what lies at the beginning of a buffer, and gives that back.
  Status SendSegment(ChannelKind kind, int peer, int64_t bytes, StagedBuffer* buffer) {
    const Status status = engine()->sends()->Post(
        group_, kind, peer, {buffer->memory.data, static_cast<size_t>(bytes)}, buffer);
    engine()->buffers()->Release(buffer);
    return status;
  }
  // Where a segment is to land. The buffer is the slot's if that is OK.
  Status Land(ChannelKind kind, int peer, int64_t bytes, StagedBuffer* buffer, ReceiveSlot* slot) {
    slot->buffer = buffer;  // if this throws, it is given back with the slot
    const Status status = endpoint()->PostReceive(
        channel(kind), peer, {buffer->memory.data, static_cast<size_t>(bytes)}, slot);
    if (!status.ok()) slot->buffer = nullptr;
    return status;
  }

 private:
  WindowSpace* const space_;
  GroupState* const group_;
  FrameSender frames_;
  const Mover mover_;
  uint8_t fences_ = 0;
};

}  // namespace brigade

#endif  // BRIGADE_WINDOWS_MESSAGE_MESSAGE_CONTEXT_H_
