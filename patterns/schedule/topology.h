// Topology: the shape along which a pattern's messages travel, before any rank count is known.

#ifndef BRIGADE_PATTERNS_SCHEDULE_TOPOLOGY_H_
#define BRIGADE_PATTERNS_SCHEDULE_TOPOLOGY_H_

#include <cstdint>
#include <string>

namespace brigade {

enum class Shape : uint8_t {
  // k-nomial tree; parameter = k >= 2. k = 2 is the binomial tree.
  kTree,
  // `parameter` chains leaving the root, of nearly equal length, ranks increasing; 1 is the
  // increasing ring. Clipped to ranks - 1, where it is the fully connected form.
  kIncreasingRings,
  // The same with ranks decreasing.
  kDecreasingRings,
  // One chain each way, ranks 1.. and -1.. from the root.
  kSplitRing,
  // Every rank exchanges with a partner per dimension (combines only; the result is everywhere).
  kHypercube,
  // Reduce-scatter + allgather along the ring, as Rabenseifner's algorithm: each rank combines one
  // equal share of the matrix, then all get all shares (all-reduce only; the result is everywhere).
  kReduceScatterAllgather,
  // Two trees whose inner ranks differ, each for half of the matrix: every rank sends and receives
  // about the matrix once (broadcast and reduce). Matrices of up to rules::kUncutBytes are not cut
  // and go along the binomial tree, here and in the next shape.
  kTwoTree,
  // Blocks along a circulant graph: n of them in n - 1 + ceil(log2 ranks) messages in a row, which
  // is the least there is (broadcast and reduce). Multi-broadcast, multi-reduce, and all-to-all of
  // equal blocks: several blocks in each message, which must have room for an element of each.
  kCirculant,
  // Each rank that gets the result receives all contributions, where memory is shared, and combines
  // them in the order of the k-nomial tree; parameter = k >= 2 (reduce and all-reduce). A call
  // cannot name it: it is that tree in fewer rounds.
  kExchange,
  // The library's choice (free_topology.h).
  kFree,
};

struct Topology {
  Shape shape = Shape::kTree;
  int parameter = 2;
  // The nodes of the shape are hosts; within a host messages go along a tree with k = 8. No
  // difference where all ranks are on one host.
  bool by_host = false;
};

inline bool operator==(const Topology& a, const Topology& b) {
  return a.shape == b.shape && a.parameter == b.parameter && a.by_host == b.by_host;
}

// Branches of a tree that is flat on any number of ranks.
inline constexpr int kFlatBranches = 1 << 20;

// "binomial tree", "increasing ring by host", ...
std::string TopologyName(const Topology& topology);

}  // namespace brigade

#endif  // BRIGADE_PATTERNS_SCHEDULE_TOPOLOGY_H_
