#include "patterns/plan/call_check.h"

#include <string>
#include <utility>

#include "membuf/combine.h"
#include "patterns/engine/wire_header.h"

namespace brigade {
namespace {

Status Invalid(const CatalogueEntry& entry, const std::string& what) {
  return Status(StatusCode::kInvalidArgument, std::string(entry.name) + ": " + what);
}

bool IsRight(const CatalogueEntry& entry, const PatternCall& call, const Matrix& matrix) {
  if (matrix.layout.bytes() == 0) return true;
  return matrix.data != nullptr &&
         (!entry.combines || matrix.layout.elem_bytes() == ElementBytes(call));
}

// Returns the error that says why the matrix is wrong, which the error text calls `name`.
Status WrongMatrix(const CatalogueEntry& entry, const PatternCall& call, const Matrix& matrix,
                   const std::string& name) {
  if (matrix.data == nullptr) return Invalid(entry, name + " is a null pointer");
  return Invalid(entry, name + " has elements of " + std::to_string(matrix.layout.elem_bytes()) +
                            " bytes, not of " +
                            (call.op == CombineOp::kUser ? std::to_string(ElementBytes(call))
                                                         : ElementName(call.type)));
}

Status CheckUserOp(const CatalogueEntry& entry, const PatternCall& call) {
  if (call.user_op == nullptr) return Invalid(entry, "user_op is a null pointer");
  const size_t bytes = call.user_op->element_bytes;
  if (bytes == 0 || bytes > kMostUserElementBytes) {
    return Invalid(entry, "a user operation has elements of " + std::to_string(bytes) +
                              " bytes, not of 1.." + std::to_string(kMostUserElementBytes));
  }
  return Status();
}

Status CheckArithmetic(const CatalogueEntry& entry, const PatternCall& call) {
  if (!Combines(call.op, call.type)) {
    return Invalid(entry, std::string(ElementName(call.type)) + " has no " +
                              CombineOpName(call.op) +
                              "; docs/user/calls.md lists what each type has");
  }
  return call.op == CombineOp::kUser ? CheckUserOp(entry, call) : Status();
}

// Returns whether rank `rank` reads or writes that block.
bool UsesBlock(const PatternCall& call, int block, int rank) {
  return !IsRootedBlocks(call.pattern) || rank == call.root || rank == block;
}

// Checks the matrices of an array. `name`: of the array; `one`: of a matrix, before its number.
Status CheckMatrices(const CatalogueEntry& entry, const PatternCall& call, const Matrix* matrices,
                     int size, int rank, const std::string& name, const std::string& one) {
  if (matrices == nullptr) return Invalid(entry, name + " is a null pointer");
  for (int q = 0; q < size; ++q) {
    if (UsesBlock(call, q, rank) && !IsRight(entry, call, matrices[q])) {
      return WrongMatrix(entry, call, matrices[q], one + " " + std::to_string(q));
    }
    if (HasDirection(call.pattern) &&
        matrices[q].layout.elem_bytes() != matrices[0].layout.elem_bytes()) {
      return Invalid(entry, name + " have elements of different sizes");
    }
  }
  return Status();
}

// Of an all-to-all: the blocks are as long as the one that the rank keeps.
Status CheckEqualBlocks(const CatalogueEntry& entry, const PatternCall& call, int size,
                        size_t kept) {
  for (int q = 0; q < size; ++q) {
    for (const auto& [matrices, one] :
         {std::pair(call.sent, "sent block "), std::pair(call.blocks, "block ")}) {
      const size_t bytes = matrices[q].layout.bytes();
      if (bytes == kept) continue;
      return Invalid(entry, one + std::to_string(q) + " has " + std::to_string(bytes) +
                                " bytes, the block that the rank keeps " + std::to_string(kept) +
                                "; call brigade_alltoallv on all ranks");
    }
  }
  return Status();
}

}  // namespace

Status CheckRoot(const CatalogueEntry& entry, const PatternCall& call, int size) {
  if (!entry.rooted || (call.root >= 0 && call.root < size)) return Status();
  return Invalid(
      entry, "rank " + std::to_string(call.root) + " is outside 0.." + std::to_string(size - 1));
}

Status CheckSignature(const CatalogueEntry& entry, const PatternCall& call, int size) {
  const Pattern pattern = call.pattern;
  if (!IsPair(pattern) && call.scope == ChannelKind::kPointToPoint) {
    return Invalid(entry, "needs a scope of row, column or all");
  }
  if (!entry.topologies.empty()) {
    BRIGADE_RETURN_IF_ERROR(CheckTopology(pattern, call.topology));
  }
  if (pattern == Pattern::kAllToAll && call.topology.shape == Shape::kCirculant &&
      !call.equal_blocks) {
    return Invalid(entry,
                   "a circulant graph needs blocks of equal lengths; call brigade_alltoall, or "
                   "name no topology");
  }
  BRIGADE_RETURN_IF_ERROR(CheckRoot(entry, call, size));
  if (entry.combines) BRIGADE_RETURN_IF_ERROR(CheckArithmetic(entry, call));
  if (call.locations != nullptr &&
      (!HasLocations(call.op) || (pattern != Pattern::kReduce && pattern != Pattern::kAllReduce))) {
    return Invalid(entry, "locations go with the maximum and minimum of reduce and all_reduce");
  }
  return Status();
}

Status CheckMemory(const CatalogueEntry& entry, const PatternCall& call, int size, int rank) {
  const bool has_user_op = entry.combines && call.op == CombineOp::kUser;
  // Again: calls with wrong and right operations may have the same signature.
  if (has_user_op) BRIGADE_RETURN_IF_ERROR(CheckUserOp(entry, call));
  if (HasMatrix(call.pattern) && !IsRight(entry, call, call.matrix)) {
    return WrongMatrix(entry, call, call.matrix, "matrix");
  }
  if (has_user_op && call.user_op->combine == nullptr) {
    return Invalid(entry, "the function of the user operation is a null pointer");
  }
  if (HasSource(call)) {
    if (!IsRight(entry, call, *call.source)) {
      return WrongMatrix(entry, call, *call.source, "source");
    }
    if (call.source->layout.bytes() != call.matrix.layout.bytes()) {
      return Invalid(entry, "the source has " + std::to_string(call.source->layout.bytes()) +
                                " bytes, the matrix " + std::to_string(call.matrix.layout.bytes()));
    }
  }
  if (!entry.multi) return Status();
  BRIGADE_RETURN_IF_ERROR(CheckMatrices(entry, call, call.blocks, size, rank, "blocks", "block"));
  if (call.pattern == Pattern::kAllToAll) {
    BRIGADE_RETURN_IF_ERROR(
        CheckMatrices(entry, call, call.sent, size, rank, "sent", "sent block"));
    const size_t kept = call.sent[rank].layout.bytes();
    if (kept != call.blocks[rank].layout.bytes()) {
      return Invalid(entry, "the block that rank " + std::to_string(rank) + " keeps has " +
                                std::to_string(kept) + " bytes, and where it is received " +
                                std::to_string(call.blocks[rank].layout.bytes()));
    }
    if (call.equal_blocks) return CheckEqualBlocks(entry, call, size, kept);
  }
  if (call.pattern == Pattern::kMultiReduce &&
      call.matrix.layout.bytes() != call.blocks[rank].layout.bytes()) {
    return Invalid(entry, "the result has " + std::to_string(call.matrix.layout.bytes()) +
                              " bytes, the rank's own block " +
                              std::to_string(call.blocks[rank].layout.bytes()));
  }
  return Status();
}

}  // namespace brigade
