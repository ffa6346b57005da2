#include "transport/tcp/io/tcp_socket.h"

#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>

namespace brigade {
namespace {

// An idle connection is probed after a tenth of the silence, then every fifteenth of it, and ends
// after this many probes.
constexpr int kProbes = 10;
constexpr int kIdleFraction = 10;
constexpr int kIntervalFraction = 15;
// To connect: 15 s in all, with longer and longer pauses; then the connection is made anew.
constexpr int kConnectAttempts = 3;

}  // namespace

void SetTcpOptions(int socket, std::chrono::seconds silence) {
  const auto seconds = static_cast<int>(silence.count());
  const auto set = [&](int level, int option, int value) {
    setsockopt(socket, level, option, &value, sizeof(value));
  };
  set(IPPROTO_TCP, TCP_NODELAY, 1);
  set(SOL_SOCKET, SO_KEEPALIVE, 1);
  set(IPPROTO_TCP, TCP_KEEPIDLE, std::max(1, seconds / kIdleFraction));
  set(IPPROTO_TCP, TCP_KEEPINTVL, std::max(1, seconds / kIntervalFraction));
  set(IPPROTO_TCP, TCP_KEEPCNT, kProbes);
  set(IPPROTO_TCP, TCP_SYNCNT, kConnectAttempts);
}

bool IsUnanswered(int socket, std::chrono::seconds silence) {
  tcp_info info{};
  socklen_t bytes = sizeof(info);
  if (getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &bytes) != 0) return false;
  // The probes keep the last answer of an idle connection young. One whose peer has no room is
  // probed less and less often: the last probe may just have left.
  const bool waits = info.tcpi_unacked > 0 || info.tcpi_probes > 1;
  return info.tcpi_state == TCP_ESTABLISHED && waits &&
         std::chrono::milliseconds(info.tcpi_last_ack_recv) > silence;
}

bool IsAcknowledged(int socket) {
  int unacknowledged = 0;
  ioctl(socket, SIOCOUTQ, &unacknowledged);
  return unacknowledged == 0;
}

}  // namespace brigade
