// The operations of combine.h and accumulate.h on two values.

#ifndef BRIGADE_MEMBUF_ARITHMETIC_H_
#define BRIGADE_MEMBUF_ARITHMETIC_H_

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "membuf/combine.h"
#include "membuf/half.h"

namespace brigade {

template <typename T>
struct Complex {
  T re;
  T im;
};
template <typename T>
constexpr bool kIsComplex = false;
template <typename T>
constexpr bool kIsComplex<Complex<T>> = true;

// Fortran's and C's truth, in so many bits.
template <typename T>
struct Logical {
  T value;
};
template <typename T>
constexpr bool kIsLogical = false;
template <typename T>
constexpr bool kIsLogical<Logical<T>> = true;

// A value and where it was found, packed without a gap.
template <typename V, typename L>
struct __attribute__((packed)) WithLocation {
  V value;
  L location;
};
template <typename T>
constexpr bool kHasLocation = false;
template <typename V, typename L>
constexpr bool kHasLocation<WithLocation<V, L>> = true;

template <typename T>
constexpr bool kIsHalf = std::is_same_v<T, Float16> || std::is_same_v<T, Bfloat16>;
template <typename T>
constexpr bool kIsFloating = std::is_floating_point_v<T> || kIsHalf<T>;

// The part of a complex number, else the type itself.
template <typename T>
struct PartType {
  using Type = T;
};
template <typename T>
struct PartType<Complex<T>> {
  using Type = T;
};
template <typename T>
using PartOf = typename PartType<T>::Type;

// The unsigned integer of a number's, or of a part's, size.
template <size_t kBytes>
using UnsignedOf = std::conditional_t<
    kBytes == 1, uint8_t,
    std::conditional_t<kBytes == 2, uint16_t, std::conditional_t<kBytes == 4, uint32_t, uint64_t>>>;
template <typename T>
using BitsOf = UnsignedOf<sizeof(PartOf<T>)>;

template <typename T>
BitsOf<T> ToBits(T x) {
  BitsOf<T> bits;
  std::memcpy(&bits, &x, sizeof bits);
  return bits;
}

template <typename T>
constexpr T CanonicalNan() {
  if constexpr (std::is_same_v<T, Float16>) {
    return {0x7e00};
  } else if constexpr (std::is_same_v<T, Bfloat16>) {
    return {0x7fc0};
  } else {
    return std::numeric_limits<T>::quiet_NaN();
  }
}

template <typename T>
bool IsNan(T x) {
  if constexpr (std::is_same_v<T, Float16>) {
    return (x.bits & 0x7fff) > 0x7c00;
  } else if constexpr (std::is_same_v<T, Bfloat16>) {
    return (x.bits & 0x7fff) > 0x7f80;
  } else if constexpr (std::is_floating_point_v<T>) {
    return std::isnan(x);
  } else {
    return false;
  }
}

template <typename T>
T Canonical(T x) {
  if constexpr (kIsFloating<T>) {
    return IsNan(x) ? CanonicalNan<T>() : x;
  } else {
    return x;
  }
}
template <typename T>
Complex<T> Canonical(Complex<T> x) {
  constexpr T kNan = CanonicalNan<T>();
  return IsNan(x.re) || IsNan(x.im) ? Complex<T>{kNan, kNan} : x;
}

// Maximum and minimum ----------------------------------------------------------------------------
//
// Each is "the larger rank wins", where a rank is an unsigned integer, and that of a NaN is the
// largest there is.

// Integers in the order of the numbers. Floating bits are sign and magnitude: flipping all bits of
// negative ones gives integers in that order, -0 before +0.
template <typename T>
BitsOf<T> OrderOf(T x) {
  using Bits = BitsOf<T>;
  constexpr auto kSign = static_cast<Bits>(Bits{1} << (8 * sizeof(T) - 1));
  const Bits bits = ToBits(x);
  if constexpr (kIsFloating<T>) {
    return static_cast<Bits>((bits & kSign) != 0 ? ~bits : bits | kSign);
  } else {
    return static_cast<Bits>(std::is_signed_v<T> ? bits ^ kSign : bits);
  }
}

template <CombineOp kOp, typename T>
BitsOf<T> Rank(T x) {
  using Bits = BitsOf<T>;
  constexpr auto kNanRank = static_cast<Bits>(-1);
  constexpr auto kMagnitudeBits = static_cast<Bits>(kNanRank / 2);
  Bits rank = 0;
  if constexpr (kOp == CombineOp::kMax || kOp == CombineOp::kMin) {
    rank = OrderOf(x);
    if (kOp == CombineOp::kMin) rank = static_cast<Bits>(~rank);
  } else if constexpr (kIsFloating<T>) {
    // The bits of non-negative numbers are in the order of the numbers.
    rank = static_cast<Bits>(ToBits(x) & kMagnitudeBits);
    if (kOp == CombineOp::kAbsMin) rank = static_cast<Bits>(kMagnitudeBits - rank);
  } else {
    rank = ToBits(x);
    if constexpr (std::is_signed_v<T>) rank = x < 0 ? static_cast<Bits>(Bits{0} - rank) : rank;
    if (kOp == CombineOp::kAbsMin) rank = static_cast<Bits>(~rank);
  }
  return IsNan(x) ? kNanRank : rank;
}
template <CombineOp kOp, typename T>
BitsOf<T> Rank(Complex<T> x) {
  return Rank<kOp>(std::abs(x.re) + std::abs(x.im));
}

// Returns whether left is at least right as a signed value.
template <typename T>
bool AtLeast(T left, T right) {
  return OrderOf(left) >= OrderOf(right);
}
template <typename T>
bool AtLeast(Complex<T> left, Complex<T> right) {
  const bool same_re = ToBits(left.re) == ToBits(right.re);
  return same_re ? AtLeast(left.im, right.im) : AtLeast(left.re, right.re);
}

// One operation of two values --------------------------------------------------------------------

// The difference between calls and accumulates.
enum class Nans : uint8_t {
  kCanonical,   // NaNs win, and are written canonical; extremes are total orders
  kAsComputed,  // as the processor computes them; extremes compare as C does
};

template <Nans kNans, typename T>
T Finished(T x) {
  return kNans == Nans::kCanonical ? Canonical(x) : x;
}

// Not called with signed integers, whose sums, products and bits are those of unsigned ones, nor
// with complex sums, which are sums of their parts. `kNans` matters for floating numbers alone.
template <CombineOp kOp, Nans kNans, typename T>
T Combined(T left, T right) {
  // Short integers would be promoted to signed ones, whose products may overflow.
  using Wide = std::conditional_t<sizeof(T) < 8, uint32_t, uint64_t>;
  constexpr bool kCompares = kNans == Nans::kAsComputed || std::is_integral_v<T>;
  if constexpr (kOp == CombineOp::kSum || kOp == CombineOp::kProduct) {
    constexpr bool kAdds = kOp == CombineOp::kSum;
    if constexpr (kIsHalf<T>) {
      return FromFloat<T>(kAdds ? ToFloat(left) + ToFloat(right) : ToFloat(left) * ToFloat(right));
    } else if constexpr (kIsComplex<T>) {
      return {Finished<kNans>(left.re * right.re - left.im * right.im),
              Finished<kNans>(left.re * right.im + left.im * right.re)};
    } else if constexpr (kIsFloating<T>) {
      return Finished<kNans>(kAdds ? left + right : left * right);
    } else {
      return static_cast<T>(kAdds ? Wide{left} + Wide{right} : Wide{left} * Wide{right});
    }
  } else if constexpr (kOp == CombineOp::kBitAnd) {
    return static_cast<T>(left & right);
  } else if constexpr (kOp == CombineOp::kBitOr) {
    return static_cast<T>(left | right);
  } else if constexpr (kOp == CombineOp::kBitXor) {
    return static_cast<T>(left ^ right);
  } else if constexpr (kOp == CombineOp::kLogicalAnd) {
    return static_cast<T>((left != 0) & (right != 0));
  } else if constexpr (kOp == CombineOp::kLogicalOr) {
    return static_cast<T>((left != 0) | (right != 0));
  } else if constexpr (kOp == CombineOp::kLogicalXor) {
    return static_cast<T>((left != 0) ^ (right != 0));
  } else if constexpr (kHasLocation<T>) {
    const auto x = left.value;
    const auto y = right.value;
    if (x == y) return left.location <= right.location ? left : right;
    return (x < y) == (kOp == CombineOp::kMaxLocation) ? right : left;
  } else if constexpr (kCompares && kOp == CombineOp::kMax) {
    return left < right ? right : left;
  } else if constexpr (kCompares && kOp == CombineOp::kMin) {
    return right < left ? right : left;
  } else {
    const auto left_rank = Rank<kOp>(left);
    const auto right_rank = Rank<kOp>(right);
    const bool left_wins =
        left_rank > right_rank || (left_rank == right_rank && AtLeast(left, right));
    return Canonical(left_wins ? left : right);
  }
}

}  // namespace brigade

#endif  // BRIGADE_MEMBUF_ARITHMETIC_H_
