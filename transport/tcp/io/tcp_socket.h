// What a TCP connection asks of its system: short packets at once, and an end when the peer's
// system is silent.

#ifndef BRIGADE_TRANSPORT_TCP_IO_TCP_SOCKET_H_
#define BRIGADE_TRANSPORT_TCP_IO_TCP_SOCKET_H_

#include <chrono>

namespace brigade {

// Finds out about a silent peer where nothing is sent; IsUnanswered does where something is. The
// probes begin early, so that nearly all of the silence that IsUnanswered sees is one.
void SetTcpOptions(int socket, std::chrono::seconds silence);

// Whether the peer's system has been silent for too long about what was sent. It is not silent when
// it says again and again that it has no room, because its program reads nothing; that is why
// TCP_USER_TIMEOUT, which ends such a connection too, does not serve.
bool IsUnanswered(int socket, std::chrono::seconds silence);

// Whether the peer's system has acknowledged everything.
bool IsAcknowledged(int socket);

}  // namespace brigade

#endif  // BRIGADE_TRANSPORT_TCP_IO_TCP_SOCKET_H_
