// The arithmetic of accumulates: target = target (op) operand, element by element.
//
// Source: MPI-3.1, sections 5.9.2 and 11.3.4.

#ifndef BRIGADE_WINDOWS_ELEMENTS_ACCUMULATE_H_
#define BRIGADE_WINDOWS_ELEMENTS_ACCUMULATE_H_

#include <cstddef>
#include <cstdint>

#include "windows/elements/element.h"

namespace brigade {

// Part of what is sent: numbers keep their meaning.
enum class AccumulateOp : uint8_t {
  kReplace = 0,
  kNoOp,
  kSum,
  kProduct,
  kMax,
  kMin,
  kLogicalAnd,
  kLogicalOr,
  kLogicalXor,
  kBitAnd,
  kBitOr,
  kBitXor,
  kMaxLocation,  // of equal values the smaller location wins
  kMinLocation,  // likewise
};
inline constexpr int kAccumulateOps = 14;

const char* AccumulateOpName(AccumulateOp op);

// Replace and no-op for everything, of mixed kinds, too. The others as MPI has it: sum and product
// of numbers; maximum and minimum of integers and floating numbers; logical operations on integers
// and logicals; bits of integers and bytes; locations with values that have them.
bool IsDefined(AccumulateOp op, Element element);

// `count` elements, packed; neither needs to be aligned. Integers wrap. Not atomic: the caller
// holds whatever makes it so. REQUIRES: IsDefined(op, element); no overlap.
void Accumulate(AccumulateOp op, Element element, size_t count, std::byte* target,
                const std::byte* operand);

}  // namespace brigade

#endif  // BRIGADE_WINDOWS_ELEMENTS_ACCUMULATE_H_
