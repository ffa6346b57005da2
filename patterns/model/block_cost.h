// BlockCost: what gather, scatter and all-to-all cost, whose ranks send blocks of their own.

#ifndef BRIGADE_PATTERNS_MODEL_BLOCK_COST_H_
#define BRIGADE_PATTERNS_MODEL_BLOCK_COST_H_

#include "patterns/catalogue/subtrees.h"
#include "patterns/model/cost_steps.h"

namespace brigade {

// The blocks in the messages of a gather or a scatter.
Subtrees SubtreesOf(const Steps& steps, const CostQuery& query);

// A segment of every block, to or from one rank. Along a tree a gather is taken for a scatter
// backwards.
SegmentTimes RootedBlocksTimes(const Steps& steps, const CostQuery& query, const Segment& segment);

// A segment of every block, from all to all, pairwise.
SegmentTimes AllToAllTimes(const Steps& steps, const CostQuery& query, const Segment& segment);

}  // namespace brigade

#endif  // BRIGADE_PATTERNS_MODEL_BLOCK_COST_H_
