// Outbox: the frames to send to one peer, over any connection: notices about groups, then control
// messages, then grants, then segments of all streams in turns.

#ifndef BRIGADE_TRANSPORT_TCP_LINK_OUTBOX_H_
#define BRIGADE_TRANSPORT_TCP_LINK_OUTBOX_H_

#include <cstdint>
#include <vector>

#include "transport/core/control_queue.h"
#include "transport/core/fifo.h"
#include "transport/tcp/link/stream.h"
#include "transport/tcp/link/unique_queue.h"
#include "transport/tcp/wire/credit_streams.h"
#include "transport/tcp/wire/wire.h"

namespace brigade::tcp {

class Outbox {
 public:
  // Adds a notice about a stream of a group that may be gone here; equal notices wait only once.
  void AddNotice(FrameKind kind, uint8_t channel, uint32_t group);
  // Adds a control message of the group.
  void AddControl(uint32_t group, const ControlMessage& message);
  // Returns the number of waiting control messages.
  size_t controls() const { return controls_.size(); }
  // Adds a grant of the stream's receives to the next frames.
  void AddGrant(Stream* stream) { grants_.Push(stream); }
  void RemoveGrant(Stream* stream) { grants_.Remove(stream); }
  // Adds the stream's first waiting segment if its receiver has room for it; otherwise no effect.
  void AddSend(Stream* stream) {
    if (stream->out.MayTake()) sends_.Push(stream);
  }

  bool has_grants() const { return !grants_.empty(); }
  bool has_sends() const { return !sends_.empty(); }

  // Returns the next frame of its kind. False if there is none.
  bool NextNotice(Frame* notice);
  bool NextControl(Frame* frame, ControlMessage* message);
  bool NextGrant(Frame* grant);
  struct Send {
    Stream* stream = nullptr;
    Frame frame;
    SendStream::Segment segment;
  };
  bool NextSend(Send* send);

  // Returns the frame of a segment of `bytes`.
  static Frame SegmentFrame(const Stream& stream, size_t bytes);

  // Drops all frames: the peer is lost.
  void Clear();

 private:
  std::vector<Frame> notices_;  // no two are the same
  struct Control {
    uint32_t group;
    ControlMessage message;
  };
  Fifo<Control> controls_;
  UniqueQueue<Stream, &Stream::queued_to_grant> grants_;
  UniqueQueue<Stream, &Stream::queued_to_send> sends_;
};

}  // namespace brigade::tcp

#endif  // BRIGADE_TRANSPORT_TCP_LINK_OUTBOX_H_
