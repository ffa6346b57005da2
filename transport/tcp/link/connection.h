// Connection: one TCP connection with a peer. It sends what the peer's Outbox holds, and gives what
// comes to the streams.

#ifndef BRIGADE_TRANSPORT_TCP_LINK_CONNECTION_H_
#define BRIGADE_TRANSPORT_TCP_LINK_CONNECTION_H_

#include <cstddef>
#include <vector>

#include "membuf/status.h"
#include "transport/core/fifo.h"
#include "transport/endpoint.h"
#include "transport/tcp/io/socket_io.h"
#include "transport/tcp/link/outbox.h"
#include "transport/tcp/link/stream.h"
#include "transport/tcp/wire/credit_streams.h"
#include "transport/tcp/wire/frame_reader.h"
#include "transport/tcp/wire/wire.h"
#include "transport/tcp/wire/write_batch.h"

namespace brigade::tcp {

class Link;

inline constexpr size_t kMaxSegmentBytes = size_t{1} << 30;

// Callbacks of a connection to its endpoint.
class ConnectionOwner {
 public:
  virtual ~ConnectionOwner() = default;
  // Finds the stream of a frame; null if its group has been closed. kInternal: there never was such
  // a group.
  virtual Status FindStream(Link* link, const Frame& frame, Stream** stream) = 0;
  // The receiver of the stream has closed the group: messages on it will not be received.
  virtual void OnDropped(Stream* stream) = 0;
  // A segment that came is complete.
  virtual void OnArrival(Stream* stream, const ReceiveStream::Arrival& arrival) = 0;
  // A segment has left.
  virtual void OnSent(Stream* stream, Completion* completion, const Status& status) = 0;
  // A control message has come.
  virtual Status OnControl(Link* link, const Frame& frame, ConstByteSpan message) = 0;
  // Frames have come; segments that they granted may be sent.
  virtual void OnFrames(Link* link) = 0;
  // The peer's shutdown frame has come.
  virtual void OnShutdown(Link* link) = 0;
  // Nothing more will come on a connection of the link.
  virtual void OnBroken(Link* link) = 0;
};

class Connection : public IoSocket, private FrameSink {
 public:
  // `handshake`: the handshake that is sent first; empty for a connection that the peer has opened.
  Connection(int socket, Link* link, Outbox* outbox, std::vector<std::byte> handshake, SocketIo* io,
             ConnectionOwner* owner);

  bool broken() const { return !failure_.ok(); }
  // The reason: kPeerLost if the connection ended, kUnavailable if it was never established but
  // another may be, any other code if the peer violated the protocol.
  const Status& failure() const { return failure_; }
  // Whether the peer may know of the connection.
  bool established() const { return established_; }
  // Sends the contents of the outbox, until the socket is full.
  void Pump();
  // Sends a segment of `stream`, `head` and then `body`, straight from user memory, if no other
  // segment waits and the socket takes at least a part. The rest, `kept_bytes`, is copied; the
  // segment has left when the rest has.
  SentNow SendNow(Stream* stream, ConstByteSpan head, const LayoutRange& body,
                  Completion* completion, size_t* kept_bytes);
  // Sends a shutdown frame after all other data; nothing is sent after it.
  void SendShutdown() {
    if (shutdown_ == Shutdown::kNone) shutdown_ = Shutdown::kDue;
  }
  // Whether everything has been given to the kernel.
  bool idle() const {
    return !writing_ && unsent_.empty() && handshake_.empty() && shutdown_ != Shutdown::kDue;
  }
  // The group of the stream is closed: nothing is written to its receive buffers any more, even if
  // a segment is arriving.
  void Detach(Stream* stream);
  // Completes every pending segment with `why`. REQUIRES: removed from the SocketIo.
  void FailUnsent(const Status& why);

  int ReadTargets(iovec targets[2]) override { return reader_.Targets(targets); }
  void OnRead(ssize_t result) override;
  void OnWritten(ssize_t result) override;

 private:
  // A segment of the batch, which has left when `end` bytes of the batch have.
  struct Unsent {
    Stream* stream;
    Completion* completion;
    size_t end;
  };
  enum class Shutdown { kNone, kDue, kSent };

  Status BeginSegment(const Frame& frame, ByteSpan* where) override;
  Status EndSegment(const Frame& frame) override;
  Status Control(const Frame& frame, ConstByteSpan message) override;
  Status Notice(const Frame& frame) override;

  // Fills the batch with the next frames; false if there are none.
  bool FillBatch();
  void AddNoticesControlsAndGrants();
  void AddSegments();
  void AddLayout(const LayoutRange& range);
  // True if the connection can go on.
  bool Advance(ssize_t written);
  void Break(const Status& why);
  // Returns the failure of a connection that the system ended.
  Status EndedBy(int error) const;

  Link* const link_;
  Outbox* const outbox_;
  SocketIo* const io_;
  ConnectionOwner* const owner_;
  FrameReader reader_;
  Stream* coming_ = nullptr;  // the stream of the segment that is coming in

  std::vector<std::byte> handshake_;
  WriteBatch batch_;
  Fifo<Unsent> unsent_;
  bool established_;         // something has been written, or the peer opened the connection
  bool read_ended_ = false;  // before anything was written
  bool writing_ = false;
  Shutdown shutdown_ = Shutdown::kNone;
  Status write_failure_;  // then nothing is sent any more, but what has come is still read
  Status failure_;
};

}  // namespace brigade::tcp

#endif  // BRIGADE_TRANSPORT_TCP_LINK_CONNECTION_H_
