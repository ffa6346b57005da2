// Free topology: which shape a pattern takes where its caller leaves the choice (Shape::kFree).

#ifndef BRIGADE_PATTERNS_FREE_TOPOLOGY_H_
#define BRIGADE_PATTERNS_FREE_TOPOLOGY_H_

#include <cstddef>

#include "patterns/pattern_call.h"
#include "patterns/topology.h"
#include "transport/endpoint.h"

namespace brigade {

// The shape for `ranks` ranks and a message of `bytes` bytes; all arguments equal on all of them.
//
// Of a combine this is also the order of association, so nothing but the first three arguments
// counts, and what the transport is like not at all: the same call has the same bits over every
// transport. Short combines go along a tree of eight branches: few ranks relay, and a relay costs a
// scheduling delay where ranks outnumber processors; between two ranks, which have one order only,
// they are an exchange. Longer ones go along a binomial tree, which spreads the arithmetic; long
// ones along a ring, on which every rank sends and receives the message once.
//
// Broadcasts go along the wide tree wherever one copy serves all readers, and along the ring where
// links are slow and the message is long enough to fill it.
Topology FreeTopology(Pattern pattern, int ranks, size_t bytes, const Capabilities& transport);

}  // namespace brigade

#endif  // BRIGADE_PATTERNS_FREE_TOPOLOGY_H_
