// PeerRules: the algorithm that Open MPI takes for a collective without settings: the fixed rules
// of its component coll/tuned, as of release 4.1.4, as data.

#ifndef BRIGADE_BENCH_SIMULATED_PEER_RULES_H_
#define BRIGADE_BENCH_SIMULATED_PEER_RULES_H_

#include <cstddef>
#include <cstdint>

#include "patterns/engine/pattern_call.h"

namespace brigade::bench {

enum class PeerAlgorithm : uint8_t {
  kLinear,            // the root to everybody
  kBinary,            // a binary tree, filled level by level
  kBinomial,          // the same with a binomial tree
  kFourNomial,        // and with a 4-nomial one
  kScatterAllGather,  // scattered along a binomial tree, gathered by recursive doubling
  kInOrderBinary,     // a binary tree in which all ranks of a subtree follow each other
  kGatherBroadcast,   // all to rank 0, one after the other, and a broadcast
  kBruck,             // as many blocks as there are, to ranks 1, 2, 4, ... away
  kRing,
  kNeighbourExchange,  // two blocks at a time, with either neighbour in turn
  kRecursiveHalving,   // the farthest partner first
  kButterfly,          // the nearest partner first, and blocks to their owners at the end
  kNotWritten,         // others, which no length of the scale study meets
};
const char* PeerAlgorithmName(PeerAlgorithm algorithm);

// For kBroadcast, kReduce, and, as MPI_Allgatherv and MPI_Reduce_scatter, kMultiBroadcast and
// kMultiReduce with equal blocks. `bytes`: of the matrix, or of all blocks together. A sum of
// doubles, which Open MPI takes to be commutative. None of them is cut into segments: the rules
// have no segments. REQUIRES: ranks >= 8.
PeerAlgorithm PeerAlgorithmFor(Pattern pattern, int ranks, size_t bytes);

}  // namespace brigade::bench

#endif  // BRIGADE_BENCH_SIMULATED_PEER_RULES_H_
