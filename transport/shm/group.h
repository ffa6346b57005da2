// Group: the members of an open group, and the streams between them and this rank.

#ifndef BRIGADE_TRANSPORT_SHM_GROUP_H_
#define BRIGADE_TRANSPORT_SHM_GROUP_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <vector>

#include "membuf/byte_span.h"
#include "membuf/check.h"
#include "transport/channel.h"
#include "transport/control.h"
#include "transport/core/control_queue.h"
#include "transport/edge/edge.h"
#include "transport/edge/edge_memory.h"
#include "transport/host_memory/kernel_copy.h"
#include "transport/shm/peers.h"
#include "transport/shm/streams.h"

namespace brigade::shm {

// Control messages have edges of their own, like a channel.
inline constexpr int kEdgeKinds = kChannelKinds + 1;
inline constexpr auto kControl = static_cast<ChannelKind>(kChannelKinds);

// A directory in the shared segment of each rank, for each of its groups: the beginnings of the
// edges to other members, and the members that do not use them any more.
struct alignas(64) Directory {
  std::atomic<uint32_t> control_count;  // control messages ever written for this rank
  // Follow the directory: [kEdgeKinds][ranks], as InEdge expects.
  std::atomic<uint64_t>* entries() { return reinterpret_cast<std::atomic<uint64_t>*>(this + 1); }
  // Follow the entries, by member: 1 once the member does not read this directory any more.
  std::atomic<uint32_t>* left(int ranks) {
    return reinterpret_cast<std::atomic<uint32_t>*>(entries() + kEdgeKinds * ranks);
  }
  static size_t Bytes(int ranks) {
    return sizeof(Directory) +
           (sizeof(std::atomic<uint64_t>) * kEdgeKinds + sizeof(std::atomic<uint32_t>)) *
               static_cast<size_t>(ranks);
  }
};

// A control message that waits for memory.
struct PendingControl {
  int to;
  ControlMessage message;
};

// An open group, or a closed one whose memory other ranks may still read.
struct Group {
  GroupId id = -1;
  int rank = 0;
  std::vector<std::shared_ptr<Peer>> members;  // null: on another host
  std::vector<Directory*> directories;         // the same
  std::map<const Peer*, int> ranks;            // members on this host
  std::vector<int> hosts;                      // of all members; empty if there is only one host
  // Made at first use; [kind * ranks + peer].
  std::vector<std::unique_ptr<OutStream>> out;
  std::vector<std::unique_ptr<InStream>> in;
  KernelCopies kernel_copies;
  bool crowded = false;  // its ranks on this host outnumber the processors that they may use
  uint32_t controls_seen = 0;
  std::deque<PendingControl> pending_controls;  // wait for memory
  bool is_closed = false;                       // on this rank
  bool left = false;  // other members know that this rank reads none of their edges
  int gone = 0;       // number of first members that read none of this rank's edges

  int size() const { return static_cast<int>(members.size()); }

  // Returns the stream to a member; null: there is no memory for an edge.
  OutStream* Out(ChannelKind kind, int peer, EdgeMemory* memory) {
    const size_t index = IndexOf(kind, peer);
    return out[index] != nullptr ? out[index].get() : OpenEdge(index, peer, memory);
  }
  InStream* In(ChannelKind kind, int peer) {
    std::unique_ptr<InStream>& stream = in[IndexOf(kind, peer)];
    if (stream == nullptr) {
      stream = std::make_unique<InStream>(directories[peer]->entries() + IndexOf(kind, rank),
                                          members[peer].get(), peer, this);
      stream->edge.peer_memory().SetKernelCopies(members[peer]->segment->address().process,
                                                 &members[peer]->process, kernel_copies);
      if (members[peer]->lost) stream->edge.SetLost();
    }
    return stream.get();
  }

  // Converts between a segment, which lies in the shared segment of a member, and its place in a
  // slot; no data if the place is invalid.
  SegmentAt Locate(ConstByteSpan segment) const;
  ConstByteSpan SegmentIn(const Slot& slot) const;

  // Writes a control message; false if there is no room. An urgent one may take an extension.
  // REQUIRES: `peer` is not lost.
  bool Write(int peer, ConstByteSpan message, Urgency urgency, EdgeMemory* memory);
  // Writes the control messages that wait. Returns true if all are written.
  bool WriteControls(EdgeMemory* memory);
  // Calls take(from, message) for every control message that has come.
  template <typename Take>
  void TakeControls(const Take& take);

  // Closes the edges from all members: no further message is taken.
  void CloseEdges();
  // Returns whether a closed group is over: no member can read its memory any more, or needs a
  // notification.
  bool IsOver();
  // REQUIRES: it is over.
  void Free(EdgeMemory* memory);

 private:
  size_t IndexOf(ChannelKind kind, int peer) const {
    BRIGADE_CHECK_LT(static_cast<size_t>(peer), members.size());
    BRIGADE_CHECK(members[peer] != nullptr);
    return static_cast<size_t>(kind) * members.size() + static_cast<size_t>(peer);
  }
  OutStream* OpenEdge(size_t index, int peer, EdgeMemory* memory);
};

template <typename Take>
void Group::TakeControls(const Take& take) {
  const uint32_t written = directories[rank]->control_count.load(std::memory_order_acquire);
  if (written == controls_seen) return;
  controls_seen = written;
  for (const auto& [peer, from] : ranks) {
    InStream* const stream = In(kControl, from);
    InEdge& edge = stream->edge;
    while (const Slot* const slot = edge.Peek()) {
      const ConstByteSpan message = edge.Inline(*slot);
      // Invalid messages are dropped: the sender is faulty.
      if (slot->kind == Slot::kInline && message.data != nullptr &&
          message.bytes <= kMostControlBytes) {
        take(from, message);
      }
      edge.GiveBack(edge.Take(), /*is_segment=*/false);
      // Its sender may wait for room.
      if (++stream->controls_taken % (kRingSlots / 2) == 0) {
        peer->shared->doorbell.Signal();
        peer->shared->progress_doorbell.Signal();
      }
    }
  }
}

}  // namespace brigade::shm

#endif  // BRIGADE_TRANSPORT_SHM_GROUP_H_
