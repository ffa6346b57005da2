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

brigade_status brigade_gather(brigade_group* group, const brigade_matrix* source,
                              const brigade_matrix* result, brigade_type type, int root,
                              const brigade_call_options* options) {
  return RunCall(group, [&](CallArguments* to) {
    return brigade::ToGather(group, source, result, type, root, options, to);
  });
}
brigade_status brigade_gather_start(brigade_group* group, const brigade_matrix* source,
                                    const brigade_matrix* result, brigade_type type, int root,
                                    const brigade_call_options* options,
                                    brigade_operation** operation) {
  return StartCall(group, operation, [&](CallArguments* to) {
    return brigade::ToGather(group, source, result, type, root, options, to);
  });
}
brigade_status brigade_plan_gather(brigade_group* group, const brigade_matrix* source,
                                   const brigade_matrix* result, brigade_type type, int root,
                                   const brigade_call_options* options, brigade_plan** plan) {
  return PlanCall(group, plan, [&](CallArguments* to) {
    return brigade::ToGather(group, source, result, type, root, options, to);
  });
}

brigade_status brigade_gatherv(brigade_group* group, const brigade_matrix* source,
                               const brigade_matrix* blocks, size_t matrix_bytes, brigade_type type,
                               int root, const brigade_call_options* options) {
  return RunCall(group, [&](CallArguments* to) {
    return brigade::ToGatherV(group, source, blocks, matrix_bytes, type, root, options, to);
  });
}
brigade_status brigade_gatherv_start(brigade_group* group, const brigade_matrix* source,
                                     const brigade_matrix* blocks, size_t matrix_bytes,
                                     brigade_type type, int root,
                                     const brigade_call_options* options,
                                     brigade_operation** operation) {
  return StartCall(group, operation, [&](CallArguments* to) {
    return brigade::ToGatherV(group, source, blocks, matrix_bytes, type, root, options, to);
  });
}
brigade_status brigade_plan_gatherv(brigade_group* group, const brigade_matrix* source,
                                    const brigade_matrix* blocks, size_t matrix_bytes,
                                    brigade_type type, int root,
                                    const brigade_call_options* options, brigade_plan** plan) {
  return PlanCall(group, plan, [&](CallArguments* to) {
    return brigade::ToGatherV(group, source, blocks, matrix_bytes, type, root, options, to);
  });
}

brigade_status brigade_scatter(brigade_group* group, const brigade_matrix* source,
                               const brigade_matrix* result, brigade_type type, int root,
                               const brigade_call_options* options) {
  return RunCall(group, [&](CallArguments* to) {
    return brigade::ToScatter(group, source, result, type, root, options, to);
  });
}
brigade_status brigade_scatter_start(brigade_group* group, const brigade_matrix* source,
                                     const brigade_matrix* result, brigade_type type, int root,
                                     const brigade_call_options* options,
                                     brigade_operation** operation) {
  return StartCall(group, operation, [&](CallArguments* to) {
    return brigade::ToScatter(group, source, result, type, root, options, to);
  });
}
brigade_status brigade_plan_scatter(brigade_group* group, const brigade_matrix* source,
                                    const brigade_matrix* result, brigade_type type, int root,
                                    const brigade_call_options* options, brigade_plan** plan) {
  return PlanCall(group, plan, [&](CallArguments* to) {
    return brigade::ToScatter(group, source, result, type, root, options, to);
  });
}

brigade_status brigade_scatterv(brigade_group* group, const brigade_matrix* blocks,
                                size_t matrix_bytes, const brigade_matrix* result,
                                brigade_type type, int root, const brigade_call_options* options) {
  return RunCall(group, [&](CallArguments* to) {
    return brigade::ToScatterV(group, blocks, matrix_bytes, result, type, root, options, to);
  });
}
brigade_status brigade_scatterv_start(brigade_group* group, const brigade_matrix* blocks,
                                      size_t matrix_bytes, const brigade_matrix* result,
                                      brigade_type type, int root,
                                      const brigade_call_options* options,
                                      brigade_operation** operation) {
  return StartCall(group, operation, [&](CallArguments* to) {
    return brigade::ToScatterV(group, blocks, matrix_bytes, result, type, root, options, to);
  });
}
brigade_status brigade_plan_scatterv(brigade_group* group, const brigade_matrix* blocks,
                                     size_t matrix_bytes, const brigade_matrix* result,
                                     brigade_type type, int root,
                                     const brigade_call_options* options, brigade_plan** plan) {
  return PlanCall(group, plan, [&](CallArguments* to) {
    return brigade::ToScatterV(group, blocks, matrix_bytes, result, type, root, options, to);
  });
}

brigade_status brigade_alltoall(brigade_group* group, const brigade_matrix* source,
                                const brigade_matrix* result, brigade_type type,
                                const brigade_call_options* options) {
  return RunCall(group, [&](CallArguments* to) {
    return brigade::ToAllToAll(group, source, result, type, options, to);
  });
}
brigade_status brigade_alltoall_start(brigade_group* group, const brigade_matrix* source,
                                      const brigade_matrix* result, brigade_type type,
                                      const brigade_call_options* options,
                                      brigade_operation** operation) {
  return StartCall(group, operation, [&](CallArguments* to) {
    return brigade::ToAllToAll(group, source, result, type, options, to);
  });
}
brigade_status brigade_plan_alltoall(brigade_group* group, const brigade_matrix* source,
                                     const brigade_matrix* result, brigade_type type,
                                     const brigade_call_options* options, brigade_plan** plan) {
  return PlanCall(group, plan, [&](CallArguments* to) {
    return brigade::ToAllToAll(group, source, result, type, options, to);
  });
}

brigade_status brigade_alltoallv(brigade_group* group, const brigade_matrix* sent,
                                 const brigade_matrix* received, size_t matrix_bytes,
                                 brigade_type type, const brigade_call_options* options) {
  return RunCall(group, [&](CallArguments* to) {
    return brigade::ToAllToAllV(group, sent, received, matrix_bytes, type, options, to);
  });
}
brigade_status brigade_alltoallv_start(brigade_group* group, const brigade_matrix* sent,
                                       const brigade_matrix* received, size_t matrix_bytes,
                                       brigade_type type, const brigade_call_options* options,
                                       brigade_operation** operation) {
  return StartCall(group, operation, [&](CallArguments* to) {
    return brigade::ToAllToAllV(group, sent, received, matrix_bytes, type, options, to);
  });
}
brigade_status brigade_plan_alltoallv(brigade_group* group, const brigade_matrix* sent,
                                      const brigade_matrix* received, size_t matrix_bytes,
                                      brigade_type type, const brigade_call_options* options,
                                      brigade_plan** plan) {
  return PlanCall(group, plan, [&](CallArguments* to) {
    return brigade::ToAllToAllV(group, sent, received, matrix_bytes, type, options, to);
  });
}
