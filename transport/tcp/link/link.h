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

class Link {
 public:
  using Time = std::chrono::steady_clock::time_point;

  enum class State {
    kIdle,        // nobody has connected yet
    kOpen,        // there is a connection to send on, though it may still be made
    kUnreached,   // no connection comes about; it is tried again and again
    kHalfBroken,  // the connection to send on has ended, and another has not
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
  // The same, with who it is, as rank `rank` of a group.
  Status LostAs(int rank) const { return why_lost_.WithContext("tcp: " + NameAs(rank)); }
  std::string NameAs(int rank) const;

  Outbox* outbox() { return &outbox_; }
  // Whether control messages wait to be sent, or anything is on its way behind which they may be.
  bool holds_control() const {
    return outbox_.controls() > 0 || (out_ != nullptr && !out_->idle());
  }
  // What is sent goes there. Null unless kOpen or kHalfBroken; or kUnreached, while one is tried.
  Connection* out() const { return out_; }
  const std::vector<std::unique_ptr<Connection>>& connections() const { return connections_; }
  void Pump() {
    if (out_ != nullptr) out_->Pump();
  }

  // How many connections this rank has opened before.
  uint32_t NextSerial() { return opened_++; }
  // Whether a connection that the peer has opened is new; false if its hello came before.
  bool IsNewSerial(uint32_t serial) { return serials_.insert(serial).second; }

  // A connection that `io` drives. It is sent on if there is no other.
  void Add(std::unique_ptr<Connection> connection);
  // Destroys what never became a connection. True if out() was one of those, with *why: nothing was
  // sent on it, so any other takes its place; null if there is none.
  bool RemoveUnestablished(SocketIo* io, Status* why);
  // Why a connection is broken; OK if none is. Whoever breaks a rule is named before who has gone.
  Status WhyBroken() const;
  bool HasLiveConnection() const;

  // Transitions; others than these, and Add, there are none. Illegal ones are CHECKed.
  // No connection has come about. REQUIRES: out() is null.
  void BecomeUnreached(Time now);
  // One has. REQUIRES: out() is established.
  void BecomeReached();
  // REQUIRES: out() is broken.
  void BecomeHalfBroken(Time now);
  // Nothing is sent any more, and nothing comes.
  void BecomeLost(const Status& why, SocketIo* io);
  // Ends what was on its way. REQUIRES: lost().
  void DestroyConnections();

  // In kUnreached: since when, and when to try again.
  Time unreached_since() const { return since_; }
  Time next_try() const { return next_try_; }
  void set_next_try(Time time) { next_try_ = time; }
  // In kHalfBroken: since when.
  Time half_broken_since() const { return since_; }

  bool said_goodbye() const { return said_goodbye_; }
  void OnGoodbye() { said_goodbye_ = true; }

  // Stands in the queue of Grants.
  bool granted = false;

 private:
  void Become(State next);

  const EndpointId id_;
  const AuthKey key_;
  const SocketAddress address_;
  Outbox outbox_;
  std::vector<std::unique_ptr<Connection>> connections_;
  Connection* out_ = nullptr;  // of these

  State state_ = State::kIdle;
  Time since_;
  Time next_try_;
  Status why_lost_;

  uint32_t opened_ = 0;
  std::set<uint32_t> serials_;
  bool said_goodbye_ = false;
};

}  // namespace brigade::tcp

#endif  // BRIGADE_TRANSPORT_TCP_LINK_LINK_H_
