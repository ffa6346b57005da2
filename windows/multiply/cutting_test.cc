#include "windows/multiply/cutting.h"

#include <algorithm>

#include "gtest/gtest.h"
#include "windows/rules.h"

namespace brigade {
namespace {

TEST(Cutting, FitsIntoBuffersForAnyShape) {
  for (const int64_t elements : {256, 1000, 1 << 20}) {
    for (const int64_t m : {1, 3, 100, 5000, 100000000}) {
      for (const int64_t n : {1, 7, 1000, 100000000}) {
        for (const int64_t k : {1, 5, 3000, 100000000}) {
          const Cutting cutting = Cut(m, n, k, elements);
          EXPECT_GE(std::min({cutting.rows, cutting.cols, cutting.width}), 1);
          EXPECT_LE(cutting.rows, m);
          EXPECT_LE(cutting.cols, n);
          EXPECT_LE(cutting.width, k);
          EXPECT_LE(cutting.rows * cutting.width, elements);
          EXPECT_LE(cutting.cols * cutting.width, elements);
          EXPECT_LE(cutting.rows * cutting.cols, rules::kTileBuffers * elements);
        }
      }
    }
  }
}

TEST(Cutting, LeavesAFittingProductUncut) {
  const Cutting cutting = Cut(1000, 1000, 1000, 1 << 20);
  EXPECT_EQ(cutting.rows, 1000);
  EXPECT_EQ(cutting.cols, 1000);
  EXPECT_EQ(cutting.width, 1000);
}

TEST(Cutting, CutsEvenly) {
  const Cutting cutting = Cut(2000, 2000, 1100, 1 << 20);
  EXPECT_EQ(cutting.rows, 2000);
  EXPECT_EQ(cutting.cols, 2000);
  EXPECT_EQ(cutting.width, 367);  // of 524 that fit
}

}  // namespace
}  // namespace brigade
