// The topology of a call that leaves it to the library, and what the model says of all topologies.
// A calculation on values that all members have agreed on, so that all choose alike.

#ifndef BRIGADE_PATTERNS_PLAN_CALL_TOPOLOGY_H_
#define BRIGADE_PATTERNS_PLAN_CALL_TOPOLOGY_H_

#include <string>
#include <vector>

#include "patterns/engine/engine_options.h"
#include "patterns/engine/group_state.h"
#include "patterns/engine/pattern_call.h"
#include "patterns/model/candidates.h"
#include "patterns/model/cost_model.h"
#include "patterns/model/model_choice.h"
#include "patterns/plan/signature.h"

namespace brigade {

// Returns the topology and the segments of a call of up to `counts` bytes: the named topology, the
// rule's or the model's. *reason, for people: why; empty if the call's topology stays.
ModelChoice ChooseTopology(const EngineOptions& options, const GroupState& group,
                           const PatternCall& call, const ByteCounts& counts, std::string* reason);

// Returns, for people, that a call takes `taken` for the topology that it names, and the predicted
// cost of a message of `longest` bytes if the group's edges were measured. REQUIRES: the pattern
// has topologies, and the call has the right ones.
std::string ExplainNamed(const GroupState& group, const PatternCall& call, const Topology& taken,
                         size_t longest);

// As Group::Candidates and Predict.
std::vector<Candidate> CandidatesOf(const GroupState& group, const PatternCall& call,
                                    double late_us);
Cost PredictCall(const GroupState& group, const PatternCall& call);

}  // namespace brigade

#endif  // BRIGADE_PATTERNS_PLAN_CALL_TOPOLOGY_H_
