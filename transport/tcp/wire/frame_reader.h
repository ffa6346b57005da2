// FrameReader: takes the incoming stream of a connection apart.
//
// A pure state machine: it says where the next bytes should go and is told how many have come,
// whatever reads them. The payload of a long piece goes straight to its place; frames, and what is
// read together with one, pass through a small buffer. Whoever wrote the stream is trusted to be of
// this job and not to be free of bugs: nothing in it makes the reader write anywhere but where the
// sink said.

#ifndef BRIGADE_TRANSPORT_TCP_WIRE_FRAME_READER_H_
#define BRIGADE_TRANSPORT_TCP_WIRE_FRAME_READER_H_

#include <sys/uio.h>

#include <cstddef>

#include "membuf/byte_span.h"
#include "membuf/status.h"
#include "transport/control.h"
#include "transport/tcp/wire/wire.h"

namespace brigade {

// Who is told what has come. Any failure it returns ends the stream.
class FrameSink {
 public:
  virtual ~FrameSink() = default;

  // A piece begins. `where`, empty when passed in, is to say where its payload goes; it is lent
  // until EndPiece or Redirect. What does not fit there is thrown away; a piece that is too long is
  // the sink's to report. Comes with EndPiece for a payload of 0 bytes, too.
  virtual Status BeginPiece(const Frame& frame, ByteSpan* where) = 0;
  // All of the payload has come.
  virtual Status EndPiece(const Frame& frame) = 0;
  // A control message has come; `message` is gone afterwards.
  virtual Status Control(const Frame& frame, ConstByteSpan message) = 0;
  // Anything else.
  virtual Status Notice(const Frame& frame) = 0;
};

// One thread at a time.
class FrameReader {
 public:
  // Pieces beyond `max_piece_bytes` are refused. `sink` must outlive the reader.
  FrameReader(FrameSink* sink, size_t max_piece_bytes)
      : sink_(sink), max_piece_bytes_(max_piece_bytes) {}
  FrameReader(const FrameReader&) = delete;
  FrameReader& operator=(const FrameReader&) = delete;

  // Where the next bytes of the stream go, in this order: the rest of the place of the piece under
  // way, if there is any; the reader's buffer. Returns how many of the two there are.
  int Targets(iovec out[2]);

  // `bytes` bytes have come and lie in what Targets returned last, from its start. Calls the sink,
  // in the order of the stream. kInternal: the stream is broken; that, and what the sink returns,
  // leaves a reader that must not be used any more. Cost: copies what lies in the buffer.
  Status Accept(size_t bytes);

  // The place of the piece under way is wanted back: the rest of the payload is thrown away, and
  // EndPiece is called when it has come, as for a piece that had no place at all. Between Targets
  // and Accept, too; but a read that has begun still writes there. No effect without a piece.
  void Redirect() {
    if (frame_.kind == FrameKind::kPiece) place_ = ByteSpan();
  }

  // Whether an end of the stream would be one in the middle of a frame or its payload.
  bool within_frame() const { return in_payload_ || buffered_bytes_ > 0; }

 private:
  static constexpr size_t kBufferBytes = 4096;

  Status TakeFrame(const std::byte* frame);
  // `bytes` of the payload have come; those that belong to the place are in it.
  Status TakePayload(size_t bytes);

  FrameSink* const sink_;
  const size_t max_piece_bytes_;

  bool ended_ = false;  // by a kBye
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
