#include "bench/contenders/bare_socket.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <string>

namespace brigade::bench {
namespace {

constexpr int kTag = 0;

Status Failure(StatusCode code, const char* what) {
  return Status(code, std::string("bare socket: ") + what + ": " + std::strerror(errno));
}

// Rank 0 listens and sends its port to rank 1. Returns the descriptor of the connection, or -1 with
// errno set.
int Connect(MPI_Comm comm, int rank) {
  sockaddr_in address = {};
  auto* const any = reinterpret_cast<sockaddr*>(&address);
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (rank == 1) {
    MPI_Recv(&address.sin_port, sizeof(address.sin_port), MPI_BYTE, 0, kTag, comm,
             MPI_STATUS_IGNORE);
    return connect(socket, any, sizeof(address)) == 0 ? socket : -1;
  }
  socklen_t bytes = sizeof(address);
  const bool listens = bind(socket, any, bytes) == 0 && listen(socket, 1) == 0 &&
                       getsockname(socket, any, &bytes) == 0;
  // Port 0, which is invalid, if it failed: the other side then fails, too.
  MPI_Send(&address.sin_port, sizeof(address.sin_port), MPI_BYTE, 1, kTag, comm);
  if (!listens) return -1;
  const int connection = accept4(socket, nullptr, nullptr, SOCK_CLOEXEC);
  close(socket);
  return connection;
}

// Calls `transfer(data, bytes, flags)` until all is through.
template <typename Transfer>
Status All(const PanelView& panel, BareSocket::Waiting waiting, Transfer transfer) {
  const bool spins = waiting == BareSocket::Waiting::kSpinning;
  auto* data = reinterpret_cast<std::byte*>(panel.data);
  size_t left = panel.bytes();
  while (left > 0) {
    const ssize_t moved = transfer(data, left, spins ? MSG_DONTWAIT : MSG_WAITALL);
    if (moved > 0) {
      data += moved;
      left -= static_cast<size_t>(moved);
    } else if (moved == 0 || (errno != EAGAIN && errno != EINTR)) {
      return Failure(StatusCode::kPeerLost, "connection");
    }
  }
  return Status();
}

}  // namespace

Status BareSocket::Create(MPI_Comm comm, std::unique_ptr<BareSocket>* result) {
  int rank;
  MPI_Comm_rank(comm, &rank);
  int connection = -1;
  if (rank <= 1) {
    connection = Connect(comm, rank);
    if (connection < 0) return Failure(StatusCode::kUnavailable, "connecting");
    const int on = 1;
    setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  }
  result->reset(new BareSocket(connection));
  return Status();
}

BareSocket::~BareSocket() {
  if (connection_ >= 0) close(connection_);
}

Status BareSocket::Send(const PanelView& panel, Waiting waiting) {
  return All(panel, waiting, [this](const std::byte* data, size_t bytes, int flags) {
    return send(connection_, data, bytes, flags | MSG_NOSIGNAL);
  });
}

Status BareSocket::Receive(const PanelView& panel, Waiting waiting) {
  return All(panel, waiting, [this](std::byte* data, size_t bytes, int flags) {
    return recv(connection_, data, bytes, flags);
  });
}

}  // namespace brigade::bench
