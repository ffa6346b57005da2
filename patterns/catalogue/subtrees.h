// Subtrees: the blocks of all ranks below a node of a tree, which gather and scatter send in one
// message.

#ifndef BRIGADE_PATTERNS_CATALOGUE_SUBTREES_H_
#define BRIGADE_PATTERNS_CATALOGUE_SUBTREES_H_

#include <cstddef>
#include <vector>

#include "patterns/catalogue/compilers.h"
#include "patterns/schedule/geometry.h"
#include "patterns/schedule/schedule.h"
#include "patterns/schedule/topology.h"

namespace brigade {

// Ranks here count from the root, by host as RankTree says.
class Subtrees {
 public:
  // REQUIRES: Shape::kTree, or kIncreasingRings with one ring. `hosts`: as in ScheduleParameters.
  Subtrees(const Topology& topology, int size, int root = 0, const std::vector<int>& hosts = {})
      : ranks_(topology, size, root, hosts),
        size_(size),
        is_ring_(topology.shape == Shape::kIncreasingRings) {}

  TreeNode NodeOf(int relative) const { return ranks_.NodeOf(relative); }
  int ToRank(int relative) const { return ranks_.ToRank(relative); }
  int ToRelative(int rank) const { return ranks_.ToRelative(rank); }
  // Returns how many ranks are at or below `relative`: it and the next ones.
  int RanksFrom(int relative) const;
  // Returns the most blocks of one message: along a tree the most ranks at or below a child of the
  // root, along a ring one.
  int MostTogether() const;
  // Returns whether the root sends to, or receives from, every other rank itself. Each message then
  // holds one block.
  bool is_flat() const { return NodeOf(0).children.size() + 1 == static_cast<size_t>(size_); }

 private:
  const RankTree ranks_;
  const int size_;
  const bool is_ring_;
};

// The same as one rank sees it, with the runs of its schedule. Runs count blocks by rank, or, by
// host, as ranks count from the root: a subtree is a row of blocks either way.
class OwnSubtree : public Subtrees {
 public:
  explicit OwnSubtree(const ScheduleParameters& p)
      : Subtrees(p.topology, p.size, p.root, p.hosts), p_(p), node_(NodeOf(Relative())) {}

  bool is_root() const { return node_.parent < 0; }
  int parent() const { return ToRank(node_.parent); }
  // In increasing order, counted from the root.
  const std::vector<int>& children() const { return node_.children; }

  // Sets what the runs of all ranks have in common.
  void SetRuns(ScheduleBuilder* b) const;
  // Adds the run of the blocks from `relative` down and returns its number. The other two: from
  // this rank down, and its own block alone.
  int AddRunFrom(int relative, ScheduleBuilder* b) const {
    return b->AddRun(PlaceOf(relative), RanksFrom(relative));
  }
  int AddOwnRunFrom(ScheduleBuilder* b) const { return AddRunFrom(Relative(), b); }
  int AddOwnBlock(ScheduleBuilder* b) const { return b->AddRun(PlaceOf(Relative()), 1); }

 private:
  int Relative() const { return ToRelative(p_.rank); }
  int PlaceOf(int relative) const { return p_.hosts.empty() ? ToRank(relative) : relative; }

  const ScheduleParameters& p_;
  const TreeNode node_;
};

}  // namespace brigade

#endif  // BRIGADE_PATTERNS_CATALOGUE_SUBTREES_H_
