// Free topology: which shape a pattern takes where its caller leaves the choice (Shape::kFree).

#ifndef BRIGADE_PATTERNS_MODEL_FREE_TOPOLOGY_H_
#define BRIGADE_PATTERNS_MODEL_FREE_TOPOLOGY_H_

#include <cstddef>

#include "patterns/schedule/pattern.h"
#include "patterns/schedule/topology.h"
#include "transport/capabilities.h"

namespace brigade {

// The ranks of a scope.
struct Ranks {
  int count = 1;
  int hosts = 1;                            // that they are on
  const Capabilities* transport = nullptr;  // that all their edges have
  bool crowded = false;  // all share memory, and outnumber the processors that they may use
};

// The shape for a message of `bytes` bytes, where there are blocks of all of them together; all
// arguments equal on all ranks. `order_free`: nothing is combined, or in any order with the same
// bits.
//
// Of a combine this is also the order of association, so unless that is free only the pattern and
// the numbers of ranks and of bytes count, and what the transport is like not at all: the same call
// has the same bits over every transport and on any hosts. Short combines go along a tree of eight
// branches: few ranks relay, and a relay costs a scheduling delay where ranks outnumber processors.
// Longer ones go along a binomial tree, which spreads the arithmetic, or, to all of 4, 8, 16 ...
// ranks, along a hypercube; long ones along a ring, on which every rank sends and receives the
// message once, or, to all ranks, by reduce-scatter + allgather: less than twice, and on all links
// at once. All-reduces of two ranks, which have one order only, go along a hypercube, but long ones
// in shared memory by reduce-scatter + allgather.
//
// Broadcasts go along the wide tree wherever one copy serves all readers, and so do sums of any
// order, long ones only if ranks share processors; other broadcasts along the ring where links are
// slow and the message is long enough to fill it.
//
// Multi-broadcasts and multi-reduces of up to 120 ranks that are too short to fill a ring go along
// the circulant graph where no two ranks share memory, and, where the order of a sum must be the
// same anywhere, on any hosts: fewer messages in a row. So do multi-reduces of up to eight ranks
// that share memory, to which that graph is one round. All others take the form that goes around.
//
// Gathers and scatters of up to 120 ranks go along the binomial tree if all blocks together are
// short, and not all ranks share memory; all others are direct, so that no relay copies a block.
// All-to-alls are pairwise.
// Scans go by recursive doubling, with fewer messages in a row, and long ones along the chain, on
// which every rank sends and receives the message once.
//
// Calls whose order is free go by host, wherever a host has several ranks, except all-to-alls,
// scans, and long gathers and scatters: the links between hosts are slower than anything within a
// host.
Topology FreeTopology(Pattern pattern, const Ranks& ranks, size_t bytes, bool order_free);

}  // namespace brigade

#endif  // BRIGADE_PATTERNS_MODEL_FREE_TOPOLOGY_H_
