// The C interface: reductions and scans, each blocking, started and planned.

#include "brigade/reductions.h"

#include "patterns/api/call_arguments.h"
#include "patterns/api/call_forms.h"

using brigade::CallArguments;
using brigade::PlanCall;
using brigade::RunCall;
using brigade::StartCall;

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

brigade_status brigade_scan(brigade_group* group, const brigade_matrix* source,
                            const brigade_matrix* result, brigade_type type, brigade_op op,
                            const brigade_call_options* options) {
  return RunCall(group, [&](CallArguments* to) {
    return brigade::ToScan(group, source, result, type, op, options, to);
  });
}
brigade_status brigade_scan_start(brigade_group* group, const brigade_matrix* source,
                                  const brigade_matrix* result, brigade_type type, brigade_op op,
                                  const brigade_call_options* options,
                                  brigade_operation** operation) {
  return StartCall(group, operation, [&](CallArguments* to) {
    return brigade::ToScan(group, source, result, type, op, options, to);
  });
}
brigade_status brigade_plan_scan(brigade_group* group, const brigade_matrix* source,
                                 const brigade_matrix* result, brigade_type type, brigade_op op,
                                 const brigade_call_options* options, brigade_plan** plan) {
  return PlanCall(group, plan, [&](CallArguments* to) {
    return brigade::ToScan(group, source, result, type, op, options, to);
  });
}

brigade_status brigade_exscan(brigade_group* group, const brigade_matrix* source,
                              const brigade_matrix* result, brigade_type type, brigade_op op,
                              const brigade_call_options* options) {
  return RunCall(group, [&](CallArguments* to) {
    return brigade::ToExscan(group, source, result, type, op, options, to);
  });
}
brigade_status brigade_exscan_start(brigade_group* group, const brigade_matrix* source,
                                    const brigade_matrix* result, brigade_type type, brigade_op op,
                                    const brigade_call_options* options,
                                    brigade_operation** operation) {
  return StartCall(group, operation, [&](CallArguments* to) {
    return brigade::ToExscan(group, source, result, type, op, options, to);
  });
}
brigade_status brigade_plan_exscan(brigade_group* group, const brigade_matrix* source,
                                   const brigade_matrix* result, brigade_type type, brigade_op op,
                                   const brigade_call_options* options, brigade_plan** plan) {
  return PlanCall(group, plan, [&](CallArguments* to) {
    return brigade::ToExscan(group, source, result, type, op, options, to);
  });
}
