#include "membuf/combine.h"

#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

#include "gtest/gtest.h"
#include "membuf/naive_layout.h"
#include "test/support/stress.h"

namespace brigade {
namespace {

template <typename T>
constexpr bool kIsComplex = false;
template <typename T>
constexpr bool kIsComplex<std::complex<T>> = true;

template <typename T>
constexpr ElementType TypeOf() {
  if constexpr (std::is_same_v<T, int32_t>) return ElementType::kInt32;
  if constexpr (std::is_same_v<T, int64_t>) return ElementType::kInt64;
  if constexpr (std::is_same_v<T, float>) return ElementType::kFloat;
  if constexpr (std::is_same_v<T, double>) return ElementType::kDouble;
  if constexpr (std::is_same_v<T, std::complex<float>>) return ElementType::kComplexFloat;
  if constexpr (std::is_same_v<T, std::complex<double>>) return ElementType::kComplexDouble;
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
  if constexpr (std::is_integral_v<T>) {
    return {0, 1, -1, 2, -2, Limits::max(), -Limits::max(), Limits::min()};
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
  if constexpr (std::is_floating_point_v<T>) return std::isnan(x);
  return false;
}

template <typename T>
T WithCanonicalNan(T x) {
  if (!IsNan(x)) return x;
  if constexpr (kIsComplex<T>) {
    const auto nan = std::numeric_limits<typename T::value_type>::quiet_NaN();
    return {nan, nan};
  }
  return std::numeric_limits<T>::quiet_NaN();
}

template <typename T>
auto Magnitude(T x) {
  if constexpr (kIsComplex<T>) {
    return std::abs(x.real()) + std::abs(x.imag());
  } else if constexpr (std::is_integral_v<T>) {
    return x < 0 ? -static_cast<__int128>(x) : static_cast<__int128>(x);
  } else {
    return std::abs(x);
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
    if (a != b) return a < b ? -1 : 1;
    return static_cast<int>(std::signbit(b)) - static_cast<int>(std::signbit(a));
  }
}

template <typename T>
bool LeftWins(CombineOp op, bool locations, Entry<T> l, Entry<T> r) {
  if (IsNan(l.value) != IsNan(r.value)) return IsNan(l.value);
  if (!IsNan(l.value) && Magnitude(l.value) != Magnitude(r.value)) {
    return (Magnitude(l.value) > Magnitude(r.value)) == (op == CombineOp::kAbsMax);
  }
  if (locations && l.location != r.location) return l.location < r.location;
  return IsNan(l.value) || CompareSigned(l.value, r.value) >= 0;
}

template <typename T>
Entry<T> Defined(CombineOp op, bool locations, Entry<T> l, Entry<T> r) {
  if (op == CombineOp::kSum) {
    if constexpr (std::is_integral_v<T>) {
      using Unsigned = std::make_unsigned_t<T>;
      return {static_cast<T>(static_cast<Unsigned>(l.value) + static_cast<Unsigned>(r.value)), 0};
    } else if constexpr (kIsComplex<T>) {
      return {{WithCanonicalNan(l.value.real() + r.value.real()),
               WithCanonicalNan(l.value.imag() + r.value.imag())},
              0};
    } else {
      return {WithCanonicalNan(l.value + r.value), 0};
    }
  }
  const Entry<T> winner = LeftWins(op, locations, l, r) ? l : r;
  return {WithCanonicalNan(winner.value), locations ? winner.location : 0};
}

// Tests over all six types ------------------------------------------------------------------------

template <typename T>
class CombineTest : public testing::Test {};
using AllTypes =
    testing::Types<int32_t, int64_t, float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(CombineTest, AllTypes);

constexpr CombineOp kOps[] = {CombineOp::kSum, CombineOp::kAbsMax, CombineOp::kAbsMin};

// Every pair of special values by the definition, with equal bits for exchanged operands.
TYPED_TEST(CombineTest, SpecialPairsFollowTheDefinitionAndCommute) {
  using T = TypeParam;
  std::vector<Entry<T>> left, right;
  for (const T a : Specials<T>()) {
    for (const T b : Specials<T>()) {
      for (const int32_t b_location : {0, 1, 2}) {
        left.push_back({a, 1});
        right.push_back({b, b_location});
      }
    }
  }
  for (const CombineOp op : kOps) {
    for (const bool locations : {false, true}) {
      if (locations && op == CombineOp::kSum) continue;
      SCOPED_TRACE(testing::Message() << CombineOpName(op) << " locations " << locations);
      const auto forth = CombineAll(op, locations, left, right);
      const auto back = CombineAll(op, locations, right, left);
      for (size_t i = 0; i < forth.size(); ++i) {
        const Entry<T> expected = Defined(op, locations, left[i], right[i]);
        ASSERT_TRUE(SameBits(forth[i].value, expected.value)) << "pair " << i;
        ASSERT_EQ(forth[i].location, expected.location) << "pair " << i;
        ASSERT_TRUE(SameBits(forth[i].value, back[i].value)) << "pair " << i;
        ASSERT_EQ(forth[i].location, back[i].location) << "pair " << i;
      }
    }
  }
}

// Maximum and minimum of every triple of special values: the same bits in both groupings.
TYPED_TEST(CombineTest, MaximaAndMinimaAssociateOnEverySpecialTriple) {
  using T = TypeParam;
  for (const bool locations : {false, true}) {
    std::vector<Entry<T>> entries;
    for (const T value : Specials<T>()) {
      if (!locations) {
        entries.push_back({value, 0});
      } else if (!kIsComplex<T>) {
        for (const int32_t location : {0, 1, 2}) entries.push_back({value, location});
      } else {
        // One location each keeps the complex triples few; values meet at equal and at different
        // locations.
        entries.push_back({value, static_cast<int32_t>(entries.size() * 7 % 3)});
      }
    }
    for (const CombineOp op : {CombineOp::kAbsMax, CombineOp::kAbsMin}) {
      SCOPED_TRACE(testing::Message() << CombineOpName(op) << " locations " << locations);
      for (const Entry<T>& first : entries) {
        std::vector<Entry<T>> a, b, c;
        for (const Entry<T>& second : entries) {
          for (const Entry<T>& third : entries) {
            a.push_back(first);
            b.push_back(second);
            c.push_back(third);
          }
        }
        const auto left_first = CombineAll(op, locations, CombineAll(op, locations, a, b), c);
        const auto right_first = CombineAll(op, locations, a, CombineAll(op, locations, b, c));
        for (size_t i = 0; i < a.size(); ++i) {
          ASSERT_TRUE(SameBits(left_first[i].value, right_first[i].value)) << "triple " << i;
          ASSERT_EQ(left_first[i].location, right_first[i].location) << "triple " << i;
        }
      }
    }
  }
}

// One operand of the layout test: a matrix in memory and the range of it that takes part.
template <typename T>
struct Matrix {
  LayoutShape shape;
  StridedLayout layout;
  std::vector<size_t> offsets;  // of every packed byte
  std::vector<std::byte> memory;
  size_t first_elem = 0;
  std::vector<int32_t> locations;

  static Matrix Random(std::mt19937* random) {
    Matrix m;
    m.shape = RandomShape(random, 130, 60);
    if ((*random)() % 3 == 0) m.shape.rows = m.shape.rows % 3;  // very short runs
    m.shape.elem_bytes = sizeof(T);
    EXPECT_TRUE(m.shape.Make(&m.layout).ok());
    m.offsets = m.shape.MemoryOffsets();
    const std::vector<T> specials = Specials<T>();
    m.memory.resize(m.shape.MemoryBytes());
    for (size_t k = 0; k < m.memory.size(); k += sizeof(T)) {
      const T value = specials[(*random)() % specials.size()];
      std::memcpy(&m.memory[k], &value, sizeof value);
    }
    m.first_elem = (*random)() % (m.Elems() + 1);
    for (size_t i = m.first_elem; i < m.Elems(); ++i) {
      m.locations.push_back(static_cast<int32_t>((*random)() % 4));
    }
    return m;
  }

  size_t Elems() const { return layout.bytes() / sizeof(T); }
  size_t ElemsInRange() const { return Elems() - first_elem; }
  std::byte* At(size_t i) { return &memory[offsets[(first_elem + i) * sizeof(T)]]; }
  Entry<T> Get(size_t i) {
    T value;
    std::memcpy(&value, At(i), sizeof value);
    return {value, locations[i]};
  }
  ConstOperand Operand(bool with_locations) const {
    return {&layout, memory.data(), first_elem * sizeof(T),
            with_locations ? locations.data() : nullptr};
  }
  MutableOperand Destination(bool with_locations) {
    return {&layout, memory.data(), first_elem * sizeof(T),
            with_locations ? locations.data() : nullptr};
  }
};

// Operands of any shape, the destination its own or either operand: every element as defined and
// no other byte touched.
TYPED_TEST(CombineTest, WalksAnyLayoutsInPlaceOrNot) {
  using T = TypeParam;
  const unsigned seed = StressSeed();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  for (int round = 0; round < StressRounds(60, 6000); ++round) {
    Matrix<T> left = Matrix<T>::Random(&random);
    Matrix<T> right = Matrix<T>::Random(&random);
    Matrix<T> separate = Matrix<T>::Random(&random);
    Matrix<T>* const destinations[] = {&separate, &left, &right};
    Matrix<T>& dst = *destinations[round % 3];
    const CombineOp op = kOps[random() % 3];
    const bool locations = op != CombineOp::kSum && random() % 2 == 0;
    SCOPED_TRACE(testing::Message() << CombineOpName(op) << " locations " << locations << " into "
                                    << round % 3 << "; left " << left.shape << "; right "
                                    << right.shape << "; separate " << separate.shape);
    const size_t elems = std::min({left.ElemsInRange(), right.ElemsInRange(), dst.ElemsInRange()});

    std::vector<std::byte> expected_memory = dst.memory;
    std::vector<int32_t> expected_locations = dst.locations;
    for (size_t i = 0; i < elems; ++i) {
      const Entry<T> expected = Defined(op, locations, left.Get(i), right.Get(i));
      std::memcpy(&expected_memory[static_cast<size_t>(dst.At(i) - dst.memory.data())],
                  &expected.value, sizeof expected.value);
      if (locations) expected_locations[i] = expected.location;
    }
    const Matrix<T> left_before = left;
    const Matrix<T> right_before = right;
    Combine(op, TypeOf<T>(), elems, dst.Destination(locations), left.Operand(locations),
            right.Operand(locations));
    ASSERT_EQ(dst.memory, expected_memory);
    ASSERT_EQ(dst.locations, expected_locations);
    if (&dst != &left) {
      ASSERT_EQ(left.memory, left_before.memory);
    }
    if (&dst != &right) {
      ASSERT_EQ(right.memory, right_before.memory);
    }
  }
}

TYPED_TEST(CombineTest, KnowsItsTypes) {
  EXPECT_EQ(ElementBytes(TypeOf<TypeParam>()), sizeof(TypeParam));
}

// The documented cases, by hand -------------------------------------------------------------------

TEST(Combine, IntegersWrap) {
  EXPECT_EQ(CombineTwo<int32_t>(CombineOp::kSum, INT32_MAX, 1), INT32_MIN);
  EXPECT_EQ(CombineTwo<int64_t>(CombineOp::kSum, INT64_MIN, -1), INT64_MAX);
}

TEST(Combine, TheMostNegativeIntegerIsTheLargestMagnitude) {
  EXPECT_EQ(CombineTwo<int32_t>(CombineOp::kAbsMax, INT32_MIN, INT32_MAX), INT32_MIN);
  EXPECT_EQ(CombineTwo<int64_t>(CombineOp::kAbsMin, INT64_MIN, INT64_MAX), INT64_MAX);
}

TEST(Combine, TiesKeepTheLargerSignedValueWithoutLocations) {
  for (const CombineOp op : {CombineOp::kAbsMax, CombineOp::kAbsMin}) {
    EXPECT_EQ(CombineTwo<int32_t>(op, -5, 5), 5);
    EXPECT_EQ(CombineTwo<double>(op, 5, -5), 5);
    EXPECT_FALSE(std::signbit(CombineTwo<double>(op, -0.0, 0.0)));
    EXPECT_EQ(CombineTwo<float>(op, -INFINITY, INFINITY), INFINITY);
    using C = std::complex<double>;
    EXPECT_EQ(CombineTwo<C>(op, C(1, 2), C(2, -1)), C(2, -1));
    EXPECT_EQ(CombineTwo<C>(op, C(1, -2), C(1, 2)), C(1, 2));
  }
}

TEST(Combine, TiesGoToTheSmallerLocation) {
  for (const CombineOp op : {CombineOp::kAbsMax, CombineOp::kAbsMin}) {
    const Entry<double> winner = CombineTwo<double>(op, Entry<double>{5, 3}, Entry<double>{-5, 2});
    EXPECT_EQ(winner.value, -5);
    EXPECT_EQ(winner.location, 2);
  }
}

TEST(Combine, NansWinAndAreCanonical) {
  const double canonical = std::numeric_limits<double>::quiet_NaN();
  const double odd = NanWithPayload<double>();
  for (const CombineOp op : kOps) {
    EXPECT_TRUE(SameBits(CombineTwo<double>(op, odd, INFINITY), canonical)) << CombineOpName(op);
    EXPECT_TRUE(SameBits(CombineTwo<double>(op, 0.0, odd), canonical)) << CombineOpName(op);
  }
  EXPECT_TRUE(SameBits(CombineTwo<double>(CombineOp::kSum, INFINITY, -INFINITY), canonical));
  using C = std::complex<double>;
  EXPECT_TRUE(
      SameBits(CombineTwo<C>(CombineOp::kAbsMin, C(odd, 1), C(0, 0)), C(canonical, canonical)));
  EXPECT_TRUE(SameBits(CombineTwo<C>(CombineOp::kSum, C(odd, 1), C(0, 2)), C(canonical, 3)));
  const Entry<double> winner =
      CombineTwo<double>(CombineOp::kAbsMin, Entry<double>{odd, 9}, Entry<double>{odd, 4});
  EXPECT_EQ(winner.location, 4);
}

TEST(CombineDeathTest, LocationsAreForAllOperandsOrNone) {
  const StridedLayout layout = StridedLayout::Contiguous(4);
  std::byte value[4] = {};
  int32_t location = 0;
  EXPECT_DEATH(Combine(CombineOp::kAbsMax, ElementType::kInt32, 1, {&layout, value, 0, nullptr},
                       {&layout, value, 0, &location}, {&layout, value, 0, &location}),
               "check failed");
  EXPECT_DEATH(Combine(CombineOp::kSum, ElementType::kInt32, 1, {&layout, value, 0, &location},
                       {&layout, value, 0, &location}, {&layout, value, 0, &location}),
               "check failed");
}

}  // namespace
}  // namespace brigade
