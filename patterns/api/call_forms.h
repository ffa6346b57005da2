// The three forms of a call of the C interface: blocking, started and planned. Each form converts
// the arguments of the program by kConvert(group, given..., &arguments).

#ifndef BRIGADE_PATTERNS_API_CALL_FORMS_H_
#define BRIGADE_PATTERNS_API_CALL_FORMS_H_

#include <memory>
#include <utility>

#include "brigade/operation.h"
#include "membuf/status.h"
#include "patterns/api/call_arguments.h"
#include "patterns/api/handles.h"
#include "patterns/api/operation_handle.h"
#include "patterns/api/statistics.h"

namespace brigade {

template <auto kConvert, typename... Given>
Status MakePlan(std::unique_ptr<brigade_plan>* plan, brigade_group* group, Given... given) {
  auto made = std::make_unique<brigade_plan>();
  made->group = group;
  CallArguments& arguments = made->arguments;
  BRIGADE_RETURN_IF_ERROR(kConvert(group, given..., &arguments));
  BRIGADE_RETURN_IF_ERROR(group->group->Prepare(arguments.call, &made->call));
  if (arguments.receive) {
    BRIGADE_RETURN_IF_ERROR(group->group->Prepare(*arguments.receive, &made->receive));
  }
  *plan = std::move(made);
  return Status();
}

template <auto kConvert, typename... Given>
brigade_status PlanCall(brigade_plan** plan, brigade_group* group, Given... given) {
  return Enter(group, [&]() -> Status {
    BRIGADE_RETURN_IF_ERROR(CheckPointer("plan", plan));
    *plan = nullptr;
    std::unique_ptr<brigade_plan> made;
    BRIGADE_RETURN_IF_ERROR(MakePlan<kConvert>(&made, group, given...));
    *plan = made.release();
    return Status();
  });
}

template <auto kConvert, typename... Given>
brigade_status StartCall(brigade_operation** operation, brigade_group* group, Given... given) {
  return Enter(group, [&]() -> Status {
    BRIGADE_RETURN_IF_ERROR(CheckPointer("operation", operation));
    *operation = nullptr;
    auto started = std::make_unique<brigade_operation>();
    BRIGADE_RETURN_IF_ERROR(MakePlan<kConvert>(&started->own_plan, group, given...));
    started->plan = started->own_plan.get();
    BRIGADE_RETURN_IF_ERROR(started->Start());
    *operation = started.release();
    return Status();
  });
}

// A blocking call of two parts: both are checked before either begins.
template <auto kConvert, typename... Given>
brigade_status RunPlan(brigade_group* group, Given... given) {
  return Enter(group, [&]() -> Status {
    std::unique_ptr<brigade_plan> plan;
    BRIGADE_RETURN_IF_ERROR(MakePlan<kConvert>(&plan, group, given...));
    return WithStatistics(plan->arguments.statistics(),
                          [&](OperationStatistics* did) { return plan->Run(did); });
  });
}

template <auto kConvert, typename... Given>
brigade_status RunCall(brigade_group* group, Given... given) {
  return Enter(group, [&]() -> Status {
    CallArguments arguments;
    BRIGADE_RETURN_IF_ERROR(kConvert(group, given..., &arguments));
    return WithStatistics(arguments.statistics(), [&](OperationStatistics* did) -> Status {
      BRIGADE_RETURN_IF_ERROR(group->group->Run(arguments.call, did));
      arguments.CopyOwnBlock(did);
      return Status();
    });
  });
}

}  // namespace brigade

#endif  // BRIGADE_PATTERNS_API_CALL_FORMS_H_
