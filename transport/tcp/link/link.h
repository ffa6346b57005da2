// Link: everything this endpoint has with one other endpoint. There is one connection, which both
// use, or two if both opened one at the same time: each end then goes on sending on its own, so the
// order of what it sends is that of one connection.

#ifndef BRIGADE_TRANSPORT_TCP_LINK_LINK_H_
#define BRIGADE_TRANSPORT_TCP_LINK_LINK_H_

#include <chrono>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "membuf/status.h"
#include "transport/host/network_interface.h"
#include "transport/tcp/io/socket_io.h"
#include "transport/tcp/link/connection.h"
#include "transport/tcp/link/outbox.h"
#include "transport/tcp/wire/wire.h"

namespace brigade::tcp {

// More than 25 public methods: half of them read a property of the peer or of the state.
class Link {
 public:
  using Time = std::chrono::steady_clock::time_point;

  enum class State {
    kIdle,        // neither side has connected yet
    kOpen,        // there is a connection to send on, which may still be in progress
    kUnreached,   // no connection can be made; retried
    kHalfBroken,  // the connection to send on has ended, another is alive
    kLost,        // for good
  };

  Link(const EndpointId& id, const AuthKey& key, const SocketAddress& address)
      : id_(id), key_(key), address_(address) {}
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  const EndpointId& id() const { return id_; }
  const AuthKey& key() const { return key_; }
  const SocketAddress& address() const { return address_; }
  State state() const { return state_; }
  bool lost() const { return state_ == State::kLost; }
  const Status& why_lost() const { return why_lost_; }
  // Returns why_lost() with the name of the peer, as rank `rank` of a group.
  Status LostAs(int rank) const { return why_lost_.WithContext("tcp: " + NameAs(rank)); }
  std::string NameAs(int rank) const;

  Outbox* outbox() { return &outbox_; }
  // Whether control messages wait to be sent, or may be behind data on their way.
  bool holds_control() const {
    return outbox_.controls() > 0 || (out_ != nullptr && !out_->idle());
  }
  // The connection to send on. Null unless kOpen or kHalfBroken, or kUnreached during a try.
  Connection* out() const { return out_; }
  const std::vector<std::unique_ptr<Connection>>& connections() const { return connections_; }
  void Pump() {
    if (out_ != nullptr) out_->Pump();
  }

  // Returns the number of connections that this rank has opened before.
  uint32_t NextSerial() { return opened_++; }
  // Returns whether a connection that the peer has opened is new; false if its handshake came
  // before.
  bool IsNewSerial(uint32_t serial) { return serials_.insert(serial).second; }

  // Adds a connection. It is used for sending if there is no other.
  void Add(std::unique_ptr<Connection> connection);
  // Destroys connections that were never established. Returns true, with *why, if out() was one of
  // them: nothing was sent on it, so any other replaces it; null if there is none.
  bool RemoveUnestablished(SocketIo* io, Status* why);
  // Returns why a connection is broken; OK if none is. Violations of the protocol take precedence
  // over ended connections.
  Status WhyBroken() const;
  bool HasLiveConnection() const;

  // --- transitions, besides Add; illegal ones are CHECKed ---

  // No connection could be made. REQUIRES: out() is null.
  void BecomeUnreached(Time now);
  // A connection was made. REQUIRES: out() is established.
  void BecomeReached();
  // REQUIRES: out() is broken.
  void BecomeHalfBroken(Time now);
  // Nothing is sent or received any more.
  void BecomeLost(const Status& why, SocketIo* io);
  // Completes pending segments. REQUIRES: lost().
  void DestroyConnections();

  // In kUnreached: since when, and when to try again.
  Time unreached_since() const { return since_; }
  Time next_try() const { return next_try_; }
  void set_next_try(Time time) { next_try_ = time; }
  // In kHalfBroken: since when.
  Time half_broken_since() const { return since_; }

  bool shutdown_received() const { return shutdown_received_; }
  void OnShutdown() { shutdown_received_ = true; }

  // Stands in the queue of Grants.
  bool granted = false;

 private:
  void Become(State next);

  const EndpointId id_;
  const AuthKey key_;
  const SocketAddress address_;
  Outbox outbox_;
  std::vector<std::unique_ptr<Connection>> connections_;
  Connection* out_ = nullptr;  // one of connections_

  State state_ = State::kIdle;
  Time since_;
  Time next_try_;
  Status why_lost_;

  uint32_t opened_ = 0;
  std::set<uint32_t> serials_;
  bool shutdown_received_ = false;
};

}  // namespace brigade::tcp

#endif  // BRIGADE_TRANSPORT_TCP_LINK_LINK_H_
