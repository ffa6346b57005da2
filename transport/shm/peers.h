// Peers: the ranks of this host that this rank has met, in whatever groups, and who of them is
// gone.

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
#include "transport/edge/bell.h"
#include "transport/host/process_watch.h"
#include "transport/host_memory/shared_segment.h"

namespace brigade::shm {

// In the segment of each rank.
struct alignas(64) Public {
  Bell bell;
  std::atomic<uint32_t> departed;
  std::atomic<uint32_t> notes;  // control messages that were ever written for this rank
  // Where a helper sleeps whose owner is away. Notes ring it, pieces that they announced, and
  // pieces that are given back: not the lines of a pattern, nor whoever waits for an owner in its
  // call.
  alignas(64) Bell helper;
};

struct Peer {
  std::shared_ptr<SharedSegment> segment;
  Public* shared = nullptr;
  ProcessWatch process;  // of none, if it is this one
  bool lost = false;
  bool piece_follows = false;  // a note that was written to it, and rings the helper
};

// kPeerLost. `rank`: of the peer, in the group of the operation that ends so.
Status Lost(const Peer& peer, int rank);

// A peer has written what it cannot have meant.
Status Misplaced();

// What a peer says is at `offset` of its segment; null if it cannot be there.
template <typename T>
T* Shared(SharedSegment* segment, uint64_t offset, size_t bytes) {
  if (offset % alignof(T) != 0) return nullptr;
  return reinterpret_cast<T*>(segment->At(offset, bytes));
}

class Peers {
 public:
  // Oneself is never lost.
  explicit Peers(const SharedSegment* own) : own_(own) {}
  Peers(const Peers&) = delete;
  Peers& operator=(const Peers&) = delete;

  // The rank whose segment is at `address`, mapped at the first meeting.
  Status Find(const SharedSegment::Address& address, uint64_t public_offset, Peer** peer);
  // Marks those that have left for good, well or not. True if there was one. Who was killed it
  // finds out now and then only, for that takes a system call for each.
  bool LookForLosses();
  // Says that this rank leaves.
  void Depart(Public* own);

 private:
  const SharedSegment* const own_;
  std::map<std::pair<uint64_t, uint64_t>, std::unique_ptr<Peer>> peers_;  // by token
  std::chrono::steady_clock::time_point asked_;                           // the system
};

}  // namespace brigade::shm

#endif  // BRIGADE_TRANSPORT_SHM_PEERS_H_
