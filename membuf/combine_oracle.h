// For tests: every operation of combine.h by its definition, and values at which it is special.

#ifndef BRIGADE_MEMBUF_COMBINE_ORACLE_H_
#define BRIGADE_MEMBUF_COMBINE_ORACLE_H_

#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <vector>

#include "membuf/combine.h"
#include "membuf/half.h"
#include "membuf/strided_layout.h"

// A namespace of its own: some names are those of functions that are tested.
namespace brigade::oracle {

template <typename T>
constexpr bool kIsComplex = false;
template <typename T>
constexpr bool kIsComplex<std::complex<T>> = true;

template <typename T>
constexpr bool kIsHalf = std::is_same_v<T, Float16> || std::is_same_v<T, Bfloat16>;
template <typename T>
constexpr bool kIsFloating = std::is_floating_point_v<T> || kIsHalf<T>;

template <typename T>
constexpr Element TypeOf() {
  if constexpr (std::is_same_v<T, std::byte>) return Element::kByte;
  if constexpr (std::is_same_v<T, int8_t>) return Element::kInt8;
  if constexpr (std::is_same_v<T, uint8_t>) return Element::kUint8;
  if constexpr (std::is_same_v<T, int16_t>) return Element::kInt16;
  if constexpr (std::is_same_v<T, uint16_t>) return Element::kUint16;
  if constexpr (std::is_same_v<T, uint32_t>) return Element::kUint32;
  if constexpr (std::is_same_v<T, uint64_t>) return Element::kUint64;
  if constexpr (std::is_same_v<T, Float16>) return Element::kFloat16;
  if constexpr (std::is_same_v<T, Bfloat16>) return Element::kBfloat16;
  if constexpr (std::is_same_v<T, int32_t>) return Element::kInt32;
  if constexpr (std::is_same_v<T, int64_t>) return Element::kInt64;
  if constexpr (std::is_same_v<T, float>) return Element::kFloat;
  if constexpr (std::is_same_v<T, double>) return Element::kDouble;
  if constexpr (std::is_same_v<T, std::complex<float>>) return Element::kComplexFloat;
  if constexpr (std::is_same_v<T, std::complex<double>>) return Element::kComplexDouble;
}

template <typename T>
bool SameBits(const T& a, const T& b) {
  return std::memcmp(&a, &b, sizeof a) == 0;
}

// A value and where it came from.
template <typename T>
struct Entry {
  T value;
  int32_t location;
};

// Combine of whole vectors, for tests of the arithmetic alone.
template <typename T>
std::vector<Entry<T>> CombineAll(CombineOp op, bool locations, const std::vector<Entry<T>>& left,
                                 const std::vector<Entry<T>>& right) {
  std::vector<T> l, r, d(left.size());
  std::vector<int32_t> l_loc, r_loc, d_loc(left.size());
  for (const Entry<T>& e : left) l.push_back(e.value), l_loc.push_back(e.location);
  for (const Entry<T>& e : right) r.push_back(e.value), r_loc.push_back(e.location);
  const StridedLayout layout = StridedLayout::Contiguous(left.size() * sizeof(T));
  Combine(op, TypeOf<T>(), left.size(),
          {&layout, reinterpret_cast<std::byte*>(d.data()), 0, locations ? d_loc.data() : nullptr},
          {&layout, reinterpret_cast<const std::byte*>(l.data()), 0,
           locations ? l_loc.data() : nullptr},
          {&layout, reinterpret_cast<const std::byte*>(r.data()), 0,
           locations ? r_loc.data() : nullptr});
  std::vector<Entry<T>> result;
  for (size_t i = 0; i < d.size(); ++i) result.push_back({d[i], d_loc[i]});
  return result;
}

template <typename T>
T CombineTwo(CombineOp op, T left, T right) {
  return CombineAll<T>(op, false, {{left, 0}}, {{right, 0}})[0].value;
}

template <typename T>
Entry<T> CombineTwo(CombineOp op, Entry<T> left, Entry<T> right) {
  return CombineAll<T>(op, true, {left}, {right})[0];
}

// Special values ---------------------------------------------------------------------------------

// A value of a 16-bit type, in double, by its definition: bits of the exponent and the fraction.
inline double DoubleOf(uint16_t bits, int fraction_bits, int bias) {
  const int exponent = (bits & 0x7fff) >> fraction_bits;
  const int fraction = bits & ((1 << fraction_bits) - 1);
  const double sign = (bits & 0x8000) != 0 ? -1 : 1;
  if (exponent == (0x7fff >> fraction_bits)) return fraction == 0 ? sign * INFINITY : NAN;
  if (exponent == 0) return sign * std::ldexp(fraction, 1 - bias - fraction_bits);
  return sign * std::ldexp((1 << fraction_bits) + fraction, exponent - bias - fraction_bits);
}
inline double DoubleOf(Float16 x) { return DoubleOf(x.bits, 10, 15); }
inline double DoubleOf(Bfloat16 x) { return DoubleOf(x.bits, 7, 127); }
template <typename T>
T DoubleOf(T x) {
  return x;
}

// The nearest number of a 16-bit type to an exact one, ties to even, found by halving the interval
// of all of them.
template <typename T>
T NearestTo(double exact) {
  if (std::isnan(exact))
    return {static_cast<uint16_t>(std::is_same_v<T, Float16> ? 0x7e00 : 0x7fc0)};
  constexpr uint16_t kInfinity = std::is_same_v<T, Float16> ? 0x7c00 : 0x7f80;
  const auto sign = static_cast<uint16_t>(std::signbit(exact) ? 0x8000 : 0);
  const double magnitude = std::abs(exact);
  uint16_t below = 0;  // the largest that is not above
  uint16_t above = kInfinity;
  while (above - below > 1) {
    const auto middle = static_cast<uint16_t>((below + above) / 2);
    (DoubleOf(T{middle}) <= magnitude ? below : above) = middle;
  }
  // Infinity stands for the number behind the largest one.
  const double step = DoubleOf(T{below}) - DoubleOf(T{static_cast<uint16_t>(below - 1)});
  const double next = above == kInfinity ? DoubleOf(T{below}) + step : DoubleOf(T{above});
  const double middle = (DoubleOf(T{below}) + next) / 2;
  const bool up = magnitude > middle || (magnitude == middle && below % 2 == 1);
  return {static_cast<uint16_t>(sign | (up ? above : below))};
}

template <typename T>
T NanWithPayload() {
  const T quiet = std::numeric_limits<T>::quiet_NaN();
  std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t> bits;
  std::memcpy(&bits, &quiet, sizeof bits);
  bits |= 5;
  T nan;
  std::memcpy(&nan, &bits, sizeof nan);
  return -nan;
}

template <typename T>
std::vector<T> RealSpecials() {
  using Limits = std::numeric_limits<T>;
  if constexpr (std::is_same_v<T, std::byte>) {
    return {std::byte{0}, std::byte{1}, std::byte{0x5a}, std::byte{0x80}, std::byte{0xff}};
  } else if constexpr (std::is_integral_v<T>) {
    std::vector<T> specials = {0, 1, 2, 3, 7, Limits::max(), Limits::min()};
    for (const T x : {1, 2, 7}) specials.push_back(static_cast<T>(-x));
    specials.push_back(static_cast<T>(Limits::max() - 1));
    specials.push_back(static_cast<T>(-Limits::max()));
    return specials;
  } else if constexpr (std::is_same_v<T, Float16>) {
    // 0, the least and the largest subnormal, the least normal, 1 and its neighbours, 3, 2048 and
    // 2049's neighbour, the largest, infinity, NaNs; and their negatives.
    std::vector<T> specials;
    for (const uint16_t bits : {0x0000, 0x0001, 0x0003, 0x03ff, 0x0400, 0x1400, 0x3bff, 0x3c00,
                                0x3c01, 0x4200, 0x6800, 0x6801, 0x7bff, 0x7c00, 0x7c01, 0x7e05}) {
      specials.push_back({bits});
      specials.push_back({static_cast<uint16_t>(bits | 0x8000)});
    }
    return specials;
  } else if constexpr (std::is_same_v<T, Bfloat16>) {
    std::vector<T> specials;
    for (const uint16_t bits : {0x0000, 0x0001, 0x007f, 0x0080, 0x3b80, 0x3f7f, 0x3f80, 0x3f81,
                                0x4040, 0x4380, 0x4381, 0x7f7f, 0x7f80, 0x7f81, 0x7fc5}) {
      specials.push_back({bits});
      specials.push_back({static_cast<uint16_t>(bits | 0x8000)});
    }
    return specials;
  } else {
    return {T{0},
            -T{0},
            T{1},
            T{-1},
            Limits::max(),
            -Limits::max(),
            Limits::denorm_min(),
            -Limits::denorm_min(),
            Limits::infinity(),
            -Limits::infinity(),
            Limits::quiet_NaN(),
            NanWithPayload<T>()};
  }
}

template <typename T>
std::vector<T> Specials() {
  if constexpr (kIsComplex<T>) {
    // A selection, or there would be millions of triples; max + max is an infinite magnitude.
    using Part = typename T::value_type;
    using Limits = std::numeric_limits<Part>;
    const std::vector<Part> parts = {0,
                                     -Part{0},
                                     1,
                                     -1,
                                     Limits::max(),
                                     Limits::infinity(),
                                     -Limits::infinity(),
                                     NanWithPayload<Part>()};
    std::vector<T> specials;
    for (const Part re : parts) {
      for (const Part im : parts) specials.push_back({re, im});
    }
    return specials;
  } else {
    return RealSpecials<T>();
  }
}

// The definition in combine.h, by plain comparisons -----------------------------------------------

template <typename T>
bool IsNan(T x) {
  if constexpr (kIsComplex<T>) return std::isnan(x.real()) || std::isnan(x.imag());
  if constexpr (kIsFloating<T>) return std::isnan(DoubleOf(x));
  return false;
}

template <typename T>
T WithCanonicalNan(T x) {
  if (!IsNan(x)) return x;
  if constexpr (kIsComplex<T>) {
    const auto nan = std::numeric_limits<typename T::value_type>::quiet_NaN();
    return {nan, nan};
  } else if constexpr (kIsHalf<T>) {
    return NearestTo<T>(NAN);
  } else {
    return std::numeric_limits<T>::quiet_NaN();
  }
}

template <typename T>
auto Magnitude(T x) {
  if constexpr (kIsComplex<T>) {
    return std::abs(x.real()) + std::abs(x.imag());
  } else if constexpr (std::is_integral_v<T>) {
    return x < 0 ? -static_cast<__int128>(x) : static_cast<__int128>(x);
  } else {
    return std::abs(DoubleOf(x));
  }
}

// -1, 0, 1 as `a` is smaller than, the same as or larger than `b`; -0 is smaller than +0.
template <typename T>
int CompareSigned(T a, T b) {
  if constexpr (kIsComplex<T>) {
    const int re = CompareSigned(a.real(), b.real());
    return re != 0 ? re : CompareSigned(a.imag(), b.imag());
  } else if constexpr (std::is_integral_v<T>) {
    return a < b ? -1 : a > b;
  } else {
    const double left = DoubleOf(a);
    const double right = DoubleOf(b);
    if (left != right) return left < right ? -1 : 1;
    return static_cast<int>(std::signbit(right)) - static_cast<int>(std::signbit(left));
  }
}

template <typename T>
bool LeftWins(CombineOp op, bool locations, Entry<T> l, Entry<T> r) {
  if (IsNan(l.value) != IsNan(r.value)) return IsNan(l.value);
  if (op == CombineOp::kMax || op == CombineOp::kMin) {
    const int order = IsNan(l.value) ? 0 : CompareSigned(l.value, r.value);
    if (order != 0) return (order > 0) == (op == CombineOp::kMax);
  } else if (!IsNan(l.value) && Magnitude(l.value) != Magnitude(r.value)) {
    return (Magnitude(l.value) > Magnitude(r.value)) == (op == CombineOp::kAbsMax);
  }
  if (locations && l.location != r.location) return l.location < r.location;
  return IsNan(l.value) || CompareSigned(l.value, r.value) >= 0;
}

template <typename T>
T Arithmetic(CombineOp op, T l, T r) {
  if constexpr (std::is_integral_v<T> || std::is_same_v<T, std::byte>) {
    // The sign of a signed char has no effect on the result's bits.
    const auto left = static_cast<uint64_t>(l);   // NOLINT(bugprone-signed-char-misuse)
    const auto right = static_cast<uint64_t>(r);  // NOLINT(bugprone-signed-char-misuse)
    if (op == CombineOp::kSum) return static_cast<T>(left + right);
    if (op == CombineOp::kProduct) return static_cast<T>(left * right);
    if (op == CombineOp::kBitAnd) return static_cast<T>(left & right);
    if (op == CombineOp::kBitOr) return static_cast<T>(left | right);
    return static_cast<T>(left ^ right);
  } else if constexpr (kIsHalf<T>) {
    // Exact in double.
    const double left = DoubleOf(l);
    const double right = DoubleOf(r);
    return NearestTo<T>(op == CombineOp::kSum ? left + right : left * right);
  } else if constexpr (kIsComplex<T>) {
    using Part = typename T::value_type;
    if (op == CombineOp::kSum) {
      return {WithCanonicalNan(l.real() + r.real()), WithCanonicalNan(l.imag() + r.imag())};
    }
    // Each product is rounded before it is added.
    const volatile Part ac = l.real() * r.real();
    const volatile Part bd = l.imag() * r.imag();
    const volatile Part ad = l.real() * r.imag();
    const volatile Part bc = l.imag() * r.real();
    return {WithCanonicalNan<Part>(ac - bd), WithCanonicalNan<Part>(ad + bc)};
  } else {
    return WithCanonicalNan(op == CombineOp::kSum ? l + r : l * r);
  }
}

template <typename T>
Entry<T> Defined(CombineOp op, bool locations, Entry<T> l, Entry<T> r) {
  if (!HasLocations(op)) return {Arithmetic(op, l.value, r.value), 0};
  if constexpr (std::is_same_v<T, std::byte>) {
    return {};
  } else {
    const Entry<T> winner = LeftWins(op, locations, l, r) ? l : r;
    return {WithCanonicalNan(winner.value), locations ? winner.location : 0};
  }
}

}  // namespace brigade::oracle

#endif  // BRIGADE_MEMBUF_COMBINE_ORACLE_H_
