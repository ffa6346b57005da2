// The C interface: the calls, each blocking, started and planned.

#include "brigade/calls.h"

#include <memory>
#include <utility>

#include "patterns/api/call_arguments.h"
#include "patterns/api/handles.h"
#include "patterns/api/operation_handle.h"
#include "patterns/api/statistics.h"

using brigade::CallArguments;
using brigade::CheckPointer;
using brigade::Status;

namespace {

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
  return brigade::Enter(group, [&]() -> Status {
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
  return brigade::Enter(group, [&]() -> Status {
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
  return brigade::Enter(group, [&]() -> Status {
    std::unique_ptr<brigade_plan> plan;
    BRIGADE_RETURN_IF_ERROR(MakePlan(group, convert, &plan));
    return brigade::WithStatistics(
        options == nullptr ? nullptr : options->statistics,
        [&](brigade::OperationStatistics* did) { return plan->Run(did); });
  });
}

template <typename Convert>
brigade_status RunCall(brigade_group* group, const Convert& convert) {
  return brigade::Enter(group, [&]() -> Status {
    CallArguments arguments;
    BRIGADE_RETURN_IF_ERROR(convert(&arguments));
    brigade_statistics* const statistics =
        arguments.options ? arguments.options->statistics : nullptr;
    BRIGADE_RETURN_IF_ERROR(brigade::WithStatistics(
        statistics,
        [&](brigade::OperationStatistics* did) { return group->group->Run(arguments.call, did); }));
    arguments.CopyOwnBlock();
    return Status();
  });
}

}  // namespace

brigade_status brigade_send(brigade_group* group, const brigade_matrix* source, brigade_type type,
                            int destination, const brigade_call_options* options) {
  return RunCall(group, [&](CallArguments* to) {
    return brigade::ToSend(group, source, type, destination, options, to);
  });
}
brigade_status brigade_send_start(brigade_group* group, const brigade_matrix* source,
                                  brigade_type type, int destination,
                                  const brigade_call_options* options,
                                  brigade_operation** operation) {
  return StartCall(group, operation, [&](CallArguments* to) {
    return brigade::ToSend(group, source, type, destination, options, to);
  });
}
brigade_status brigade_plan_send(brigade_group* group, const brigade_matrix* source,
                                 brigade_type type, int destination,
                                 const brigade_call_options* options, brigade_plan** plan) {
  return PlanCall(group, plan, [&](CallArguments* to) {
    return brigade::ToSend(group, source, type, destination, options, to);
  });
}

brigade_status brigade_recv(brigade_group* group, const brigade_matrix* destination,
                            brigade_type type, int source, const brigade_call_options* options) {
  return RunCall(group, [&](CallArguments* to) {
    return brigade::ToReceive(group, destination, type, source, options, to);
  });
}
brigade_status brigade_recv_start(brigade_group* group, const brigade_matrix* destination,
                                  brigade_type type, int source,
                                  const brigade_call_options* options,
                                  brigade_operation** operation) {
  return StartCall(group, operation, [&](CallArguments* to) {
    return brigade::ToReceive(group, destination, type, source, options, to);
  });
}
brigade_status brigade_plan_recv(brigade_group* group, const brigade_matrix* destination,
                                 brigade_type type, int source, const brigade_call_options* options,
                                 brigade_plan** plan) {
  return PlanCall(group, plan, [&](CallArguments* to) {
    return brigade::ToReceive(group, destination, type, source, options, to);
  });
}

brigade_status brigade_sendrecv(brigade_group* group, const brigade_matrix* sent, int destination,
                                const brigade_matrix* received, int source, brigade_type type,
                                const brigade_call_options* options) {
  // Both halves are checked before either begins.
  return RunPlan(group, options, [&](CallArguments* to) {
    return brigade::ToSendReceive(group, sent, destination, received, source, type, options, to);
  });
}
brigade_status brigade_sendrecv_start(brigade_group* group, const brigade_matrix* sent,
                                      int destination, const brigade_matrix* received, int source,
                                      brigade_type type, const brigade_call_options* options,
                                      brigade_operation** operation) {
  return StartCall(group, operation, [&](CallArguments* to) {
    return brigade::ToSendReceive(group, sent, destination, received, source, type, options, to);
  });
}
brigade_status brigade_plan_sendrecv(brigade_group* group, const brigade_matrix* sent,
                                     int destination, const brigade_matrix* received, int source,
                                     brigade_type type, const brigade_call_options* options,
                                     brigade_plan** plan) {
  return PlanCall(group, plan, [&](CallArguments* to) {
    return brigade::ToSendReceive(group, sent, destination, received, source, type, options, to);
  });
}

brigade_status brigade_bcast(brigade_group* group, const brigade_matrix* buffer, brigade_type type,
                             int root, const brigade_call_options* options) {
  return RunCall(group, [&](CallArguments* to) {
    return brigade::ToBroadcast(group, buffer, type, root, options, to);
  });
}
brigade_status brigade_bcast_start(brigade_group* group, const brigade_matrix* buffer,
                                   brigade_type type, int root, const brigade_call_options* options,
                                   brigade_operation** operation) {
  return StartCall(group, operation, [&](CallArguments* to) {
    return brigade::ToBroadcast(group, buffer, type, root, options, to);
  });
}
brigade_status brigade_plan_bcast(brigade_group* group, const brigade_matrix* buffer,
                                  brigade_type type, int root, const brigade_call_options* options,
                                  brigade_plan** plan) {
  return PlanCall(group, plan, [&](CallArguments* to) {
    return brigade::ToBroadcast(group, buffer, type, root, options, to);
  });
}

brigade_status brigade_reduce(brigade_group* group, const brigade_matrix* source,
                              const brigade_matrix* result, brigade_type type, brigade_op op,
                              int root, const brigade_call_options* options) {
  return RunCall(group, [&](CallArguments* to) {
    return brigade::ToReduce(group, source, result, type, op, root, options, to);
  });
}
brigade_status brigade_reduce_start(brigade_group* group, const brigade_matrix* source,
                                    const brigade_matrix* result, brigade_type type, brigade_op op,
                                    int root, const brigade_call_options* options,
                                    brigade_operation** operation) {
  return StartCall(group, operation, [&](CallArguments* to) {
    return brigade::ToReduce(group, source, result, type, op, root, options, to);
  });
}
brigade_status brigade_plan_reduce(brigade_group* group, const brigade_matrix* source,
                                   const brigade_matrix* result, brigade_type type, brigade_op op,
                                   int root, const brigade_call_options* options,
                                   brigade_plan** plan) {
  return PlanCall(group, plan, [&](CallArguments* to) {
    return brigade::ToReduce(group, source, result, type, op, root, options, to);
  });
}

brigade_status brigade_allreduce(brigade_group* group, const brigade_matrix* source,
                                 const brigade_matrix* result, brigade_type type, brigade_op op,
                                 const brigade_call_options* options) {
  return RunCall(group, [&](CallArguments* to) {
    return brigade::ToAllReduce(group, source, result, type, op, options, to);
  });
}
brigade_status brigade_allreduce_start(brigade_group* group, const brigade_matrix* source,
                                       const brigade_matrix* result, brigade_type type,
                                       brigade_op op, const brigade_call_options* options,
                                       brigade_operation** operation) {
  return StartCall(group, operation, [&](CallArguments* to) {
    return brigade::ToAllReduce(group, source, result, type, op, options, to);
  });
}
brigade_status brigade_plan_allreduce(brigade_group* group, const brigade_matrix* source,
                                      const brigade_matrix* result, brigade_type type,
                                      brigade_op op, const brigade_call_options* options,
                                      brigade_plan** plan) {
  return PlanCall(group, plan, [&](CallArguments* to) {
    return brigade::ToAllReduce(group, source, result, type, op, options, to);
  });
}

brigade_status brigade_allgather(brigade_group* group, const brigade_matrix* source,
                                 const brigade_matrix* result, brigade_type type,
                                 const brigade_call_options* options) {
  return RunCall(group, [&](CallArguments* to) {
    return brigade::ToAllGather(group, source, result, type, options, to);
  });
}
brigade_status brigade_allgather_start(brigade_group* group, const brigade_matrix* source,
                                       const brigade_matrix* result, brigade_type type,
                                       const brigade_call_options* options,
                                       brigade_operation** operation) {
  return StartCall(group, operation, [&](CallArguments* to) {
    return brigade::ToAllGather(group, source, result, type, options, to);
  });
}
brigade_status brigade_plan_allgather(brigade_group* group, const brigade_matrix* source,
                                      const brigade_matrix* result, brigade_type type,
                                      const brigade_call_options* options, brigade_plan** plan) {
  return PlanCall(group, plan, [&](CallArguments* to) {
    return brigade::ToAllGather(group, source, result, type, options, to);
  });
}

brigade_status brigade_allgatherv(brigade_group* group, const brigade_matrix* source,
                                  const brigade_matrix* blocks, size_t matrix_bytes,
                                  brigade_type type, const brigade_call_options* options) {
  return RunCall(group, [&](CallArguments* to) {
    return brigade::ToAllGatherV(group, source, blocks, matrix_bytes, type, options, to);
  });
}
brigade_status brigade_allgatherv_start(brigade_group* group, const brigade_matrix* source,
                                        const brigade_matrix* blocks, size_t matrix_bytes,
                                        brigade_type type, const brigade_call_options* options,
                                        brigade_operation** operation) {
  return StartCall(group, operation, [&](CallArguments* to) {
    return brigade::ToAllGatherV(group, source, blocks, matrix_bytes, type, options, to);
  });
}
brigade_status brigade_plan_allgatherv(brigade_group* group, const brigade_matrix* source,
                                       const brigade_matrix* blocks, size_t matrix_bytes,
                                       brigade_type type, const brigade_call_options* options,
                                       brigade_plan** plan) {
  return PlanCall(group, plan, [&](CallArguments* to) {
    return brigade::ToAllGatherV(group, source, blocks, matrix_bytes, type, options, to);
  });
}

brigade_status brigade_reduce_scatter(brigade_group* group, const brigade_matrix* source,
                                      const brigade_matrix* result, brigade_type type,
                                      brigade_op op, const brigade_call_options* options) {
  return RunCall(group, [&](CallArguments* to) {
    return brigade::ToReduceScatter(group, source, result, type, op, options, to);
  });
}
brigade_status brigade_reduce_scatter_start(brigade_group* group, const brigade_matrix* source,
                                            const brigade_matrix* result, brigade_type type,
                                            brigade_op op, const brigade_call_options* options,
                                            brigade_operation** operation) {
  return StartCall(group, operation, [&](CallArguments* to) {
    return brigade::ToReduceScatter(group, source, result, type, op, options, to);
  });
}
brigade_status brigade_plan_reduce_scatter(brigade_group* group, const brigade_matrix* source,
                                           const brigade_matrix* result, brigade_type type,
                                           brigade_op op, const brigade_call_options* options,
                                           brigade_plan** plan) {
  return PlanCall(group, plan, [&](CallArguments* to) {
    return brigade::ToReduceScatter(group, source, result, type, op, options, to);
  });
}

brigade_status brigade_reduce_scatterv(brigade_group* group, const brigade_matrix* blocks,
                                       size_t matrix_bytes, const brigade_matrix* result,
                                       brigade_type type, brigade_op op,
                                       const brigade_call_options* options) {
  return RunCall(group, [&](CallArguments* to) {
    return brigade::ToReduceScatterV(group, blocks, matrix_bytes, result, type, op, options, to);
  });
}
brigade_status brigade_reduce_scatterv_start(brigade_group* group, const brigade_matrix* blocks,
                                             size_t matrix_bytes, const brigade_matrix* result,
                                             brigade_type type, brigade_op op,
                                             const brigade_call_options* options,
                                             brigade_operation** operation) {
  return StartCall(group, operation, [&](CallArguments* to) {
    return brigade::ToReduceScatterV(group, blocks, matrix_bytes, result, type, op, options, to);
  });
}
brigade_status brigade_plan_reduce_scatterv(brigade_group* group, const brigade_matrix* blocks,
                                            size_t matrix_bytes, const brigade_matrix* result,
                                            brigade_type type, brigade_op op,
                                            const brigade_call_options* options,
                                            brigade_plan** plan) {
  return PlanCall(group, plan, [&](CallArguments* to) {
    return brigade::ToReduceScatterV(group, blocks, matrix_bytes, result, type, op, options, to);
  });
}

brigade_status brigade_barrier(brigade_group* group, const brigade_call_options* options) {
  return RunCall(group, [&](CallArguments* to) { return brigade::ToBarrier(group, options, to); });
}
brigade_status brigade_barrier_start(brigade_group* group, const brigade_call_options* options,
                                     brigade_operation** operation) {
  return StartCall(group, operation,
                   [&](CallArguments* to) { return brigade::ToBarrier(group, options, to); });
}
brigade_status brigade_plan_barrier(brigade_group* group, const brigade_call_options* options,
                                    brigade_plan** plan) {
  return PlanCall(group, plan,
                  [&](CallArguments* to) { return brigade::ToBarrier(group, options, to); });
}
