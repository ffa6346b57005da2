#include "patterns/engine/call_check.h"

#include <string>

#include "membuf/combine.h"

namespace brigade {
namespace {

Status Invalid(const CatalogueEntry& entry, const std::string& what) {
  return Status(StatusCode::kInvalidArgument, std::string(entry.name) + ": " + what);
}

// `portion`: its number, or -1 for the call's matrix.
Status CheckMatrix(const CatalogueEntry& entry, const PatternCall& call, const Matrix& matrix,
                   int portion) {
  if (matrix.layout.bytes() == 0) return Status();
  const auto invalid = [&](const std::string& what) {
    const std::string name = portion < 0 ? "matrix" : "portion " + std::to_string(portion);
    return Invalid(entry, name + what);
  };
  if (matrix.data == nullptr) return invalid(" is a null pointer");
  if (entry.combines && matrix.layout.elem_bytes() != ElementBytes(call.type)) {
    return invalid(" has elements of " + std::to_string(matrix.layout.elem_bytes()) +
                   " bytes, not of " + ElementTypeName(call.type));
  }
  return Status();
}

}  // namespace

Status CheckCall(const CatalogueEntry& entry, const PatternCall& call, int size, int rank) {
  const Pattern pattern = call.pattern;
  if (!IsPair(pattern) && call.scope == ChannelKind::kPointToPoint) {
    return Invalid(entry, "needs a scope of row, column or all");
  }
  if (!entry.topologies.empty()) {
    BRIGADE_RETURN_IF_ERROR(CheckTopology(pattern, call.topology));
  }
  if (entry.rooted && (call.root < 0 || call.root >= size)) {
    return Invalid(
        entry, "rank " + std::to_string(call.root) + " is outside 0.." + std::to_string(size - 1));
  }
  if (pattern != Pattern::kBarrier && pattern != Pattern::kMultiBroadcast) {
    BRIGADE_RETURN_IF_ERROR(CheckMatrix(entry, call, call.matrix, -1));
  }
  if (call.locations != nullptr &&
      (call.op == CombineOp::kSum ||
       (pattern != Pattern::kReduce && pattern != Pattern::kAllReduce))) {
    return Invalid(entry, "locations go with the maximum and minimum of reduce and all_reduce");
  }
  if (!entry.multi) return Status();
  if (call.portions == nullptr) return Invalid(entry, "portions is a null pointer");
  for (int q = 0; q < size; ++q) {
    BRIGADE_RETURN_IF_ERROR(CheckMatrix(entry, call, call.portions[q], q));
    if (call.portions[q].layout.elem_bytes() != call.portions[0].layout.elem_bytes()) {
      return Invalid(entry, "portions have elements of different sizes");
    }
  }
  if (pattern == Pattern::kMultiReduce &&
      call.matrix.layout.bytes() != call.portions[rank].layout.bytes()) {
    return Invalid(entry, "the result has " + std::to_string(call.matrix.layout.bytes()) +
                              " bytes, the rank's own portion " +
                              std::to_string(call.portions[rank].layout.bytes()));
  }
  return Status();
}

}  // namespace brigade
