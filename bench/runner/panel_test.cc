#include "bench/runner/panel.h"

#include <vector>

#include "gtest/gtest.h"

namespace brigade::bench {
namespace {

TEST(PanelTest, ColumnsAreCyclicAndMayBeNone) {
  const Panel panel(3, 5, 4);
  EXPECT_EQ(panel.Columns(0, 2).cols, 3);
  EXPECT_EQ(panel.Columns(1, 2).cols, 2);
  EXPECT_EQ(panel.Columns(1, 2).data, panel.view().data + 4);
  EXPECT_EQ(panel.Columns(1, 2).ld, 8);
  EXPECT_EQ(panel.Columns(5, 6).cols, 0);
}

TEST(PanelTest, CheckAcceptsTheSourcesData) {
  const Panel panel(3, 5, 4);
  Fill(panel.view(), 7);
  EXPECT_EQ(CheckSum(panel.view(), 7, 1), "");
  EXPECT_TRUE(panel.GapsUntouched());
}

TEST(PanelTest, CheckRefusesAnotherSourceAndAnyMisplacement) {
  const Panel panel(3, 5, 4);
  Fill(panel.view(), 7);
  EXPECT_NE(CheckSum(panel.view(), 6, 1), "");
  std::swap(panel.view().data[0], panel.view().data[4]);
  EXPECT_EQ(CheckSum(panel.view(), 7, 1).substr(0, 14), "element (0, 0)");
}

TEST(PanelTest, CheckRefusesStaleData) {
  Panel panel(3, 5, 4);
  Fill(panel.view(), 7);
  panel.Poison();
  EXPECT_NE(CheckSum(panel.view(), 7, 1), "");
}

TEST(PanelTest, SumsOfManySourcesAreExact) {
  constexpr int kSources = 2000;
  const Panel one(2, 2, 2), sum(2, 2, 2);
  Clear(sum.view());
  for (int source = 0; source < kSources; ++source) {
    Fill(one.view(), source);
    for (int i = 0; i < 4; ++i) sum.view().data[i] += one.view().data[i];
  }
  EXPECT_EQ(CheckSum(sum.view(), 0, kSources), "");
  sum.view().data[3] += 1;
  EXPECT_NE(CheckSum(sum.view(), 0, kSources), "");
}

TEST(PanelTest, WritesBetweenColumnsAreSeen) {
  const Panel panel(3, 5, 4);
  panel.view().data[3] = 0;
  EXPECT_FALSE(panel.GapsUntouched());
}

TEST(PanelTest, PackAndUnpackAreInverse) {
  const Panel panel(3, 5, 4), copy(3, 5, 7);
  Fill(panel.view(), 1);
  std::vector<double> packed(15);
  Pack(panel.view(), packed.data());
  Unpack(packed.data(), copy.view());
  EXPECT_EQ(CheckSum(copy.view(), 1, 1), "");
  EXPECT_TRUE(copy.GapsUntouched());
}

}  // namespace
}  // namespace brigade::bench
