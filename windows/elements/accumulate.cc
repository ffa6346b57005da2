#include "windows/elements/accumulate.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "membuf/check.h"
#include "membuf/processor_loop.h"

namespace brigade {
namespace {

template <typename T>
struct Complex {
  T re, im;
};

// As it is packed.
template <typename V, typename L>
struct __attribute__((packed)) WithLocation {
  V value;
  L location;
};

// Fortran's and C's truth, in so many bits.
template <typename T>
struct Logical {
  T value;
};

template <typename T>
struct Bits {
  T value;
};

template <typename T>
constexpr bool kIsInteger = std::is_integral_v<T>;
template <typename T>
constexpr bool kIsReal = std::is_arithmetic_v<T>;

template <typename T>
constexpr bool kIsComplex = false;
template <typename T>
constexpr bool kIsComplex<Complex<T>> = true;
template <typename T>
constexpr bool kIsLogical = false;
template <typename T>
constexpr bool kIsLogical<Logical<T>> = true;
template <typename T>
constexpr bool kIsBits = false;
template <typename T>
constexpr bool kIsBits<Bits<T>> = true;
template <typename T>
constexpr bool kHasLocation = false;
template <typename V, typename L>
constexpr bool kHasLocation<WithLocation<V, L>> = true;

// --- the operations: each says for what it is defined, and what it does ---

// Integers wrap: C leaves that open for signed ones, and promotes short ones to signed.
template <typename T>
using Wrapping = std::conditional_t<kIsInteger<T>, uint64_t, T>;

struct Sum {
  template <typename T>
  static constexpr bool kDefined = kIsReal<T> || kIsComplex<T>;
  template <typename T>
  static T Of(T a, T b) {
    if constexpr (kIsComplex<T>) {
      return {a.re + b.re, a.im + b.im};
    } else {
      return static_cast<T>(static_cast<Wrapping<T>>(a) + static_cast<Wrapping<T>>(b));
    }
  }
};

struct Product {
  template <typename T>
  static constexpr bool kDefined = kIsReal<T> || kIsComplex<T>;
  template <typename T>
  static T Of(T a, T b) {
    if constexpr (kIsComplex<T>) {
      return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
    } else {
      return static_cast<T>(static_cast<Wrapping<T>>(a) * static_cast<Wrapping<T>>(b));
    }
  }
};

struct Max {
  template <typename T>
  static constexpr bool kDefined = kIsReal<T>;
  template <typename T>
  static T Of(T a, T b) {
    return a < b ? b : a;
  }
};

struct Min {
  template <typename T>
  static constexpr bool kDefined = kIsReal<T>;
  template <typename T>
  static T Of(T a, T b) {
    return b < a ? b : a;
  }
};

// Logical operations: every value but 0 is true.
template <typename Operation>
struct OfTruth {
  template <typename T>
  static constexpr bool kDefined = kIsInteger<T> || kIsLogical<T>;
  template <typename T>
  static T Of(T a, T b) {
    if constexpr (kIsLogical<T>) {
      return {Of(a.value, b.value)};
    } else {
      return static_cast<T>(Operation::Of(a != 0, b != 0));
    }
  }
};

template <typename Operation>
struct OfBits {
  template <typename T>
  static constexpr bool kDefined = kIsInteger<T> || kIsBits<T>;
  template <typename T>
  static T Of(T a, T b) {
    if constexpr (kIsBits<T>) {
      return {Of(a.value, b.value)};
    } else {
      return static_cast<T>(Operation::Of(a, b));
    }
  }
};

struct And {
  template <typename T>
  static auto Of(T a, T b) {
    return a & b;
  }
};
struct Or {
  template <typename T>
  static auto Of(T a, T b) {
    return a | b;
  }
};
struct Xor {
  template <typename T>
  static auto Of(T a, T b) {
    return a ^ b;
  }
};

template <bool kMaximum>
struct WithWinner {
  template <typename T>
  static constexpr bool kDefined = kHasLocation<T>;
  template <typename T>
  static T Of(T a, T b) {
    const auto x = a.value;
    const auto y = b.value;
    if (x == y) return a.location <= b.location ? a : b;
    return (x < y) == kMaximum ? b : a;
  }
};

// --- dispatch ---

// Calls `visit` with a value of the type of `element`.
template <typename Visit>
bool VisitType(Element element, const Visit& visit) {
  switch (element) {
    case Element::kByte:
      return visit(Bits<uint8_t>{});
    case Element::kInt8:
      return visit(int8_t{});
    case Element::kInt16:
      return visit(int16_t{});
    case Element::kInt32:
      return visit(int32_t{});
    case Element::kInt64:
      return visit(int64_t{});
    case Element::kUint8:
      return visit(uint8_t{});
    case Element::kUint16:
      return visit(uint16_t{});
    case Element::kUint32:
      return visit(uint32_t{});
    case Element::kUint64:
      return visit(uint64_t{});
    case Element::kFloat:
      return visit(float{});
    case Element::kDouble:
      return visit(double{});
    case Element::kLongDouble:
      return visit(static_cast<long double>(0));
    case Element::kComplexFloat:
      return visit(Complex<float>{});
    case Element::kComplexDouble:
      return visit(Complex<double>{});
    case Element::kComplexLongDouble:
      return visit(Complex<long double>{});
    case Element::kBool:
      return visit(Logical<uint8_t>{});
    case Element::kLogical32:
      return visit(Logical<uint32_t>{});
    case Element::kFloatAndInt:
      return visit(WithLocation<float, int>{});
    case Element::kDoubleAndInt:
      return visit(WithLocation<double, int>{});
    case Element::kLongDoubleAndInt:
      return visit(WithLocation<long double, int>{});
    case Element::kLongAndInt:
      return visit(WithLocation<long, int>{});
    case Element::kShortAndInt:
      return visit(WithLocation<short, int>{});
    case Element::kIntAndInt:
      return visit(WithLocation<int, int>{});
    case Element::kFloatAndFloat:
      return visit(WithLocation<float, float>{});
    case Element::kDoubleAndDouble:
      return visit(WithLocation<double, double>{});
    case Element::kMixed:
      break;
  }
  return false;
}

// Calls `visit` with the arithmetic of `op`. REQUIRES: there is some.
template <typename Visit>
bool VisitOp(AccumulateOp op, const Visit& visit) {
  switch (op) {
    case AccumulateOp::kReplace:
    case AccumulateOp::kNoOp:
      break;
    case AccumulateOp::kSum:
      return visit(Sum());
    case AccumulateOp::kProduct:
      return visit(Product());
    case AccumulateOp::kMax:
      return visit(Max());
    case AccumulateOp::kMin:
      return visit(Min());
    case AccumulateOp::kLogicalAnd:
      return visit(OfTruth<And>());
    case AccumulateOp::kLogicalOr:
      return visit(OfTruth<Or>());
    case AccumulateOp::kLogicalXor:
      return visit(OfTruth<Xor>());
    case AccumulateOp::kBitAnd:
      return visit(OfBits<And>());
    case AccumulateOp::kBitOr:
      return visit(OfBits<Or>());
    case AccumulateOp::kBitXor:
      return visit(OfBits<Xor>());
    case AccumulateOp::kMaxLocation:
      return visit(WithWinner<true>());
    case AccumulateOp::kMinLocation:
      return visit(WithWinner<false>());
  }
  BRIGADE_CHECK(false);
  return false;
}

// No element depends on another.
template <typename Operation, typename T>
BRIGADE_PART_OF_CALLER void ApplyEach(size_t count, std::byte* __restrict target,
                                      const std::byte* __restrict operand) {
  for (size_t i = 0; i < count; ++i) {
    T a;
    T b;
    std::memcpy(&a, target + i * sizeof(T), sizeof(T));
    std::memcpy(&b, operand + i * sizeof(T), sizeof(T));
    a = Operation::Of(a, b);
    std::memcpy(target + i * sizeof(T), &a, sizeof(T));
  }
}

template <typename Operation, typename T>
struct ApplyLoop {
  BRIGADE_PART_OF_CALLER static void Run(size_t count, std::byte* target,
                                         const std::byte* operand) {
    // A store across two lines of a cache takes longer than two: the first elements go ahead.
    constexpr uintptr_t kRegister = 32;
    const size_t ahead =
        std::min(count, (-reinterpret_cast<uintptr_t>(target) % kRegister) / sizeof(T));
    ApplyEach<Operation, T>(ahead, target, operand);
    ApplyEach<Operation, T>(count - ahead, target + ahead * sizeof(T), operand + ahead * sizeof(T));
  }
};

template <typename Operation, typename T>
void Apply(size_t count, std::byte* target, const std::byte* operand) {
  RunForProcessor<ApplyLoop<Operation, T>>(count, target, operand);
}

}  // namespace

const char* AccumulateOpName(AccumulateOp op) {
  constexpr const char* kNames[] = {"replace",
                                    "no-op",
                                    "sum",
                                    "product",
                                    "maximum",
                                    "minimum",
                                    "logical and",
                                    "logical or",
                                    "logical xor",
                                    "bitwise and",
                                    "bitwise or",
                                    "bitwise xor",
                                    "maximum with location",
                                    "minimum with location"};
  static_assert(sizeof(kNames) / sizeof(kNames[0]) == kAccumulateOps);
  return kNames[static_cast<int>(op)];
}

bool IsDefined(AccumulateOp op, Element element) {
  if (op == AccumulateOp::kReplace || op == AccumulateOp::kNoOp) return true;
  return VisitOp(op, [&](auto operation) {
    using Operation = decltype(operation);
    return VisitType(element,
                     [](auto value) { return Operation::template kDefined<decltype(value)>; });
  });
}

void Accumulate(AccumulateOp op, Element element, size_t count, std::byte* target,
                const std::byte* operand) {
  if (op == AccumulateOp::kNoOp || count == 0) return;
  if (op == AccumulateOp::kReplace) {
    std::memcpy(target, operand, count * ElementBytes(element));
    return;
  }
  const bool done = VisitOp(op, [&](auto operation) {
    using Operation = decltype(operation);
    return VisitType(element, [&](auto value) {
      using T = decltype(value);
      if constexpr (std::is_same_v<Operation, Sum> && kIsComplex<T>) {
        // Of numbers twice as many, which the compiler does not see.
        Apply<Sum, decltype(T::re)>(2 * count, target, operand);
        return true;
      } else if constexpr (Operation::template kDefined<T>) {
        Apply<Operation, T>(count, target, operand);
        return true;
      }
      return false;
    });
  });
  BRIGADE_CHECK(done);
}

}  // namespace brigade
