#include "pblas_shim/decision.h"

#include "gtest/gtest.h"
#include "membuf/rules.h"

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
  shape.ranks = ranks;
  return WhyLeft(when, shape, is_row_by_row) == nullptr;
}

TEST(Decision, IsWhatTheSettingSays) {
  for (const int ranks : {1, 6}) {
    EXPECT_FALSE(IsTaken(When::kOff, kLarge, kLarge, kLarge, ranks));
    EXPECT_TRUE(IsTaken(When::kOn, 1, 1, 1, ranks));
    EXPECT_FALSE(IsTaken(When::kOn, 0, 1, 1, ranks));
    EXPECT_FALSE(IsTaken(When::kOn, 1, 1, -1, ranks));
    EXPECT_FALSE(IsTaken(When::kOn, kLarge, kLarge, kLarge, ranks, /*is_row_by_row=*/false));
  }
}

TEST(Decision, LeavesWhatIsSmallToThePblas) {
  EXPECT_TRUE(IsTaken(When::kAuto, kLarge, kLarge, kLarge, 2));
  EXPECT_FALSE(IsTaken(When::kAuto, kLarge, kLarge, kLarge, 1));
  EXPECT_FALSE(IsTaken(When::kAuto, kLarge - 1, kLarge, kLarge, 2));
  EXPECT_FALSE(IsTaken(When::kAuto, kLarge, kLarge - 1, kLarge, 2));
  EXPECT_FALSE(IsTaken(When::kAuto, kLarge, kLarge, kLarge - 1, 2));
}

TEST(Decision, TakesHalvesThatAreLargerAndOnOneHost) {
  constexpr int64_t kLargeHalf = rules::kLeastPblasHalfSize;
  const auto is_taken = [](When when, int64_t size, bool is_half, bool is_on_one_host) {
    const ProductShape shape{size, size, size, 2, is_half, is_on_one_host};
    return WhyLeft(when, shape, /*is_row_by_row=*/true) == nullptr;
  };
  for (const bool is_on_one_host : {false, true}) {
    EXPECT_TRUE(is_taken(When::kAuto, kLarge, /*is_half=*/false, is_on_one_host));
    EXPECT_TRUE(is_taken(When::kOn, kLarge, /*is_half=*/true, is_on_one_host));
    EXPECT_FALSE(is_taken(When::kAuto, kLargeHalf - 1, /*is_half=*/true, is_on_one_host));
    EXPECT_EQ(is_taken(When::kAuto, kLargeHalf, /*is_half=*/true, is_on_one_host), is_on_one_host);
  }
}

}  // namespace
}  // namespace pblas
}  // namespace brigade
