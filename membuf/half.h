// Float16 (IEEE 754 binary16) and Bfloat16 (the upper half of a float): numbers that travel in 16
// bits and are computed in float.

#ifndef BRIGADE_MEMBUF_HALF_H_
#define BRIGADE_MEMBUF_HALF_H_

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace brigade {

struct Float16 {
  uint16_t bits;
};
struct Bfloat16 {
  uint16_t bits;
};

inline uint32_t BitsOfFloat(float x) {
  uint32_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  return bits;
}
inline float FloatOfBits(uint32_t bits) {
  float x;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}

// Returns the same number. No branches, and no subnormal floats for a Float16, which a processor
// may flush to 0 if its settings say so.
inline float ToFloat(Float16 x) {
  const uint32_t sign = (x.bits & 0x8000u) << 16;
  const uint32_t magnitude = x.bits & 0x7fffu;
  const uint32_t exponent_bias = magnitude < 0x7c00u ? 112u << 23 : 224u << 23;
  const uint32_t normal = (magnitude << 13) + exponent_bias;
  const uint32_t subnormal = BitsOfFloat(static_cast<float>(magnitude) * 0x1p-24f);
  return FloatOfBits(sign | (magnitude < 0x400u ? subnormal : normal));
}
inline float ToFloat(Bfloat16 x) { return FloatOfBits(static_cast<uint32_t>(x.bits) << 16); }

// Rounds to the nearest number of the type, ties to even; a NaN is canonical.
template <typename Half>
Half FromFloat(float x);

template <>
inline Float16 FromFloat<Float16>(float x) {
  const uint32_t bits = BitsOfFloat(x);
  const uint32_t sign = bits >> 16 & 0x8000u;
  const uint32_t magnitude = bits & 0x7fffffffu;
  const uint32_t rounded = magnitude + 0xfffu + (magnitude >> 13 & 1u);
  const uint32_t normal = std::min((rounded - (112u << 23)) >> 13, 0x7c00u);
  // The last bit of 0.5f is the least Float16.
  const uint32_t subnormal = BitsOfFloat(FloatOfBits(magnitude) + 0.5f) - BitsOfFloat(0.5f);
  const uint32_t number = sign | (magnitude < 0x38800000u ? subnormal : normal);
  return {static_cast<uint16_t>(magnitude > 0x7f800000u ? 0x7e00u : number)};
}
template <>
inline Bfloat16 FromFloat<Bfloat16>(float x) {
  const uint32_t bits = BitsOfFloat(x);
  const uint32_t number = (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16;
  return {static_cast<uint16_t>((bits & 0x7fffffffu) > 0x7f800000u ? 0x7fc0u : number)};
}

}  // namespace brigade

#endif  // BRIGADE_MEMBUF_HALF_H_
