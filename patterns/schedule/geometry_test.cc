#include "patterns/schedule/geometry.h"

#include <algorithm>
#include <climits>
#include <vector>

#include "gtest/gtest.h"

namespace brigade {
namespace {

// The interval of relative ranks below and including `relative`, or an empty one if it is not an
// interval.
void Subtree(const Topology& t, int size, int relative, std::vector<int>* ranks) {
  ranks->push_back(relative);
  for (int child : TreeNodeOf(t, size, relative).children) Subtree(t, size, child, ranks);
}

class Trees : public testing::TestWithParam<Topology> {};

TEST_P(Trees, EveryRankHangsBelowTheRootOnceAndSubtreesAreIntervals) {
  for (int size = 1; size <= 70; ++size) {
    std::vector<int> all;
    Subtree(GetParam(), size, 0, &all);
    EXPECT_EQ(all.size(), static_cast<size_t>(size));
    int height = 0;
    for (int r = 0; r < size; ++r) {
      const TreeNode node = TreeNodeOf(GetParam(), size, r);
      EXPECT_EQ(node.parent == -1, r == 0);
      for (size_t i = 0; i < node.children.size(); ++i) {
        EXPECT_EQ(TreeNodeOf(GetParam(), size, node.children[i]).parent, r);
        if (i > 0) {
          EXPECT_LT(node.children[i - 1], node.children[i]);
        }
      }
      std::vector<int> below;
      Subtree(GetParam(), size, r, &below);
      int low = size, high = 0;
      for (int b : below) low = std::min(low, b), high = std::max(high, b);
      EXPECT_EQ(high - low + 1, static_cast<int>(below.size())) << "size " << size << " rank " << r;
      int depth = 0;
      for (int up = r; up != 0; up = TreeNodeOf(GetParam(), size, up).parent) ++depth;
      height = std::max(height, depth);
    }
    const int more = GetParam().shape == Shape::kTwoTree ? 1 : 0;
    EXPECT_LE(height, TreeHeight(GetParam(), size)) << size;
    EXPECT_GE(height, TreeHeight(GetParam(), size) - more) << size;
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, Trees,
    testing::Values(Topology{Shape::kTree, 2}, Topology{Shape::kTree, 3},
                    Topology{Shape::kTree, 10}, Topology{Shape::kIncreasingRings, 1},
                    Topology{Shape::kIncreasingRings, 4}, Topology{Shape::kIncreasingRings, 1000},
                    Topology{Shape::kDecreasingRings, 2}, Topology{Shape::kSplitRing, 0},
                    Topology{Shape::kTwoTree, 0}, Topology{Shape::kTwoTree, 1}));

// So that every rank sends about as much as it receives, and does not have one parent twice.
TEST(Geometry, ARankIsAnInnerNodeOfOneOfTwoTrees) {
  for (int size = 3; size <= 300; ++size) {
    for (int r = 0; r < size; ++r) {
      const TreeNode first = TreeNodeOf({Shape::kTwoTree, 0}, size, r);
      const TreeNode second = TreeNodeOf({Shape::kTwoTree, 1}, size, r);
      if (r == 0) {
        ASSERT_EQ(first.children.size(), 1u);
        ASSERT_EQ(second.children.size(), 1u);
        ASSERT_NE(first.children[0], second.children[0]);
        continue;
      }
      ASSERT_TRUE(first.children.empty() || second.children.empty()) << size << " " << r;
      ASSERT_LE(first.children.size() + second.children.size(), 2u);
      ASSERT_TRUE(first.parent != second.parent) << size << " " << r;
    }
  }
}

TEST(Geometry, BinomialTreeOfEight) {
  const Topology binomial;
  EXPECT_EQ(TreeNodeOf(binomial, 8, 0).children, (std::vector<int>{1, 2, 4}));
  EXPECT_EQ(TreeNodeOf(binomial, 8, 6).children, (std::vector<int>{7}));
  EXPECT_EQ(TreeNodeOf(binomial, 8, 6).parent, 4);
  EXPECT_EQ(TreeNodeOf(binomial, 6, 4).children, (std::vector<int>{5}));
}

// However many branches are requested, the work is that of those there are.
TEST(Geometry, AWiderTreeThanThereAreRanksIsAsQuicklyMade) {
  for (int size = 1; size <= 128; ++size) {
    for (const int r : {0, size - 1}) {
      const TreeNode node = TreeNodeOf({Shape::kTree, INT_MAX}, size, r);
      const TreeNode as_wide = TreeNodeOf({Shape::kTree, std::max(size, 2)}, size, r);
      EXPECT_EQ(node.children, as_wide.children);
      EXPECT_EQ(node.parent, as_wide.parent);
    }
  }
}

TEST(Geometry, IncreasingRingPassesToTheNextRank) {
  const Topology ring{Shape::kIncreasingRings, 1};
  for (int r = 0; r < 5; ++r) {
    EXPECT_EQ(TreeNodeOf(ring, 5, r).children,
              r < 4 ? std::vector<int>{r + 1} : std::vector<int>());
  }
}

TEST(Geometry, RelativeRanksAreInverse) {
  for (const Shape shape : {Shape::kTree, Shape::kDecreasingRings}) {
    const Topology t{shape, 2};
    for (int size = 1; size < 9; ++size) {
      for (int root = 0; root < size; ++root) {
        EXPECT_EQ(ToRelative(t, size, root, root), 0);
        for (int r = 0; r < size; ++r) {
          EXPECT_EQ(FromRelative(t, size, root, ToRelative(t, size, root, r)), r);
        }
      }
    }
  }
  EXPECT_EQ(FromRelative({Shape::kDecreasingRings, 1}, 5, 2, 1), 1);
}

}  // namespace
}  // namespace brigade
