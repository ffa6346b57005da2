#include "membuf/accumulate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace brigade {
namespace {

using Op = CombineOp;

// Returns the target after one element of `b` was combined with `a`.
template <typename T>
T After(Op op, Element element, T a, T b) {
  // Odd addresses: nothing needs to be aligned.
  std::byte target[sizeof(T) + 1];
  std::byte operand[sizeof(T) + 1];
  std::memcpy(target + 1, &a, sizeof(T));
  std::memcpy(operand + 1, &b, sizeof(T));
  Accumulate(op, element, 1, target + 1, operand + 1);
  T result;
  std::memcpy(&result, target + 1, sizeof(T));
  return result;
}

template <typename T>
void ExpectIntegers(Element element) {
  ASSERT_EQ(ElementBytes(element), sizeof(T));
  const T a = 12;
  const T b = 10;
  EXPECT_EQ(After(Op::kReplace, element, a, b), b);
  EXPECT_EQ(After(Op::kNoOp, element, a, b), a);
  EXPECT_EQ(After(Op::kSum, element, a, b), T{22});
  EXPECT_EQ(After(Op::kProduct, element, a, b), T{120});
  EXPECT_EQ(After(Op::kMax, element, a, b), a);
  EXPECT_EQ(After(Op::kMax, element, b, a), a);
  EXPECT_EQ(After(Op::kMin, element, a, b), b);
  EXPECT_EQ(After(Op::kMin, element, b, a), b);
  EXPECT_EQ(After(Op::kLogicalAnd, element, a, b), T{1});
  EXPECT_EQ(After(Op::kLogicalAnd, element, a, T{0}), T{0});
  EXPECT_EQ(After(Op::kLogicalOr, element, T{0}, b), T{1});
  EXPECT_EQ(After(Op::kLogicalOr, element, T{0}, T{0}), T{0});
  EXPECT_EQ(After(Op::kLogicalXor, element, a, b), T{0});
  EXPECT_EQ(After(Op::kLogicalXor, element, a, T{0}), T{1});
  EXPECT_EQ(After(Op::kBitAnd, element, a, b), T{8});
  EXPECT_EQ(After(Op::kBitOr, element, a, b), T{14});
  EXPECT_EQ(After(Op::kBitXor, element, a, b), T{6});
  constexpr T kMost = std::numeric_limits<T>::max();
  constexpr T kLeast = std::numeric_limits<T>::min();
  EXPECT_EQ(After(Op::kSum, element, kMost, T{1}), kLeast);
  EXPECT_EQ(After(Op::kMax, element, kLeast, T{1}), T{1});
  EXPECT_EQ(After(Op::kMin, element, kLeast, T{1}), kLeast);
}

TEST(Accumulate, Integers) {
  ExpectIntegers<int8_t>(Element::kInt8);
  ExpectIntegers<int16_t>(Element::kInt16);
  ExpectIntegers<int32_t>(Element::kInt32);
  ExpectIntegers<int64_t>(Element::kInt64);
  ExpectIntegers<uint8_t>(Element::kUint8);
  ExpectIntegers<uint16_t>(Element::kUint16);
  ExpectIntegers<uint32_t>(Element::kUint32);
  ExpectIntegers<uint64_t>(Element::kUint64);
}

template <typename T>
void ExpectReals(Element element) {
  ASSERT_EQ(ElementBytes(element), sizeof(T));
  EXPECT_EQ(After<T>(Op::kSum, element, 1.5, -4), T(-2.5));
  EXPECT_EQ(After<T>(Op::kProduct, element, 1.5, -4), T(-6));
  EXPECT_EQ(After<T>(Op::kMax, element, 1.5, -4), T(1.5));
  EXPECT_EQ(After<T>(Op::kMin, element, 1.5, -4), T(-4));
}

TEST(Accumulate, Reals) {
  ExpectReals<float>(Element::kFloat);
  ExpectReals<double>(Element::kDouble);
  ExpectReals<long double>(Element::kLongDouble);
}

template <typename T>
void ExpectComplex(Element element) {
  struct Complex {
    T re, im;
  };
  ASSERT_EQ(ElementBytes(element), sizeof(Complex));
  const Complex sum = After<Complex>(Op::kSum, element, {1, 2}, {3, -5});
  EXPECT_EQ(sum.re, T(4));
  EXPECT_EQ(sum.im, T(-3));
  const Complex product = After<Complex>(Op::kProduct, element, {1, 2}, {3, -5});
  EXPECT_EQ(product.re, T(13));
  EXPECT_EQ(product.im, T(1));
}

TEST(Accumulate, Complex) {
  ExpectComplex<float>(Element::kComplexFloat);
  ExpectComplex<double>(Element::kComplexDouble);
  ExpectComplex<long double>(Element::kComplexLongDouble);
}

TEST(Accumulate, Logicals) {
  EXPECT_EQ(After<uint8_t>(Op::kLogicalAnd, Element::kBool, 1, 0), 0);
  EXPECT_EQ(After<uint8_t>(Op::kLogicalOr, Element::kBool, 1, 0), 1);
  // Any bits but 0 are true, as compilers have it, and the result is 1.
  EXPECT_EQ(After<uint32_t>(Op::kLogicalAnd, Element::kLogical32, 0xffffffff, 2), 1U);
  EXPECT_EQ(After<uint32_t>(Op::kLogicalXor, Element::kLogical32, 0xffffffff, 2), 0U);
}

template <typename V, typename L>
void ExpectLocations(Element element) {
  struct __attribute__((packed)) Pair {
    V value;
    L location;
  };
  ASSERT_EQ(ElementBytes(element), sizeof(Pair));
  const auto expect = [&](Op op, Pair a, Pair b, Pair expected) {
    const Pair after = After<Pair>(op, element, a, b);
    EXPECT_TRUE(after.value == expected.value && after.location == expected.location)
        << CombineOpName(op) << " of " << ElementName(element);
  };
  const Pair small = {V(-3), L(7)};
  const Pair large = {V(4), L(9)};
  const Pair large_later = {V(4), L(11)};
  expect(Op::kMaxLocation, small, large, large);
  expect(Op::kMaxLocation, large, small, large);
  expect(Op::kMinLocation, small, large, small);
  expect(Op::kMinLocation, large, small, small);
  expect(Op::kMaxLocation, large, large_later, large);
  expect(Op::kMaxLocation, large_later, large, large);
  expect(Op::kMinLocation, large_later, large, large);
  expect(Op::kReplace, small, large, large);
}

TEST(Accumulate, Locations) {
  ExpectLocations<float, int>(Element::kFloatAndInt);
  ExpectLocations<double, int>(Element::kDoubleAndInt);
  ExpectLocations<long double, int>(Element::kLongDoubleAndInt);
  ExpectLocations<long, int>(Element::kLongAndInt);
  ExpectLocations<short, int>(Element::kShortAndInt);
  ExpectLocations<int, int>(Element::kIntAndInt);
  ExpectLocations<float, float>(Element::kFloatAndFloat);
  ExpectLocations<double, double>(Element::kDoubleAndDouble);
}

// Exactly the combinations that MPI defines: MPI-3.1, sections 5.9.2 and 5.9.4.
TEST(Accumulate, IsDefinedWhereMpiSaysSo) {
  const auto operations = [](Element element) {
    std::string defined;
    for (int op = 0; op < kCombineOps; ++op) {
      defined += IsDefined(static_cast<Op>(op), element) ? 'x' : '.';
    }
    return defined;
  };
  const auto expected = [](Element element) -> std::string {
    switch (element) {
      case Element::kByte:
        return "......xxx......xx";
      case Element::kFloat:
      case Element::kDouble:
      case Element::kLongDouble:
        return "xxxx...........xx";
      case Element::kComplexFloat:
      case Element::kComplexDouble:
      case Element::kComplexLongDouble:
        return "xx.............xx";
      case Element::kBool:
      case Element::kLogical32:
        return "..........xxx..xx";
      case Element::kFloat16:
      case Element::kBfloat16:
      case Element::kMixed:
        return "...............xx";
      default:
        return element <= Element::kUint64 ? "xxxx..xxx.xxx..xx" : ".............xxxx";
    }
  };
  for (int i = 0; i <= kElements; ++i) {
    const auto element = static_cast<Element>(i);
    EXPECT_EQ(operations(element), expected(element)) << ElementName(element);
  }
}

TEST(Accumulate, TakesManyAtOnce) {
  std::vector<double> target(1000);
  std::vector<double> operand(1000);
  for (int i = 0; i < 1000; ++i) target[i] = i, operand[i] = 2 * i;
  Accumulate(Op::kSum, Element::kDouble, 999, reinterpret_cast<std::byte*>(target.data()),
             reinterpret_cast<const std::byte*>(operand.data()));
  for (int i = 0; i < 999; ++i) EXPECT_EQ(target[i], 3 * i);
  EXPECT_EQ(target[999], 999);
}

// Wherever the target begins. Not of long doubles: their padding has any bytes.
TEST(Accumulate, ManyAreLikeOneAtATime) {
  constexpr size_t kCount = 300;
  std::mt19937 random(1);
  for (int i = 0; i < kElements * kCombineOps; ++i) {
    const auto op = static_cast<Op>(i % kCombineOps);
    const auto element = static_cast<Element>(i / kCombineOps);
    if (!IsDefined(op, element) || element == Element::kLongDouble ||
        element == Element::kComplexLongDouble || element == Element::kLongDoubleAndInt) {
      continue;
    }
    const size_t bytes = ElementBytes(element);
    for (const size_t first : {0, 1, 6, 31}) {
      std::vector<std::byte> many(first + kCount * bytes);
      std::vector<std::byte> operand(kCount * bytes);
      // No NaN has such bytes.
      for (std::byte& byte : many) byte = static_cast<std::byte>(random() % 64);
      for (std::byte& byte : operand) byte = static_cast<std::byte>(random() % 64);
      std::vector<std::byte> expected = many;
      for (size_t j = 0; j < kCount; ++j) {
        Accumulate(op, element, 1, &expected[first + j * bytes], &operand[j * bytes]);
      }
      Accumulate(op, element, kCount, &many[first], operand.data());
      EXPECT_EQ(many, expected) << CombineOpName(op) << " of " << ElementName(element);
    }
  }
}

// Whatever a processor can do at once: each step rounds, as nothing that is volatile can forgo.
template <typename T>
void ExpectBitsAsWritten(Element real, Element complex) {
  constexpr size_t kCount = 1003;
  std::mt19937_64 random(1);
  std::normal_distribution<T> normal;
  std::vector<T> a(kCount);
  std::vector<T> b(kCount);
  for (size_t i = 0; i < kCount; ++i) a[i] = normal(random), b[i] = normal(random);
  // At odd addresses.
  const auto after = [&](Op op, Element element, size_t count) {
    std::vector<std::byte> target(kCount * sizeof(T) + 1);
    std::vector<std::byte> operand(kCount * sizeof(T) + 1);
    std::memcpy(target.data() + 1, a.data(), kCount * sizeof(T));
    std::memcpy(operand.data() + 1, b.data(), kCount * sizeof(T));
    Accumulate(op, element, count, target.data() + 1, operand.data() + 1);
    std::vector<T> result(kCount);
    std::memcpy(result.data(), target.data() + 1, kCount * sizeof(T));
    return result;
  };
  const auto expect = [&](Op op, Element element, size_t count, const std::vector<T>& expected) {
    const std::vector<T> actual = after(op, element, count);
    EXPECT_EQ(std::memcmp(actual.data(), expected.data(), kCount * sizeof(T)), 0)
        << CombineOpName(op) << " of " << ElementName(element);
  };
  std::vector<T> product = a;
  for (size_t i = 0; i + 1 < kCount; i += 2) {
    const volatile T re_re = a[i] * b[i];
    const volatile T im_im = a[i + 1] * b[i + 1];
    const volatile T re_im = a[i] * b[i + 1];
    const volatile T im_re = a[i + 1] * b[i];
    product[i] = re_re - im_im;
    product[i + 1] = re_im + im_re;
  }
  expect(Op::kProduct, complex, kCount / 2, product);
  // Special values: NaN, infinities, zeros and denormals.
  const T nan = std::numeric_limits<T>::quiet_NaN();
  const T infinite = std::numeric_limits<T>::infinity();
  const T tiny = std::numeric_limits<T>::denorm_min();
  const T special[] = {nan, infinite, -infinite, T(0), -T(0), tiny, -tiny};
  for (size_t i = 0; i < 98; ++i) a[i] = special[i % 7], b[i] = special[i / 7 % 7];
  std::vector<T> sum(kCount);
  std::vector<T> most(kCount);
  std::vector<T> least(kCount);
  for (size_t i = 0; i < kCount; ++i) {
    const volatile T x = a[i];
    const volatile T y = b[i];
    sum[i] = x + y;
    product[i] = x * y;
    most[i] = x < y ? y : x;
    least[i] = y < x ? y : x;
  }
  expect(Op::kSum, real, kCount, sum);
  expect(Op::kProduct, real, kCount, product);
  expect(Op::kMax, real, kCount, most);
  expect(Op::kMin, real, kCount, least);
}

TEST(Accumulate, BitsAreAsWritten) {
  ExpectBitsAsWritten<float>(Element::kFloat, Element::kComplexFloat);
  ExpectBitsAsWritten<double>(Element::kDouble, Element::kComplexDouble);
}

}  // namespace
}  // namespace brigade
