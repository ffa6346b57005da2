#include "windows/multiply/areas.h"

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "windows/rules.h"

namespace brigade {
namespace {

std::vector<int64_t> IndicesOf(const std::vector<IndexRange>& ranges) {
  std::vector<int64_t> indices;
  for (const IndexRange& range : ranges) {
    for (int64_t i = range.begin; i < range.end; ++i) indices.push_back(i);
  }
  return indices;
}

// Every element that is wanted lies in one area, and only those that are crossed have others.
void ExpectToCover(Half half, const std::vector<IndexRange>& rows,
                   const std::vector<IndexRange>& cols) {
  const std::vector<int64_t> row_indices = IndicesOf(rows);
  const std::vector<int64_t> col_indices = IndicesOf(cols);
  const auto m = static_cast<int64_t>(row_indices.size());
  const auto n = static_cast<int64_t>(col_indices.size());
  if (m == 0 || n == 0) return;
  const std::vector<IndexRange> wanted = WantedRows(half, rows, cols);
  ASSERT_EQ(wanted.size(), col_indices.size());
  const auto is_wanted = [&](int64_t row, int64_t col) {
    const int64_t i = row_indices[static_cast<size_t>(row)];
    const int64_t j = col_indices[static_cast<size_t>(col)];
    return half == Half::kBoth || (half == Half::kUpper ? i <= j : i >= j);
  };
  std::vector<int> covered(static_cast<size_t>(m * n));
  for (const Area& area : AreasOf({0, 0, m, n}, wanted)) {
    EXPECT_TRUE(!area.is_crossed || std::max(area.rows, area.cols) <= rules::kMostCrossed);
    for (int64_t col = area.col; col < area.col + area.cols; ++col) {
      for (int64_t row = area.row; row < area.row + area.rows; ++row) {
        ++covered[static_cast<size_t>(row + col * m)];
        EXPECT_TRUE(area.is_crossed || is_wanted(row, col)) << row << ", " << col;
      }
    }
  }
  for (int64_t col = 0; col < n; ++col) {
    const IndexRange& of_col = wanted[static_cast<size_t>(col)];
    for (int64_t row = 0; row < m; ++row) {
      EXPECT_EQ(row >= of_col.begin && row < of_col.end, is_wanted(row, col)) << row << ", " << col;
      const int times = covered[static_cast<size_t>(row + col * m)];
      EXPECT_TRUE(times == 1 || (times == 0 && !is_wanted(row, col))) << row << ", " << col;
    }
  }
}

TEST(Areas, CoverTheWantedElementsForAnyDistribution) {
  std::mt19937 random(1);
  const auto draw = [&](int least, int most) {
    return std::uniform_int_distribution<int>(least, most)(random);
  };
  for (int trial = 0; trial < 60; ++trial) {
    const int64_t size = draw(1, 500);
    const auto deal = [&](int procs) {
      const Distribution distribution{draw(1, 90), draw(0, procs - 1), procs, draw(0, 40), 0};
      return OwnRanges(distribution, size, draw(0, procs - 1));
    };
    const std::vector<IndexRange> rows = deal(draw(1, 4));
    const std::vector<IndexRange> cols = deal(draw(1, 4));
    for (const Half half : {Half::kBoth, Half::kUpper, Half::kLower}) {
      SCOPED_TRACE(std::to_string(trial));
      ExpectToCover(half, rows, cols);
    }
  }
}

TEST(Areas, CoverAWholeMatrixWithOne) {
  const std::vector<IndexRange> all = {{0, 1000}};
  const std::vector<Area> areas = AreasOf({0, 0, 1000, 1000}, WantedRows(Half::kBoth, all, all));
  ASSERT_EQ(areas.size(), 1U);
  EXPECT_FALSE(areas[0].is_crossed);
}

TEST(Areas, CoverAHalfWithLittleExcess) {
  constexpr int64_t kSize = 2000;
  const std::vector<IndexRange> all = {{0, kSize}};
  for (const Half half : {Half::kUpper, Half::kLower}) {
    int64_t computed = 0;
    for (const Area& area : AreasOf({0, 0, kSize, kSize}, WantedRows(half, all, all))) {
      computed += area.rows * area.cols;
    }
    EXPECT_LE(computed, kSize * (kSize + rules::kMostCrossed) / 2);
  }
}

}  // namespace
}  // namespace brigade
