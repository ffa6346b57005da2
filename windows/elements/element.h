// Element: what the values in a window can be, as far as accumulates must know it.

#ifndef BRIGADE_WINDOWS_ELEMENTS_ELEMENT_H_
#define BRIGADE_WINDOWS_ELEMENTS_ELEMENT_H_

#include <cstddef>
#include <cstdint>

namespace brigade {

// Part of what is sent: numbers keep their meaning.
enum class Element : uint8_t {
  kByte = 0,  // bits without a meaning
  kInt8,
  kInt16,
  kInt32,
  kInt64,
  kUint8,
  kUint16,
  kUint32,
  kUint64,
  kFloat,
  kDouble,
  kLongDouble,
  kComplexFloat,
  kComplexDouble,
  kComplexLongDouble,
  kBool,       // one byte
  kLogical32,  // Fortran's; 0 is false
  // A value and where it was found, packed without a gap.
  kFloatAndInt,
  kDoubleAndInt,
  kLongDoubleAndInt,
  kLongAndInt,
  kShortAndInt,
  kIntAndInt,
  kFloatAndFloat,
  kDoubleAndDouble,
  kMixed,  // none: a layout of several kinds
};
// The longest.
inline constexpr size_t kMostElementBytes = 32;
inline constexpr int kElements = static_cast<int>(Element::kMixed);

// Packed. REQUIRES: not kMixed.
size_t ElementBytes(Element element);
const char* ElementName(Element element);

}  // namespace brigade

#endif  // BRIGADE_WINDOWS_ELEMENTS_ELEMENT_H_
