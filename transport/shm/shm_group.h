// What a shm endpoint knows of its peers and groups, and what of it lies in shared memory.

#ifndef BRIGADE_TRANSPORT_SHM_SHM_GROUP_H_
#define BRIGADE_TRANSPORT_SHM_SHM_GROUP_H_

#include <sched.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "membuf/check.h"
#include "transport/completion.h"
#include "transport/core/fifo.h"
#include "transport/edge/bell.h"
#include "transport/edge/edge.h"
#include "transport/edge/shared_segment.h"
#include "transport/endpoint.h"
#include "transport/host/host.h"

namespace brigade::shm {

// In the segment of each rank.
struct alignas(64) Public {
  Bell bell;
  std::atomic<uint32_t> departed;
};

// In the segment of each rank, for each of its groups: where the edges begin that lead away from
// it.
struct alignas(64) Directory {
  std::atomic<uint32_t> closed_by;  // members that use it no more
  // Behind it: std::atomic<uint64_t>[kChannelKinds][ranks], as InEdge expects them.
  std::atomic<uint64_t>* entries() { return reinterpret_cast<std::atomic<uint64_t>*>(this + 1); }
  static size_t Bytes(int ranks) {
    return sizeof(Directory) + sizeof(std::atomic<uint64_t>) * kChannelKinds * ranks;
  }
};

// What the members of a new group tell each other.
struct Introduction {
  Host host;
  SharedSegment::Address segment;
  uint64_t public_offset = 0;
  uint64_t directory_offset = 0;
  cpu_set_t processors{};
  int32_t processor_quota = 0;
};
struct Verdict {
  int32_t failed = 0;
  char reason[252] = {};
};

// A rank of this host, in any number of groups.
struct Peer {
  ~Peer() {
    if (handle >= 0) close(handle);
  }
  std::shared_ptr<SharedSegment> segment;
  Public* shared = nullptr;
  int handle = -1;  // of the process (pidfd); -1: this process, or none to be had
  bool lost = false;
};

// The messages to one rank on one channel.
struct OutStream {
  OutStream(EdgeRing* r, EdgeMemory* memory, Peer* p, int peer_rank)
      : ring(r), edge(r, memory, &p->shared->bell), peer(p), rank(peer_rank) {}

  struct Sent {
    OutEdge::Receipt receipt;
    Completion* completion;
  };
  EdgeRing* const ring;
  OutEdge edge;
  Peer* const peer;
  const int rank;  // of the peer
  std::vector<Sent> under_way;
  uint64_t released_seen = 0;
};

// The messages from one rank on one channel.
struct InStream {
  InStream(std::atomic<uint64_t>* entry, Peer* p, int r, GroupId g)
      : edge(entry, p->segment.get(), &p->shared->bell), peer(p), rank(r), group(g) {}

  struct Receive {
    size_t most_bytes;
    Completion* completion;
  };
  InEdge edge;
  Peer* const peer;
  const int rank;
  const GroupId group;
  Fifo<Receive> receives;
  int leased = 0;
};

// An open group, or one whose memory others may still look at.
struct Group {
  GroupId id = -1;
  int rank = 0;
  std::vector<Peer*> members;           // null: on another host
  std::vector<Directory*> directories;  // the same
  std::map<const Peer*, int> ranks;     // of those on this host
  std::vector<int> hosts;               // of all members; empty if there is one only
  // Made at first use; [kind * ranks + peer].
  std::vector<std::unique_ptr<OutStream>> out;
  std::vector<std::unique_ptr<InStream>> in;
  bool left = false;  // and the others know that this rank looks at none of their edges any more

  int size() const { return static_cast<int>(members.size()); }
  size_t IndexOf(ChannelKind kind, int peer) const {
    BRIGADE_CHECK_LT(static_cast<size_t>(peer), members.size());
    BRIGADE_CHECK(members[peer] != nullptr);
    return static_cast<size_t>(kind) * members.size() + static_cast<size_t>(peer);
  }
};

}  // namespace brigade::shm

#endif  // BRIGADE_TRANSPORT_SHM_SHM_GROUP_H_
