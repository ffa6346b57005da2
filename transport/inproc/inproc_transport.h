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
  // shared memory; otherwise bytes are copied into the receive buffer.
  bool lands_in_peer_memory = false;
  // Contiguous ranges of user memory are received in place. Not with lands_in_peer_memory.
  bool lands_in_place = true;
  // SendNow accepts any user memory, and copies it, like a connection that is full; one segment of
  // a channel for each peer until the peer has it. Not with lands_in_peer_memory.
  bool sends_in_place = false;
  // As in Capabilities.
  size_t eager_segment_bytes = SIZE_MAX;
  // A progress thread may make progress for the ranks. If false, only the test's own threads call
  // them.
  bool allows_progress_thread = false;
};

// The job: `ranks` threads that can reach each other. Thread-safe. Must outlive its bootstraps and
// endpoints.
class InprocWorld {
 public:
  explicit InprocWorld(int ranks, const InprocOptions& options = InprocOptions());
  ~InprocWorld();

  int ranks() const;

  // Makes the bootstrap of rank `my_rank` in the group of `members` (world ranks, in group order).
  // Each member makes its own; no other rank takes part. Bootstraps with equal members are
  // distinguished by the order of their gathers, which must be equal on all members.
  std::unique_ptr<Bootstrap> MakeBootstrap(const std::vector<int>& members, int my_rank);
  // Makes a bootstrap over all ranks of the world.
  std::unique_ptr<Bootstrap> MakeBootstrap(int my_rank);

  // Makes the endpoint of a rank, once per rank. Destroying the endpoint marks the rank lost.
  std::unique_ptr<Endpoint> CreateEndpoint(int rank);

  // Marks world rank `rank` as lost: pending and later operations with it, and gathers of its
  // groups, fail with kPeerLost. The memory of its sends is not read afterwards.
  void MarkLost(int rank);

 private:
  friend class InprocBootstrap;
  friend class InprocEndpoint;
  struct State;

  const std::unique_ptr<State> state_;
};

}  // namespace brigade

#endif  // BRIGADE_TRANSPORT_INPROC_INPROC_TRANSPORT_H_
