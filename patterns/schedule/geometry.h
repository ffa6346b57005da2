// Geometry: who talks to whom, as pure functions of rank numbers. No message, no memory.
//
// Relative ranks count from the root: for every shape but kDecreasingRings, relative = (rank -
// root) mod size; there, relative = (root - rank) mod size. In every tree here the subtree below a
// rank is a contiguous interval of relative ranks, so "the partial of the lower relative rank is
// the left operand" fixes the order of a combine.

#ifndef BRIGADE_PATTERNS_SCHEDULE_GEOMETRY_H_
#define BRIGADE_PATTERNS_SCHEDULE_GEOMETRY_H_

#include <cstddef>
#include <vector>

#include "patterns/rules.h"
#include "patterns/schedule/topology.h"

namespace brigade {

// Messages that go by host: within one, where one copy serves all readers.
inline constexpr Topology kWithinHost{Shape::kTree, rules::kWideBranches};

struct TreeNode {
  int parent = -1;            // -1 at the root
  std::vector<int> children;  // in increasing relative rank
};

// The place of relative rank `relative` in the tree that `topology` spans over `size` ranks; all
// ranks in the result are relative.
// - kTree, kExchange: children of r are r + j k^i for 0 < j < k below r's lowest non-zero base-k
// digit.
// - Rings: the root's `parameter` chains (clipped to size - 1) cut 1..size-1 into intervals, longer
//   ones first.
// - kSplitRing: the root's children are 1 and size - 1; the upper chain runs downwards and is the
//   shorter by one if lengths differ.
// - kTwoTree, parameter 0 or 1: one tree of the two. Ranks 1..size-1 are the nodes of a binary tree
//   in order, whose inner ranks are even in tree 0 and odd in tree 1, and hang on the root.
//
// REQUIRES: 0 <= relative < size; a shape with trees; a valid parameter.
TreeNode TreeNodeOf(const Topology& topology, int size, int relative);

// Edges from the root to the deepest leaf; of two trees one more at most.
int TreeHeight(const Topology& topology, int size);

// The hypercube of as many ranks as is a power of two and at most `size`: ranks 0..2*extra-1 pair
// up (even, odd), and the even one acts for both.
struct Hypercube {
  explicit Hypercube(int size) {
    while ((2 << dimensions) <= size) ++dimensions;
    extra = size - (1 << dimensions);
  }
  bool IsPaired(int rank) const { return rank < 2 * extra; }
  int CornerOf(int rank) const { return IsPaired(rank) ? rank / 2 : rank - extra; }
  int RankAt(int corner) const { return corner < extra ? 2 * corner : corner + extra; }

  int dimensions = 0;
  int extra;
};

// Relative rank to rank and back; both directions are their own inverse pair.
int ToRelative(const Topology& topology, int size, int root, int rank);
int FromRelative(const Topology& topology, int size, int root, int relative);

// The ranks of each host, increasing; hosts in the order of their first ranks. `hosts`: of each
// rank.
std::vector<std::vector<int>> RanksByHost(const std::vector<int>& hosts);

// Relative ranks where ranks may be on several hosts, and messages go by host: relative ranks count
// from the root through its host, then host after host, each in increasing rank. The hosts are the
// nodes of the tree that `topology` spans, and the first rank of each hangs on the first one of
// another; so each subtree still is an interval.
class RankTree {
 public:
  // `hosts`: of each rank; empty: not by host.
  RankTree(const Topology& topology, int size, int root, const std::vector<int>& hosts);

  int ToRelative(int rank) const;
  int ToRank(int relative) const;
  // REQUIRES: as TreeNodeOf.
  TreeNode NodeOf(int relative) const;

  // The nodes of the shape: hosts where messages go by host, otherwise ranks.
  int places() const { return firsts_.empty() ? size_ : static_cast<int>(firsts_.size()) - 1; }
  // The one that a rank belongs to, counted from the root's.
  int PlaceOf(int relative) const;
  // The relative rank that stands for it.
  int FirstOf(int place) const {
    return firsts_.empty() ? place : firsts_[static_cast<size_t>(place)];
  }
  // The rank's node in the tree of its place, whose root is that rank.
  TreeNode NodeWithinPlace(int relative) const;

 private:
  const Topology topology_;
  const int size_;
  const int root_;
  // By host only.
  std::vector<int> ranks_;      // by relative rank
  std::vector<int> relatives_;  // by rank
  std::vector<int> firsts_;     // the relative rank at which each host begins, and the end
};

}  // namespace brigade

#endif  // BRIGADE_PATTERNS_SCHEDULE_GEOMETRY_H_
