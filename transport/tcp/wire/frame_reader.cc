#include "transport/tcp/wire/frame_reader.h"

#include <algorithm>
#include <cstring>

#include "membuf/check.h"

namespace brigade {

int FrameReader::Targets(iovec out[2]) {
  int used = 0;
  if (place_.bytes > 0) out[used++] = {place_.data, place_.bytes};
  out[used++] = {buffer_ + buffered_bytes_, kBufferBytes - buffered_bytes_};
  offered_place_bytes_ = place_.bytes;
  offered_buffer_bytes_ = kBufferBytes - buffered_bytes_;
  return used;
}

Status FrameReader::Accept(size_t bytes) {
  BRIGADE_CHECK_LE(bytes, offered_place_bytes_ + offered_buffer_bytes_);
  const size_t placed_bytes = std::min(bytes, offered_place_bytes_);
  offered_place_bytes_ = 0;
  offered_buffer_bytes_ = 0;
  if (placed_bytes > 0) BRIGADE_RETURN_IF_ERROR(TakePayload(placed_bytes));

  const std::byte* next = buffer_;
  const std::byte* const end = buffer_ + buffered_bytes_ + (bytes - placed_bytes);
  while (next < end) {
    const auto left = static_cast<size_t>(end - next);
    if (ended_) return Status(StatusCode::kInternal, "the stream goes on after its last frame");
    if (in_payload_) {
      const size_t payload_bytes = std::min(left, payload_left_bytes_);
      if (place_.bytes > 0) std::memcpy(place_.data, next, std::min(payload_bytes, place_.bytes));
      BRIGADE_RETURN_IF_ERROR(TakePayload(payload_bytes));
      next += payload_bytes;
    } else if (left >= kFrameBytes) {
      BRIGADE_RETURN_IF_ERROR(TakeFrame(next));
      next += kFrameBytes;
    } else {
      break;
    }
  }
  buffered_bytes_ = static_cast<size_t>(end - next);
  std::memmove(buffer_, next, buffered_bytes_);
  return Status();
}

Status FrameReader::TakeFrame(const std::byte* bytes) {
  Frame frame;
  BRIGADE_RETURN_IF_ERROR(ReadFrame(bytes, max_segment_bytes_, &frame));
  if (frame.kind != FrameKind::kSegment && frame.kind != FrameKind::kControl) {
    ended_ = frame.kind == FrameKind::kShutdown;
    return sink_->Notice(frame);
  }
  ByteSpan place;
  if (frame.kind == FrameKind::kSegment) {
    BRIGADE_RETURN_IF_ERROR(sink_->BeginSegment(frame, &place));
  } else {
    place = {message_, frame.bytes};
  }
  frame_ = frame;
  in_payload_ = true;
  payload_left_bytes_ = frame.bytes;
  place_ = {place.data, std::min(place.bytes, payload_left_bytes_)};
  return TakePayload(0);
}

Status FrameReader::TakePayload(size_t bytes) {
  const size_t placed_bytes = std::min(bytes, place_.bytes);
  place_ = {place_.data + placed_bytes, place_.bytes - placed_bytes};
  payload_left_bytes_ -= bytes;
  if (payload_left_bytes_ > 0) return Status();
  in_payload_ = false;
  if (frame_.kind == FrameKind::kSegment) return sink_->EndSegment(frame_);
  return sink_->Control(frame_, {message_, frame_.bytes});
}

}  // namespace brigade
