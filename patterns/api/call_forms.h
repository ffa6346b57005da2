// The three forms of a call of the C interface: blocking, started and planned. Each form converts
// the arguments of the program by kConvert(group, given..., &arguments).

#ifndef BRIGADE_PATTERNS_API_CALL_FORMS_H_
#define BRIGADE_PATTERNS_API_CALL_FORMS_H_

#include <memory>

#include "brigade/operation.h"
#include "membuf/status.h"
#include "patterns/api/call_arguments.h"
#include "patterns/api/handles.h"
#include "patterns/api/operation_handle.h"
#include "patterns/api/statistics.h"

namespace brigade {

template <auto kConvert, typename... Given>
Status FillPlan(brigade_plan* plan, brigade_group* group, Given... given) {
  plan->group = group;
  CallArguments& arguments = plan->arguments;
  BRIGADE_RETURN_IF_ERROR(kConvert(group, given..., &arguments));
  BRIGADE_RETURN_IF_ERROR(group->group->Prepare(arguments.call, &plan->call));
  if (!arguments.receive) return Status();
  return group->group->Prepare(*arguments.receive, &plan->receive);
}

template <auto kConvert, typename... Given>
brigade_status PlanCall(brigade_plan** plan, brigade_group* group, Given... given) {
  return Enter(group, [&] {
    return MakeObject("plan", plan, [&](brigade_plan* made) {
      return FillPlan<kConvert>(made, group, given...);
    });
  });
}

template <auto kConvert, typename... Given>
brigade_status StartCall(brigade_operation** operation, brigade_group* group, Given... given) {
  return Enter(group, [&] {
    return MakeObject("operation", operation, [&](brigade_operation* started) -> Status {
      started->own_plan = std::make_unique<brigade_plan>();
      started->plan = started->own_plan.get();
      BRIGADE_RETURN_IF_ERROR(FillPlan<kConvert>(started->plan, group, given...));
      return started->Start();
    });
  });
}

// A blocking call of two parts: both are checked before either begins.
template <auto kConvert, typename... Given>
brigade_status RunPlan(brigade_group* group, Given... given) {
  return Enter(group, [&]() -> Status {
    brigade_plan plan;
    BRIGADE_RETURN_IF_ERROR(FillPlan<kConvert>(&plan, group, given...));
    return WithStatistics(plan.arguments.statistics(),
                          [&](OperationStatistics* did) { return plan.Run(did); });
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
