// Sockets of a bootstrap: listening, connecting, and moving bytes until a deadline.

#ifndef BRIGADE_TRANSPORT_BOOTSTRAP_STREAM_SOCKET_H_
#define BRIGADE_TRANSPORT_BOOTSTRAP_STREAM_SOCKET_H_

#include <sys/socket.h>

#include <cstddef>
#include <string>
#include <vector>

#include "membuf/status.h"
#include "transport/bootstrap/run_until.h"

namespace brigade {

// Returns the milliseconds until a deadline, rounded up, as poll takes them; 0: it has passed.
int MillisecondsUntil(Deadline deadline);

// Owns a nonblocking descriptor, which is close-on-exec.
class StreamSocket {
 public:
  StreamSocket() = default;
  explicit StreamSocket(int fd) : fd_(fd) {}
  ~StreamSocket();
  StreamSocket(StreamSocket&& other) noexcept : fd_(other.fd_) { other.fd_ = -1; }
  StreamSocket& operator=(StreamSocket&& other) noexcept;

  int fd() const { return fd_; }  // -1: none

  // Both move all bytes. kTimedOut; kPeerLost: the connection has ended, with the reason.
  Status Send(const void* data, size_t bytes, Deadline deadline) const;
  Status Receive(void* data, size_t bytes, Deadline deadline) const;
  // Receives the bytes that have arrived. *received may be 0. kPeerLost, as above.
  Status ReceiveSome(void* data, size_t bytes, size_t* received) const;

 private:
  int fd_ = -1;
};

// An address as the system has it, IPv6 scopes included.
struct SystemAddress {
  sockaddr_storage address = {};
  socklen_t bytes = 0;

  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&address); }
  std::string ToString() const;
};

// Splits "node1:4000", "10.0.0.1:4000" or "[fd00::1]:4000". kInvalidArgument: it has another form.
Status SplitAddress(const std::string& address, std::string* host, std::string* port);

// Listens at `address`: at this address if the host is a number, and at all loopback addresses for
// "localhost". Listens at all addresses of this host for any other name: on this host it may mean
// another address than elsewhere, such as 127.0.1.1. kUnavailable, naming the system call.
Status ListenAt(const std::string& address, std::vector<StreamSocket>* sockets);

// Finds the addresses of the host. kUnavailable: the name is unknown now. kTimedOut: the resolver
// has not answered.
Status Resolve(const std::string& address, Deadline deadline,
               std::vector<SystemAddress>* addresses);

// Connects. kUnavailable, with the reason; a later attempt may succeed.
Status ConnectTo(const SystemAddress& address, Deadline deadline, StreamSocket* socket);

}  // namespace brigade

#endif  // BRIGADE_TRANSPORT_BOOTSTRAP_STREAM_SOCKET_H_
