// How sums are cut, in which order ranks take them, and how many fetch from one host at a time.

#include "windows/multiply/panels.h"

#include <algorithm>
#include <limits>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "windows/multiply/contention.h"
#include "windows/multiply/visits.h"

namespace brigade {
namespace {

std::vector<int64_t> All(const std::vector<IndexRange>& ranges) {
  std::vector<int64_t> all;
  for (const IndexRange& range : ranges) {
    for (int64_t i = range.begin; i < range.end; ++i) all.push_back(i);
  }
  return all;
}

class Random {
 public:
  int64_t Draw(int64_t least, int64_t most) {
    return std::uniform_int_distribution<int64_t>(least, most)(random_);
  }
  Distribution DrawDistribution() {
    Distribution distribution;
    distribution.block = Draw(1, 7);
    distribution.procs = static_cast<int>(Draw(1, 4));
    distribution.source = static_cast<int>(Draw(0, distribution.procs - 1));
    distribution.first = Draw(0, 20);
    distribution.more = Draw(1 - distribution.block, 5);
    return distribution;
  }

 private:
  std::mt19937 random_{5};
};

TEST(Distribution, HasAsManyProcessesAsAnIntCounts) {
  const int last = std::numeric_limits<int>::max() - 1;
  const Distribution distribution{/*block=*/1, /*source=*/0, /*procs=*/last + 1};
  EXPECT_EQ(distribution.CountOf(10, 9), 1);
  EXPECT_EQ(distribution.CountOf(10, last), 0);
}

TEST(Distribution, EveryIndexHasOneOwnerAndItsPlaceThere) {
  Random random;
  for (int trial = 0; trial < 300; ++trial) {
    const Distribution distribution = random.DrawDistribution();
    const int64_t n = random.Draw(0, 60);
    // Index by index, as the blocks are distributed.
    std::vector<int64_t> has(static_cast<size_t>(distribution.procs));
    std::vector<std::vector<int64_t>> own(static_cast<size_t>(distribution.procs));
    int64_t begin = 0;  // of a block
    int number = 0;
    for (int64_t g = 0; g < distribution.first + n; ++g) {
      const int64_t length = distribution.block + (number == 0 ? distribution.more : 0);
      if (g == begin + length) {
        begin = g;
        ++number;
      }
      const auto owner = static_cast<size_t>((number + distribution.source) % distribution.procs);
      const int64_t i = g - distribution.first;
      if (i >= 0) {
        EXPECT_EQ(static_cast<size_t>(distribution.OwnerOf(i)), owner);
        EXPECT_EQ(distribution.LocalOf(i), has[owner]);
        EXPECT_EQ(distribution.BlockEnd(i) + distribution.first,
                  begin + distribution.block + (number == 0 ? distribution.more : 0));
        own[owner].push_back(i);
      }
      ++has[owner];
    }
    for (int proc = 0; proc < distribution.procs; ++proc) {
      const auto p = static_cast<size_t>(proc);
      EXPECT_EQ(distribution.CountOf(distribution.first + n, proc), has[p]);
      const std::vector<IndexRange> ranges = OwnRanges(distribution, n, proc);
      EXPECT_EQ(All(ranges), own[p]);
      EXPECT_EQ(CountOf(ranges), static_cast<int64_t>(own[p].size()));
      const int64_t from = random.Draw(0, CountOf(ranges));
      const int64_t count = random.Draw(0, CountOf(ranges) - from);
      EXPECT_EQ(All(Slice(ranges, from, count)),
                std::vector<int64_t>(own[p].begin() + from, own[p].begin() + from + count));
      // How another matrix deals the same indices.
      const Distribution other = random.DrawDistribution();
      int64_t place = 0;
      for (const IndexPiece& piece : PiecesOf(other, ranges)) {
        EXPECT_EQ(piece.place, place);
        for (int64_t i = 0; i < piece.count; ++i) {
          const int64_t index = own[p][static_cast<size_t>(place++)];
          EXPECT_EQ(other.OwnerOf(index), piece.owner);
          EXPECT_EQ(other.LocalOf(index), piece.local + i);
        }
      }
      EXPECT_EQ(place, CountOf(ranges));
    }
  }
}

TEST(Panels, HoldEveryIndexOnceAndHaveOneOwner) {
  Random random;
  for (int trial = 0; trial < 300; ++trial) {
    const Distribution a = random.DrawDistribution();
    const Distribution b = random.DrawDistribution();
    const int64_t k = random.Draw(1, 80);
    const int64_t width = random.Draw(1, 20);
    std::vector<int64_t> seen;
    int class_number = 0;
    for (const Panel& panel : CutIntoPanels(a, b, k, width)) {
      EXPECT_LE(panel.width, width);
      EXPECT_EQ(panel.width, CountOf(panel.indices));
      EXPECT_TRUE(panel.class_number == class_number || panel.class_number == ++class_number);
      for (const int64_t i : All(panel.indices)) {
        EXPECT_EQ(a.OwnerOf(i), panel.a_owner);
        EXPECT_EQ(b.OwnerOf(i), panel.b_owner);
        seen.push_back(i);
      }
    }
    std::sort(seen.begin(), seen.end());
    EXPECT_EQ(seen, All({{0, k}}));
  }
}

TEST(Panels, LieInOnePieceForSmallBlocksOnASquareGrid) {
  const Distribution distribution{2, 0, 3, 0};
  const std::vector<Panel> panels = CutIntoPanels(distribution, distribution, 60, 100);
  ASSERT_EQ(panels.size(), 3U);
  for (const Panel& panel : panels) {
    EXPECT_EQ(panel.width, 20);
    EXPECT_EQ(PiecesOf(distribution, panel.indices).size(), 1U);
  }
}

// The order may be any: what is in one sum comes as it is listed.
TEST(Visits, TakeEveryPanelOnceAndSumsAsTheyAreListed) {
  Random random;
  for (int trial = 0; trial < 300; ++trial) {
    const std::vector<Panel> panels =
        CutIntoPanels(random.DrawDistribution(), random.DrawDistribution(), random.Draw(1, 80),
                      random.Draw(1, 20));
    const int classes = panels.back().class_number + 1;
    const int first_class = static_cast<int>(random.Draw(0, classes - 1));
    for (int order = 0; order < kMultiplyOrders; ++order) {
      const std::vector<int> visits =
          VisitsOf(static_cast<MultiplyOrder>(order), panels, first_class);
      ASSERT_EQ(visits.size(), panels.size());
      std::vector<int> last(kSums, -1);
      for (const int visit : visits) {
        const auto sum = static_cast<size_t>(
            SumOf(panels[static_cast<size_t>(visit)].class_number, first_class));
        EXPECT_LT(last[sum], visit);
        last[sum] = visit;
      }
    }
  }
}

TEST(Visits, BeginWhereTheirNameSays) {
  const Distribution blocks{10, 0, 4, 0};
  const std::vector<Panel> panels = CutIntoPanels(blocks, blocks, 40, 5);
  const int first_class = FirstClassOf(panels, 2, 5);
  EXPECT_EQ(first_class, 3);
  using Numbers = std::vector<int>;
  EXPECT_EQ(VisitsOf(MultiplyOrder::kNatural, panels, first_class),
            (Numbers{0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(VisitsOf(MultiplyOrder::kDiagonal, panels, first_class),
            (Numbers{6, 7, 0, 1, 2, 3, 4, 5}));
}

// The paper's grid: q x q processes, the q of a column on one host, a block each.
int Contention(int q, MultiplyOrder order) {
  const Distribution blocks{100, 0, q, 0};
  std::vector<std::vector<std::vector<int>>> asked;
  std::vector<int> host_of;
  const std::vector<Panel> panels = CutIntoPanels(blocks, blocks, 100 * q, 100);
  for (int i = 0; i < q; ++i) {
    for (int j = 0; j < q; ++j) {
      asked.emplace_back();
      host_of.push_back(j);
      for (const int visit : VisitsOf(order, panels, FirstClassOf(panels, i, j))) {
        const Panel& panel = panels[static_cast<size_t>(visit)];
        asked.back().push_back({i * q + panel.a_owner, panel.b_owner * q + j});
      }
    }
  }
  return MostFetchesAtOnce(asked, host_of);
}

// Source: SRUMMA, section 3.1.
TEST(Contention, MatchesThePaper) {
  for (const int q : {2, 3, 4, 5, 8, 16, 64}) {
    SCOPED_TRACE(q);
    EXPECT_EQ(Contention(q, MultiplyOrder::kNatural), q);
    EXPECT_EQ(Contention(q, MultiplyOrder::kDiagonal), 1);
  }
}

}  // namespace
}  // namespace brigade
