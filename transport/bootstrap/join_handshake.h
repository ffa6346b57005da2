// The handshake with rank 0 on one connection, from the side of another rank.

#ifndef BRIGADE_TRANSPORT_BOOTSTRAP_JOIN_HANDSHAKE_H_
#define BRIGADE_TRANSPORT_BOOTSTRAP_JOIN_HANDSHAKE_H_

#include <cstdint>

#include "membuf/status.h"
#include "transport/bootstrap/handshake.h"
#include "transport/bootstrap/stream_socket.h"

namespace brigade {

// kRejected: by a process that has not proved that it is rank 0.
enum class JoinOutcome : uint8_t { kJoined, kTryAgain, kRejected, kGiveUp };

// Sends a join request on a new connection, and blocks until rank 0 has accepted it. *status gets
// the reason of every outcome but kJoined.
JoinOutcome RequestJoin(const StreamSocket& socket, const JobIdentity& job, int rank,
                        Deadline deadline, Status* status);

}  // namespace brigade

#endif  // BRIGADE_TRANSPORT_BOOTSTRAP_JOIN_HANDSHAKE_H_
