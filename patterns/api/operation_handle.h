// The handles of plans and of operations under way.

#ifndef BRIGADE_PATTERNS_API_OPERATION_HANDLE_H_
#define BRIGADE_PATTERNS_API_OPERATION_HANDLE_H_

#include <memory>
#include <vector>

#include "brigade/calls.h"
#include "membuf/status.h"
#include "patterns/api/call_arguments.h"
#include "patterns/group/operation.h"
#include "patterns/group/persistent_call.h"

struct brigade_plan {
  brigade_group* group = nullptr;
  brigade::CallArguments arguments;
  std::unique_ptr<brigade::PersistentCall> call;
  std::unique_ptr<brigade::PersistentCall> receive;  // of a send that is also a receive
  bool is_pending = false;

  // Makes the call, and blocks until it is complete.
  brigade::Status Run(brigade::OperationStatistics* statistics);
  brigade::Status CheckIdle() const;
};

struct brigade_operation {
  std::unique_ptr<brigade_plan> own_plan;  // of a call that was started without a plan
  brigade_plan* plan = nullptr;
  std::unique_ptr<brigade::Operation> receive;  // null: the plan has none
  std::unique_ptr<brigade::Operation> call;     // null: the call is complete, with this outcome
  brigade::Status outcome;
  brigade::OperationStatistics copied;  // by Start
  bool is_listed = false;               // of FindDuplicate, in completion.cc

  // Starts the plan's call. On failure nothing was started.
  brigade::Status Start();
  // Progresses once. Returns whether all parts are complete.
  bool Test();
  // Appends the parts that are not known to be complete.
  void ListPending(std::vector<brigade::Operation*>* parts) const;
  // Returns whether all parts are known to be complete.
  bool is_complete() const;
  // Blocks until the operation is complete. Then the plan can be started again.
  brigade::Status Wait(brigade::OperationStatistics* statistics);
};

#endif  // BRIGADE_PATTERNS_API_OPERATION_HANDLE_H_
