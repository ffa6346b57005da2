// MessageCut: the cut of one call, by the lengths that segment_plan.h decides on. A pure function
// of what all its ranks agree on: the executor, the eager executors and the cost model use it.

#ifndef BRIGADE_PATTERNS_SCHEDULE_MESSAGE_CUT_H_
#define BRIGADE_PATTERNS_SCHEDULE_MESSAGE_CUT_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "membuf/status.h"
#include "patterns/schedule/cursor.h"
#include "patterns/schedule/schedule.h"
#include "patterns/schedule/segment_plan.h"
#include "patterns/schedule/shares.h"

namespace brigade {

// The properties that a cut depends on beside lengths.
struct CutRule {
  const SegmentSettings& settings;
  bool pair = false;   // a message from point to point; `settings` are OfPairs
  bool multi = false;  // of blocks, one per rank
  // Each block is cut by its own length alone: no rank knows the longest of all.
  bool each_alone = false;
  // Of one element, in user memory and on the wire. 1 where only bytes count, which may belong to
  // other elements on the other side.
  size_t elem_bytes = 1;
  size_t wire_bytes = 1;
  int ranks = 1;            // of the scope
  size_t wanted_bytes = 0;  // as in PlanSegments
};

// The plan of the matrix, or, where there are several, of the longest block or share.
inline SegmentPlan PlanLongest(const CutRule& rule, const Shares& shares, size_t longest_bytes) {
  if (rule.pair) return PlanMessage(rule.settings, longest_bytes);
  const int row = shares.count > 0 ? shares.row : rule.multi ? std::min(rule.ranks, 2) : rule.ranks;
  return PlanSegments(rule.settings, longest_bytes, rule.elem_bytes, rule.wire_bytes, row,
                      rule.wanted_bytes);
}

// Returns whether the pool's core holds all slots that the lanes before the last one open, which no
// rank may give back before this rank is in the last lane, and the slots that the last lane opens.
bool FitsCore(const Schedule& schedule, const SegmentSettings& settings);

// The longest segment, of `segment_bytes` at most, of which `blocks` blocks can send one each in a
// message; 0: there is no room for an element of each.
size_t SegmentBytesTogether(const CutRule& rule, int blocks, size_t segment_bytes);

class MessageCut {
 public:
  // `schedule` must outlive the cut. `block_bytes` counts if the rule is multi, otherwise
  // `matrix_bytes`. kInvalidArgument: chunks have no room for the segments of one
  // message.
  Status Cut(const CutRule& rule, const Schedule& schedule, size_t matrix_bytes,
             const std::vector<size_t>& block_bytes);

  // There is one segment until SetPlan: a receive does not know its sender's plan before.
  void AwaitPlan();
  void SetPlan(const SegmentPlan& plan);
  bool plan_known() const { return plan_known_; }
  // Cuts a block, or what steps call so, to its first `segments`: the last of them brings the rest.
  void EndAfter(int block, int64_t segments) {
    plan_segments_[static_cast<size_t>(block + 1)] = segments;
    turns_.Set(schedule_->shares, plan_segments_);
  }

  // Rounds, and the segments of the matrix and of what steps call blocks.
  const Turns& turns() const { return turns_; }
  // In all, of the matrix, or of its shares, or of all blocks.
  int64_t segments() const { return all_segments_; }
  // Of the matrix, or of the longest block or share, and of its segments.
  size_t longest_bytes() const { return longest_bytes_; }
  size_t segment_bytes() const { return segment_bytes_; }

  // Whether steps speak of runs, whose messages hold several blocks.
  bool in_runs() const { return !run_blocks_.empty(); }
  // In the following `block` is -1 for the matrix, or what steps call a block.
  size_t TotalBytes(int block) const { return PlanOf(block).total_bytes; }
  // Of the lengths of a run's blocks.
  uint16_t Digest(int block) const {
    return in_runs() ? run_digests_[static_cast<size_t>(block)] : uint16_t{0};
  }
  // Of a run the offset means nothing.
  SegmentPlan::Range RangeOf(int block, int64_t segment) const {
    if (!in_runs()) return PlanOf(block).RangeOf(segment);
    const BlockRun& run = schedule_->runs[static_cast<size_t>(block)];
    return {0, RunBytes(run.first, run.count, segment)};
  }

  // Of runs: the plan of one of their blocks, and the bytes of segment `segment` of `count` blocks,
  // the first of them `first`.
  const SegmentPlan& PlanInRun(int block) const { return run_blocks_[static_cast<size_t>(block)]; }
  size_t RunBytes(int first, int count, int64_t segment) const;

 private:
  const SegmentPlan& PlanOf(int block) const { return plans_[static_cast<size_t>(block + 1)]; }
  // The lengths of what is cut.
  void List(const CutRule& rule, const Shares& shares, size_t matrix_bytes,
            const std::vector<size_t>& block_bytes);
  // Replaces the plans of blocks by those of the schedule's runs, with shorter segments.
  Status CutRuns(const CutRule& rule);

  const Schedule* schedule_ = nullptr;
  int ranks_ = 1;
  // Index 0 is the matrix, 1 + q what steps call block q.
  std::vector<SegmentPlan> plans_;
  std::vector<int64_t> plan_segments_;
  Turns turns_;
  std::vector<SegmentPlan> run_blocks_;  // of the blocks, where steps speak of runs
  std::vector<uint16_t> run_digests_;    // of each run
  bool are_alike_ = false;               // the blocks, where steps speak of runs
  int64_t all_segments_ = 0;
  size_t longest_bytes_ = 0;
  size_t segment_bytes_ = 0;
  bool plan_known_ = true;
};

}  // namespace brigade

#endif  // BRIGADE_PATTERNS_SCHEDULE_MESSAGE_CUT_H_
