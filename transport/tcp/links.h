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

// What links ask of the endpoint they belong to.
class LinkOwner : public ConnectionOwner {
 public:
  // A connection is there.
  virtual void OnConnected(Link* link) = 0;
  // The link has just been lost: everything under way with the peer is to end.
  virtual void OnLost(Link* link) = 0;
};

class Links {
 public:
  using Log = std::function<void(const std::string&)>;

  Links(const EndpointId& self, std::chrono::seconds silence, Log log, LinkOwner* owner)
      : self_(self), silence_(silence), log_(std::move(log)), owner_(owner) {}

  // Opens what it takes to have peers: connections of `io`, and a listener, whose address peers are
  // to be told. `io` must outlive this object.
  Status Open(SocketIo* io, const SocketAddress& address, const AuthKey& key);
  const SocketAddress& address() const { return listener_->address(); }

  // The same for the same endpoint; made if there is none. Null: this endpoint itself.
  Link* Get(const EndpointId& id, const AuthKey& key, const SocketAddress& address);
  const std::map<EndpointId, std::unique_ptr<Link>>& all() const { return links_; }

  // Connects with a peer that nobody has connected with yet; no effect on others.
  void Connect(Link* link);
  // Takes in connections of peers.
  void Admit();
  // Gives up connections that never came about, and tries others.
  void ReplaceUnestablished(Link* link);
  // Tries again where that is due.
  void RetryDue();
  bool has_unreached() const { return !unreached_.empty(); }

  // Nothing can be sent to the peer any more, and nothing comes. No effect on a link that is lost.
  void Lose(Link* link, const Status& why);

  // Whether a control message is not yet all in a peer's connection.
  bool HoldControl() const;

  // Says goodbye to all peers, and to those that connect from here on.
  void SayGoodbye();
  // One whose system does not have everything yet that was sent to it; null: there is none.
  const Link* FirstUnfinished() const;
  // Nothing is under way on any connection afterwards. A forked child, whose sockets are its
  // parent's, destroys this object without.
  void RemoveFromIo();

 private:
  // Opens a connection, or says when to try again.
  void MakeConnection(Link* link);
  // What keeps a connection from coming about may pass: a cable that is out, or a limit.
  void RetryLater(Link* link, const Status& why);
  // Takes the socket.
  Status Attach(Link* link, int socket, std::vector<std::byte> hello);

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
