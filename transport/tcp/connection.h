// Connection: one TCP connection between two endpoints, with what all their streams send on it.
//
// Link: everything this endpoint has with one other endpoint. There is one connection, which both
// use, or two if both opened one at the same time: each end then goes on sending on its own, so the
// order of what it sends is that of one connection.

#ifndef BRIGADE_TRANSPORT_TCP_CONNECTION_H_
#define BRIGADE_TRANSPORT_TCP_CONNECTION_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "membuf/status.h"
#include "transport/core/fifo.h"
#include "transport/endpoint.h"
#include "transport/host/network_interface.h"
#include "transport/tcp/io/socket_io.h"
#include "transport/tcp/wire/credit_streams.h"
#include "transport/tcp/wire/frame_reader.h"
#include "transport/tcp/wire/wire.h"
#include "transport/tcp/wire/write_batch.h"

namespace brigade::tcp {

class Connection;
struct Link;

inline constexpr size_t kMaxPieceBytes = size_t{1} << 30;

// Both directions of one channel of a group with one peer.
struct Stream {
  Link* link = nullptr;  // null: oneself
  uint32_t wire_id = 0;  // of the group
  GroupId group = -1;
  int peer = 0;
  ChannelKind kind = ChannelKind::kPointToPoint;
  SendStream out;
  ReceiveStream in;
  bool closed = false;   // the group is, here; `out` may still have something to send
  bool asked = false;    // the peer was, whether it has closed the group
  bool ready = false;    // in Link::ready
  bool telling = false;  // in Link::telling
  bool untold = false;   // in the endpoint's list of those with receives nobody was told of
  bool dropped = false;  // the log says that what is sent is not received
};

// What a connection asks of the endpoint it belongs to.
class ConnectionOwner {
 public:
  virtual ~ConnectionOwner() = default;
  // The stream that a frame belongs to; null if its group has been closed. kInternal: there never
  // was such a group.
  virtual Status FindStream(Link* link, const Frame& frame, Stream** stream) = 0;
  // The receiver may have granted the stream something to send.
  virtual void OnGrant(Stream* stream) = 0;
  // What is sent on the stream will not be received: its receiver has closed the group.
  virtual void OnDropped(Stream* stream) = 0;
  // A piece that came is complete.
  virtual void OnArrival(Stream* stream, const ReceiveStream::Arrival& arrival) = 0;
  // A piece has left.
  virtual void OnSent(Stream* stream, Completion* completion, const Status& status) = 0;
  // Nothing more will come on a connection of the link.
  virtual void OnBroken(Link* link) = 0;
};

struct Link {
  EndpointId id;
  AuthKey key;
  SocketAddress address;
  std::vector<std::unique_ptr<Connection>> connections;
  Connection* out = nullptr;  // of these: what we send goes there
  // While another is not; the epoch: it is not known to be broken.
  std::chrono::steady_clock::time_point out_broken_since;
  // Since when no connection comes about, and when to try again; the epoch: there is no trouble.
  std::chrono::steady_clock::time_point unreached_since;
  std::chrono::steady_clock::time_point next_try;
  uint32_t opened = 0;         // connections, by us
  std::set<uint32_t> serials;  // of connections opened by the peer
  bool left = false;           // it said goodbye
  Status lost;                 // from then on it cannot be reached

  // To be said about a stream of the group that may be gone here. No two are the same.
  void Notify(FrameKind kind, uint8_t channel, uint32_t group);

  Fifo<Stream*> ready;         // whose first waiting piece may be sent
  Fifo<Stream*> telling;       // whose receives it is to be told of now
  bool told = false;           // of some, since the last Progress: others come together
  std::vector<Frame> notices;  // kClosed: it sends to a group that is closed here; kWaiting
};

class Connection : public IoSocket, private FrameSink {
 public:
  // `hello`: what is sent first; empty for a connection that the peer has opened.
  Connection(int socket, Link* link, std::vector<std::byte> hello, SocketIo* io,
             ConnectionOwner* owner);

  Link* link() const { return link_; }
  bool broken() const { return !failure_.ok(); }
  // Why: kPeerLost if the connection ended, kUnavailable if it never came about but another may,
  // anything else if the peer broke a rule.
  const Status& failure() const { return failure_; }
  // Whether the peer may have heard of it.
  bool spoken() const { return spoken_; }
  // Sends whatever the link has, until the socket takes no more.
  void Pump();
  // Sends a piece of `stream`, `head` and then `body`, ahead of no other piece, straight from where
  // it lies, if the socket takes in at least a part; the rest, `kept_bytes`, is copied, and the
  // piece has left when that has.
  SentNow SendNow(Stream* stream, ConstByteSpan head, const LayoutRange& body,
                  Completion* completion, size_t* kept_bytes);
  // Says goodbye behind all else; nothing is sent after it.
  void Leave() { leaving_ = true; }
  // Whether everything has been given to the kernel.
  bool idle() const { return !writing_ && parts_.empty() && hello_.empty() && !leaving_; }
  // The stream goes: nothing is written for it any more, even if a piece of it is coming in here.
  void Forget(Stream* stream);
  // Ends every piece that was on its way. REQUIRES: broken, and removed from the SocketIo.
  void FailParts(const Status& why);

  int ReadTargets(iovec targets[2]) override { return reader_.Targets(targets); }
  void OnRead(ssize_t result) override;
  void OnWritten(ssize_t result) override;

 private:
  // A piece of the batch, which has left when so many bytes of the batch have.
  struct Part {
    Stream* stream;
    Completion* completion;
    size_t end;
  };

  Status BeginPiece(const Frame& frame, ByteSpan* where) override;
  Status EndPiece(const Frame& frame) override;
  Status Control(const Frame& frame) override;

  // Puts together what is sent next; false if there is nothing.
  bool FillBatch();
  void AddNoticesAndGrants();
  void AddPieces();
  void AddLayout(const LayoutRange& range);
  // True if the connection can go on.
  bool Advance(ssize_t written);
  void Break(const Status& why);
  Status Ended(int error) const;

  Link* const link_;
  SocketIo* const io_;
  ConnectionOwner* const owner_;
  FrameReader reader_;
  Stream* coming_ = nullptr;  // the stream of the piece that is coming in

  std::vector<std::byte> hello_;
  WriteBatch batch_;
  Fifo<Part> parts_;
  bool spoken_;              // something has been written, or the peer opened the connection
  bool read_ended_ = false;  // before anything was written
  bool writing_ = false;
  bool leaving_ = false;  // goodbye is still to be said
  bool left_ = false;     // it has been
  Status write_failure_;  // then nothing is sent any more, but what has come is still read
  Status failure_;
};

}  // namespace brigade::tcp

#endif  // BRIGADE_TRANSPORT_TCP_CONNECTION_H_
