#include "membuf/combine.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

#include "gtest/gtest.h"
#include "membuf/combine_oracle.h"
#include "membuf/naive_layout.h"
#include "test/support/stress.h"

namespace brigade {
namespace {

using namespace oracle;  // NOLINT: all of it

// Tests over all types ----------------------------------------------------------------------------

template <typename T>
class CombineTest : public testing::Test {};
using AllTypes = testing::Types<std::byte, int8_t, uint8_t, int16_t, uint16_t, int32_t, uint32_t,
                                int64_t, uint64_t, Float16, Bfloat16, float, double,
                                std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(CombineTest, AllTypes);

// The operations of a type, but those of users.
template <typename T>
std::vector<CombineOp> OpsOf() {
  using Op = CombineOp;
  if constexpr (std::is_same_v<T, std::byte>) return {Op::kBitAnd, Op::kBitOr, Op::kBitXor};
  std::vector<Op> ops = {Op::kSum, Op::kProduct, Op::kAbsMax, Op::kAbsMin};
  if (!kIsComplex<T>) ops.insert(ops.end(), {Op::kMax, Op::kMin});
  if (std::is_integral_v<T>) ops.insert(ops.end(), {Op::kBitAnd, Op::kBitOr, Op::kBitXor});
  return ops;
}

TYPED_TEST(CombineTest, HasItsOperations) {
  using T = TypeParam;
  const std::vector<CombineOp> ops = OpsOf<T>();
  for (int i = 0; i < kCombineOps; ++i) {
    const auto op = static_cast<CombineOp>(i);
    const bool has = op == CombineOp::kUser ? std::is_same_v<T, std::byte>
                                            : std::count(ops.begin(), ops.end(), op) > 0;
    EXPECT_EQ(Combines(op, TypeOf<T>()), has) << CombineOpName(op);
    const bool rounds = !std::is_integral_v<T> && !std::is_same_v<T, std::byte> &&
                        (op == CombineOp::kSum || op == CombineOp::kProduct);
    EXPECT_EQ(IsOrderFree(op, TypeOf<T>()), op != CombineOp::kUser && !rounds) << CombineOpName(op);
  }
}

TEST(Combine, HasNoOperationOfElementsThatOnlyWindowsHave) {
  for (int i = kCallElements; i <= kElements; ++i) {
    for (int op = 0; op < kCombineOps; ++op) {
      const auto element = static_cast<Element>(i);
      EXPECT_FALSE(Combines(static_cast<CombineOp>(op), element)) << ElementName(element);
    }
  }
}

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
  for (const CombineOp op : OpsOf<T>()) {
    for (const bool locations : {false, true}) {
      if (locations && !HasLocations(op)) continue;
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

// Operations that are free of order give the same bits in both groupings of all special triples.
TYPED_TEST(CombineTest, AssociatesOnEverySpecialTripleIfOrderFree) {
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
    for (const CombineOp op : OpsOf<T>()) {
      if (!IsOrderFree(op, TypeOf<T>()) || (locations && !HasLocations(op))) continue;
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
    const std::vector<CombineOp> ops = OpsOf<T>();
    const CombineOp op = ops[random() % ops.size()];
    const bool locations = HasLocations(op) && random() % 2 == 0;
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

TEST(Combine, ExtremesKnowTheSignOfZeroAndOfIntegers) {
  EXPECT_FALSE(std::signbit(CombineTwo<double>(CombineOp::kMax, -0.0, 0.0)));
  EXPECT_TRUE(std::signbit(CombineTwo<double>(CombineOp::kMin, 0.0, -0.0)));
  EXPECT_EQ(CombineTwo<int8_t>(CombineOp::kMax, -1, 1), 1);
  EXPECT_EQ(CombineTwo<uint8_t>(CombineOp::kMax, 255, 1), 255);
  EXPECT_EQ(CombineTwo<int64_t>(CombineOp::kMin, INT64_MIN, -1), INT64_MIN);
  EXPECT_EQ(CombineTwo<double>(CombineOp::kMin, -INFINITY, 1), -INFINITY);
  const Entry<float> winner = CombineTwo<float>(CombineOp::kMax, Entry<float>{2, 3}, {2, 1});
  EXPECT_EQ(winner.location, 1);
}

// (ac - bd, ad + bc): infinities are not recovered.
TEST(Combine, ComplexProductsFollowTheTextbook) {
  using C = std::complex<double>;
  EXPECT_EQ(CombineTwo<C>(CombineOp::kProduct, C(1, 2), C(3, 4)), C(-5, 10));
  const C product = CombineTwo<C>(CombineOp::kProduct, C(INFINITY, 0), C(0, 1));
  EXPECT_TRUE(std::isnan(product.real()));
  EXPECT_EQ(product.imag(), INFINITY);
  // 1 + 2^-52 and 1 - 2^-52: a fused operation would keep the last bits of the first product.
  const double above = 1 + 0x1p-52;
  EXPECT_EQ(CombineTwo<C>(CombineOp::kProduct, C(above, 1), C(above, above * above)).real(), 0);
}

TEST(Combine, TiesGoToTheSmallerLocation) {
  for (const CombineOp op : {CombineOp::kAbsMax, CombineOp::kAbsMin}) {
    const Entry<double> winner = CombineTwo<double>(op, Entry<double>{5, 3}, Entry<double>{-5, 2});
    EXPECT_EQ(winner.value, -5);
    EXPECT_EQ(winner.location, 2);
  }
}

// As behind values of one byte in a chunk. A sanitizer sees loads and stores that need alignment.
TEST(Combine, LocationsNeedNoAlignment) {
  constexpr size_t kElems = 67;
  const StridedLayout layout = StridedLayout::Contiguous(kElems);
  struct Piece {
    std::byte values[kElems];
    std::byte locations[kElems * sizeof(int32_t)];
  };
  alignas(int32_t) Piece left, right;
  for (size_t i = 0; i < kElems; ++i) {
    left.values[i] = std::byte{5};
    right.values[i] = static_cast<std::byte>(4 + i % 3);
    const auto location = static_cast<int32_t>(100 * i + 1);
    const int32_t smaller = location - 1;
    std::memcpy(left.locations + i * sizeof(location), &location, sizeof(location));
    std::memcpy(right.locations + i * sizeof(smaller), &smaller, sizeof(smaller));
  }
  auto* const to = reinterpret_cast<int32_t*>(left.locations);
  Combine(CombineOp::kMax, Element::kInt8, kElems, {&layout, left.values, 0, to},
          {&layout, left.values, 0, to},
          {&layout, right.values, 0, reinterpret_cast<const int32_t*>(right.locations)});
  for (size_t i = 0; i < kElems; ++i) {
    int32_t location;
    std::memcpy(&location, left.locations + i * sizeof(location), sizeof(location));
    EXPECT_EQ(left.values[i], std::byte{i % 3 == 2 ? uint8_t{6} : uint8_t{5}});
    EXPECT_EQ(location, static_cast<int32_t>(100 * i + (i % 3 == 0 ? 1 : 0)));
  }
}

TEST(Combine, NansWinAndAreCanonical) {
  const double canonical = std::numeric_limits<double>::quiet_NaN();
  const double odd = NanWithPayload<double>();
  for (const CombineOp op : OpsOf<double>()) {
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
  EXPECT_DEATH(Combine(CombineOp::kAbsMax, Element::kInt32, 1, {&layout, value, 0, nullptr},
                       {&layout, value, 0, &location}, {&layout, value, 0, &location}),
               "check failed");
  EXPECT_DEATH(Combine(CombineOp::kSum, Element::kInt32, 1, {&layout, value, 0, &location},
                       {&layout, value, 0, &location}, {&layout, value, 0, &location}),
               "check failed");
}

}  // namespace
}  // namespace brigade
