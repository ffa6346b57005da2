// BootstrapRoot: rank 0 of a job, until all other ranks have joined.
//
// A connection is unauthenticated until it has proved that it is a rank of the job. These
// connections are read without waiting, in any order, so none delays a rank. Their number and their
// time are limited.

#ifndef BRIGADE_TRANSPORT_BOOTSTRAP_BOOTSTRAP_ROOT_H_
#define BRIGADE_TRANSPORT_BOOTSTRAP_BOOTSTRAP_ROOT_H_

#include <list>
#include <string>
#include <vector>

#include "membuf/status.h"
#include "transport/bootstrap/handshake.h"
#include "transport/bootstrap/root_handshake.h"
#include "transport/bootstrap/stream_socket.h"

namespace brigade {

class BootstrapRoot {
 public:
  // `limit`: for messages, the time until `deadline` as the user has set it.
  BootstrapRoot(const JobIdentity& job, std::vector<StreamSocket> listeners, Deadline deadline,
                const std::string& limit);

  // Blocks until all ranks have joined, and sends a frame to each. *ranks gets their connections,
  // by rank, and none for rank 0. All ranks that have joined get a failure. kTimedOut, naming the
  // missing ranks; kMismatch: a size differs, or a rank has joined twice; kPeerLost: a rank has
  // ended.
  Status Run(std::vector<StreamSocket>* ranks);

 private:
  struct Unauthenticated {
    RootHandshake handshake;
    Deadline deadline;
  };

  Status AwaitRanks();
  void AcceptConnection(const StreamSocket& listener);
  // Makes the process of an authenticated connection a rank. A failure ends the bootstrap.
  Status AcceptRank(RootHandshake* handshake);
  Status MissingRanks() const;

  const JobIdentity& job_;
  const std::vector<StreamSocket> listeners_;
  Deadline deadline_;
  const std::string limit_;
  std::list<Unauthenticated> unauthenticated_;  // the oldest first
  std::vector<StreamSocket> ranks_;
  std::vector<std::string> peers_;  // the addresses of ranks_
  int missing_;
  int first_to_give_up_ = 0;    // the rank whose limit ends the wait
  std::string last_rejection_;  // the reason, for messages
};

}  // namespace brigade

#endif  // BRIGADE_TRANSPORT_BOOTSTRAP_BOOTSTRAP_ROOT_H_
