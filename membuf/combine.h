// Element-wise combination of two operands: the arithmetic of reductions.
//
// Every operation here is a fixed function of its two operands' values, so a reduction's bits
// depend only on the order in which partial results are combined, never on timing.
//
// - Sum: integers wrap. A floating result that is a NaN is written as the canonical quiet NaN (each
//   part of a complex number for itself), so a sum's bits do not depend on which operand is left.
// - Absolute maximum and minimum: a total order, so any order of combination gives the same bits.
//   Magnitude is |x|; of complex numbers |re| + |im|; of integers unsigned, so |INT_MIN| = 2^31.
//   A NaN (a complex number with a NaN part) always wins, for max and for min, and is written
//   canonical (in both parts).
//   Equal magnitudes without locations: the larger signed value wins, for max and for min (complex:
//   the larger real part, then the larger imaginary part; +0 is larger than -0).
//   Equal magnitudes with locations: the smaller location wins and its signed value is kept (at
//   equal locations, as without).
//
// Sources: the BLACS for magnitudes and ties; NaN, -0 and INT_MIN are ours.
//
// Wire form of a piece of n elements: n values, then, if the operation carries locations, n int32
// locations.

#ifndef BRIGADE_MEMBUF_COMBINE_H_
#define BRIGADE_MEMBUF_COMBINE_H_

#include <cstddef>
#include <cstdint>

#include "membuf/strided_layout.h"

namespace brigade {

enum class ElementType : uint8_t { kInt32, kInt64, kFloat, kDouble, kComplexFloat, kComplexDouble };
enum class CombineOp : uint8_t { kSum, kAbsMax, kAbsMin };

size_t ElementBytes(ElementType type);
const char* ElementTypeName(ElementType type);
const char* CombineOpName(CombineOp op);

// Returns whether all orders of combination give equal bits.
inline bool IsOrderFree(CombineOp op, ElementType type) {
  return op != CombineOp::kSum || type == ElementType::kInt32 || type == ElementType::kInt64;
}

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
// other overlap is not allowed. Either all three operands have locations or none (sum: none).
// Values need no alignment. Thread-safe on distinct destinations. Cost: one pass; short runs are
// gathered and scattered through a block that stays in cache.
void Combine(CombineOp op, ElementType type, size_t elems, const MutableOperand& dst,
             const ConstOperand& left, const ConstOperand& right);

}  // namespace brigade

#endif  // BRIGADE_MEMBUF_COMBINE_H_
