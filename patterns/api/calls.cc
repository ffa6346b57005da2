// The C interface: sends, receives, broadcasts and barriers, each blocking, started and planned.

#include "brigade/calls.h"

#include "patterns/api/call_arguments.h"
#include "patterns/api/call_forms.h"

using brigade::CallArguments;
using brigade::PlanCall;
using brigade::RunCall;
using brigade::RunPlan;
using brigade::StartCall;

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
