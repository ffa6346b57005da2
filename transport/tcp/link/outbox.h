// Outbox: what is to be sent to one peer next, over whichever connection: notices about groups,
// then control messages, then grants, then pieces of all streams in turns.

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
  // A frame about a stream of a group that may be gone here; the same one waits only once.
  void AddNotice(FrameKind kind, uint8_t channel, uint32_t group);
  // A control message of the group.
  void AddControl(uint32_t group, const ControlMessage& message);
  // That wait to be sent.
  size_t controls() const { return controls_.size(); }
  // The stream's receives are granted with the next frames.
  void AddGrant(Stream* stream) { grants_.Push(stream); }
  void RemoveGrant(Stream* stream) { grants_.Remove(stream); }
  // Its first waiting piece is sent if its receiver has a place for it; no effect if not.
  void AddSend(Stream* stream) {
    if (stream->out.MayTake()) sends_.Push(stream);
  }

  bool has_grants() const { return !grants_.empty(); }
  bool has_sends() const { return !sends_.empty(); }

  // The next of its kind. False if there is none.
  bool NextNotice(Frame* notice);
  bool NextControl(Frame* frame, ControlMessage* message);
  bool NextGrant(Frame* grant);
  struct Send {
    Stream* stream = nullptr;
    Frame frame;
    SendStream::Piece piece;
  };
  bool NextSend(Send* send);

  // The frame of a piece of so many bytes.
  static Frame PieceFrame(const Stream& stream, size_t bytes);

  // The peer is lost.
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
