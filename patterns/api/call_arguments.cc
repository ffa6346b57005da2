#include "patterns/api/call_arguments.h"

#include <cstddef>
#include <string>

#include "membuf/combine.h"
#include "membuf/pack.h"
#include "patterns/api/handles.h"
#include "patterns/api/sized.h"
#include "patterns/plan/call_check.h"

namespace brigade {
namespace {

static_assert(kCallElements == BRIGADE_COMPLEX_DOUBLE + 1 && kCallOps == BRIGADE_USER + 1,
              "the numbers are those of C");
constexpr Shape kShapesInC[] = {
    Shape::kFree,      Shape::kTree,      Shape::kIncreasingRings,        Shape::kDecreasingRings,
    Shape::kSplitRing, Shape::kHypercube, Shape::kReduceScatterAllgather, Shape::kTwoTree,
    Shape::kCirculant};

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

Status SetCommon(const brigade_group* group, Pattern pattern, brigade_type type,
                 const brigade_call_options* options, CallArguments* to) {
  BRIGADE_RETURN_IF_ERROR(CheckPointer("group", group));
  PatternCall& call = to->call;
  call.pattern = pattern;
  if (type >= kCallElements && type < kElements) {
    return Invalid(std::string("type ") + ElementName(static_cast<Element>(type)) +
                   " is only for windows");
  }
  BRIGADE_RETURN_IF_ERROR(Translate("type", type, kCallElements, &call.type));
  call.topology.shape = Shape::kFree;
  if (options == nullptr) return Status();

  brigade_call_options& read = to->options.emplace();
  BRIGADE_RETURN_IF_ERROR(ReadSized("brigade_call_options", *options, &read));
  BRIGADE_RETURN_IF_ERROR(ToScope(read.scope, &call.scope));
  BRIGADE_RETURN_IF_ERROR(Translate("topology", read.topology, kShapesInC, &call.topology.shape));
  call.topology.parameter =
      read.parameter != 0 ? read.parameter : (read.topology == BRIGADE_TREE ? 2 : 1);
  call.decreasing = read.decreasing != 0;
  if (!(read.timeout_seconds >= 0)) {  // or it is no number
    return Invalid("brigade_call_options::timeout_seconds is " +
                   std::to_string(read.timeout_seconds) + ": it must be 0 or more");
  }
  call.timeout_seconds = read.timeout_seconds;
  return Status();
}

Status SetOperation(brigade_op op, CallArguments* to) {
  PatternCall& call = to->call;
  if (op >= kCallOps && op < kCombineOps) {
    return Invalid(std::string("op ") + CombineOpName(static_cast<CombineOp>(op)) +
                   " is only for windows");
  }
  BRIGADE_RETURN_IF_ERROR(Translate("op", op, kCallOps, &call.op));
  if (to->options) call.locations = to->options->locations;
  if (call.op != CombineOp::kUser) return Status();
  const brigade_user_op* const user = to->options ? to->options->user_op : nullptr;
  BRIGADE_RETURN_IF_ERROR(CheckPointer("brigade_call_options::user_op, for BRIGADE_USER,", user));
  to->user_op = {user->combine, user->context, user->element_bytes, user->commutative != 0};
  to->SetPointers();
  if (call.type != Element::kByte && ElementBytes(call.type) != user->element_bytes) {
    return Invalid("type " + std::string(ElementName(call.type)) + " has " +
                   std::to_string(ElementBytes(call.type)) + " bytes, the elements of user_op " +
                   std::to_string(user->element_bytes));
  }
  call.type = Element::kByte;  // only the function knows what they are
  return Status();
}

Status SetRoot(const brigade_group& group, int root, CallArguments* to) {
  to->call.root = root;
  return CheckRoot(EntryOf(to->call.pattern), to->call, static_cast<int>(RanksOf(group, *to)));
}

Status ToMatrix(const char* name, const brigade_matrix* c, const PatternCall& call,
                Matrix* matrix) {
  return ToColumns(name, c, 0, c == nullptr ? 0 : c->cols, call, matrix);
}

Status ToBlocks(const char* name, const brigade_group& group, const brigade_matrix* c,
                CallArguments* to, std::vector<Matrix>* blocks) {
  BRIGADE_RETURN_IF_ERROR(CheckPointer(name, c));
  const auto ranks = static_cast<int64_t>(RanksOf(group, *to));
  if (c->cols % ranks != 0) {
    return Invalid(std::string(name) + " has " + std::to_string(c->cols) +
                   " columns, which are no equal blocks for " + std::to_string(ranks) +
                   " ranks; functions with v, such as brigade_gatherv, take blocks of any length");
  }
  Matrix whole;  // blocks that are right by themselves may still be too far apart
  BRIGADE_RETURN_IF_ERROR(ToMatrix(name, c, to->call, &whole));
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

}  // namespace brigade
