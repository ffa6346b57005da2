// Free topology: which shape a pattern takes where its caller leaves the choice (Shape::kFree).

#ifndef BRIGADE_PATTERNS_FREE_TOPOLOGY_H_
#define BRIGADE_PATTERNS_FREE_TOPOLOGY_H_

#include <cstddef>

#include "patterns/pattern_call.h"
#include "patterns/topology.h"

namespace brigade {

// The shape for `ranks` ranks and a message of `bytes` bytes; all arguments equal on all of them.
//
// Of a combine this is also the order of association, so nothing but the arguments counts, and
// `shares_memory` (the ranks read each other's staging memory) not at all: the same call has the
// same bits over every transport. Short combines go along a tree of eight branches: few ranks
// relay, and a relay costs a scheduling delay where ranks outnumber processors; between two ranks,
// which have one order only, they are an exchange. Long ones go along a binomial tree, which
// spreads the arithmetic. Broadcasts go along the wide tree wherever one copy serves all readers.
Topology FreeTopology(Pattern pattern, int ranks, size_t bytes, bool shares_memory);

}  // namespace brigade

#endif  // BRIGADE_PATTERNS_FREE_TOPOLOGY_H_
