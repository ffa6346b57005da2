// Group calls: how a group runs and starts calls: normalised, checked, and given to the first that
// takes them of the short paths and the executor.

#ifndef BRIGADE_PATTERNS_GROUP_GROUP_CALLS_H_
#define BRIGADE_PATTERNS_GROUP_GROUP_CALLS_H_

#include <memory>

#include "membuf/status.h"
#include "patterns/engine/engine.h"
#include "patterns/engine/group_state.h"
#include "patterns/engine/pattern_call.h"
#include "patterns/group/operation.h"

namespace brigade {

// The group's failure, if others have given it up by now. REQUIRES: the caller is the driver.
Status LookAround(Engine* engine, const GroupState& group);
// As Group::Run and Start.
Status RunCall(Engine* engine, GroupState* group, const PatternCall& call,
               OperationStatistics* statistics = nullptr);
Status StartCall(Engine* engine, GroupState* group, const PatternCall& call,
                 std::unique_ptr<Operation>* operation);

}  // namespace brigade

#endif  // BRIGADE_PATTERNS_GROUP_GROUP_CALLS_H_
