#include "pblas_shim/decision.h"

#include <utility>

#include "gtest/gtest.h"
#include "pblas_shim/rules.h"

namespace brigade {
namespace pblas {
namespace {

using When = Settings::When;
constexpr int64_t kLarge = rules::kLeastPblasSize;

bool IsTaken(When when, int64_t m, int64_t n, int64_t k, int ranks, bool is_row_by_row = true) {
  ProductShape shape;
  shape.m = m;
  shape.n = n;
  shape.k = k;
  shape.rows = ranks;
  return WhyLeft(when, shape, is_row_by_row) == nullptr;
}

TEST(Decision, FollowsTheSetting) {
  for (const int ranks : {1, 6}) {
    EXPECT_FALSE(IsTaken(When::kOff, kLarge, kLarge, kLarge, ranks));
    EXPECT_TRUE(IsTaken(When::kOn, 1, 1, 1, ranks));
    EXPECT_FALSE(IsTaken(When::kOn, 0, 1, 1, ranks));
    EXPECT_FALSE(IsTaken(When::kOn, 1, 1, -1, ranks));
    EXPECT_FALSE(IsTaken(When::kOn, kLarge, kLarge, kLarge, ranks, /*is_row_by_row=*/false));
  }
}

TEST(Decision, LeavesSmallProductsToThePblas) {
  EXPECT_TRUE(IsTaken(When::kAuto, kLarge, kLarge, kLarge, 2));
  EXPECT_FALSE(IsTaken(When::kAuto, kLarge, kLarge, kLarge, 1));
  EXPECT_FALSE(IsTaken(When::kAuto, kLarge - 1, kLarge, kLarge, 2));
  EXPECT_FALSE(IsTaken(When::kAuto, kLarge, kLarge - 1, kLarge, 2));
  EXPECT_FALSE(IsTaken(When::kAuto, kLarge, kLarge, kLarge - 1, 2));
}

TEST(Decision, TakesHalvesThatAreLargerOnSeveralRowsAndColumns) {
  constexpr int64_t kLargeHalf = rules::kLeastPblasHalfSize;
  constexpr int kSide = rules::kLeastPblasHalfSide;
  const auto is_taken = [](When when, int64_t size, int rows, int cols, bool is_half) {
    const ProductShape shape{size, size, size, rows, cols, is_half};
    return WhyLeft(when, shape, /*is_row_by_row=*/true) == nullptr;
  };
  EXPECT_TRUE(is_taken(When::kAuto, kLargeHalf, kSide, kSide, /*is_half=*/true));
  EXPECT_FALSE(is_taken(When::kAuto, kLargeHalf - 1, kSide, kSide, /*is_half=*/true));
  for (const auto& [rows, cols] : {std::pair(kSide - 1, 8), std::pair(8, kSide - 1)}) {
    EXPECT_FALSE(is_taken(When::kAuto, kLargeHalf, rows, cols, /*is_half=*/true));
    EXPECT_TRUE(is_taken(When::kOn, kLarge, rows, cols, /*is_half=*/true));
    EXPECT_TRUE(is_taken(When::kAuto, kLarge, rows, cols, /*is_half=*/false));
  }
}

}  // namespace
}  // namespace pblas
}  // namespace brigade
