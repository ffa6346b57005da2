// ScanCost: what prefix reductions cost.

#ifndef BRIGADE_PATTERNS_MODEL_SCAN_COST_H_
#define BRIGADE_PATTERNS_MODEL_SCAN_COST_H_

#include "patterns/model/cost_steps.h"

namespace brigade {

// A segment, along a chain or by recursive doubling.
SegmentTimes ScanTimes(const Steps& steps, const CostQuery& query, const Segment& segment);

}  // namespace brigade

#endif  // BRIGADE_PATTERNS_MODEL_SCAN_COST_H_
