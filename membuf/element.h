// Element and CombineOp: the types of elements, and the operations on two elements, in calls and in
// windows. The table in README.md lists the operations of each element.

#ifndef BRIGADE_MEMBUF_ELEMENT_H_
#define BRIGADE_MEMBUF_ELEMENT_H_

#include <cstddef>
#include <cstdint>

namespace brigade {

// The numbers of both enumerations are those of brigade_type and brigade_op
// (include/brigade/types.h), and part of what is sent.
enum class Element : uint8_t {
  kByte,  // bits without a meaning
  kInt8,
  kInt16,
  kInt32,
  kInt64,
  kUint8,
  kUint16,
  kUint32,
  kUint64,
  kFloat16,   // not in windows
  kBfloat16,  // not in windows
  kFloat,
  kDouble,
  kComplexFloat,
  kComplexDouble,
  // In windows only:
  kLongDouble,
  kComplexLongDouble,
  kBool,       // one byte
  kLogical32,  // Fortran's; 0 is false
  // A value and where it was found, packed without a gap.
  kDoubleAndInt,
  kFloatAndInt,
  kLongDoubleAndInt,
  kLongAndInt,
  kShortAndInt,
  kIntAndInt,
  kFloatAndFloat,
  kDoubleAndDouble,
  kMixed,  // none: a layout of several kinds
};
inline constexpr int kCallElements = static_cast<int>(Element::kComplexDouble) + 1;
inline constexpr int kElements = static_cast<int>(Element::kMixed);
// Of the longest element.
inline constexpr size_t kMostElementBytes = 32;

enum class CombineOp : uint8_t {
  kSum,
  kProduct,
  kMax,
  kMin,
  kAbsMax,  // not in windows
  kAbsMin,  // not in windows
  kBitAnd,
  kBitOr,
  kBitXor,
  kUser,  // a UserOp, on elements of kByte; not in windows
  // In windows only:
  kLogicalAnd,
  kLogicalOr,
  kLogicalXor,
  kMaxLocation,  // of equal values the smaller location wins
  kMinLocation,  // of equal values the smaller location wins
  kReplace,
  kNoOp,
};
inline constexpr int kCallOps = static_cast<int>(CombineOp::kUser) + 1;
inline constexpr int kCombineOps = static_cast<int>(CombineOp::kNoOp) + 1;

// Packed; 0 of kMixed.
size_t ElementBytes(Element element);
const char* ElementName(Element element);
const char* CombineOpName(CombineOp op);

}  // namespace brigade

#endif  // BRIGADE_MEMBUF_ELEMENT_H_
