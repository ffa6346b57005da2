// The three forms of a call of the C interface: blocking, started and planned.

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

// A plan of the arguments that `convert` makes.
template <typename Convert>
Status MakePlan(brigade_group* group, const Convert& convert, std::unique_ptr<brigade_plan>* plan) {
  auto made = std::make_unique<brigade_plan>();
  made->group = group;
  CallArguments& arguments = made->arguments;
  BRIGADE_RETURN_IF_ERROR(convert(&arguments));
  BRIGADE_RETURN_IF_ERROR(group->group->Prepare(arguments.call, &made->call));
  if (arguments.receive) {
    BRIGADE_RETURN_IF_ERROR(group->group->Prepare(*arguments.receive, &made->receive));
  }
  *plan = std::move(made);
  return Status();
}

template <typename Convert>
brigade_status PlanCall(brigade_group* group, brigade_plan** plan, const Convert& convert) {
  return Enter(group, [&]() -> Status {
    BRIGADE_RETURN_IF_ERROR(CheckPointer("plan", plan));
    *plan = nullptr;
    std::unique_ptr<brigade_plan> made;
    BRIGADE_RETURN_IF_ERROR(MakePlan(group, convert, &made));
    *plan = made.release();
    return Status();
  });
}

template <typename Convert>
brigade_status StartCall(brigade_group* group, brigade_operation** operation,
                         const Convert& convert) {
  return Enter(group, [&]() -> Status {
    BRIGADE_RETURN_IF_ERROR(CheckPointer("operation", operation));
    *operation = nullptr;
    auto started = std::make_unique<brigade_operation>();
    BRIGADE_RETURN_IF_ERROR(MakePlan(group, convert, &started->own_plan));
    started->plan = started->own_plan.get();
    BRIGADE_RETURN_IF_ERROR(started->Start());
    *operation = started.release();
    return Status();
  });
}

template <typename Convert>
brigade_status RunPlan(brigade_group* group, const brigade_call_options* options,
                       const Convert& convert) {
  return Enter(group, [&]() -> Status {
    std::unique_ptr<brigade_plan> plan;
    BRIGADE_RETURN_IF_ERROR(MakePlan(group, convert, &plan));
    return WithStatistics(options == nullptr ? nullptr : options->statistics,
                          [&](OperationStatistics* did) { return plan->Run(did); });
  });
}

template <typename Convert>
brigade_status RunCall(brigade_group* group, const Convert& convert) {
  return Enter(group, [&]() -> Status {
    CallArguments arguments;
    BRIGADE_RETURN_IF_ERROR(convert(&arguments));
    brigade_statistics* const statistics =
        arguments.options ? arguments.options->statistics : nullptr;
    return WithStatistics(statistics, [&](OperationStatistics* did) -> Status {
      BRIGADE_RETURN_IF_ERROR(group->group->Run(arguments.call, did));
      arguments.CopyOwnBlock(did);
      return Status();
    });
  });
}

}  // namespace brigade

#endif  // BRIGADE_PATTERNS_API_CALL_FORMS_H_
