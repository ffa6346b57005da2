#include "transport/socket_io.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>

namespace brigade {

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

}  // namespace brigade
