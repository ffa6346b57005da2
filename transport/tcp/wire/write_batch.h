// WriteBatch: what one write on a connection carries: frames, and the payload of segments from
// where it lies.

#ifndef BRIGADE_TRANSPORT_TCP_WIRE_WRITE_BATCH_H_
#define BRIGADE_TRANSPORT_TCP_WIRE_WRITE_BATCH_H_

#include <sys/uio.h>

#include <cstddef>
#include <vector>

#include "transport/control.h"
#include "transport/rules.h"
#include "transport/tcp/wire/wire.h"

namespace brigade {

class WriteBatch {
 public:
  static constexpr size_t kBytes = rules::kTcpWriteBytes;
  static constexpr size_t kFrames = 64;

  WriteBatch();
  WriteBatch(const WriteBatch&) = delete;
  WriteBatch& operator=(const WriteBatch&) = delete;

  void Clear();
  // The handshake that opens a connection; copied. REQUIRES: the batch is empty.
  void AddHandshake(const std::byte* handshake);
  // REQUIRES: has_room_for_frame().
  void AddFrame(const Frame& frame);
  // With its payload, which is copied. REQUIRES: has_room_for_control().
  void AddControl(const Frame& frame, const std::byte* message);
  // `data` must stay until it is written. Adjacent ranges become one.
  void AddRange(const void* data, size_t bytes);

  bool has_room_for_frame() const { return frames_.size() + kFrameBytes <= kFrames * kFrameBytes; }
  bool has_room_for_control() const {
    return frames_.size() + kFrameBytes + kMostControlBytes <= kFrames * kFrameBytes;
  }
  bool has_room_for_segment() const { return has_room_for_frame() && bytes_ < kBytes; }
  size_t bytes() const { return bytes_; }
  size_t written_bytes() const { return written_bytes_; }
  bool written() const { return written_bytes_ == bytes_; }

  // The unwritten ranges; valid until the next call that changes the batch.
  const iovec* ranges() const { return ranges_.data() + first_range_; }
  size_t range_count() const { return ranges_.size() - first_range_; }

  // The first `bytes` of ranges() have been written.
  void Advance(size_t bytes);
  // Copies the unwritten bytes into the batch, which holds nothing else then. Returns their number.
  size_t KeepRest();

 private:
  std::vector<std::byte> frames_;  // never grows beyond what is reserved
  std::vector<std::byte> rest_;    // by KeepRest
  std::vector<iovec> ranges_;
  size_t first_range_ = 0;  // not yet written
  size_t bytes_ = 0;
  size_t written_bytes_ = 0;
};

}  // namespace brigade

#endif  // BRIGADE_TRANSPORT_TCP_WIRE_WRITE_BATCH_H_
