// Links: the peers of one endpoint: how connections with them come about, and how they end in
// order. Losses finds out which are lost.

#ifndef BRIGADE_TRANSPORT_TCP_LINKS_H_
#define BRIGADE_TRANSPORT_TCP_LINKS_H_

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "membuf/status.h"
#include "transport/host/network_interface.h"
#include "transport/tcp/io/socket_io.h"
#include "transport/tcp/link/connection.h"
#include "transport/tcp/link/link.h"
#include "transport/tcp/listener.h"
#include "transport/tcp/wire/wire.h"

namespace brigade::tcp {

// Callbacks of links to their endpoint.
class LinkOwner : public ConnectionOwner {
 public:
  // A connection was made.
  virtual void OnConnected(Link* link) = 0;
  // The link has just been lost: all pending operations with the peer must end.
  virtual void OnLost(Link* link) = 0;
};

class Links {
 public:
  using Log = std::function<void(const std::string&)>;

  Links(const EndpointId& self, std::chrono::seconds silence, Log log, LinkOwner* owner)
      : self_(self), silence_(silence), log_(std::move(log)), owner_(owner) {}

  // Opens a listener, whose address peers must get, for connections that use `io`. `io` must
  // outlive this object.
  Status Open(SocketIo* io, const SocketAddress& address, const AuthKey& key);
  const SocketAddress& address() const { return listener_->address(); }

  // Returns the link to an endpoint, one per endpoint; makes it if there is none. Null: this
  // endpoint itself.
  Link* Get(const EndpointId& id, const AuthKey& key, const SocketAddress& address);
  const std::map<EndpointId, std::unique_ptr<Link>>& all() const { return links_; }

  // Connects to a peer if there is no connection yet; otherwise no effect.
  void Connect(Link* link);
  // Accepts connections of peers.
  void Admit();
  // Closes connections that were never established, and tries others.
  void ReplaceUnestablished(Link* link);
  // Retries connections that are due.
  void RetryDue();
  bool has_unreached() const { return !unreached_.empty(); }

  // Marks the link as lost: nothing is sent or received any more. No effect on a lost link.
  void Lose(Link* link, const Status& why);

  // Whether a control message has not wholly been given to a peer's connection.
  bool HoldControl() const;

  // Sends a shutdown frame to all peers, and to those that connect later.
  void SendShutdown();
  // Returns a link whose peer's system has not received all data yet; null: there is none.
  const Link* FirstUnfinished() const;
  // Ends pending reads and writes of all connections. A forked child, whose sockets belong to its
  // parent, destroys this object without it.
  void RemoveFromIo();

 private:
  // Opens a connection, or sets the time of the next try.
  void MakeConnection(Link* link);
  // The obstacle to a connection may pass: a disconnected cable, or a limit.
  void RetryLater(Link* link, const Status& why);
  // Takes ownership of the socket.
  Status Attach(Link* link, int socket, std::vector<std::byte> handshake);

  const EndpointId self_;
  const std::chrono::seconds silence_;
  const Log log_;
  LinkOwner* const owner_;
  SocketIo* io_ = nullptr;
  std::unique_ptr<Listener> listener_;
  std::map<EndpointId, std::unique_ptr<Link>> links_;
  std::vector<Link*> unreached_;
  bool leaving_ = false;
};

}  // namespace brigade::tcp

#endif  // BRIGADE_TRANSPORT_TCP_LINKS_H_
