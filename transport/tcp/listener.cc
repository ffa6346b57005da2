#include "transport/tcp/listener.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "transport/tcp/io/socket_io.h"

namespace brigade {
namespace {

// Keys in epoll of descriptors that are not unauthenticated connections.
constexpr uint64_t kSocketName = UINT64_MAX;
constexpr uint64_t kTimerName = UINT64_MAX - 1;

// A flood of connections must not keep Progress busy for ever.
constexpr int kAcceptsAtOnce = 64;
// Without a free descriptor the socket stays readable, and no event signals when to retry.
constexpr std::chrono::milliseconds kRest(100);

bool IsPowerOfTen(uint64_t n) {
  while (n % 10 == 0) n /= 10;
  return n == 1;
}

}  // namespace

Status Listener::Create(const SocketAddress& address, const EndpointId& id, const AuthKey& key,
                        Log log, std::unique_ptr<Listener>* listener,
                        const ListenerLimits& limits) {
  std::unique_ptr<Listener> created(new Listener(id, key, std::move(log), limits));
  BRIGADE_RETURN_IF_ERROR(created->Open(address));
  *listener = std::move(created);
  return Status();
}

Status Listener::Open(const SocketAddress& address) {
  const auto failed = [&](const Status& why) {
    return why.WithContext("cannot listen on " + address.ToString());
  };
  socket_ = socket(address.family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (socket_ < 0) return failed(SocketFailure("socket", errno));
  // Connections without data are kept back for a second or so. Only a help: failure does not
  // matter.
  const int defer_seconds = 1;
  setsockopt(socket_, IPPROTO_TCP, TCP_DEFER_ACCEPT, &defer_seconds, sizeof(defer_seconds));
  // A cable may be out for a minute while a peer connects: the system retries for two.
  const int answers = 6;
  setsockopt(socket_, IPPROTO_TCP, TCP_SYNCNT, &answers, sizeof(answers));
  sockaddr_storage system;
  socklen_t bytes = address.ToSystem(&system);
  if (bind(socket_, reinterpret_cast<sockaddr*>(&system), bytes) != 0) {
    // EADDRNOTAVAIL here: the address is not one of this host.
    return failed({StatusCode::kUnavailable, std::string("bind: ") + std::strerror(errno)});
  }
  if (listen(socket_, SOMAXCONN) != 0) return failed(SocketFailure("listen", errno));
  bytes = sizeof(system);
  if (getsockname(socket_, reinterpret_cast<sockaddr*>(&system), &bytes) != 0) {
    return failed(SocketFailure("getsockname", errno));
  }
  address_ = SocketAddress::From(reinterpret_cast<sockaddr*>(&system));
  timer_ = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
  if (timer_ < 0) return failed(SocketFailure("timerfd_create", errno));
  epoll_ = epoll_create1(EPOLL_CLOEXEC);
  if (epoll_ < 0) return failed(SocketFailure("epoll_create1", errno));
  if (!Watch(EPOLL_CTL_ADD, socket_, kSocketName, EPOLLIN) ||
      !Watch(EPOLL_CTL_ADD, timer_, kTimerName, EPOLLIN)) {
    return failed(SocketFailure("epoll_ctl", errno));
  }
  return Status();
}

Listener::~Listener() {
  for (const auto& [name, connection] : unauthenticated_) close(connection.socket);
  for (const int descriptor : {socket_, timer_, epoll_}) {
    if (descriptor >= 0) close(descriptor);
  }
}

bool Listener::Watch(int operation, int descriptor, uint64_t name, uint32_t events) {
  epoll_event event = {};
  event.events = events;
  event.data.u64 = name;
  return epoll_ctl(epoll_, operation, descriptor, &event) == 0;
}

bool Listener::Progress(const Admit& admit) {
  epoll_event events[32];
  const int count = epoll_wait(epoll_, events, 32, 0);
  if (count <= 0) return false;
  for (int i = 0; i < count; ++i) {
    const uint64_t name = events[i].data.u64;
    if (name == kSocketName) {
      AcceptAll(admit);
    } else if (const auto connection = unauthenticated_.find(name);
               connection != unauthenticated_.end()) {
      const Status handshake_read = ReadHandshakeOf(&connection->second);
      if (handshake_read.code() == StatusCode::kNoResource) continue;
      const Unauthenticated leaving = connection->second;
      Forget(connection);
      AdmitOrRefuse(leaving, handshake_read, admit);
    }
  }
  const Clock::time_point now = Clock::now();
  while (!unauthenticated_.empty() && unauthenticated_.begin()->second.deadline <= now) {
    EvictOldest(
        &counters_.silent,
        "no whole handshake came within " + std::to_string(limits_.handshake_time.count()) + " ms",
        admit);
  }
  if (resting_ && rest_end_ <= now) {
    resting_ = false;
    Watch(EPOLL_CTL_MOD, socket_, kSocketName, EPOLLIN);
  }
  SetTimer();
  return true;
}

void Listener::AcceptAll(const Admit& admit) {
  for (int i = 0; i < kAcceptsAtOnce; ++i) {
    sockaddr_storage peer;
    socklen_t bytes = sizeof(peer);
    Unauthenticated connection;
    connection.socket =
        accept4(socket_, reinterpret_cast<sockaddr*>(&peer), &bytes, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (connection.socket < 0) {
      if (errno == EAGAIN) return;
      if (errno == EINTR || errno == ECONNABORTED) continue;
      Count(&counters_.starved, "connections to " + address_.ToString() +
                                    " have to wait: " + SocketFailure("accept", errno).message());
      resting_ = true;
      rest_end_ = Clock::now() + kRest;
      Watch(EPOLL_CTL_MOD, socket_, kSocketName, 0);
      return;
    }
    connection.address = SocketAddress::From(reinterpret_cast<sockaddr*>(&peer));
    connection.deadline = Clock::now() + limits_.handshake_time;
    const Status handshake_read = ReadHandshakeOf(&connection);
    if (handshake_read.code() != StatusCode::kNoResource) {
      AdmitOrRefuse(connection, handshake_read, admit);
      continue;
    }
    const std::string crowd = "too many connections without a whole handshake";
    if (unauthenticated_.size() >= limits_.max_unauthenticated) {
      EvictOldest(&counters_.crowded, crowd, admit);
    }
    if (Watch(EPOLL_CTL_ADD, connection.socket, next_name_, EPOLLIN)) {
      unauthenticated_.emplace(next_name_++, connection);
    } else {
      Drop(connection, &counters_.crowded, std::string("epoll_ctl: ") + std::strerror(errno));
    }
  }
}

Status Listener::ReadHandshakeOf(Unauthenticated* connection) {
  while (connection->handshake_bytes < kHandshakeBytes) {
    const ssize_t got =
        recv(connection->socket, connection->handshake + connection->handshake_bytes,
             kHandshakeBytes - connection->handshake_bytes, MSG_DONTWAIT);
    if (got > 0) {
      connection->handshake_bytes += static_cast<size_t>(got);
    } else if (got == 0) {
      return Status(StatusCode::kMismatch, "it ended within its handshake");
    } else if (errno == EAGAIN) {
      return Status(StatusCode::kNoResource, "");
    } else if (errno != EINTR) {
      return Status(StatusCode::kMismatch, std::strerror(errno));
    }
  }
  return Status();
}

void Listener::AdmitOrRefuse(const Unauthenticated& connection, const Status& handshake_read,
                             const Admit& admit) {
  EndpointId from;
  uint32_t serial = 0;
  const Status read = handshake_read.ok()
                          ? ReadHandshake(key_, id_, connection.handshake, &from, &serial)
                          : handshake_read;
  if (!read.ok()) {
    Drop(connection, &counters_.refused, read.message());
  } else if (admit(connection.socket, from, serial)) {
    ++counters_.admitted;
  } else {
    Drop(connection, &counters_.unwanted, "nobody expects it");
  }
}

void Listener::EvictOldest(uint64_t* counter, const std::string& why, const Admit& admit) {
  Unauthenticated oldest = unauthenticated_.begin()->second;
  Forget(unauthenticated_.begin());
  const Status handshake_read = ReadHandshakeOf(&oldest);
  if (handshake_read.code() == StatusCode::kNoResource) {
    Drop(oldest, counter, why);
  } else {
    AdmitOrRefuse(oldest, handshake_read, admit);
  }
}

void Listener::Forget(UnauthenticatedByName::iterator connection) {
  // A forked child may hold the socket open; epoll would then report it although it is closed here.
  Watch(EPOLL_CTL_DEL, connection->second.socket, connection->first, 0);
  unauthenticated_.erase(connection);
}

void Listener::Drop(const Unauthenticated& connection, uint64_t* counter, const std::string& why) {
  close(connection.socket);
  Count(counter, "a connection from " + connection.address.ToString() + " to " +
                     address_.ToString() + " was dropped: " + why);
}

void Listener::Count(uint64_t* counter, const std::string& what) {
  ++*counter;
  if (!IsPowerOfTen(*counter)) return;
  log_(*counter == 1 ? what : what + " (" + std::to_string(*counter) + " times so far)");
}

void Listener::SetTimer() {
  Clock::time_point next = Clock::time_point::max();
  if (!unauthenticated_.empty()) next = unauthenticated_.begin()->second.deadline;
  if (resting_) next = std::min(next, rest_end_);
  // All zeros stop the timer. Setting it also clears an expiration.
  itimerspec when = {};
  if (next != Clock::time_point::max()) {
    // This clock is CLOCK_MONOTONIC.
    const auto since_boot = next.time_since_epoch();
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(since_boot);
    when.it_value.tv_sec = seconds.count();
    when.it_value.tv_nsec = std::chrono::nanoseconds(since_boot - seconds).count();
  }
  timerfd_settime(timer_, TFD_TIMER_ABSTIME, &when, nullptr);
}

}  // namespace brigade
