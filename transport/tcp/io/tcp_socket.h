// Options of a TCP connection: short packets are sent at once, and the connection ends when the
// peer's system is silent.

#ifndef BRIGADE_TRANSPORT_TCP_IO_TCP_SOCKET_H_
#define BRIGADE_TRANSPORT_TCP_IO_TCP_SOCKET_H_

#include <chrono>

namespace brigade {

// Makes the system detect a silent peer of an idle connection; IsUnanswered does so on a busy one.
// Probes begin early, so that nearly all of the silence that IsUnanswered sees is one.
void SetTcpOptions(int socket, std::chrono::seconds silence);

// Returns whether the peer's system has not acknowledged sent data for too long. A peer whose
// program does not read is not silent: its system repeats that it has no room. TCP_USER_TIMEOUT
// would end that connection, too, and is therefore not used.
bool IsUnanswered(int socket, std::chrono::seconds silence);

// Returns whether the peer's system has acknowledged everything.
bool IsAcknowledged(int socket);

}  // namespace brigade

#endif  // BRIGADE_TRANSPORT_TCP_IO_TCP_SOCKET_H_
