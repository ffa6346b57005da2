// FrameReader: parses the incoming stream of a connection.
//
// A pure state machine: it returns where the next bytes should go and is called with the number
// that have come; the caller reads them. The payload of a long segment goes straight to its place;
// frames, and bytes read together with one, pass through a small buffer. The sender of the stream
// is authenticated but may be faulty: the reader writes only to the places of the sink.

#ifndef BRIGADE_TRANSPORT_TCP_WIRE_FRAME_READER_H_
#define BRIGADE_TRANSPORT_TCP_WIRE_FRAME_READER_H_

#include <sys/uio.h>

#include <cstddef>

#include "membuf/byte_span.h"
#include "membuf/status.h"
#include "transport/control.h"
#include "transport/tcp/wire/wire.h"

namespace brigade {

// Callbacks for arrived frames. Any failure that they return ends the stream.
class FrameSink {
 public:
  virtual ~FrameSink() = default;

  // A segment begins. Sets `where`, empty when passed in, to the place of its payload, which must
  // stay until EndSegment or Redirect. Bytes that do not fit are discarded; the sink reports a
  // segment that is too long. Called with EndSegment for a payload of 0 bytes, too.
  virtual Status BeginSegment(const Frame& frame, ByteSpan* where) = 0;
  // The whole payload has come.
  virtual Status EndSegment(const Frame& frame) = 0;
  // A control message has come; `message` is invalid afterwards.
  virtual Status Control(const Frame& frame, ConstByteSpan message) = 0;
  // Any other frame has come.
  virtual Status Notice(const Frame& frame) = 0;
};

// One thread at a time.
class FrameReader {
 public:
  // Segments beyond `max_segment_bytes` are refused. `sink` must outlive the reader.
  FrameReader(FrameSink* sink, size_t max_segment_bytes)
      : sink_(sink), max_segment_bytes_(max_segment_bytes) {}
  FrameReader(const FrameReader&) = delete;
  FrameReader& operator=(const FrameReader&) = delete;

  // Returns the targets of the next bytes of the stream, in this order: the rest of the place of
  // the arriving segment, if any; the reader's buffer. Returns their number.
  int Targets(iovec out[2]);

  // Handles `bytes` bytes that have come at the start of the last result of Targets. Calls the
  // sink, in the order of the stream. kInternal: the stream is broken. After this or a failure of
  // the sink the reader must not be used any more. Cost: copies the bytes in the buffer.
  Status Accept(size_t bytes);

  // Withdraws the place of the arriving segment: the rest of the payload is discarded, and
  // EndSegment is called when it has come, as for a segment without a place. May be called between
  // Targets and Accept, but a read that has begun still writes there. No effect without a segment.
  void Redirect() {
    if (frame_.kind == FrameKind::kSegment) place_ = ByteSpan();
  }

  // Whether an end of the stream would be one in the middle of a frame or its payload.
  bool within_frame() const { return in_payload_ || buffered_bytes_ > 0; }

 private:
  static constexpr size_t kBufferBytes = 4096;

  Status TakeFrame(const std::byte* frame);
  // `bytes` of the payload have come; those that belong to the place are in it.
  Status TakePayload(size_t bytes);

  FrameSink* const sink_;
  const size_t max_segment_bytes_;

  bool ended_ = false;  // by a kShutdown
  bool in_payload_ = false;
  Frame frame_;  // of the payload
  size_t payload_left_bytes_ = 0;
  ByteSpan place_;  // of what is left of it; may be shorter
  std::byte message_[kMostControlBytes];

  // By Targets, until Accept.
  size_t offered_place_bytes_ = 0;
  size_t offered_buffer_bytes_ = 0;

  size_t buffered_bytes_ = 0;  // the start of a frame
  std::byte buffer_[kBufferBytes];
};

}  // namespace brigade

#endif  // BRIGADE_TRANSPORT_TCP_WIRE_FRAME_READER_H_
