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
    Shape::kFree,      Shape::kTree,      Shape::kIncreasingRings, Shape::kDecreasingRings,
    Shape::kSplitRing, Shape::kHypercube, Shape::kDealt,           Shape::kTwoTree,
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

// The blocks of a matrix: equal numbers of columns, one block per rank of the scope.
Status ToBlocks(const char* name, const brigade_group& group, const brigade_matrix* c,
                CallArguments* to) {
  BRIGADE_RETURN_IF_ERROR(CheckPointer(name, c));
  const int ranks = group.group->ScopeSize(to->call.scope);
  if (c->cols % ranks != 0) {
    return Invalid(std::string(name) + " has " + std::to_string(c->cols) +
                   " columns, which are no equal blocks for " + std::to_string(ranks) + " ranks");
  }
  const int64_t cols = c->cols / ranks;
  to->portions.resize(static_cast<size_t>(ranks));
  for (int q = 0; q < ranks; ++q) {
    BRIGADE_RETURN_IF_ERROR(
        ToColumns(name, c, q * cols, cols, to->call, &to->portions[static_cast<size_t>(q)]));
  }
  to->SetPointers();
  return Status();
}

Status ToBlocks(const char* name, const brigade_group& group, const brigade_matrix* blocks,
                size_t matrix_bytes, CallArguments* to) {
  BRIGADE_RETURN_IF_ERROR(CheckPointer(name, blocks));
  if (matrix_bytes < sizeof(brigade_matrix)) {
    return Invalid("matrix_bytes is " + std::to_string(matrix_bytes) +
                   ": pass sizeof(brigade_matrix), " + std::to_string(sizeof(brigade_matrix)));
  }
  const auto ranks = static_cast<size_t>(group.group->ScopeSize(to->call.scope));
  const auto* const bytes = reinterpret_cast<const std::byte*>(blocks);
  to->portions.resize(ranks);
  for (size_t q = 0; q < ranks; ++q) {
    const auto* const block = reinterpret_cast<const brigade_matrix*>(bytes + q * matrix_bytes);
    BRIGADE_RETURN_IF_ERROR(ToMatrix(name, block, to->call, &to->portions[q])
                                .WithContext("block " + std::to_string(q)));
  }
  to->SetPointers();
  return Status();
}

// The block that this rank contributes to an all-gather, if it is not in its place.
Status SetOwnBlock(const brigade_group& group, const brigade_matrix* source, CallArguments* to) {
  if (source == nullptr) return Status();
  Matrix block;
  BRIGADE_RETURN_IF_ERROR(ToMatrix("source", source, to->call, &block));
  const auto me = static_cast<size_t>(group.group->ScopeRank(to->call.scope));
  to->own_place = to->portions[me];
  if (to->own_place.layout.bytes() > 0) {
    BRIGADE_RETURN_IF_ERROR(CheckPointer("this rank's block of the result", to->own_place.data));
  }
  if (block.layout.bytes() != to->own_place.layout.bytes()) {
    return Invalid("source has " + std::to_string(block.layout.bytes()) +
                   " bytes, this rank's block of the result " +
                   std::to_string(to->own_place.layout.bytes()));
  }
  to->own_block = to->portions[me] = block;
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

void CallArguments::CopyOwnBlock() const {
  if (!own_block || own_block->layout.bytes() == 0) return;
  CopyAcross(own_block->layout, own_block->data, own_place.layout, own_place.data, 0,
             own_block->layout.bytes());
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
  return SetReduction(source, result, group->group->ScopeRank(to->call.scope) == root, to);
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
  BRIGADE_RETURN_IF_ERROR(ToBlocks("result", *group, result, to));
  return SetOwnBlock(*group, source, to);
}

Status ToAllGatherV(const brigade_group* group, const brigade_matrix* source,
                    const brigade_matrix* blocks, size_t matrix_bytes, brigade_type type,
                    const brigade_call_options* options, CallArguments* to) {
  BRIGADE_RETURN_IF_ERROR(SetCommon(group, Pattern::kMultiBroadcast, type, options, to));
  BRIGADE_RETURN_IF_ERROR(ToBlocks("blocks", *group, blocks, matrix_bytes, to));
  return SetOwnBlock(*group, source, to);
}

Status ToReduceScatter(const brigade_group* group, const brigade_matrix* source,
                       const brigade_matrix* result, brigade_type type, brigade_op op,
                       const brigade_call_options* options, CallArguments* to) {
  BRIGADE_RETURN_IF_ERROR(SetCommon(group, Pattern::kMultiReduce, type, options, to));
  BRIGADE_RETURN_IF_ERROR(SetOperation(op, to));
  BRIGADE_RETURN_IF_ERROR(ToBlocks("source", *group, source, to));
  return ToMatrix("result", result, to->call, &to->call.matrix);
}

Status ToReduceScatterV(const brigade_group* group, const brigade_matrix* blocks,
                        size_t matrix_bytes, const brigade_matrix* result, brigade_type type,
                        brigade_op op, const brigade_call_options* options, CallArguments* to) {
  BRIGADE_RETURN_IF_ERROR(SetCommon(group, Pattern::kMultiReduce, type, options, to));
  BRIGADE_RETURN_IF_ERROR(SetOperation(op, to));
  BRIGADE_RETURN_IF_ERROR(ToBlocks("blocks", *group, blocks, matrix_bytes, to));
  return ToMatrix("result", result, to->call, &to->call.matrix);
}

Status ToBarrier(const brigade_group* group, const brigade_call_options* options,
                 CallArguments* to) {
  return SetCommon(group, Pattern::kBarrier, BRIGADE_BYTE, options, to);
}

}  // namespace brigade
