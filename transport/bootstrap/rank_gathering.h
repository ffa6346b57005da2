// RankGathering: rank 0's wait for all other ranks of its job.
//
// A connection is a *guest* until it has proved that it is a rank of the job. Guests are read
// without waiting, in any order, so no stranger delays a rank. Their number and their time are
// limited.

#ifndef BRIGADE_TRANSPORT_BOOTSTRAP_RANK_GATHERING_H_
#define BRIGADE_TRANSPORT_BOOTSTRAP_RANK_GATHERING_H_

#include <cstddef>
#include <list>
#include <string>
#include <vector>

#include "membuf/status.h"
#include "transport/bootstrap/handshake.h"
#include "transport/bootstrap/stream_socket.h"

namespace brigade {

class RankGathering {
 public:
  // `limit`: for messages, the time until `deadline` as the user has set it.
  RankGathering(const JobIdentity& job, std::vector<StreamSocket> listeners, Deadline deadline,
                const std::string& limit);

  // Blocks until all ranks have come, and tells them so. *ranks gets their connections, by rank;
  // that of rank 0 is empty. A failure, which all ranks get that have come: kTimedOut, naming those
  // that have not; kMismatch: a size differs, or a rank came twice; kPeerLost: a rank has left.
  Status Run(std::vector<StreamSocket>* ranks);

 private:
  struct Guest {
    StreamSocket socket;
    std::string from;
    Deadline deadline;
    Hello hello;
    AuthKey nonce;  // of its challenge
    Proof proof;
    size_t got = 0;  // of hello and proof
  };

  Status RunUntilAllHaveCome();
  void Accept(const StreamSocket& listener);
  // Reads what has come, and answers it. A failure ends the bootstrap. *stays: it is still a guest.
  Status Serve(Guest* guest, bool* stays);
  // Answers a whole hello, or a whole proof. False: the guest was refused.
  bool AnswerHello(Guest* guest);
  Status Admit(Guest* guest);
  void Refuse(const Guest& guest, const Status& why);
  Status Missing() const;

  const JobIdentity& job_;
  const std::vector<StreamSocket> listeners_;
  Deadline deadline_;
  const std::string limit_;
  std::list<Guest> guests_;  // the oldest first
  std::vector<StreamSocket> ranks_;
  std::vector<std::string> from_;  // their addresses
  int missing_;
  int hasty_ = 0;        // the rank whose limit ends the wait
  std::string refused_;  // the last refusal
};

}  // namespace brigade

#endif  // BRIGADE_TRANSPORT_BOOTSTRAP_RANK_GATHERING_H_
