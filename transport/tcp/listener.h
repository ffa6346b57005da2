// Listener: accepts connections of peers to an endpoint, and refuses strangers.
//
// A new connection must send a whole handshake (wire.h) before anything else is read. A peer's
// handshake comes with its first packet, so the kernel holds a connection back until
// data have come on it: most peers are admitted or refused at once. Connections with an incomplete
// handshake are unauthenticated. Peers hardly ever are, so the number of unauthenticated
// connections is small, and the oldest is closed if there are too many: a stranger that opens many
// connections displaces its own.

#ifndef BRIGADE_TRANSPORT_TCP_LISTENER_H_
#define BRIGADE_TRANSPORT_TCP_LISTENER_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "membuf/status.h"
#include "transport/host/network_interface.h"
#include "transport/tcp/wire/wire.h"

namespace brigade {

struct ListenerLimits {
  // Time limit for the handshake of a connection. A peer's may be as late if a cable was out when
  // it was sent.
  std::chrono::milliseconds handshake_time = std::chrono::seconds(150);
  size_t max_unauthenticated = 64;  // connections
};

// One thread at a time.
class Listener {
 public:
  // Takes a line for the user, without a line break.
  using Log = std::function<void(const std::string&)>;
  // Called after a valid handshake; returns whether to admit the peer. If true, the callee owns
  // `socket`; it is nonblocking and close-on-exec, and nothing after the handshake has been read.
  // `serial` as in WriteHandshake.
  using Admit = std::function<bool(int socket, const EndpointId& from, uint32_t serial)>;

  // Numbers of connections, except the last.
  struct Counters {
    uint64_t admitted = 0;
    uint64_t refused = 0;   // handshake not valid
    uint64_t unwanted = 0;  // by `admit`
    uint64_t silent = 0;    // handshake not complete in time
    uint64_t crowded = 0;   // closed as the oldest unauthenticated one when there were too many
    uint64_t starved = 0;   // times that accept failed for lack of descriptors or memory
  };

  // Listens on `address`, at a port of the system's choice if its port is 0. `id` and `key` belong
  // to the endpoint. `log` is called, with the address of the other side, for the first, tenth,
  // hundredth, ... refused connection of each kind. kUnavailable: the system refuses.
  static Status Create(const SocketAddress& address, const EndpointId& id, const AuthKey& key,
                       Log log, std::unique_ptr<Listener>* listener,
                       const ListenerLimits& limits = ListenerLimits());
  ~Listener();
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  // With the port.
  const SocketAddress& address() const { return address_; }
  // Readable, for poll and its like, when Progress has something to do.
  int fd() const { return epoll_; }
  const Counters& counters() const { return counters_; }

  // Accepts and reads what has come; never waits. True if anything happened. Cost: one system call
  // if not.
  bool Progress(const Admit& admit);

 private:
  using Clock = std::chrono::steady_clock;

  struct Unauthenticated {
    int socket = -1;
    SocketAddress address;
    Clock::time_point deadline;
    size_t handshake_bytes = 0;
    std::byte handshake[kHandshakeBytes];
  };
  using UnauthenticatedByName = std::map<uint64_t, Unauthenticated>;  // the oldest first

  Listener(const EndpointId& id, const AuthKey& key, Log log, const ListenerLimits& limits)
      : id_(id), key_(key), log_(std::move(log)), limits_(limits) {}
  Status Open(const SocketAddress& address);
  // epoll_ctl; false if it fails.
  bool Watch(int operation, int descriptor, uint64_t name, uint32_t events);

  void AcceptAll(const Admit& admit);
  // Reads what is there of the handshake. kNoResource: some is still to come. kMismatch: none will.
  Status ReadHandshakeOf(Unauthenticated* connection);
  // Admits or refuses a connection, by the result `handshake_read` of ReadHandshakeOf.
  void AdmitOrRefuse(const Unauthenticated& connection, const Status& handshake_read,
                     const Admit& admit);
  // Closes the oldest unauthenticated connection, unless the rest of its handshake has come.
  void EvictOldest(uint64_t* counter, const std::string& why, const Admit& admit);
  void Forget(UnauthenticatedByName::iterator connection);
  // Closes a connection that is not in unauthenticated_, or not any more.
  void Drop(const Unauthenticated& connection, uint64_t* counter, const std::string& why);
  void Count(uint64_t* counter, const std::string& what);
  void SetTimer();

  const EndpointId id_;
  const AuthKey key_;
  const Log log_;
  const ListenerLimits limits_;
  SocketAddress address_;
  Counters counters_;

  int epoll_ = -1;   // watches the others
  int socket_ = -1;  // the listening one
  int timer_ = -1;   // for the oldest unauthenticated connection's deadline, and for trying again
  UnauthenticatedByName unauthenticated_;  // by the name that epoll_ knows them by
  uint64_t next_name_ = 0;
  bool resting_ = false;  // nothing is accepted until rest_end_
  Clock::time_point rest_end_;
};

}  // namespace brigade

#endif  // BRIGADE_TRANSPORT_TCP_LISTENER_H_
