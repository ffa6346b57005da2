#include "transport/tcp/io/socket_io.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <ctime>

namespace brigade {

Status SocketFailure(const char* call, int error) {
  const char* raise = "";
  switch (error) {
    case EMFILE:
      raise = "; raise the limit on open files (ulimit -n)";
      break;
    case ENFILE:
      raise = "; raise the machine's limit on open files (sysctl fs.file-max)";
      break;
    case ENOSPC:
      raise = "; raise the limit on epoll watches (sysctl fs.epoll.max_user_watches)";
      break;
    case EADDRNOTAVAIL:
    case EAGAIN:
      raise = "; widen the range of ports (sysctl net.ipv4.ip_local_port_range)";
      break;
    case ENOBUFS:
    case ENOMEM:
      raise = "; there is too little memory for sockets (sysctl net.ipv4.tcp_mem)";
      break;
  }
  return Status(StatusCode::kUnavailable, std::string(call) + ": " + std::strerror(error) + raise);
}

IoSocket::~IoSocket() { close(socket_); }

ssize_t SocketIo::WriteNow(const IoSocket& socket, const iovec* ranges, size_t count) {
  msghdr message{};
  message.msg_iov = const_cast<iovec*>(ranges);
  message.msg_iovlen = count;
  const ssize_t written = sendmsg(socket.socket(), &message, MSG_DONTWAIT | MSG_NOSIGNAL);
  if (written >= 0) return written;
  return errno == EINTR ? -EAGAIN : -errno;
}

void SocketIo::SleepUntilReadable(int descriptor, int microseconds) {
  pollfd event{descriptor, POLLIN, 0};
  const timespec limit{microseconds / 1000000, microseconds % 1000000 * 1000};
  ppoll(&event, 1, &limit, nullptr);
}

#ifdef BRIGADE_NO_LIBURING  // uring_io.cc is left out
Status CreateUringIo(std::unique_ptr<SocketIo>* /*io*/) {
  return Status(StatusCode::kUnavailable, "Brigade was built without liburing");
}
#endif

}  // namespace brigade
