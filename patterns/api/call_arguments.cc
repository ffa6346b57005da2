#include "patterns/api/call_arguments.h"

#include <cstddef>
#include <string>

#include "membuf/combine.h"
#include "membuf/pack.h"
#include "patterns/api/handles.h"
#include "patterns/api/sized.h"

namespace brigade {
namespace {

constexpr ElementType kTypesInC[] = {
    ElementType::kByte,    ElementType::kInt8,         ElementType::kInt16,
    ElementType::kInt32,   ElementType::kInt64,        ElementType::kUint8,
    ElementType::kUint16,  ElementType::kUint32,       ElementType::kUint64,
    ElementType::kFloat16, ElementType::kBfloat16,     ElementType::kFloat,
    ElementType::kDouble,  ElementType::kComplexFloat, ElementType::kComplexDouble};
constexpr CombineOp kOpsInC[] = {
    CombineOp::kSum,    CombineOp::kProduct, CombineOp::kMax, CombineOp::kMin, CombineOp::kAbsMax,
    CombineOp::kAbsMin, CombineOp::kAnd,     CombineOp::kOr,  CombineOp::kXor, CombineOp::kUser};
constexpr Shape kShapesInC[] = {
    Shape::kFree,      Shape::kTree,      Shape::kIncreasingRings,        Shape::kDecreasingRings,
    Shape::kSplitRing, Shape::kHypercube, Shape::kReduceScatterAllgather, Shape::kTwoTree,
    Shape::kCirculant};

// Fills in what all calls have: type and options.
Status SetCommon(const brigade_group* group, Pattern pattern, brigade_type type,
                 const brigade_call_options* options, CallArguments* to) {
  BRIGADE_RETURN_IF_ERROR(CheckPointer("group", group));
  PatternCall& call = to->call;
  call.pattern = pattern;
  BRIGADE_RETURN_IF_ERROR(Translate("type", type, kTypesInC, &call.type));
  call.topology.shape = Shape::kFree;
  if (options == nullptr) return Status();

  brigade_call_options& read = to->options.emplace();
  BRIGADE_RETURN_IF_ERROR(ReadSized("brigade_call_options", *options, &read));
  BRIGADE_RETURN_IF_ERROR(ToScope(read.scope, &call.scope));
  BRIGADE_RETURN_IF_ERROR(Translate("topology", read.topology, kShapesInC, &call.topology.shape));
  call.topology.parameter =
      read.parameter != 0 ? read.parameter : (read.topology == BRIGADE_TREE ? 2 : 1);
  call.decreasing = read.decreasing != 0;
  call.timeout_seconds = read.timeout_seconds;
  return Status();
}

// Fills in the operation, and its function or locations.
Status SetOperation(brigade_op op, CallArguments* to) {
  PatternCall& call = to->call;
  BRIGADE_RETURN_IF_ERROR(Translate("op", op, kOpsInC, &call.op));
  if (to->options) call.locations = to->options->locations;
  if (call.op != CombineOp::kUser) return Status();
  const brigade_user_op* const user = to->options ? to->options->user_op : nullptr;
  BRIGADE_RETURN_IF_ERROR(CheckPointer("brigade_call_options::user_op, for BRIGADE_USER,", user));
  to->user_op = {user->combine, user->context, user->element_bytes, user->commutative != 0};
  to->SetPointers();
  if (call.type != ElementType::kByte && ElementBytes(call.type) != user->element_bytes) {
    return Invalid("type " + std::string(ElementTypeName(call.type)) + " has " +
                   std::to_string(ElementBytes(call.type)) + " bytes, the elements of user_op " +
                   std::to_string(user->element_bytes));
  }
  call.type = ElementType::kByte;  // only the function knows what they are
  return Status();
}

// Columns [first, first + cols) of a matrix of the program.
Status ToColumns(const char* name, const brigade_matrix* c, int64_t first, int64_t cols,
                 const PatternCall& call, Matrix* matrix) {
  BRIGADE_RETURN_IF_ERROR(CheckPointer(name, c));
  const size_t elem_bytes =
      call.user_op != nullptr ? call.user_op->element_bytes : ElementBytes(call.type);
  const int64_t ld = c->ld == 0 ? c->rows : c->ld;
  matrix->data = static_cast<std::byte*>(c->data);
  const Status right = StridedLayout::General(c->rows, cols, ld, elem_bytes, &matrix->layout);
  if (!right.ok()) return right.WithContext(name);  // a short call builds no text
  if (matrix->data != nullptr) {
    matrix->data += static_cast<size_t>(first) * static_cast<size_t>(ld) * elem_bytes;
  }
  return Status();
}

Status ToMatrix(const char* name, const brigade_matrix* c, const PatternCall& call,
                Matrix* matrix) {
  return ToColumns(name, c, 0, c == nullptr ? 0 : c->cols, call, matrix);
}

size_t RanksOf(const brigade_group& group, const CallArguments& to) {
  return static_cast<size_t>(group.group->ScopeSize(to.call.scope));
}
size_t RankIn(const brigade_group& group, const CallArguments& to) {
  return static_cast<size_t>(group.group->ScopeRank(to.call.scope));
}
bool IsRoot(const brigade_group& group, const CallArguments& to) {
  return group.group->ScopeRank(to.call.scope) == to.call.root;
}

// The blocks of a matrix: equal numbers of columns, one block per rank of the scope.
Status ToBlocks(const char* name, const brigade_group& group, const brigade_matrix* c,
                CallArguments* to, std::vector<Matrix>* blocks) {
  BRIGADE_RETURN_IF_ERROR(CheckPointer(name, c));
  const auto ranks = static_cast<int64_t>(RanksOf(group, *to));
  if (c->cols % ranks != 0) {
    return Invalid(std::string(name) + " has " + std::to_string(c->cols) +
                   " columns, which are no equal blocks for " + std::to_string(ranks) + " ranks");
  }
  const int64_t cols = c->cols / ranks;
  blocks->resize(static_cast<size_t>(ranks));
  for (int64_t q = 0; q < ranks; ++q) {
    BRIGADE_RETURN_IF_ERROR(
        ToColumns(name, c, q * cols, cols, to->call, &(*blocks)[static_cast<size_t>(q)]));
  }
  to->SetPointers();
  return Status();
}

Status ToBlocks(const char* name, const brigade_group& group, const brigade_matrix* matrices,
                size_t matrix_bytes, CallArguments* to, std::vector<Matrix>* blocks) {
  BRIGADE_RETURN_IF_ERROR(CheckPointer(name, matrices));
  if (matrix_bytes != sizeof(brigade_matrix)) {
    return Invalid("matrix_bytes is " + std::to_string(matrix_bytes) +
                   ": pass sizeof(brigade_matrix), " + std::to_string(sizeof(brigade_matrix)));
  }
  blocks->resize(RanksOf(group, *to));
  for (size_t q = 0; q < blocks->size(); ++q) {
    BRIGADE_RETURN_IF_ERROR(ToMatrix(name, &matrices[q], to->call, &(*blocks)[q])
                                .WithContext("block " + std::to_string(q)));
  }
  to->SetPointers();
  return Status();
}

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
  return Invalid(std::string(name) + " has " + std::to_string(block->layout.bytes()) +
                 " bytes, this rank's block " + std::to_string(place.layout.bytes()));
}

// Has this rank's block copied to `place` after the call, if it is not there already: matrices that
// begin at one address are one, since others must not overlap.
Status SetOwnCopy(const Matrix& block, const std::string& name, const Matrix& place,
                  CallArguments* to) {
  if (block.data == place.data) return Status();
  if (place.layout.bytes() > 0) {
    BRIGADE_RETURN_IF_ERROR(CheckPointer(("this rank's " + name).c_str(), place.data));
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

}  // namespace

void CallArguments::CopyOwnBlock(OperationStatistics* statistics) const {
  if (!own_block || own_block->layout.bytes() == 0) return;
  CopyAcross(own_block->layout, own_block->data, own_place.layout, own_place.data, 0,
             own_block->layout.bytes());
  if (statistics != nullptr) statistics->CountCopy(own_block->layout.bytes());
}

Status ToScope(int scope, ChannelKind* kind) {
  constexpr ChannelKind kScopesInC[] = {ChannelKind::kAll, ChannelKind::kRow, ChannelKind::kColumn};
  return Translate("scope", scope, kScopesInC, kind);
}

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

Status ToReduce(const brigade_group* group, const brigade_matrix* source,
                const brigade_matrix* result, brigade_type type, brigade_op op, int root,
                const brigade_call_options* options, CallArguments* to) {
  BRIGADE_RETURN_IF_ERROR(SetCommon(group, Pattern::kReduce, type, options, to));
  BRIGADE_RETURN_IF_ERROR(SetOperation(op, to));
  to->call.root = root;
  return SetReduction(source, result, IsRoot(*group, *to), to);
}

Status ToAllReduce(const brigade_group* group, const brigade_matrix* source,
                   const brigade_matrix* result, brigade_type type, brigade_op op,
                   const brigade_call_options* options, CallArguments* to) {
  BRIGADE_RETURN_IF_ERROR(SetCommon(group, Pattern::kAllReduce, type, options, to));
  BRIGADE_RETURN_IF_ERROR(SetOperation(op, to));
  return SetReduction(source, result, /*has_result=*/true, to);
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
  to->call.root = root;
  if (!IsRoot(*group, *to)) return ToEqualBlocks("source", *group, source, to);
  BRIGADE_RETURN_IF_ERROR(ToBlocks("result", *group, result, to, &to->blocks));
  return SetOwnBlock(*group, source, /*has_result=*/true, to);
}

Status ToGatherV(const brigade_group* group, const brigade_matrix* source,
                 const brigade_matrix* blocks, size_t matrix_bytes, brigade_type type, int root,
                 const brigade_call_options* options, CallArguments* to) {
  BRIGADE_RETURN_IF_ERROR(SetCommon(group, Pattern::kGather, type, options, to));
  to->call.root = root;
  BRIGADE_RETURN_IF_ERROR(ToBlocks("blocks", *group, blocks, matrix_bytes, to, &to->blocks));
  return SetOwnBlock(*group, source, /*has_result=*/IsRoot(*group, *to), to);
}

Status ToScatter(const brigade_group* group, const brigade_matrix* source,
                 const brigade_matrix* result, brigade_type type, int root,
                 const brigade_call_options* options, CallArguments* to) {
  BRIGADE_RETURN_IF_ERROR(SetCommon(group, Pattern::kScatter, type, options, to));
  to->call.root = root;
  if (!IsRoot(*group, *to)) return ToEqualBlocks("result", *group, result, to);
  BRIGADE_RETURN_IF_ERROR(ToBlocks("source", *group, source, to, &to->blocks));
  return SetWantedBlock(*group, result, /*is_root=*/true, to);
}

Status ToScatterV(const brigade_group* group, const brigade_matrix* blocks, size_t matrix_bytes,
                  const brigade_matrix* result, brigade_type type, int root,
                  const brigade_call_options* options, CallArguments* to) {
  BRIGADE_RETURN_IF_ERROR(SetCommon(group, Pattern::kScatter, type, options, to));
  to->call.root = root;
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

Status ToScan(const brigade_group* group, const brigade_matrix* source,
              const brigade_matrix* result, brigade_type type, brigade_op op,
              const brigade_call_options* options, CallArguments* to) {
  BRIGADE_RETURN_IF_ERROR(SetCommon(group, Pattern::kScan, type, options, to));
  BRIGADE_RETURN_IF_ERROR(SetOperation(op, to));
  return SetReduction(source, result, /*has_result=*/true, to);
}

Status ToExscan(const brigade_group* group, const brigade_matrix* source,
                const brigade_matrix* result, brigade_type type, brigade_op op,
                const brigade_call_options* options, CallArguments* to) {
  BRIGADE_RETURN_IF_ERROR(SetCommon(group, Pattern::kExscan, type, options, to));
  BRIGADE_RETURN_IF_ERROR(SetOperation(op, to));
  return SetReduction(source, result, /*has_result=*/RankIn(*group, *to) > 0, to);
}

Status ToBarrier(const brigade_group* group, const brigade_call_options* options,
                 CallArguments* to) {
  return SetCommon(group, Pattern::kBarrier, BRIGADE_BYTE, options, to);
}

}  // namespace brigade
