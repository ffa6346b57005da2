#include "transport/tcp/link/outbox.h"

namespace brigade::tcp {
namespace {

Frame FrameOf(const Stream& stream, FrameKind kind) {
  Frame frame;
  frame.kind = kind;
  frame.group = stream.wire_id;
  frame.channel = static_cast<uint8_t>(stream.kind);
  return frame;
}

}  // namespace

void Outbox::AddNotice(FrameKind kind, uint8_t channel, uint32_t group) {
  for (const Frame& notice : notices_) {
    if (notice.kind == kind && notice.channel == channel && notice.group == group) return;
  }
  Frame notice;
  notice.group = group;
  notice.kind = kind;
  notice.channel = channel;
  notices_.push_back(notice);
}

bool Outbox::NextNotice(Frame* notice) {
  if (notices_.empty()) return false;
  *notice = notices_.back();
  notices_.pop_back();
  return true;
}

void Outbox::AddControl(uint32_t group, const ControlMessage& message) {
  controls_.push_back({group, message});
}

bool Outbox::NextControl(Frame* frame, ControlMessage* message) {
  if (controls_.empty()) return false;
  *message = controls_.front().message;
  frame->group = controls_.front().group;
  frame->kind = FrameKind::kControl;
  frame->bytes = static_cast<uint32_t>(message->bytes);
  controls_.pop_front();
  return true;
}

bool Outbox::NextGrant(Frame* grant) {
  while (!grants_.empty()) {
    Stream* const stream = grants_.Pop();
    if (!stream->in.ungranted()) continue;  // a segment took the grant along
    *grant = FrameOf(*stream, FrameKind::kGrant);
    grant->count = stream->in.Grant();
    return true;
  }
  return false;
}

bool Outbox::NextSend(Send* send) {
  if (sends_.empty()) return false;
  send->stream = sends_.Pop();
  send->segment = send->stream->out.Take();
  send->frame = SegmentFrame(*send->stream, send->segment.bytes.bytes);
  (void)send->stream->in.Grant();
  AddSend(send->stream);
  return true;
}

Frame Outbox::SegmentFrame(const Stream& stream, size_t bytes) {
  Frame frame = FrameOf(stream, FrameKind::kSegment);
  frame.bytes = static_cast<uint32_t>(bytes);
  frame.count = stream.in.count();
  return frame;
}

void Outbox::Clear() {
  notices_.clear();
  controls_.clear();
  grants_.Clear();
  sends_.Clear();
}

}  // namespace brigade::tcp
