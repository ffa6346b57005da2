// The C interface: sends, receives, broadcasts and barriers, each blocking, started and planned.

#include "brigade/calls.h"

#include "membuf/status.h"
#include "patterns/api/call_arguments.h"
#include "patterns/api/call_forms.h"
#include "patterns/engine/pattern_call.h"

using brigade::CallArguments;
using brigade::Pattern;
using brigade::PatternCall;
using brigade::PlanCall;
using brigade::RunCall;
using brigade::RunPlan;
using brigade::StartCall;
using brigade::Status;

namespace {

Status ToSend(const brigade_group* group, const brigade_matrix* source, brigade_type type,
              int destination, const brigade_call_options* options, CallArguments* to) {
  BRIGADE_RETURN_IF_ERROR(SetCommon(group, Pattern::kSend, type, options, to));
  to->call.root = destination;
  return ToMatrix("source", source, to->call, &to->call.matrix);
}

Status ToReceive(const brigade_group* group, const brigade_matrix* destination, brigade_type type,
                 int source, const brigade_call_options* options, CallArguments* to) {
  BRIGADE_RETURN_IF_ERROR(SetCommon(group, Pattern::kReceive, type, options, to));
  to->call.root = source;
  return ToMatrix("destination", destination, to->call, &to->call.matrix);
}

Status ToSendReceive(const brigade_group* group, const brigade_matrix* sent, int destination,
                     const brigade_matrix* received, int source, brigade_type type,
                     const brigade_call_options* options, CallArguments* to) {
  BRIGADE_RETURN_IF_ERROR(SetCommon(group, Pattern::kSend, type, options, to));
  to->call.root = destination;
  BRIGADE_RETURN_IF_ERROR(ToMatrix("sent", sent, to->call, &to->call.matrix));
  PatternCall& receive = to->receive.emplace(to->call);
  receive.pattern = Pattern::kReceive;
  receive.root = source;
  return ToMatrix("received", received, receive, &receive.matrix);
}

Status ToBroadcast(const brigade_group* group, const brigade_matrix* buffer, brigade_type type,
                   int root, const brigade_call_options* options, CallArguments* to) {
  BRIGADE_RETURN_IF_ERROR(SetCommon(group, Pattern::kBroadcast, type, options, to));
  to->call.root = root;
  return ToMatrix("buffer", buffer, to->call, &to->call.matrix);
}

Status ToBarrier(const brigade_group* group, const brigade_call_options* options,
                 CallArguments* to) {
  return SetCommon(group, Pattern::kBarrier, BRIGADE_BYTE, options, to);
}

}  // namespace

brigade_status brigade_send(brigade_group* group, const brigade_matrix* source, brigade_type type,
                            int destination, const brigade_call_options* options) {
  return RunCall<ToSend>(group, source, type, destination, options);
}
brigade_status brigade_send_start(brigade_group* group, const brigade_matrix* source,
                                  brigade_type type, int destination,
                                  const brigade_call_options* options,
                                  brigade_operation** operation) {
  return StartCall<ToSend>(operation, group, source, type, destination, options);
}
brigade_status brigade_plan_send(brigade_group* group, const brigade_matrix* source,
                                 brigade_type type, int destination,
                                 const brigade_call_options* options, brigade_plan** plan) {
  return PlanCall<ToSend>(plan, group, source, type, destination, options);
}

brigade_status brigade_recv(brigade_group* group, const brigade_matrix* destination,
                            brigade_type type, int source, const brigade_call_options* options) {
  return RunCall<ToReceive>(group, destination, type, source, options);
}
brigade_status brigade_recv_start(brigade_group* group, const brigade_matrix* destination,
                                  brigade_type type, int source,
                                  const brigade_call_options* options,
                                  brigade_operation** operation) {
  return StartCall<ToReceive>(operation, group, destination, type, source, options);
}
brigade_status brigade_plan_recv(brigade_group* group, const brigade_matrix* destination,
                                 brigade_type type, int source, const brigade_call_options* options,
                                 brigade_plan** plan) {
  return PlanCall<ToReceive>(plan, group, destination, type, source, options);
}

brigade_status brigade_sendrecv(brigade_group* group, const brigade_matrix* sent, int destination,
                                const brigade_matrix* received, int source, brigade_type type,
                                const brigade_call_options* options) {
  return RunPlan<ToSendReceive>(group, sent, destination, received, source, type, options);
}
brigade_status brigade_sendrecv_start(brigade_group* group, const brigade_matrix* sent,
                                      int destination, const brigade_matrix* received, int source,
                                      brigade_type type, const brigade_call_options* options,
                                      brigade_operation** operation) {
  return StartCall<ToSendReceive>(operation, group, sent, destination, received, source, type,
                                  options);
}
brigade_status brigade_plan_sendrecv(brigade_group* group, const brigade_matrix* sent,
                                     int destination, const brigade_matrix* received, int source,
                                     brigade_type type, const brigade_call_options* options,
                                     brigade_plan** plan) {
  return PlanCall<ToSendReceive>(plan, group, sent, destination, received, source, type, options);
}

brigade_status brigade_bcast(brigade_group* group, const brigade_matrix* buffer, brigade_type type,
                             int root, const brigade_call_options* options) {
  return RunCall<ToBroadcast>(group, buffer, type, root, options);
}
brigade_status brigade_bcast_start(brigade_group* group, const brigade_matrix* buffer,
                                   brigade_type type, int root, const brigade_call_options* options,
                                   brigade_operation** operation) {
  return StartCall<ToBroadcast>(operation, group, buffer, type, root, options);
}
brigade_status brigade_plan_bcast(brigade_group* group, const brigade_matrix* buffer,
                                  brigade_type type, int root, const brigade_call_options* options,
                                  brigade_plan** plan) {
  return PlanCall<ToBroadcast>(plan, group, buffer, type, root, options);
}

brigade_status brigade_barrier(brigade_group* group, const brigade_call_options* options) {
  return RunCall<ToBarrier>(group, options);
}
brigade_status brigade_barrier_start(brigade_group* group, const brigade_call_options* options,
                                     brigade_operation** operation) {
  return StartCall<ToBarrier>(operation, group, options);
}
brigade_status brigade_plan_barrier(brigade_group* group, const brigade_call_options* options,
                                    brigade_plan** plan) {
  return PlanCall<ToBarrier>(plan, group, options);
}
