// The arguments of a call of the C interface, in the library's terms.

#ifndef BRIGADE_PATTERNS_API_CALL_ARGUMENTS_H_
#define BRIGADE_PATTERNS_API_CALL_ARGUMENTS_H_

#include <cstddef>
#include <optional>
#include <vector>

#include "brigade/calls.h"
#include "membuf/status.h"
#include "patterns/api/handles.h"
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

  CallArguments() = default;
  CallArguments(const CallArguments&) = delete;  // `call` points to other members
  CallArguments& operator=(const CallArguments&) = delete;

  // Sets the addresses of `blocks`, `sent` and `user_op` in `call`, once one of them is filled in.
  void SetPointers() {
    if (!blocks.empty()) call.blocks = blocks.data();
    if (!sent.empty()) call.sent = sent.data();
    if (call.op == CombineOp::kUser) call.user_op = &user_op;
  }
  // Returns the counters that a blocking call fills in; null: not wanted.
  brigade_statistics* statistics() const { return options ? options->statistics : nullptr; }
  // Copies this rank's block to its place, and counts the copy in `statistics` unless it is null.
  void CopyOwnBlock(OperationStatistics* statistics) const;
};

// The parts of conversions that several calls share. kInvalidArgument names the argument.

// Fills in what all calls have: pattern, type and options.
Status SetCommon(const brigade_group* group, Pattern pattern, brigade_type type,
                 const brigade_call_options* options, CallArguments* to);
// Fills in the operation, and its function or locations.
Status SetOperation(brigade_op op, CallArguments* to);
Status ToMatrix(const char* name, const brigade_matrix* c, const PatternCall& call, Matrix* matrix);
// Converts the blocks of a matrix: equal numbers of columns, one block per rank of the scope.
Status ToBlocks(const char* name, const brigade_group& group, const brigade_matrix* c,
                CallArguments* to, std::vector<Matrix>* blocks);
// Converts an array of blocks, one per rank of the scope.
Status ToBlocks(const char* name, const brigade_group& group, const brigade_matrix* matrices,
                size_t matrix_bytes, CallArguments* to, std::vector<Matrix>* blocks);

inline size_t RanksOf(const brigade_group& group, const CallArguments& to) {
  return static_cast<size_t>(group.group->ScopeSize(to.call.scope));
}
inline size_t RankIn(const brigade_group& group, const CallArguments& to) {
  return static_cast<size_t>(group.group->ScopeRank(to.call.scope));
}
// Sets a root that decides which matrices are read.
Status SetRoot(const brigade_group& group, int root, CallArguments* to);
inline bool IsRoot(const brigade_group& group, const CallArguments& to) {
  return group.group->ScopeRank(to.call.scope) == to.call.root;
}

// The scope of the C interface. kInvalidArgument: it has no such value.
Status ToScope(int scope, ChannelKind* kind);

}  // namespace brigade

#endif  // BRIGADE_PATTERNS_API_CALL_ARGUMENTS_H_
