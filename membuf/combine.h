// Element-wise combination of two operands: the arithmetic of reductions.
//
// Every operation here is a fixed function of its two operands' values, so a reduction's bits
// depend only on the order in which partial results are combined, never on timing.
//
// - Sum and product: integers wrap. A floating result that is a NaN is written as the canonical
//   quiet NaN (each part of a complex number for itself), so the bits do not depend on which
//   operand is left. float16 and bfloat16 are computed in float, and each result is rounded to
//   nearest, ties to even. A complex product is (ac - bd, ad + bc), each operation rounded for
//   itself: infinities and NaNs are not recovered as in C's Annex G.
// - Maximum and minimum: a total order, so any order of combination gives the same bits. -0 is
//   smaller than +0. A NaN always wins, for maximum and for minimum, and is written canonical.
//   With locations the smaller location wins among equal values (NaNs are equal).
// - Absolute maximum and minimum: a total order as well. Magnitude is |x|; of complex numbers
//   |re| + |im|; of integers unsigned, so |INT_MIN| = 2^31. A NaN (a complex number with a NaN
//   part) always wins, and is written canonical (in both parts).
//   Equal magnitudes without locations: the larger signed value wins, for both (complex: the larger
//   real part, then the larger imaginary part; +0 is larger than -0).
//   Equal magnitudes with locations: the smaller location wins and its signed value is kept (at
//   equal locations, as without).
// - Bitwise and, or, exclusive or: of integers and bytes; bytes have no other operation.
//
// Sources: the BLACS for magnitudes and ties; NaN, -0 and INT_MIN are ours.
//
// Wire form of a segment of n elements: n values, then, if the operation carries locations, n int32
// locations.

#ifndef BRIGADE_MEMBUF_COMBINE_H_
#define BRIGADE_MEMBUF_COMBINE_H_

#include <cstddef>
#include <cstdint>

#include "membuf/element.h"
#include "membuf/strided_layout.h"

namespace brigade {

// Returns whether calls combine elements of the type by the operation.
bool Combines(CombineOp op, Element type);

// Returns whether locations may go with the operation.
constexpr bool HasLocations(CombineOp op) {
  return op == CombineOp::kMax || op == CombineOp::kMin || op == CombineOp::kAbsMax ||
         op == CombineOp::kAbsMin;
}

// Returns whether all orders of combination give equal bits.
constexpr bool IsOrderFree(CombineOp op, Element type) {
  if (op == CombineOp::kUser) return false;
  return (op != CombineOp::kSum && op != CombineOp::kProduct) || type < Element::kFloat16;
}

// An operation of the program, on elements that only the program knows.
struct UserOp {
  // Computes result[i] = left[i] (op) right[i] for `count` elements, of `element_bytes` each.
  // `result` may be equal to `left` or `right`, and is apart from both otherwise. All three are
  // contiguous, and aligned to the largest power of two that divides `element_bytes`, at most 64:
  // operands in user memory that are not are gathered into a block. The function must be
  // associative and thread-safe, must not throw or call Brigade, and may run in the progress
  // thread.
  void (*combine)(void* result, const void* left, const void* right, int64_t count,
                  void* context) = nullptr;
  void* context = nullptr;
  size_t element_bytes = 0;
  // Otherwise the operands are in the order of ranks: 0, 1, 2, ...
  bool commutative = false;
};

// One operand: the matrix at `base`, read from packed byte `offset` of `layout`, where an element
// starts, and (with locations) `locations`, contiguous, from the first element of the range on. A
// chunk is an operand with a contiguous layout.
struct ConstOperand {
  const StridedLayout* layout;  // not owned
  const std::byte* base;
  size_t offset;
  const int32_t* locations;  // null without locations
};
struct MutableOperand {
  const StridedLayout* layout;
  std::byte* base;
  size_t offset;
  int32_t* locations;
};

// Computes dst = left (op) right for `elems` elements. `dst` may be equal to `left` or `right`; any
// other overlap is not allowed. Either all three operands have locations or none.
// Values and locations need no alignment. Thread-safe on distinct destinations. Cost: one pass;
// short runs are gathered and scattered through a block that stays in cache. REQUIRES: Combines(op,
// type), and not kUser.
void Combine(CombineOp op, Element type, size_t elems, const MutableOperand& dst,
             const ConstOperand& left, const ConstOperand& right);

// The same by the program's function, without locations. Cost: its, and a copy of each operand in
// short or unaligned runs.
void Combine(const UserOp& op, size_t elems, const MutableOperand& dst, const ConstOperand& left,
             const ConstOperand& right);

}  // namespace brigade

#endif  // BRIGADE_MEMBUF_COMBINE_H_
