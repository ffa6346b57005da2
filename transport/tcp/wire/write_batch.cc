#include "transport/tcp/wire/write_batch.h"

#include "membuf/check.h"

namespace brigade {

static_assert(kHandshakeBytes <= WriteBatch::kFrames * kFrameBytes, "both fit");

WriteBatch::WriteBatch() { frames_.reserve(kFrames * kFrameBytes); }

void WriteBatch::Clear() {
  frames_.clear();
  ranges_.clear();
  first_range_ = bytes_ = written_bytes_ = 0;
}

void WriteBatch::AddHandshake(const std::byte* handshake) {
  BRIGADE_CHECK_EQ(bytes_, size_t{0});
  frames_.assign(handshake, handshake + kHandshakeBytes);
  AddRange(frames_.data(), kHandshakeBytes);
}

void WriteBatch::AddFrame(const Frame& frame) {
  BRIGADE_CHECK(has_room_for_frame());
  const size_t at = frames_.size();
  frames_.resize(at + kFrameBytes);
  WriteFrame(frame, frames_.data() + at);
  AddRange(frames_.data() + at, kFrameBytes);
}

void WriteBatch::AddControl(const Frame& frame, const std::byte* message) {
  BRIGADE_CHECK(has_room_for_control());
  AddFrame(frame);
  const size_t at = frames_.size();
  frames_.insert(frames_.end(), message, message + frame.bytes);
  AddRange(frames_.data() + at, frame.bytes);
}

void WriteBatch::AddRange(const void* data, size_t bytes) {
  if (bytes == 0) return;
  bytes_ += bytes;
  if (!ranges_.empty() &&
      static_cast<std::byte*>(ranges_.back().iov_base) + ranges_.back().iov_len == data) {
    ranges_.back().iov_len += bytes;
    return;
  }
  ranges_.push_back({const_cast<void*>(data), bytes});
}

void WriteBatch::Advance(size_t bytes) {
  BRIGADE_CHECK_LE(bytes, bytes_ - written_bytes_);
  written_bytes_ += bytes;
  while (bytes > 0) {
    iovec& range = ranges_[first_range_];
    if (bytes < range.iov_len) {
      range.iov_base = static_cast<std::byte*>(range.iov_base) + bytes;
      range.iov_len -= bytes;
      return;
    }
    bytes -= range.iov_len;
    ++first_range_;
  }
}

size_t WriteBatch::KeepRest() {
  rest_.clear();
  for (; first_range_ < ranges_.size(); ++first_range_) {
    const auto* const data = static_cast<const std::byte*>(ranges_[first_range_].iov_base);
    rest_.insert(rest_.end(), data, data + ranges_[first_range_].iov_len);
  }
  BRIGADE_CHECK_EQ(rest_.size(), bytes_ - written_bytes_);
  Clear();
  AddRange(rest_.data(), rest_.size());
  return rest_.size();
}

}  // namespace brigade
