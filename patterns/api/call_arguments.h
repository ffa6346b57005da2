// The arguments of a call of the C interface, in the library's terms.

#ifndef BRIGADE_PATTERNS_API_CALL_ARGUMENTS_H_
#define BRIGADE_PATTERNS_API_CALL_ARGUMENTS_H_

#include <optional>
#include <vector>

#include "brigade/calls.h"
#include "membuf/status.h"
#include "patterns/engine/pattern_call.h"

namespace brigade {

struct CallArguments {
  PatternCall call;
  std::optional<PatternCall> receive;  // of a send that is also a receive
  std::vector<Matrix> blocks;
  std::vector<Matrix> sent;
  UserOp user_op;
  // A block that stays on this rank and is not where it is wanted, and that place.
  std::optional<Matrix> own_block;
  Matrix own_place;
  std::optional<brigade_call_options> options;

  // Where `blocks`, `sent` and `user_op` lie, for `call`. To be called after each move.
  void SetPointers() {
    if (!blocks.empty()) call.blocks = blocks.data();
    if (!sent.empty()) call.sent = sent.data();
    if (call.op == CombineOp::kUser) call.user_op = &user_op;
  }
  // Copies this rank's block to its place, and counts the copy in `statistics` unless it is null.
  void CopyOwnBlock(OperationStatistics* statistics) const;
};

// The calls of brigade/calls.h, blocks.h and reductions.h by name. kInvalidArgument names the
// argument.
Status ToSend(const brigade_group* group, const brigade_matrix* source, brigade_type type,
              int destination, const brigade_call_options* options, CallArguments* to);
Status ToReceive(const brigade_group* group, const brigade_matrix* destination, brigade_type type,
                 int source, const brigade_call_options* options, CallArguments* to);
Status ToSendReceive(const brigade_group* group, const brigade_matrix* sent, int destination,
                     const brigade_matrix* received, int source, brigade_type type,
                     const brigade_call_options* options, CallArguments* to);
Status ToBroadcast(const brigade_group* group, const brigade_matrix* buffer, brigade_type type,
                   int root, const brigade_call_options* options, CallArguments* to);
Status ToReduce(const brigade_group* group, const brigade_matrix* source,
                const brigade_matrix* result, brigade_type type, brigade_op op, int root,
                const brigade_call_options* options, CallArguments* to);
Status ToAllReduce(const brigade_group* group, const brigade_matrix* source,
                   const brigade_matrix* result, brigade_type type, brigade_op op,
                   const brigade_call_options* options, CallArguments* to);
Status ToAllGather(const brigade_group* group, const brigade_matrix* source,
                   const brigade_matrix* result, brigade_type type,
                   const brigade_call_options* options, CallArguments* to);
Status ToAllGatherV(const brigade_group* group, const brigade_matrix* source,
                    const brigade_matrix* blocks, size_t matrix_bytes, brigade_type type,
                    const brigade_call_options* options, CallArguments* to);
Status ToGather(const brigade_group* group, const brigade_matrix* source,
                const brigade_matrix* result, brigade_type type, int root,
                const brigade_call_options* options, CallArguments* to);
Status ToGatherV(const brigade_group* group, const brigade_matrix* source,
                 const brigade_matrix* blocks, size_t matrix_bytes, brigade_type type, int root,
                 const brigade_call_options* options, CallArguments* to);
Status ToScatter(const brigade_group* group, const brigade_matrix* source,
                 const brigade_matrix* result, brigade_type type, int root,
                 const brigade_call_options* options, CallArguments* to);
Status ToScatterV(const brigade_group* group, const brigade_matrix* blocks, size_t matrix_bytes,
                  const brigade_matrix* result, brigade_type type, int root,
                  const brigade_call_options* options, CallArguments* to);
Status ToAllToAll(const brigade_group* group, const brigade_matrix* source,
                  const brigade_matrix* result, brigade_type type,
                  const brigade_call_options* options, CallArguments* to);
Status ToAllToAllV(const brigade_group* group, const brigade_matrix* sent,
                   const brigade_matrix* received, size_t matrix_bytes, brigade_type type,
                   const brigade_call_options* options, CallArguments* to);
Status ToReduceScatter(const brigade_group* group, const brigade_matrix* source,
                       const brigade_matrix* result, brigade_type type, brigade_op op,
                       const brigade_call_options* options, CallArguments* to);
Status ToReduceScatterV(const brigade_group* group, const brigade_matrix* blocks,
                        size_t matrix_bytes, const brigade_matrix* result, brigade_type type,
                        brigade_op op, const brigade_call_options* options, CallArguments* to);
Status ToScan(const brigade_group* group, const brigade_matrix* source,
              const brigade_matrix* result, brigade_type type, brigade_op op,
              const brigade_call_options* options, CallArguments* to);
Status ToExscan(const brigade_group* group, const brigade_matrix* source,
                const brigade_matrix* result, brigade_type type, brigade_op op,
                const brigade_call_options* options, CallArguments* to);
Status ToBarrier(const brigade_group* group, const brigade_call_options* options,
                 CallArguments* to);

// The scope of the C interface. kInvalidArgument: it has no such value.
Status ToScope(int scope, ChannelKind* kind);

}  // namespace brigade

#endif  // BRIGADE_PATTERNS_API_CALL_ARGUMENTS_H_
