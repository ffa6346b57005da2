// ExchangeCost: the cost of patterns in which each rank exchanges messages with all others in one
// round, or with one partner in each round.

#ifndef BRIGADE_PATTERNS_MODEL_EXCHANGE_COST_H_
#define BRIGADE_PATTERNS_MODEL_EXCHANGE_COST_H_

#include "patterns/model/cost_steps.h"

namespace brigade {

// Multi-broadcast in one round of ranks that share memory: each rank copies its own segment in, for
// all others, and the segments of all others out.
SegmentTimes DirectMultiBroadcastTimes(const Steps& steps, const CostQuery& query,
                                       const Segment& segment);

// Multi-reduce in one round: each rank copies a block in for each other rank, and combines the
// blocks that it receives.
SegmentTimes DirectMultiReduceTimes(const Steps& steps, const CostQuery& query,
                                    const Segment& segment);

// Reduce and all-reduce in one round: all ranks send their contributions at once to each rank that
// gets the result, which combines them.
SegmentTimes ExchangeTimes(const Steps& steps, const CostQuery& query, const Segment& segment);

// All-reduce with one partner per dimension. Ranks beyond a power of two send their contributions
// first, and receive the result last.
SegmentTimes HypercubeTimes(const Steps& steps, const CostQuery& query, const Segment& segment);

// If the ranks share memory: one round, or a tree for many ranks. Otherwise dissemination.
SegmentTimes BarrierTimes(const Steps& steps, const CostQuery& query, const Segment& segment);

}  // namespace brigade

#endif  // BRIGADE_PATTERNS_MODEL_EXCHANGE_COST_H_
