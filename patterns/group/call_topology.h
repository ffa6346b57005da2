// The topology of a call that leaves it to the library, and what the model says of all topologies.
// A calculation on what all members have agreed on, so that all choose alike.

#ifndef BRIGADE_PATTERNS_GROUP_CALL_TOPOLOGY_H_
#define BRIGADE_PATTERNS_GROUP_CALL_TOPOLOGY_H_

#include <optional>
#include <vector>

#include "patterns/engine/engine_options.h"
#include "patterns/engine/group_state.h"
#include "patterns/engine/pattern_call.h"
#include "patterns/model/candidates.h"
#include "patterns/model/cost_model.h"

namespace brigade {

// *copy: `call`, its free topology replaced.
const PatternCall& WithTopology(const EngineOptions& options, GroupState* group,
                                const PatternCall& call, std::optional<PatternCall>* copy);

// As Group::Choose, Candidates and Predict.
void ChooseTopology(const EngineOptions& options, GroupState* group, PatternCall* call);
std::vector<Candidate> CandidatesOf(const GroupState& group, const PatternCall& call,
                                    double late_us);
Cost PredictCall(const GroupState& group, const PatternCall& call);

}  // namespace brigade

#endif  // BRIGADE_PATTERNS_GROUP_CALL_TOPOLOGY_H_
