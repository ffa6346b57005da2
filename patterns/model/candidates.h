// Candidates: the variants of a call, ranked by the cost model. A calculation on values that
// all ranks of a group have agreed on, so that all rank alike.
//
// They give the same bits: shapes where the order of a combine is free or nothing is combined, else
// how the message is cut, which never is part of the order.

#ifndef BRIGADE_PATTERNS_MODEL_CANDIDATES_H_
#define BRIGADE_PATTERNS_MODEL_CANDIDATES_H_

#include <string>
#include <vector>

#include "patterns/model/cost_model.h"
#include "patterns/schedule/segment_plan.h"
#include "patterns/schedule/topology.h"
#include "transport/machines/machine_description.h"

namespace brigade {

// One variant of a call.
struct Candidate {
  Topology topology;
  // How the message is cut (PatternCall::segment_bytes); 0: by the rule of PlanSegments.
  size_t segment_bytes = 0;
  Cost cost;
};

// The candidates of `query`, each topology with the segment length that suits it best: first that
// to take, which is the fastest, or steadier and by a twentieth slower at most (by a fifth where
// short messages are reduced): in fewer segments; if in one, with fewer messages in a row; then the
// faster first; last those of which the model is not sure (Cost::in_step). `query.segment_bytes`
// and the topology are not looked at, unless `fixed`: then its topology is the only one (an order
// that must be kept, or the one that the call names). Of topologies that come to the same tree the
// first in the catalogue is there, and of exchanges one.
// O(topologies) predictions.
std::vector<Candidate> RankCandidates(const MachineDescription& machine,
                                      const SegmentSettings& settings, const CostQuery& query,
                                      bool fixed);

// Every topology with every segment length that RankCandidates looks at, in no order; of lengths
// that make equally many segments one.
std::vector<Candidate> AllCandidates(const MachineDescription& machine,
                                     const SegmentSettings& settings, const CostQuery& query);

// "binomial tree in 4 segments".
std::string DescribeCandidate(const Candidate& candidate);

}  // namespace brigade

#endif  // BRIGADE_PATTERNS_MODEL_CANDIDATES_H_
