// The C interface: reductions and scans, each blocking, started and planned.

#include "brigade/reductions.h"

#include "membuf/status.h"
#include "patterns/api/call_arguments.h"
#include "patterns/api/call_forms.h"
#include "patterns/engine/pattern_call.h"

using brigade::CallArguments;
using brigade::Pattern;
using brigade::PatternCall;
using brigade::PlanCall;
using brigade::RunCall;
using brigade::StartCall;
using brigade::Status;

namespace {

// Sets the contribution of this rank, and where its result goes.
Status SetReduction(const brigade_matrix* source, const brigade_matrix* result, bool has_result,
                    CallArguments* to) {
  PatternCall& call = to->call;
  if (source != nullptr) {
    call.source.emplace();
    BRIGADE_RETURN_IF_ERROR(ToMatrix("source", source, call, &*call.source));
  }
  if (source != nullptr && !has_result) {
    call.matrix.layout = call.source->layout;
    return Status();
  }
  return ToMatrix("result", result, call, &call.matrix);
}

Status ToReduce(const brigade_group* group, const brigade_matrix* source,
                const brigade_matrix* result, brigade_type type, brigade_op op, int root,
                const brigade_call_options* options, CallArguments* to) {
  BRIGADE_RETURN_IF_ERROR(SetCommon(group, Pattern::kReduce, type, options, to));
  BRIGADE_RETURN_IF_ERROR(SetOperation(op, to));
  BRIGADE_RETURN_IF_ERROR(SetRoot(*group, root, to));
  return SetReduction(source, result, IsRoot(*group, *to), to);
}

// All-reduce and scans. Rank 0 has no result of an exclusive scan.
Status ToUnrooted(const brigade_group* group, Pattern pattern, const brigade_matrix* source,
                  const brigade_matrix* result, brigade_type type, brigade_op op,
                  const brigade_call_options* options, CallArguments* to) {
  BRIGADE_RETURN_IF_ERROR(SetCommon(group, pattern, type, options, to));
  BRIGADE_RETURN_IF_ERROR(SetOperation(op, to));
  const bool has_result = pattern != Pattern::kExscan || RankIn(*group, *to) > 0;
  return SetReduction(source, result, has_result, to);
}

Status ToReduceScatter(const brigade_group* group, const brigade_matrix* source,
                       const brigade_matrix* result, brigade_type type, brigade_op op,
                       const brigade_call_options* options, CallArguments* to) {
  BRIGADE_RETURN_IF_ERROR(SetCommon(group, Pattern::kMultiReduce, type, options, to));
  BRIGADE_RETURN_IF_ERROR(SetOperation(op, to));
  BRIGADE_RETURN_IF_ERROR(ToBlocks("source", *group, source, to, &to->blocks));
  return ToMatrix("result", result, to->call, &to->call.matrix);
}

Status ToReduceScatterV(const brigade_group* group, const brigade_matrix* blocks,
                        size_t matrix_bytes, const brigade_matrix* result, brigade_type type,
                        brigade_op op, const brigade_call_options* options, CallArguments* to) {
  BRIGADE_RETURN_IF_ERROR(SetCommon(group, Pattern::kMultiReduce, type, options, to));
  BRIGADE_RETURN_IF_ERROR(SetOperation(op, to));
  BRIGADE_RETURN_IF_ERROR(ToBlocks("blocks", *group, blocks, matrix_bytes, to, &to->blocks));
  return ToMatrix("result", result, to->call, &to->call.matrix);
}

}  // namespace

brigade_status brigade_reduce(brigade_group* group, const brigade_matrix* source,
                              const brigade_matrix* result, brigade_type type, brigade_op op,
                              int root, const brigade_call_options* options) {
  return RunCall<ToReduce>(group, source, result, type, op, root, options);
}
brigade_status brigade_reduce_start(brigade_group* group, const brigade_matrix* source,
                                    const brigade_matrix* result, brigade_type type, brigade_op op,
                                    int root, const brigade_call_options* options,
                                    brigade_operation** operation) {
  return StartCall<ToReduce>(operation, group, source, result, type, op, root, options);
}
brigade_status brigade_plan_reduce(brigade_group* group, const brigade_matrix* source,
                                   const brigade_matrix* result, brigade_type type, brigade_op op,
                                   int root, const brigade_call_options* options,
                                   brigade_plan** plan) {
  return PlanCall<ToReduce>(plan, group, source, result, type, op, root, options);
}

brigade_status brigade_allreduce(brigade_group* group, const brigade_matrix* source,
                                 const brigade_matrix* result, brigade_type type, brigade_op op,
                                 const brigade_call_options* options) {
  return RunCall<ToUnrooted>(group, Pattern::kAllReduce, source, result, type, op, options);
}
brigade_status brigade_allreduce_start(brigade_group* group, const brigade_matrix* source,
                                       const brigade_matrix* result, brigade_type type,
                                       brigade_op op, const brigade_call_options* options,
                                       brigade_operation** operation) {
  return StartCall<ToUnrooted>(operation, group, Pattern::kAllReduce, source, result, type, op,
                               options);
}
brigade_status brigade_plan_allreduce(brigade_group* group, const brigade_matrix* source,
                                      const brigade_matrix* result, brigade_type type,
                                      brigade_op op, const brigade_call_options* options,
                                      brigade_plan** plan) {
  return PlanCall<ToUnrooted>(plan, group, Pattern::kAllReduce, source, result, type, op, options);
}

brigade_status brigade_reduce_scatter(brigade_group* group, const brigade_matrix* source,
                                      const brigade_matrix* result, brigade_type type,
                                      brigade_op op, const brigade_call_options* options) {
  return RunCall<ToReduceScatter>(group, source, result, type, op, options);
}
brigade_status brigade_reduce_scatter_start(brigade_group* group, const brigade_matrix* source,
                                            const brigade_matrix* result, brigade_type type,
                                            brigade_op op, const brigade_call_options* options,
                                            brigade_operation** operation) {
  return StartCall<ToReduceScatter>(operation, group, source, result, type, op, options);
}
brigade_status brigade_plan_reduce_scatter(brigade_group* group, const brigade_matrix* source,
                                           const brigade_matrix* result, brigade_type type,
                                           brigade_op op, const brigade_call_options* options,
                                           brigade_plan** plan) {
  return PlanCall<ToReduceScatter>(plan, group, source, result, type, op, options);
}

brigade_status brigade_reduce_scatterv(brigade_group* group, const brigade_matrix* blocks,
                                       size_t matrix_bytes, const brigade_matrix* result,
                                       brigade_type type, brigade_op op,
                                       const brigade_call_options* options) {
  return RunCall<ToReduceScatterV>(group, blocks, matrix_bytes, result, type, op, options);
}
brigade_status brigade_reduce_scatterv_start(brigade_group* group, const brigade_matrix* blocks,
                                             size_t matrix_bytes, const brigade_matrix* result,
                                             brigade_type type, brigade_op op,
                                             const brigade_call_options* options,
                                             brigade_operation** operation) {
  return StartCall<ToReduceScatterV>(operation, group, blocks, matrix_bytes, result, type, op,
                                     options);
}
brigade_status brigade_plan_reduce_scatterv(brigade_group* group, const brigade_matrix* blocks,
                                            size_t matrix_bytes, const brigade_matrix* result,
                                            brigade_type type, brigade_op op,
                                            const brigade_call_options* options,
                                            brigade_plan** plan) {
  return PlanCall<ToReduceScatterV>(plan, group, blocks, matrix_bytes, result, type, op, options);
}

brigade_status brigade_scan(brigade_group* group, const brigade_matrix* source,
                            const brigade_matrix* result, brigade_type type, brigade_op op,
                            const brigade_call_options* options) {
  return RunCall<ToUnrooted>(group, Pattern::kScan, source, result, type, op, options);
}
brigade_status brigade_scan_start(brigade_group* group, const brigade_matrix* source,
                                  const brigade_matrix* result, brigade_type type, brigade_op op,
                                  const brigade_call_options* options,
                                  brigade_operation** operation) {
  return StartCall<ToUnrooted>(operation, group, Pattern::kScan, source, result, type, op, options);
}
brigade_status brigade_plan_scan(brigade_group* group, const brigade_matrix* source,
                                 const brigade_matrix* result, brigade_type type, brigade_op op,
                                 const brigade_call_options* options, brigade_plan** plan) {
  return PlanCall<ToUnrooted>(plan, group, Pattern::kScan, source, result, type, op, options);
}

brigade_status brigade_exscan(brigade_group* group, const brigade_matrix* source,
                              const brigade_matrix* result, brigade_type type, brigade_op op,
                              const brigade_call_options* options) {
  return RunCall<ToUnrooted>(group, Pattern::kExscan, source, result, type, op, options);
}
brigade_status brigade_exscan_start(brigade_group* group, const brigade_matrix* source,
                                    const brigade_matrix* result, brigade_type type, brigade_op op,
                                    const brigade_call_options* options,
                                    brigade_operation** operation) {
  return StartCall<ToUnrooted>(operation, group, Pattern::kExscan, source, result, type, op,
                               options);
}
brigade_status brigade_plan_exscan(brigade_group* group, const brigade_matrix* source,
                                   const brigade_matrix* result, brigade_type type, brigade_op op,
                                   const brigade_call_options* options, brigade_plan** plan) {
  return PlanCall<ToUnrooted>(plan, group, Pattern::kExscan, source, result, type, op, options);
}
