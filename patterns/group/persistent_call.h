// PersistentCall: a call whose plan was found and whose arguments were checked once, to be made
// often. MPI's persistent operations.

#ifndef BRIGADE_PATTERNS_GROUP_PERSISTENT_CALL_H_
#define BRIGADE_PATTERNS_GROUP_PERSISTENT_CALL_H_

#include <cstdint>
#include <memory>
#include <utility>

#include "membuf/status.h"
#include "patterns/engine/engine.h"
#include "patterns/engine/group_state.h"
#include "patterns/engine/pattern_call.h"
#include "patterns/group/operation.h"
#include "patterns/plan/plan.h"

namespace brigade {

class PersistentCall {
 public:
  // `call` was checked, and has `plan`. The group must outlive this object.
  PersistentCall(Engine* engine, GroupState* group, const PatternCall& call,
                 std::shared_ptr<const Plan> plan, uint64_t* sequence)
      : engine_(engine), group_(group), call_(call), plan_(std::move(plan)), sequence_(sequence) {}
  PersistentCall(const PersistentCall&) = delete;
  PersistentCall& operator=(const PersistentCall&) = delete;

  // As Group::Run and Group::Start.
  Status Run(OperationStatistics* statistics = nullptr);
  Status Start(std::unique_ptr<Operation>* operation);

 private:
  Engine* const engine_;
  GroupState* const group_;
  const PatternCall call_;
  const std::shared_ptr<const Plan> plan_;
  uint64_t* const sequence_;
};

}  // namespace brigade

#endif  // BRIGADE_PATTERNS_GROUP_PERSISTENT_CALL_H_
