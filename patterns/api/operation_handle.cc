#include "patterns/api/operation_handle.h"

#include <memory>
#include <vector>

#include "patterns/api/handles.h"

using brigade::OperationStatistics;
using brigade::Status;

Status brigade_plan::CheckIdle() const {
  if (!is_pending) return Status();
  return brigade::Invalid("an operation of the plan is pending: wait for it, or make another plan");
}

Status brigade_plan::Run(OperationStatistics* statistics) {
  BRIGADE_RETURN_IF_ERROR(CheckIdle());
  std::unique_ptr<brigade::Operation> started;
  if (receive != nullptr) BRIGADE_RETURN_IF_ERROR(receive->Start(&started));
  Status outcome = call->Run(statistics);
  if (receive != nullptr) {
    OperationStatistics received;
    OperationStatistics* const counted = statistics == nullptr ? nullptr : &received;
    const Status status = started->Wait(counted);
    if (outcome.ok()) outcome = status;
    if (statistics != nullptr) *statistics += received;
  }
  if (outcome.ok()) arguments.CopyOwnBlock(statistics);
  return outcome;
}

Status brigade_operation::Start() {
  BRIGADE_RETURN_IF_ERROR(plan->CheckIdle());
  if (plan->receive != nullptr) {
    BRIGADE_RETURN_IF_ERROR(plan->receive->Start(&receive));
  }
  const Status started = plan->call->Start(&call);
  if (!started.ok() && receive == nullptr) return started;
  outcome = started;  // the receive cannot be taken back
  plan->arguments.CopyOwnBlock(&copied);
  plan->is_pending = true;
  return Status();
}

bool brigade_operation::Test() {
  if (receive == nullptr) return call == nullptr || call->Test();
  std::vector<brigade::Operation*> parts;
  ListPending(&parts);
  if (!parts.empty()) brigade::Operation::Advance(parts, /*waits=*/false);
  return is_complete();
}

void brigade_operation::ListPending(std::vector<brigade::Operation*>* parts) const {
  for (brigade::Operation* const part : {receive.get(), call.get()}) {
    if (part != nullptr && !part->is_complete()) parts->push_back(part);
  }
}

bool brigade_operation::is_complete() const {
  return (receive == nullptr || receive->is_complete()) && (call == nullptr || call->is_complete());
}

Status brigade_operation::Wait(OperationStatistics* statistics) {
  if (call != nullptr) outcome = call->Wait(statistics);
  if (receive != nullptr) {
    OperationStatistics received;
    const Status status = receive->Wait(statistics == nullptr ? nullptr : &received);
    if (outcome.ok()) outcome = status;
    if (statistics != nullptr) *statistics += received;
  }
  if (statistics != nullptr) *statistics += copied;
  plan->is_pending = false;
  return outcome;
}
