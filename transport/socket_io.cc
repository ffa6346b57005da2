#include "transport/socket_io.h"

#include <poll.h>
#include <unistd.h>

#include <ctime>

namespace brigade {

IoSocket::~IoSocket() { close(socket_); }

void SocketIo::SleepUntilReadable(int descriptor, int microseconds) {
  pollfd event{descriptor, POLLIN, 0};
  const timespec limit{microseconds / 1000000, microseconds % 1000000 * 1000};
  ppoll(&event, 1, &limit, nullptr);
}

}  // namespace brigade
