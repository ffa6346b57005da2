#include "patterns/schedule/shares.h"

#include <algorithm>
#include <vector>

#include "gtest/gtest.h"
#include "patterns/rules.h"

namespace brigade {
namespace {

std::vector<size_t> Sizes(const Shares& shares, size_t elems, size_t elem_bytes) {
  std::vector<size_t> sizes;
  for (int i = 0; i < shares.count; ++i) {
    sizes.push_back(ShareBegin(shares, elems, elem_bytes, i + 1) -
                    ShareBegin(shares, elems, elem_bytes, i));
  }
  return sizes;
}

TEST(Shares, BlocksCoverTheMatrixAndTheLastIsShort) {
  for (const int rounds : {1, 2, 3, 4, 11}) {
    const Shares shares = Shares::Segments(rounds, /*backwards=*/false);
    ASSERT_EQ(shares.count, rounds + 1);
    for (const size_t elem_bytes : {1, 8, 20}) {
      for (const size_t elems : {0, 1, 2, 3, 12, 13, 1000, 1025, 9999, 1000003}) {
        ASSERT_EQ(ShareBegin(shares, elems, elem_bytes, 0), 0u);
        ASSERT_EQ(ShareBegin(shares, elems, elem_bytes, shares.count), elems);
        const std::vector<size_t> sizes = Sizes(shares, elems, elem_bytes);
        // Of the others each is as long as the one before, or longer by one element.
        EXPECT_TRUE(std::is_sorted(sizes.begin(), sizes.end() - 1));
        EXPECT_LE(sizes[static_cast<size_t>(rounds) - 1] - sizes[0], 1u);
        EXPECT_LE(sizes.back() * elem_bytes, rules::kUncutBytes);
        EXPECT_LE(sizes.back(), sizes[0] + 1);
      }
    }
  }
  EXPECT_EQ(Sizes(Shares::Segments(3, false), 14, 8), (std::vector<size_t>{3, 4, 4, 3}));
  EXPECT_EQ(Sizes(Shares::Segments(2, false), 100000, 8),
            (std::vector<size_t>{49488, 49488, 1024}));
}

TEST(Shares, EqualOnesDifferByOne) {
  EXPECT_EQ(Sizes({Shares::kEqual, 2, 2}, 7, 8), (std::vector<size_t>{3, 4}));
  EXPECT_EQ(Sizes({Shares::kEqual, 4, 2}, 2, 8), (std::vector<size_t>{0, 1, 0, 1}));
}

TEST(Shares, TheLongestIsThatOfTheirSizes) {
  for (const Shares& shares : {Shares::Segments(3, false), Shares::Halves(8)}) {
    for (const size_t elems : {0u, 1u, 14u, 100000u}) {
      const std::vector<size_t> sizes = Sizes(shares, elems, 8);
      EXPECT_EQ(LongestShare(shares, elems, 8), *std::max_element(sizes.begin(), sizes.end()));
    }
  }
  EXPECT_EQ(LongestShare(Shares(), 14, 8), 14u);
}

TEST(Shares, BlocksEndTogetherBeforeTheLast) {
  using Rounds = std::vector<int64_t>;
  const Shares forwards = Shares::Segments(3, false);
  EXPECT_EQ(FirstRounds(forwards, {4, 5, 5, 1}), (Rounds{1, 0, 0, 4}));
  EXPECT_EQ(FirstRounds(forwards, {5, 5, 5, 2}), (Rounds{0, 0, 0, 4}));
  const Shares backwards = Shares::Segments(3, true);
  EXPECT_EQ(FirstRounds(backwards, {4, 5, 5, 1}), (Rounds{0, 0, 0, 0}));
  EXPECT_EQ(FirstRounds(backwards, {4, 5, 5, 3}), (Rounds{2, 2, 2, 0}));
  EXPECT_EQ(FirstRounds({Shares::kEqual, 2, 2}, {7, 8}), (Rounds{0, 0}));
}

}  // namespace
}  // namespace brigade
