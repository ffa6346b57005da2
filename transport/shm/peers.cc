#include "transport/shm/peers.h"

#include <unistd.h>

#include <iterator>
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

Status Peers::Find(const SharedSegment::Address& address, uint64_t public_offset,
                   std::shared_ptr<Peer>* peer) {
  for (auto one = peers_.begin(); one != peers_.end();) {
    one = one->second.expired() ? peers_.erase(one) : std::next(one);
  }
  std::weak_ptr<Peer>& known = peers_[{address.token[0], address.token[1]}];
  *peer = known.lock();
  if (*peer != nullptr) return Status();
  auto found = std::make_shared<Peer>();
  BRIGADE_RETURN_IF_ERROR(SharedSegment::Open(address, &found->segment));
  found->shared = Shared<Public>(found->segment.get(), public_offset, sizeof(Public));
  if (found->shared == nullptr) return Misplaced();
  if (address.process != getpid()) {
    found->process = ProcessWatch(address.process);
  }
  known = *peer = found;
  return Status();
}

bool Peers::LookForLosses() {
  const auto now = std::chrono::steady_clock::now();
  const bool is_due = now - checked_at_ >= std::chrono::microseconds(rules::kShmLossLookUs);
  if (is_due) checked_at_ = now;
  bool any = false;
  for (auto& [token, known] : peers_) {
    const std::shared_ptr<Peer> peer = known.lock();
    if (peer == nullptr || peer->lost || peer->segment.get() == own_) continue;
    bool gone = peer->shared->departed.load(std::memory_order_acquire) != 0;
    if (!gone && is_due) gone = peer->process.HasEnded();
    if (gone) peer->lost = any = true;
  }
  return any;
}

void Peers::Depart(Public* own) {
  own->departed.store(1, std::memory_order_release);
  for (auto& [token, known] : peers_) {
    if (const auto peer = known.lock()) peer->shared->doorbell.Signal();
  }
}

}  // namespace brigade::shm
