#include "membuf/half.h"

#include <cmath>
#include <cstdint>

#include "gtest/gtest.h"
#include "membuf/combine_oracle.h"

namespace brigade {
namespace {

using oracle::CombineTwo;
using oracle::DoubleOf;
using oracle::NearestTo;

// 2048 + 1 is a tie in a Float16, and 256 + 1 in a Bfloat16: the even neighbour is below. 2048 + 3
// and 256 + 3 are ties with the even one above.
TEST(Half, HalvesRoundTiesToEven) {
  const auto sum16 = [](uint16_t l, uint16_t r) {
    return CombineTwo<Float16>(CombineOp::kSum, Float16{l}, Float16{r}).bits;
  };
  EXPECT_EQ(sum16(0x6800, 0x3c00), 0x6800);
  EXPECT_EQ(sum16(0x6800, 0x4200), 0x6802);
  EXPECT_EQ(sum16(0x0001, 0x0001), 0x0002);  // subnormal
  EXPECT_EQ(sum16(0x7bff, 0x7bff), 0x7c00);  // infinity
  const auto sum_b = [](uint16_t l, uint16_t r) {
    return CombineTwo<Bfloat16>(CombineOp::kSum, Bfloat16{l}, Bfloat16{r}).bits;
  };
  EXPECT_EQ(sum_b(0x4380, 0x3f80), 0x4380);
  EXPECT_EQ(sum_b(0x4380, 0x4040), 0x4382);
  EXPECT_EQ(sum_b(0x7f7f, 0x7f7f), 0x7f80);
}

// All of them: to float and back, and exactly between.
template <typename T>
void ExpectConversionsOf() {
  for (int i = 0; i < 1 << 16; ++i) {
    const T x{static_cast<uint16_t>(i)};
    const double exact = DoubleOf(x);
    if (std::isnan(exact)) {
      EXPECT_TRUE(std::isnan(ToFloat(x)));
      EXPECT_EQ(FromFloat<T>(ToFloat(x)).bits, NearestTo<T>(NAN).bits);
      continue;
    }
    ASSERT_EQ(ToFloat(x), exact) << i;
    ASSERT_EQ(FromFloat<T>(ToFloat(x)).bits, x.bits);
    const double next = DoubleOf(T{static_cast<uint16_t>(i + 1)});
    if (!std::isfinite(exact) || !std::isfinite(next)) continue;
    const auto middle = static_cast<float>((exact + next) / 2);
    for (const float between :
         {middle, std::nextafter(middle, 0.0f), std::nextafter(middle, 2 * middle)}) {
      ASSERT_EQ(FromFloat<T>(between).bits, NearestTo<T>(between).bits) << i << ": " << between;
    }
  }
}
TEST(Half, HalvesConvertExactlyAndRoundToTheNearest) {
  ExpectConversionsOf<Float16>();
  ExpectConversionsOf<Bfloat16>();
}

}  // namespace
}  // namespace brigade
