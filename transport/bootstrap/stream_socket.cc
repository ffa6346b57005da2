#include "transport/bootstrap/stream_socket.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <utility>

#include "transport/bootstrap/run_until.h"
#include "transport/host/network_interface.h"

namespace brigade {
namespace {

Status Unavailable(const std::string& what) { return Status(StatusCode::kUnavailable, what); }

Status Lost(const char* call, int error) {
  return Status(StatusCode::kPeerLost, std::string(call) + ": " + std::strerror(error));
}

// Waits until the socket has one of `events`, or has ended. kTimedOut.
Status Await(int fd, short events, Deadline deadline) {
  for (;;) {
    pollfd one = {fd, events, 0};
    const int ready = poll(&one, 1, MillisecondsUntil(deadline));
    if (ready > 0) return Status();
    if (ready == 0 && MillisecondsUntil(deadline) == 0) {
      return Status(StatusCode::kTimedOut, "the time limit has passed");
    }
    if (ready < 0 && errno != EINTR) return Lost("poll", errno);
  }
}

// `host`: null for all addresses of this host. Blocks as long as the resolver does, if `host` is a
// name.
Status LookUp(const char* host, const std::string& port, std::vector<SystemAddress>* addresses) {
  addrinfo hints = {};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV | (host == nullptr ? AI_PASSIVE : 0);
  addrinfo* found = nullptr;
  const int error = getaddrinfo(host, port.c_str(), &hints, &found);
  if (error != 0) return Unavailable(std::string("getaddrinfo: ") + gai_strerror(error));
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owner(found, freeaddrinfo);
  for (; found != nullptr; found = found->ai_next) {
    if (found->ai_family != AF_INET && found->ai_family != AF_INET6) continue;
    // Two lines of /etc/hosts may give a name the same address.
    const auto is_same = [found](const SystemAddress& known) {
      return known.bytes == found->ai_addrlen &&
             std::memcmp(&known.address, found->ai_addr, known.bytes) == 0;
    };
    if (std::any_of(addresses->begin(), addresses->end(), is_same)) continue;
    SystemAddress address;
    std::memcpy(&address.address, found->ai_addr, found->ai_addrlen);
    address.bytes = found->ai_addrlen;
    addresses->push_back(address);
  }
  return Status();
}

bool IsNumeric(const std::string& host) {
  addrinfo hints = {};
  hints.ai_flags = AI_NUMERICHOST;
  addrinfo* found = nullptr;
  if (getaddrinfo(host.c_str(), nullptr, &hints, &found) != 0) return false;
  freeaddrinfo(found);
  return true;
}

// Returns 0, or the error of the system with its text in *failure.
int ListenAtOne(const SystemAddress& address, StreamSocket* made, Status* failure) {
  const auto failed = [&](const char* call) {
    const int error = errno;
    const char* const advice =
        error == EADDRINUSE ? "; another job or program uses it: choose another port" : "";
    *failure = Unavailable("cannot listen at " + address.ToString() + ": " + call + ": " +
                           std::strerror(error) + advice);
    return error;
  };
  const int family = address.address.ss_family;
  StreamSocket listener(socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (listener.fd() < 0) return failed("socket");
  const int on = 1;
  // Connections of a job that has just ended do not keep the port.
  setsockopt(listener.fd(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  if (family == AF_INET6) setsockopt(listener.fd(), IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on));
  if (bind(listener.fd(), address.get(), address.bytes) != 0) return failed("bind");
  if (listen(listener.fd(), SOMAXCONN) != 0) return failed("listen");
  *made = std::move(listener);
  return 0;
}

// A connection to a port of this host at which no process listens may reach itself.
bool IsConnectedToItself(int fd) {
  SystemAddress here;
  SystemAddress there;
  here.bytes = there.bytes = sizeof(sockaddr_storage);
  return getsockname(fd, reinterpret_cast<sockaddr*>(&here.address), &here.bytes) == 0 &&
         getpeername(fd, reinterpret_cast<sockaddr*>(&there.address), &there.bytes) == 0 &&
         here.ToString() == there.ToString();
}

}  // namespace

int MillisecondsUntil(Deadline deadline) {
  const auto left =
      std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
  return static_cast<int>(std::clamp<int64_t>(left.count(), 0, INT_MAX));
}

StreamSocket::~StreamSocket() {
  if (fd_ >= 0) close(fd_);
}

StreamSocket& StreamSocket::operator=(StreamSocket&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

Status StreamSocket::Send(const void* data, size_t bytes, Deadline deadline) const {
  for (const auto* next = static_cast<const char*>(data); bytes > 0;) {
    const ssize_t sent = send(fd_, next, bytes, MSG_NOSIGNAL);
    if (sent >= 0) {
      next += sent;
      bytes -= static_cast<size_t>(sent);
    } else if (errno == EAGAIN) {
      BRIGADE_RETURN_IF_ERROR(Await(fd_, POLLOUT, deadline));
    } else if (errno != EINTR) {
      return Lost("send", errno);
    }
  }
  return Status();
}

Status StreamSocket::Receive(void* data, size_t bytes, Deadline deadline) const {
  for (auto* next = static_cast<char*>(data); bytes > 0;) {
    size_t received = 0;
    BRIGADE_RETURN_IF_ERROR(ReceiveSome(next, bytes, &received));
    next += received;
    bytes -= received;
    if (received == 0) BRIGADE_RETURN_IF_ERROR(Await(fd_, POLLIN, deadline));
  }
  return Status();
}

Status StreamSocket::ReceiveSome(void* data, size_t bytes, size_t* received) const {
  *received = 0;
  const ssize_t result = recv(fd_, data, bytes, 0);
  if (result == 0) {
    return Status(StatusCode::kPeerLost, "the other side has closed the connection");
  }
  if (result < 0) return errno == EAGAIN || errno == EINTR ? Status() : Lost("recv", errno);
  *received = static_cast<size_t>(result);
  return Status();
}

std::string SystemAddress::ToString() const { return SocketAddress::From(get()).ToString(); }

Status SplitAddress(const std::string& address, std::string* host, std::string* port) {
  const size_t colon = address.rfind(':');
  if (colon != std::string::npos) {
    *host = address.substr(0, colon);
    *port = address.substr(colon + 1);
    const bool in_brackets = host->size() > 2 && host->front() == '[' && host->back() == ']';
    if (in_brackets) *host = host->substr(1, host->size() - 2);
    const bool is_host =
        !host->empty() && (in_brackets || host->find_first_of(":[]") == std::string::npos);
    const bool is_number = !port->empty() && port->size() <= 5 &&
                           port->find_first_not_of("0123456789") == std::string::npos;
    const int number = is_number ? std::atoi(port->c_str()) : 0;
    if (is_host && number >= 1 && number <= UINT16_MAX) return Status();
  }
  return Status(StatusCode::kInvalidArgument,
                "address '" + address +
                    "': must be HOST:PORT, such as node1:4000, 10.0.0.1:4000 or [fd00::1]:4000");
}

Status ListenAt(const std::string& address, std::vector<StreamSocket>* sockets) {
  std::string host;
  std::string port;
  BRIGADE_RETURN_IF_ERROR(SplitAddress(address, &host, &port));
  const bool binds_host = host == "localhost" || IsNumeric(host);
  std::vector<SystemAddress> addresses;
  BRIGADE_RETURN_IF_ERROR(LookUp(binds_host ? host.c_str() : nullptr, port, &addresses)
                              .WithContext("address '" + address + "'"));
  Status failure = Unavailable("address '" + address + "' has no IPv4 or IPv6 address");
  for (const SystemAddress& one : addresses) {
    StreamSocket socket;
    const int error = ListenAtOne(one, &socket, &failure);
    // A host may lack one of the families, but no other program may have the port.
    if (error == EADDRINUSE) return failure;
    if (error == 0) sockets->push_back(std::move(socket));
  }
  return sockets->empty() ? failure : Status();
}

Status Resolve(const std::string& address, Deadline deadline,
               std::vector<SystemAddress>* addresses) {
  std::string host;
  std::string port;
  BRIGADE_RETURN_IF_ERROR(SplitAddress(address, &host, &port));
  if (IsNumeric(host)) return LookUp(host.c_str(), port, addresses);
  auto found = std::make_shared<std::vector<SystemAddress>>();
  BRIGADE_RETURN_IF_ERROR(RunUntil(deadline, [host, port, found] {
                            return LookUp(host.c_str(), port, found.get());
                          }).WithContext("the lookup of '" + host + "'"));
  *addresses = std::move(*found);
  return Status();
}

Status ConnectTo(const SystemAddress& address, Deadline deadline, StreamSocket* made) {
  StreamSocket connection(
      socket(address.address.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (connection.fd() < 0) return Unavailable(std::string("socket: ") + std::strerror(errno));
  int error = 0;
  if (connect(connection.fd(), address.get(), address.bytes) != 0) {
    error = errno;
    if (error == EINPROGRESS) {
      const Status connected = Await(connection.fd(), POLLOUT, deadline);
      if (!connected.ok()) return Unavailable("connect: no answer");
      socklen_t bytes = sizeof(error);
      getsockopt(connection.fd(), SOL_SOCKET, SO_ERROR, &error, &bytes);
    }
  }
  if (error != 0) return Unavailable(std::string("connect: ") + std::strerror(error));
  if (IsConnectedToItself(connection.fd())) return Unavailable("connect: no process listens");
  const int on = 1;
  setsockopt(connection.fd(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  *made = std::move(connection);
  return Status();
}

}  // namespace brigade
