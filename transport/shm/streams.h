// The messages between two ranks on one channel of a group: outgoing and incoming.

#ifndef BRIGADE_TRANSPORT_SHM_STREAMS_H_
#define BRIGADE_TRANSPORT_SHM_STREAMS_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "transport/completion.h"
#include "transport/core/fifo.h"
#include "transport/edge/edge.h"
#include "transport/shm/peers.h"

namespace brigade::shm {

struct Group;

struct OutStream {
  OutStream(EdgeShared* r, EdgeMemory* memory, Peer* p, int peer_rank)
      : ring(r), edge(r, memory, &p->shared->doorbell), peer(p), rank(peer_rank) {}

  struct Sent {
    OutEdge::Receipt receipt;
    Completion* completion;
  };
  EdgeShared* const ring;
  OutEdge edge;
  Peer* const peer;
  const int rank;  // of the peer
  Fifo<Sent> under_way;
  uint64_t released_seen = 0;
};

struct InStream {
  InStream(std::atomic<uint64_t>* entry, Peer* p, int peer_rank, const Group* g)
      : edge(entry, p->segment.get(), &p->shared->doorbell), peer(p), rank(peer_rank), group(g) {}

  struct Receive {
    size_t most_bytes;
    Completion* completion;
  };
  InEdge edge;
  Peer* const peer;
  const int rank;  // of the peer
  const Group* const group;
  Fifo<Receive> receives;
  bool has_posted = false;  // a buffer, for the first of these
  int leased = 0;
  uint32_t controls_taken = 0;
};

}  // namespace brigade::shm

#endif  // BRIGADE_TRANSPORT_SHM_STREAMS_H_
