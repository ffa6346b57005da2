// RingCost: the cost of patterns whose messages go around a ring of all ranks, or of all hosts.

#ifndef BRIGADE_PATTERNS_MODEL_RING_COST_H_
#define BRIGADE_PATTERNS_MODEL_RING_COST_H_

#include "patterns/model/cost_steps.h"

namespace brigade {

// Returns the link that a ring of all ranks waits for most: 0 within a host, 1 between hosts.
int SlowestLink(const Steps& steps, const CostQuery& query);

// A segment of every block, passed on until all ranks have it. A rank sends what it has just
// received, so latencies count every time; copies are made meanwhile.
SegmentTimes RingMultiBroadcastTimes(const Steps& steps, const CostQuery& query,
                                     const Segment& segment);

// The same by host: blocks of other hosts pass one gate per host, in turn, and each gate sends them
// to the ranks of its host.
SegmentTimes MultiBroadcastByHostTimes(const Steps& steps, const CostQuery& query,
                                       const Segment& segment);

// A segment of every block, whose partial goes around to the rank that gets the block.
SegmentTimes RingMultiReduceTimes(const Steps& steps, const CostQuery& query,
                                  const Segment& segment);

// All-reduce: sums of segment i + 1 and results of segment i take turns on the ring.
SegmentTimes ReduceScatterAllgatherTimes(const Steps& steps, const CostQuery& query,
                                         const Segment& segment);

}  // namespace brigade

#endif  // BRIGADE_PATTERNS_MODEL_RING_COST_H_
