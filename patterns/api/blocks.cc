// The C interface: calls that move blocks, each blocking, started and planned.

#include "brigade/blocks.h"

#include <string>
#include <vector>

#include "membuf/status.h"
#include "patterns/api/call_arguments.h"
#include "patterns/api/call_forms.h"
#include "patterns/api/handles.h"
#include "patterns/engine/pattern_call.h"

using brigade::CallArguments;
using brigade::Matrix;
using brigade::Pattern;
using brigade::PatternCall;
using brigade::PlanCall;
using brigade::RunCall;
using brigade::StartCall;
using brigade::Status;

namespace {

// Sets blocks of the length of this rank's, the only one that this rank has.
Status ToEqualBlocks(const char* name, const brigade_group& group, const brigade_matrix* c,
                     CallArguments* to) {
  Matrix own;
  BRIGADE_RETURN_IF_ERROR(ToMatrix(name, c, to->call, &own));
  to->blocks.assign(RanksOf(group, *to), Matrix{nullptr, own.layout});
  to->blocks[RankIn(group, *to)] = own;
  to->SetPointers();
  return Status();
}

// Converts the matrix that holds this rank's block instead of `place`, and has its length.
Status ToOwnBlock(const char* name, const brigade_matrix* c, const Matrix& place,
                  const PatternCall& call, Matrix* block) {
  BRIGADE_RETURN_IF_ERROR(ToMatrix(name, c, call, block));
  if (block->layout.bytes() == place.layout.bytes()) return Status();
  return brigade::Invalid(std::string(name) + " has " + std::to_string(block->layout.bytes()) +
                          " bytes, this rank's block " + std::to_string(place.layout.bytes()));
}

// Has this rank's block copied to `place` after the call, if it is not there already: matrices that
// begin at one address are one, since others must not overlap.
Status SetOwnCopy(const Matrix& block, const std::string& name, const Matrix& place,
                  CallArguments* to) {
  if (block.data == place.data) return Status();
  if (place.layout.bytes() > 0) {
    BRIGADE_RETURN_IF_ERROR(brigade::CheckPointer(("this rank's " + name).c_str(), place.data));
  }
  to->own_block = block;
  to->own_place = place;
  return Status();
}

// Sets the block that this rank contributes, if it is not in its place. A result gets a copy of it.
Status SetOwnBlock(const brigade_group& group, const brigade_matrix* source, bool has_result,
                   CallArguments* to) {
  if (source == nullptr) return Status();
  Matrix& own = to->blocks[RankIn(group, *to)];
  Matrix block;
  BRIGADE_RETURN_IF_ERROR(ToOwnBlock("source", source, own, to->call, &block));
  if (has_result) BRIGADE_RETURN_IF_ERROR(SetOwnCopy(block, "block of the result", own, to));
  own = block;
  return Status();
}

// Sets the matrix that gets this rank's block of a scatter, if not its place.
Status SetWantedBlock(const brigade_group& group, const brigade_matrix* result, bool is_root,
                      CallArguments* to) {
  if (result == nullptr) return Status();
  Matrix& own = to->blocks[RankIn(group, *to)];
  Matrix block;
  BRIGADE_RETURN_IF_ERROR(ToOwnBlock("result", result, own, to->call, &block));
  if (is_root) return SetOwnCopy(own, "result", block, to);
  own = block;
  return Status();
}

Status ToAllGather(const brigade_group* group, const brigade_matrix* source,
                   const brigade_matrix* result, brigade_type type,
                   const brigade_call_options* options, CallArguments* to) {
  BRIGADE_RETURN_IF_ERROR(SetCommon(group, Pattern::kMultiBroadcast, type, options, to));
  BRIGADE_RETURN_IF_ERROR(ToBlocks("result", *group, result, to, &to->blocks));
  return SetOwnBlock(*group, source, /*has_result=*/true, to);
}

Status ToAllGatherV(const brigade_group* group, const brigade_matrix* source,
                    const brigade_matrix* blocks, size_t matrix_bytes, brigade_type type,
                    const brigade_call_options* options, CallArguments* to) {
  BRIGADE_RETURN_IF_ERROR(SetCommon(group, Pattern::kMultiBroadcast, type, options, to));
  BRIGADE_RETURN_IF_ERROR(ToBlocks("blocks", *group, blocks, matrix_bytes, to, &to->blocks));
  return SetOwnBlock(*group, source, /*has_result=*/true, to);
}

Status ToGather(const brigade_group* group, const brigade_matrix* source,
                const brigade_matrix* result, brigade_type type, int root,
                const brigade_call_options* options, CallArguments* to) {
  BRIGADE_RETURN_IF_ERROR(SetCommon(group, Pattern::kGather, type, options, to));
  BRIGADE_RETURN_IF_ERROR(SetRoot(*group, root, to));
  if (!IsRoot(*group, *to)) return ToEqualBlocks("source", *group, source, to);
  BRIGADE_RETURN_IF_ERROR(ToBlocks("result", *group, result, to, &to->blocks));
  return SetOwnBlock(*group, source, /*has_result=*/true, to);
}

Status ToGatherV(const brigade_group* group, const brigade_matrix* source,
                 const brigade_matrix* blocks, size_t matrix_bytes, brigade_type type, int root,
                 const brigade_call_options* options, CallArguments* to) {
  BRIGADE_RETURN_IF_ERROR(SetCommon(group, Pattern::kGather, type, options, to));
  BRIGADE_RETURN_IF_ERROR(SetRoot(*group, root, to));
  BRIGADE_RETURN_IF_ERROR(ToBlocks("blocks", *group, blocks, matrix_bytes, to, &to->blocks));
  return SetOwnBlock(*group, source, /*has_result=*/IsRoot(*group, *to), to);
}

Status ToScatter(const brigade_group* group, const brigade_matrix* source,
                 const brigade_matrix* result, brigade_type type, int root,
                 const brigade_call_options* options, CallArguments* to) {
  BRIGADE_RETURN_IF_ERROR(SetCommon(group, Pattern::kScatter, type, options, to));
  BRIGADE_RETURN_IF_ERROR(SetRoot(*group, root, to));
  if (!IsRoot(*group, *to)) return ToEqualBlocks("result", *group, result, to);
  BRIGADE_RETURN_IF_ERROR(ToBlocks("source", *group, source, to, &to->blocks));
  return SetWantedBlock(*group, result, /*is_root=*/true, to);
}

Status ToScatterV(const brigade_group* group, const brigade_matrix* blocks, size_t matrix_bytes,
                  const brigade_matrix* result, brigade_type type, int root,
                  const brigade_call_options* options, CallArguments* to) {
  BRIGADE_RETURN_IF_ERROR(SetCommon(group, Pattern::kScatter, type, options, to));
  BRIGADE_RETURN_IF_ERROR(SetRoot(*group, root, to));
  BRIGADE_RETURN_IF_ERROR(ToBlocks("blocks", *group, blocks, matrix_bytes, to, &to->blocks));
  return SetWantedBlock(*group, result, IsRoot(*group, *to), to);
}

Status ToAllToAll(const brigade_group* group, const brigade_matrix* source,
                  const brigade_matrix* result, brigade_type type,
                  const brigade_call_options* options, CallArguments* to) {
  BRIGADE_RETURN_IF_ERROR(SetCommon(group, Pattern::kAllToAll, type, options, to));
  to->call.equal_blocks = true;
  BRIGADE_RETURN_IF_ERROR(ToBlocks("source", *group, source, to, &to->sent));
  return ToBlocks("result", *group, result, to, &to->blocks);
}

Status ToAllToAllV(const brigade_group* group, const brigade_matrix* sent,
                   const brigade_matrix* received, size_t matrix_bytes, brigade_type type,
                   const brigade_call_options* options, CallArguments* to) {
  BRIGADE_RETURN_IF_ERROR(SetCommon(group, Pattern::kAllToAll, type, options, to));
  BRIGADE_RETURN_IF_ERROR(ToBlocks("sent", *group, sent, matrix_bytes, to, &to->sent));
  return ToBlocks("received", *group, received, matrix_bytes, to, &to->blocks);
}

}  // namespace

brigade_status brigade_allgather(brigade_group* group, const brigade_matrix* source,
                                 const brigade_matrix* result, brigade_type type,
                                 const brigade_call_options* options) {
  return RunCall<ToAllGather>(group, source, result, type, options);
}
brigade_status brigade_allgather_start(brigade_group* group, const brigade_matrix* source,
                                       const brigade_matrix* result, brigade_type type,
                                       const brigade_call_options* options,
                                       brigade_operation** operation) {
  return StartCall<ToAllGather>(operation, group, source, result, type, options);
}
brigade_status brigade_plan_allgather(brigade_group* group, const brigade_matrix* source,
                                      const brigade_matrix* result, brigade_type type,
                                      const brigade_call_options* options, brigade_plan** plan) {
  return PlanCall<ToAllGather>(plan, group, source, result, type, options);
}

brigade_status brigade_allgatherv(brigade_group* group, const brigade_matrix* source,
                                  const brigade_matrix* blocks, size_t matrix_bytes,
                                  brigade_type type, const brigade_call_options* options) {
  return RunCall<ToAllGatherV>(group, source, blocks, matrix_bytes, type, options);
}
brigade_status brigade_allgatherv_start(brigade_group* group, const brigade_matrix* source,
                                        const brigade_matrix* blocks, size_t matrix_bytes,
                                        brigade_type type, const brigade_call_options* options,
                                        brigade_operation** operation) {
  return StartCall<ToAllGatherV>(operation, group, source, blocks, matrix_bytes, type, options);
}
brigade_status brigade_plan_allgatherv(brigade_group* group, const brigade_matrix* source,
                                       const brigade_matrix* blocks, size_t matrix_bytes,
                                       brigade_type type, const brigade_call_options* options,
                                       brigade_plan** plan) {
  return PlanCall<ToAllGatherV>(plan, group, source, blocks, matrix_bytes, type, options);
}

brigade_status brigade_gather(brigade_group* group, const brigade_matrix* source,
                              const brigade_matrix* result, brigade_type type, int root,
                              const brigade_call_options* options) {
  return RunCall<ToGather>(group, source, result, type, root, options);
}
brigade_status brigade_gather_start(brigade_group* group, const brigade_matrix* source,
                                    const brigade_matrix* result, brigade_type type, int root,
                                    const brigade_call_options* options,
                                    brigade_operation** operation) {
  return StartCall<ToGather>(operation, group, source, result, type, root, options);
}
brigade_status brigade_plan_gather(brigade_group* group, const brigade_matrix* source,
                                   const brigade_matrix* result, brigade_type type, int root,
                                   const brigade_call_options* options, brigade_plan** plan) {
  return PlanCall<ToGather>(plan, group, source, result, type, root, options);
}

brigade_status brigade_gatherv(brigade_group* group, const brigade_matrix* source,
                               const brigade_matrix* blocks, size_t matrix_bytes, brigade_type type,
                               int root, const brigade_call_options* options) {
  return RunCall<ToGatherV>(group, source, blocks, matrix_bytes, type, root, options);
}
brigade_status brigade_gatherv_start(brigade_group* group, const brigade_matrix* source,
                                     const brigade_matrix* blocks, size_t matrix_bytes,
                                     brigade_type type, int root,
                                     const brigade_call_options* options,
                                     brigade_operation** operation) {
  return StartCall<ToGatherV>(operation, group, source, blocks, matrix_bytes, type, root, options);
}
brigade_status brigade_plan_gatherv(brigade_group* group, const brigade_matrix* source,
                                    const brigade_matrix* blocks, size_t matrix_bytes,
                                    brigade_type type, int root,
                                    const brigade_call_options* options, brigade_plan** plan) {
  return PlanCall<ToGatherV>(plan, group, source, blocks, matrix_bytes, type, root, options);
}

brigade_status brigade_scatter(brigade_group* group, const brigade_matrix* source,
                               const brigade_matrix* result, brigade_type type, int root,
                               const brigade_call_options* options) {
  return RunCall<ToScatter>(group, source, result, type, root, options);
}
brigade_status brigade_scatter_start(brigade_group* group, const brigade_matrix* source,
                                     const brigade_matrix* result, brigade_type type, int root,
                                     const brigade_call_options* options,
                                     brigade_operation** operation) {
  return StartCall<ToScatter>(operation, group, source, result, type, root, options);
}
brigade_status brigade_plan_scatter(brigade_group* group, const brigade_matrix* source,
                                    const brigade_matrix* result, brigade_type type, int root,
                                    const brigade_call_options* options, brigade_plan** plan) {
  return PlanCall<ToScatter>(plan, group, source, result, type, root, options);
}

brigade_status brigade_scatterv(brigade_group* group, const brigade_matrix* blocks,
                                size_t matrix_bytes, const brigade_matrix* result,
                                brigade_type type, int root, const brigade_call_options* options) {
  return RunCall<ToScatterV>(group, blocks, matrix_bytes, result, type, root, options);
}
brigade_status brigade_scatterv_start(brigade_group* group, const brigade_matrix* blocks,
                                      size_t matrix_bytes, const brigade_matrix* result,
                                      brigade_type type, int root,
                                      const brigade_call_options* options,
                                      brigade_operation** operation) {
  return StartCall<ToScatterV>(operation, group, blocks, matrix_bytes, result, type, root, options);
}
brigade_status brigade_plan_scatterv(brigade_group* group, const brigade_matrix* blocks,
                                     size_t matrix_bytes, const brigade_matrix* result,
                                     brigade_type type, int root,
                                     const brigade_call_options* options, brigade_plan** plan) {
  return PlanCall<ToScatterV>(plan, group, blocks, matrix_bytes, result, type, root, options);
}

brigade_status brigade_alltoall(brigade_group* group, const brigade_matrix* source,
                                const brigade_matrix* result, brigade_type type,
                                const brigade_call_options* options) {
  return RunCall<ToAllToAll>(group, source, result, type, options);
}
brigade_status brigade_alltoall_start(brigade_group* group, const brigade_matrix* source,
                                      const brigade_matrix* result, brigade_type type,
                                      const brigade_call_options* options,
                                      brigade_operation** operation) {
  return StartCall<ToAllToAll>(operation, group, source, result, type, options);
}
brigade_status brigade_plan_alltoall(brigade_group* group, const brigade_matrix* source,
                                     const brigade_matrix* result, brigade_type type,
                                     const brigade_call_options* options, brigade_plan** plan) {
  return PlanCall<ToAllToAll>(plan, group, source, result, type, options);
}

brigade_status brigade_alltoallv(brigade_group* group, const brigade_matrix* sent,
                                 const brigade_matrix* received, size_t matrix_bytes,
                                 brigade_type type, const brigade_call_options* options) {
  return RunCall<ToAllToAllV>(group, sent, received, matrix_bytes, type, options);
}
brigade_status brigade_alltoallv_start(brigade_group* group, const brigade_matrix* sent,
                                       const brigade_matrix* received, size_t matrix_bytes,
                                       brigade_type type, const brigade_call_options* options,
                                       brigade_operation** operation) {
  return StartCall<ToAllToAllV>(operation, group, sent, received, matrix_bytes, type, options);
}
brigade_status brigade_plan_alltoallv(brigade_group* group, const brigade_matrix* sent,
                                      const brigade_matrix* received, size_t matrix_bytes,
                                      brigade_type type, const brigade_call_options* options,
                                      brigade_plan** plan) {
  return PlanCall<ToAllToAllV>(plan, group, sent, received, matrix_bytes, type, options);
}
