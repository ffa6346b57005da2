// inproc: the ranks are threads of one process. The reference implementation of the endpoint
// contract, and what most tests run on.
//
// Rendezvous throughout: a send completes only after its receive was posted, so code that counts on
// a transport's buffering does not survive here. The receiver moves the bytes; a sender that never
// calls again is served all the same.

#ifndef BRIGADE_TRANSPORT_INPROC_INPROC_TRANSPORT_H_
#define BRIGADE_TRANSPORT_INPROC_INPROC_TRANSPORT_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "membuf/status.h"
#include "transport/bootstrap.h"
#include "transport/endpoint.h"

namespace brigade {

struct InprocOptions {
  // Leases point into the sender's chunk, whose send completes when the lease is released, as over
  // shared memory; otherwise bytes are copied into the landing.
  bool lands_in_peer_memory = false;
  // Contiguous ranges of user memory are received in place. Not with lands_in_peer_memory.
  bool lands_in_place = true;
  // SendNow takes any user memory, and copies it, as where a connection takes nothing in at once;
  // one piece of a channel for each peer until that has it. Not with lands_in_peer_memory.
  bool sends_in_place = false;
  // As in Capabilities.
  size_t eager_piece_bytes = SIZE_MAX;
  // A helper thread may drive the ranks' endpoints, as where what is sent needs one. Without, what
  // a test says about who calls when stays true.
  bool helper_may_drive = false;
};

// The job: `ranks` threads that can reach each other. Thread safe. Must outlive its bootstraps and
// endpoints.
class InprocWorld {
 public:
  explicit InprocWorld(int ranks, const InprocOptions& options = InprocOptions());
  ~InprocWorld();

  int ranks() const;

  // The bootstrap of rank `my_rank` in the group of `members` (world ranks, in group order). Each
  // member makes its own, and nobody else takes part. Bootstraps over the same list of members are
  // told apart by the order of their gathers, which must be equal on all members.
  std::unique_ptr<Bootstrap> MakeBootstrap(const std::vector<int>& members, int my_rank);
  // The same over the whole world.
  std::unique_ptr<Bootstrap> MakeBootstrap(int my_rank);

  // Once per rank. Destroying the endpoint marks the rank lost.
  std::unique_ptr<Endpoint> CreateEndpoint(int rank);

  // From here on operations with world rank `rank` that are not over fail with kPeerLost, gathers
  // it is a member of too. What it had sent is not read again.
  void MarkLost(int rank);

 private:
  friend class InprocBootstrap;
  friend class InprocEndpoint;
  struct State;

  const std::unique_ptr<State> state_;
};

}  // namespace brigade

#endif  // BRIGADE_TRANSPORT_INPROC_INPROC_TRANSPORT_H_
