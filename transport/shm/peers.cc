#include "transport/shm/peers.h"

#include <unistd.h>

#include <string>

#include "transport/rules.h"

namespace brigade::shm {

Status Lost(const Peer& peer, int rank) {
  return Status(StatusCode::kPeerLost,
                "shm: rank " + std::to_string(rank) + " of the group (process " +
                    std::to_string(peer.segment->address().process) + ") is gone");
}

Status Misplaced() {
  return Status(StatusCode::kInternal, "a peer named memory outside of its shared segment");
}

Status Peers::Find(const SharedSegment::Address& address, uint64_t public_offset, Peer** peer) {
  const std::pair<uint64_t, uint64_t> token{address.token[0], address.token[1]};
  const auto known = peers_.find(token);
  if (known != peers_.end()) {
    *peer = known->second.get();
    return Status();
  }
  auto found = std::make_unique<Peer>();
  BRIGADE_RETURN_IF_ERROR(SharedSegment::Open(address, &found->segment));
  found->shared = Shared<Public>(found->segment.get(), public_offset, sizeof(Public));
  if (found->shared == nullptr) return Misplaced();
  if (address.process != getpid()) {
    found->process = ProcessWatch(address.process);
  }
  *peer = found.get();
  peers_[token] = std::move(found);
  return Status();
}

bool Peers::LookForLosses() {
  const auto now = std::chrono::steady_clock::now();
  const bool asks = now - asked_ >= std::chrono::microseconds(rules::kShmLossLookUs);
  if (asks) asked_ = now;
  bool any = false;
  for (auto& [token, peer] : peers_) {
    if (peer->lost || peer->segment.get() == own_) continue;
    bool gone = peer->shared->departed.load(std::memory_order_acquire) != 0;
    if (!gone && asks) gone = peer->process.HasEnded();
    if (gone) peer->lost = any = true;
  }
  return any;
}

void Peers::Depart(Public* own) {
  own->departed.store(1, std::memory_order_release);
  for (auto& [token, peer] : peers_) peer->shared->doorbell.Signal();
}

}  // namespace brigade::shm
