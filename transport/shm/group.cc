#include "transport/shm/group.h"

#include <sched.h>

#include <chrono>
#include <cstring>
#include <thread>

namespace brigade::shm {
namespace {

// Nothing is written to a buffer of this rank afterwards. A sender that copies cannot be stopped;
// it waits for no rank meanwhile. A longer wait is for a sender that the system holds up.
void EndPostedBuffer(InStream* in) {
  constexpr int kYields = 1000;
  constexpr std::chrono::milliseconds kNap(1);
  for (int looks = 0; in->has_posted && !in->edge.WithdrawBuffer() && in->edge.Peek() == nullptr &&
                      !in->edge.broken() && !in->peer->lost;
       ++looks) {
    if (looks < kYields) {
      sched_yield();
      continue;
    }
    if (in->peer->process.HasEnded()) return;
    std::this_thread::sleep_for(kNap);
  }
}

}  // namespace

OutStream* Group::OpenEdge(size_t index, int peer, EdgeMemory* memory) {
  auto* const ring = static_cast<EdgeShared*>(memory->Allocate(sizeof(EdgeShared)));
  if (ring == nullptr) return nullptr;
  out[index] = std::make_unique<OutStream>(ring, memory, members[peer].get(), peer);
  out[index]->edge.peer_memory().SetKernelCopies(members[peer]->segment->address().process,
                                                 &members[peer]->process, kernel_copies);
  if (members[peer]->lost) out[index]->edge.SetLost();
  std::atomic<uint64_t>& entry = directories[rank]->entries()[index];
  uint64_t unopened = 0;
  if (!entry.compare_exchange_strong(unopened, memory->OffsetOf(ring), std::memory_order_acq_rel)) {
    ring->returns.closed_at.store(1, std::memory_order_release);  // the peer closed it before
  }
  return out[index].get();
}

SegmentAt Group::Locate(ConstByteSpan segment) const {
  SegmentAt at;
  at.bytes = segment.bytes;
  const auto lies_with = [&](const Peer& peer, int owner) {
    if (!peer.segment->Contains(segment.data, segment.bytes)) return false;
    at.owner = static_cast<uint32_t>(owner);
    at.offset = static_cast<uint64_t>(segment.data - peer.segment->base());
    return true;
  };
  if (lies_with(*members[rank], rank)) return at;
  for (const auto& [peer, owner] : ranks) {  // leased from somebody
    if (lies_with(*peer, owner)) return at;
  }
  CheckFailed(__FILE__, __LINE__, "a segment outside shared memory");
}

ConstByteSpan Group::SegmentIn(const Slot& slot) const {
  if (slot.kind != Slot::kSegment) return ConstByteSpan();
  SegmentAt at;
  std::memcpy(&at, slot.payload, sizeof(at));
  if (at.owner >= members.size() || members[at.owner] == nullptr) return ConstByteSpan();
  return {members[at.owner]->segment->At(at.offset, at.bytes), at.bytes};
}

bool Group::Write(int peer, ConstByteSpan message, Urgency urgency, EdgeMemory* memory) {
  OutStream* const stream = Out(kControl, peer, memory);
  if (stream == nullptr || !(urgency == Urgency::kUrgent || stream->edge.HasRoom())) return false;
  Slot* slot = stream->edge.Next();
  if (slot == nullptr) slot = stream->edge.NextForSegment();  // it is short of overflow memory
  if (slot == nullptr) return false;
  slot->kind = Slot::kInline;
  slot->bytes = static_cast<uint16_t>(message.bytes);
  if (message.bytes > 0) std::memcpy(slot->payload, message.data, message.bytes);
  (void)stream->edge.Publish(slot);
  // A sleeping peer checks these counters first.
  directories[peer]->control_count.fetch_add(1, std::memory_order_release);
  members[peer]->shared->control_count.fetch_add(1, std::memory_order_release);
  members[peer]->shared->doorbell.Signal();
  if (urgency == Urgency::kWithNext) {
    members[peer]->segment_follows = true;
  } else {
    members[peer]->shared->progress_doorbell.Signal();
  }
  return true;
}

bool Group::WriteControls(EdgeMemory* memory) {
  while (!pending_controls.empty() &&
         (members[pending_controls.front().to]->lost ||
          Write(pending_controls.front().to, pending_controls.front().message.span(),
                Urgency::kUrgent, memory))) {
    pending_controls.pop_front();
  }
  return pending_controls.empty();
}

void Group::CloseEdges() {
  is_closed = true;
  for (int kind = 0; kind < kEdgeKinds; ++kind) {
    for (int peer = 0; peer < size(); ++peer) {
      if (members[peer] == nullptr) continue;
      InStream* const stream = In(static_cast<ChannelKind>(kind), peer);
      stream->receives.clear();
      EndPostedBuffer(stream);
      stream->edge.Close();
    }
  }
}

bool Group::IsOver() {
  if (!left) {
    if (!pending_controls.empty()) return false;  // Write changes directories of members
    for (const auto& stream : in) {
      if (stream != nullptr && stream->leased > 0) return false;
    }
    for (const auto& [peer, r] : ranks) {
      directories[r]->left(size())[rank].store(1, std::memory_order_release);
    }
    left = true;
  }
  for (; gone < size(); ++gone) {
    const Peer* const member = members[gone].get();
    if (member == nullptr || gone == rank || member->lost) continue;
    if (directories[rank]->left(size())[gone].load(std::memory_order_acquire) == 0) return false;
  }
  for (const auto& stream : out) {
    if (stream != nullptr && !stream->under_way.empty()) return false;
  }
  return true;
}

void Group::Free(EdgeMemory* memory) {
  for (const auto& stream : out) {
    if (stream == nullptr) continue;
    stream->edge.FreeMemory();
    memory->Free(stream->ring, sizeof(EdgeShared));
  }
  memory->Free(directories[rank], Directory::Bytes(size()));
}

}  // namespace brigade::shm
