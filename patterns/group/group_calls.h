// Group calls: how a group runs and starts calls. A call's plan is found or made, and its protocols
// are tried in turn.

#ifndef BRIGADE_PATTERNS_GROUP_GROUP_CALLS_H_
#define BRIGADE_PATTERNS_GROUP_GROUP_CALLS_H_

#include <memory>

#include "membuf/status.h"
#include "patterns/engine/engine.h"
#include "patterns/engine/group_state.h"
#include "patterns/engine/out_of_memory.h"
#include "patterns/engine/pattern_call.h"
#include "patterns/group/operation.h"
#include "patterns/group/persistent_call.h"
#include "patterns/plan/plan.h"

namespace brigade {

// Finds the plan of a call, or makes it. kInvalidArgument: no rank can make such a call. REQUIRES:
// the caller is the progress owner.
Status FindPlan(const Engine& engine, GroupState* group, const PatternCall& call,
                const Plan** plan);
// Makes progress on everything, and returns the group's failure. REQUIRES: the caller is the
// progress owner.
Status ProgressAll(Engine* engine, const GroupState& group);
// Runs part of what all members do together. If memory is used up, breaks the group: other members
// may be waiting for this rank. REQUIRES: as RunCall.
template <typename Part>
Status BreakIfOutOfMemory(Engine* engine, GroupState* group, const Part& part) {
  const Status status = CatchOutOfMemory(part);
  if (status.code() == StatusCode::kOutOfMemory) {
    const Engine::ProgressGuard guard(engine);
    engine->BreakGroup(group, status);
  }
  return status;
}
// As Group::Run, Start and Prepare.
Status RunCall(Engine* engine, GroupState* group, const PatternCall& call,
               OperationStatistics* statistics = nullptr);
Status StartCall(Engine* engine, GroupState* group, const PatternCall& call,
                 std::unique_ptr<Operation>* operation);
Status PrepareCall(Engine* engine, GroupState* group, const PatternCall& call,
                   std::unique_ptr<PersistentCall>* prepared);

}  // namespace brigade

#endif  // BRIGADE_PATTERNS_GROUP_GROUP_CALLS_H_
