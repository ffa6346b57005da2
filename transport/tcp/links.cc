#include "transport/tcp/links.h"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "transport/tcp/io/tcp_socket.h"

namespace brigade::tcp {
namespace {

using Clock = std::chrono::steady_clock;

// Between attempts to connect to a peer.
constexpr std::chrono::milliseconds kRetryTime(100);

}  // namespace

void Links::RemoveFromIo() {
  for (auto& [id, link] : links_) {
    for (auto& connection : link->connections()) io_->Remove(connection.get());
  }
}

Status Links::Open(SocketIo* io, const SocketAddress& address, const AuthKey& key) {
  ListenerLimits limits;
  limits.handshake_time = silence_;
  BRIGADE_RETURN_IF_ERROR(Listener::Create(address, self_, key, log_, &listener_, limits));
  io_ = io;
  return io_->Watch(
      listener_->fd(), [](void* self) { static_cast<Links*>(self)->Admit(); }, this);
}

Link* Links::Get(const EndpointId& id, const AuthKey& key, const SocketAddress& address) {
  if (id == self_) return nullptr;
  std::unique_ptr<Link>& link = links_[id];
  if (link == nullptr) link = std::make_unique<Link>(id, key, address);
  return link.get();
}

void Links::Connect(Link* link) {
  if (link->state() == Link::State::kIdle) MakeConnection(link);
}

void Links::MakeConnection(Link* link) {
  const int socket =
      ::socket(link->address().family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (socket < 0) return RetryLater(link, SocketFailure("socket", errno));
  SetTcpOptions(socket, silence_);
  sockaddr_storage address{};
  const socklen_t length = link->address().ToSystem(&address);
  if (connect(socket, reinterpret_cast<const sockaddr*>(&address), length) != 0 &&
      errno != EINPROGRESS) {
    const int error = errno;
    close(socket);
    if (error != ECONNREFUSED) return RetryLater(link, SocketFailure("connect", error));
    return Lose(link, Status(StatusCode::kPeerLost, std::strerror(error)));
  }
  std::vector<std::byte> handshake(kHandshakeBytes);
  WriteHandshake(link->key(), self_, link->id(), link->NextSerial(), handshake.data());
  const Status status = Attach(link, socket, std::move(handshake));
  if (!status.ok()) RetryLater(link, status);
}

void Links::RetryLater(Link* link, const Status& why) {
  const auto now = Clock::now();
  if (link->state() != Link::State::kUnreached) {
    link->BecomeUnreached(now);
    unreached_.push_back(link);
  } else if (now - link->unreached_since() > silence_) {
    return Lose(link, Status(StatusCode::kPeerLost, "no connection for " +
                                                        std::to_string(silence_.count()) +
                                                        " s: " + why.message()));
  }
  link->set_next_try(now + kRetryTime);
}

void Links::RetryDue() {
  const auto now = Clock::now();
  for (Link* link : std::exchange(unreached_, {})) {
    if (link->state() != Link::State::kUnreached) continue;
    if (link->out() != nullptr && link->out()->established()) {
      link->BecomeReached();
      continue;
    }
    unreached_.push_back(link);
    if (link->out() == nullptr && now >= link->next_try()) MakeConnection(link);
  }
}

Status Links::Attach(Link* link, int socket, std::vector<std::byte> handshake) {
  auto connection = std::make_unique<Connection>(socket, link, link->outbox(), std::move(handshake),
                                                 io_, static_cast<ConnectionOwner*>(owner_));
  BRIGADE_RETURN_IF_ERROR(io_->Add(connection.get()));
  link->Add(std::move(connection));
  if (leaving_) link->out()->SendShutdown();
  link->Pump();
  owner_->OnConnected(link);
  return Status();
}

void Links::Admit() {
  listener_->Progress([this](int socket, const EndpointId& from, uint32_t serial) {
    const auto found = links_.find(from);
    if (found == links_.end() || found->second->lost()) return false;
    if (!found->second->IsNewSerial(serial)) return false;
    SetTcpOptions(socket, silence_);
    // On failure the socket is closed, which the peer sees.
    (void)Attach(found->second.get(), socket, {});
    return true;
  });
}

void Links::ReplaceUnestablished(Link* link) {
  Status why;
  if (!link->RemoveUnestablished(io_, &why)) return;
  if (link->out() == nullptr) {
    RetryLater(link, why);
  } else {
    link->Pump();
  }
}

void Links::Lose(Link* link, const Status& why) {
  if (link->lost()) return;
  link->BecomeLost(why, io_);
  if (why.code() != StatusCode::kPeerLost) {
    log_("tcp: " + link->address().ToString() + ": " + why.ToString());
  }
  owner_->OnLost(link);
}

bool Links::HoldControl() const {
  return std::any_of(links_.begin(), links_.end(), [](const auto& entry) {
    const Link& link = *entry.second;
    return link.holds_control();
  });
}

void Links::SendShutdown() {
  leaving_ = true;
  for (const auto& [id, link] : links_) {
    if (link->out() != nullptr) link->out()->SendShutdown();
    link->Pump();
  }
}

const Link* Links::FirstUnfinished() const {
  for (const auto& [id, link] : links_) {
    const Connection* const out = link->out();
    if (out == nullptr || out->broken()) continue;
    if (!out->idle() || !IsAcknowledged(out->socket())) return link.get();
  }
  return nullptr;
}

}  // namespace brigade::tcp
