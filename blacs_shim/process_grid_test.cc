#include "blacs_shim/process_grid.h"

#include <climits>

#include "gtest/gtest.h"

namespace brigade {
namespace blacs {
namespace {

std::unique_ptr<ProcessGrid> Grid(int rows, int cols) {
  auto grid = std::make_unique<ProcessGrid>();
  grid->rows = rows;
  grid->cols = cols;
  return grid;
}

TEST(ProcessGridTest, RanksGoRowByRow) {
  const auto grid = Grid(2, 3);
  EXPECT_EQ(grid->RankAt(1, 2), 5);
  EXPECT_TRUE(grid->Contains(1, 2));
  EXPECT_FALSE(grid->Contains(2, 0));
  EXPECT_FALSE(grid->Contains(0, 3));
  EXPECT_FALSE(grid->Contains(-1, 0));
  EXPECT_FALSE(grid->Contains(0, -1));
}

TEST(GridTableTest, ContextsAreTheLowestFreeNumbers) {
  GridTable table;
  EXPECT_EQ(table.Insert(Grid(1, 1)), 0);
  EXPECT_EQ(table.Insert(Grid(1, 2)), 1);
  EXPECT_EQ(table.Insert(Grid(1, 3)), 2);
  EXPECT_EQ(table.Remove(1)->cols, 2);
  EXPECT_EQ(table.Find(1), nullptr);
  EXPECT_EQ(table.Find(2)->cols, 3);
  EXPECT_EQ(table.Insert(Grid(1, 4)), 1);
  EXPECT_EQ(table.Find(1)->cols, 4);
  table.Clear();
  EXPECT_EQ(table.Find(0), nullptr);
  EXPECT_EQ(table.Insert(Grid(1, 1)), 0);
}

TEST(GridTableTest, AnyNumberMayBeLookedUp) {
  GridTable table;
  table.Insert(Grid(1, 1));
  for (int context : {-1, INT_MIN, 1, INT_MAX}) EXPECT_EQ(table.Find(context), nullptr);
}

}  // namespace
}  // namespace blacs
}  // namespace brigade
