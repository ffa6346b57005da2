// Joining: how a rank other than 0 connects to rank 0 of its job.

#ifndef BRIGADE_TRANSPORT_BOOTSTRAP_JOIN_ROOT_H_
#define BRIGADE_TRANSPORT_BOOTSTRAP_JOIN_ROOT_H_

#include <string>

#include "membuf/status.h"
#include "transport/bootstrap/handshake.h"
#include "transport/bootstrap/stream_socket.h"

namespace brigade {

// Connects to rank 0 at `address`, again and again if it does not listen yet, and blocks until all
// ranks have joined. `limit`: as in BootstrapRoot. kTimedOut, with the last reason; kMismatch: the
// secrets differ; otherwise the failure that rank 0 has sent.
Status JoinRoot(const std::string& address, const JobIdentity& job, int rank, Deadline deadline,
                const std::string& limit, StreamSocket* rank_zero);

}  // namespace brigade

#endif  // BRIGADE_TRANSPORT_BOOTSTRAP_JOIN_ROOT_H_
