// TreeCost: what messages along a tree cost, away from its root or towards it; and the cost
// of patterns along one tree, or two.

#ifndef BRIGADE_PATTERNS_MODEL_TREE_COST_H_
#define BRIGADE_PATTERNS_MODEL_TREE_COST_H_

#include <algorithm>
#include <functional>
#include <vector>

#include "patterns/model/cost_steps.h"
#include "patterns/schedule/geometry.h"

namespace brigade {

// One rank's part in one segment, in the steady state: how long each of its resources is needed.
struct Load {
  double processor_us = 0;
  double out_us[2] = {};  // of the ports, by link
  double in_us[2] = {};

  Load operator+(const Load& other) const {
    Load sum = *this;
    sum.processor_us += other.processor_us;
    for (const int link : {0, 1}) {
      sum.out_us[link] += other.out_us[link];
      sum.in_us[link] += other.in_us[link];
    }
    return sum;
  }
  double LongestPort() const { return std::max({out_us[0], out_us[1], in_us[0], in_us[1]}); }
};

class TreeCost {
 public:
  TreeCost(const Steps& steps, const CostQuery& query);

  // When a rank comes (CostQuery::late_us).
  double StartUs(int relative) const {
    return late_us_ * ((relative - first_ + size_) % size_) / std::max(size_ - 1, 1);
  }

  // From the root's having the segment in a slot at `begin_us` until all have copied it out: what
  // the rank takes that is in the call for the longest. `more`: what a rank, by relative rank, does
  // for the segment besides.
  SegmentTimes Down(const Segment& segment, double begin_us,
                    const std::function<Load(int)>& more) const;

  // A rank's part in Down, but for what only the root does.
  Load LoadDown(const Segment& segment, int relative) const;

  // Until the root has combined everything; at leaves own contributions are copied first.
  // `to_matrix`: the root combines in user memory, and nothing comes down: what the rank takes that
  // is in the call for the longest.
  SegmentTimes Up(
      const Segment& segment, bool to_matrix,
      const std::function<Load(int)>& more = [](int) { return Load(); }) const;

  // A rank's part in Up.
  Load LoadUp(const Segment& segment, bool to_matrix, int relative) const;

 private:
  double WireUp(int link, const Segment& segment) const {
    return steps_.Wire(link, segment.wire_bytes(), ChunkRole::kCombineTarget, ChunkRole::kReceive);
  }
  double CopyOut(const TreeNode& node, const Segment& segment) const;
  double CombineAt(const TreeNode& node, bool to_matrix, const Segment& segment) const {
    return node.parent < 0 && to_matrix ? steps_.CombineAtHome(segment.bytes)
                                        : steps_.Combine(ChunkRole::kCombineTarget, segment.bytes);
  }
  // When the partial of `node` is made. `ready_us`: those of its children, by relative rank.
  double ReadyUp(const TreeNode& node, int relative, const Segment& segment, bool to_matrix,
                 const std::vector<double>& ready_us) const;
  int HostOf(int relative) const { return steps_.HostOf(tree_.ToRank(relative)); }
  int LinkBetween(int relative, int other) const {
    return steps_.LinkIndex(tree_.ToRank(relative), tree_.ToRank(other));
  }
  ChunkRole RoleOf(const TreeNode& node) const;
  ChunkRole RoleOfParent(const TreeNode& node) const;

  const Steps& steps_;
  const RankTree tree_;
  const bool ring_;
  const int size_;
  const double late_us_;
  const int first_;
};

SegmentTimes TreeBroadcastTimes(const Steps& steps, const CostQuery& query, const Segment& segment);
SegmentTimes TreeReduceTimes(const Steps& steps, const CostQuery& query, const Segment& segment);
SegmentTimes TreeAllReduceTimes(const Steps& steps, const CostQuery& query, const Segment& segment);

// A segment down, or up, each of two trees, whose ranks have their inner part in one of them.
SegmentTimes TwoTreeTimes(const Steps& steps, const CostQuery& query, const Segment& segment);

}  // namespace brigade

#endif  // BRIGADE_PATTERNS_MODEL_TREE_COST_H_
