// The C interface: calls that move blocks, each blocking, started and planned.

#include "brigade/blocks.h"

#include "patterns/api/call_arguments.h"
#include "patterns/api/call_forms.h"

using brigade::CallArguments;
using brigade::PlanCall;
using brigade::RunCall;
using brigade::StartCall;

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
