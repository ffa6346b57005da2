// Peers: the ranks of this host in any group of this rank, and which of them are lost.

#ifndef BRIGADE_TRANSPORT_SHM_PEERS_H_
#define BRIGADE_TRANSPORT_SHM_PEERS_H_

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>

#include "membuf/status.h"
#include "transport/edge/doorbell.h"
#include "transport/host/process_watch.h"
#include "transport/host_memory/shared_segment.h"

namespace brigade::shm {

// Public memory in the shared segment of each rank.
struct alignas(64) Public {
  Doorbell doorbell;
  std::atomic<uint32_t> departed;
  std::atomic<uint32_t> control_count;  // control messages ever written for this rank
  // The doorbell of the progress thread, while the program is outside the library. Signalled by
  // control messages, by segments that these announced, and by released segments; not by inline
  // messages of a pattern, nor by a rank that waits for the owner in its call.
  alignas(64) Doorbell progress_doorbell;
};

struct Peer {
  std::shared_ptr<SharedSegment> segment;
  Public* shared = nullptr;
  ProcessWatch process;  // of none, if it is this one
  bool lost = false;
  bool segment_follows = false;  // a control message written to it, and signals progress_doorbell
};

// Returns kPeerLost. `rank`: the peer's rank in the group of the failed operation.
Status Lost(const Peer& peer, int rank);

// Returns the error for invalid values that a peer has written.
Status Misplaced();

// Returns the object that a peer has at `offset` of its shared segment; null if the offset is
// invalid.
template <typename T>
T* Shared(SharedSegment* segment, uint64_t offset, size_t bytes) {
  if (offset % alignof(T) != 0) return nullptr;
  return reinterpret_cast<T*>(segment->At(offset, bytes));
}

class Peers {
 public:
  // `own`: the shared segment of this rank, which is never lost.
  explicit Peers(const SharedSegment* own) : own_(own) {}
  Peers(const Peers&) = delete;
  Peers& operator=(const Peers&) = delete;

  // Finds the rank whose shared segment is at `address`. It is mapped at the first call, until no
  // group has the peer any more.
  Status Find(const SharedSegment::Address& address, uint64_t public_offset,
              std::shared_ptr<Peer>* peer);
  // Marks the peers that have left, regularly or not. Returns whether there was one. Killed peers
  // are checked at intervals only, since that takes a system call for each.
  bool LookForLosses();
  // Publishes that this rank leaves.
  void Depart(Public* own);

 private:
  const SharedSegment* const own_;
  // By token. An expired one stays until the next is found.
  std::map<std::pair<uint64_t, uint64_t>, std::weak_ptr<Peer>> peers_;
  std::chrono::steady_clock::time_point checked_at_;  // whether processes have ended
};

}  // namespace brigade::shm

#endif  // BRIGADE_TRANSPORT_SHM_PEERS_H_
