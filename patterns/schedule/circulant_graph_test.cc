// The conditions under which n segments take n - 1 + q rounds, for every rank of groups of up to
// 2500: a choice above 300 by default, all with BRIGADE_TEST_FULL.

#include "patterns/schedule/circulant_graph.h"

#include <algorithm>
#include <cstddef>
#include <random>
#include <set>
#include <vector>

#include "gtest/gtest.h"
#include "test/support/stress.h"

namespace brigade {
namespace {

constexpr int kMostRanks = 2500;

bool IsPrime(int n) {
  for (int d = 2; d * d <= n; ++d) {
    if (n % d == 0) return false;
  }
  return n > 1;
}

std::set<int> GroupSizes() {
  std::set<int> sizes;
  const int most = StressRounds(300, 1000);
  for (int p = 2; p <= most; ++p) sizes.insert(p);
  for (int power = 256; power <= kMostRanks; power *= 2) {
    sizes.insert({power - 1, power, power + 1});
  }
  int primes = 0;
  for (int p = most; p <= kMostRanks; ++p) {
    if (IsPrime(p) && ++primes % 20 == 0) sizes.insert(p);
  }
  std::mt19937 random(StressSeed());
  for (int i = 0; i < 20; ++i) sizes.insert(static_cast<int>(300 + random() % 2200));
  sizes.insert(kMostRanks);
  return sizes;
}

TEST(CirculantGraph, SkipsAreHalves) {
  const CirculantGraph graph(11);
  EXPECT_EQ(graph.rounds(), 4);
  std::vector<int> skips;
  for (int k = 0; k <= graph.rounds(); ++k) skips.push_back(graph.skip(k));
  EXPECT_EQ(skips, (std::vector<int>{1, 2, 3, 6, 11}));
  EXPECT_EQ(CirculantGraph(1).rounds(), 0);
  EXPECT_EQ(CirculantGraph(2).rounds(), 1);
}

TEST(CirculantGraph, DistancesAreSumsOfSkips) {
  for (const int p : GroupSizes()) {
    const CirculantGraph graph(p);
    std::vector<int> sums(static_cast<size_t>(p));
    for (int k = graph.rounds() - 1; k >= 0; --k) {
      const std::vector<int> distances = graph.DistancesOver(k);
      ASSERT_TRUE(std::is_sorted(distances.begin(), distances.end()));
      ASSERT_LE(distances.size(), static_cast<size_t>(p) / 2);
      for (const int distance : distances) {
        int& sum = sums[static_cast<size_t>(distance)];
        ASSERT_EQ(sum == 0, distance < graph.skip(k + 1)) << "the greatest first";
        sum += graph.skip(k);
      }
    }
    for (int distance = 0; distance < p; ++distance) {
      ASSERT_EQ(sums[static_cast<size_t>(distance)], distance) << p;
    }
  }
  const CirculantGraph graph(9);  // skips 1, 2, 3, 5
  EXPECT_EQ(graph.DistancesOver(0), (std::vector<int>{1, 4, 6}));
  EXPECT_EQ(graph.DistancesOver(1), (std::vector<int>{2, 7}));
  EXPECT_EQ(graph.DistancesOver(2), (std::vector<int>{3, 4, 8}));
  EXPECT_EQ(graph.DistancesOver(3), (std::vector<int>{5, 6, 7, 8}));
}

TEST(CirculantGraph, EveryRankGetsEveryBlockInTime) {
  for (const int p : GroupSizes()) {
    const CirculantGraph graph(p);
    const int q = graph.rounds();
    ASSERT_GE(1 << q, p);
    ASSERT_LT(1 << q, 2 * p);
    std::vector<std::vector<int>> receives;
    for (int r = 0; r < p; ++r) receives.push_back(graph.Receives(r));
    for (int r = 0; r < p; ++r) {
      const std::vector<int>& mine = receives[r];
      const int base = graph.BaseSegment(r);
      // One segment of each kind per phase; of one kind the first.
      std::set<int> expected;
      for (int d = 0; d < q; ++d) expected.insert(d == base ? base : d - q);
      ASSERT_EQ(std::set<int>(mine.begin(), mine.end()), expected) << p << " ranks, rank " << r;
      // A sent segment came before: in this phase, or as the base segment of the last.
      for (int k = 0; k < q; ++k) {
        const int sent = receives[graph.RankAt(r, graph.skip(k))][k];
        if (r == 0) {
          ASSERT_EQ(sent, k) << p;
        } else if (graph.RankAt(r, graph.skip(k)) != 0) {
          ASSERT_TRUE(sent == base - q ||
                      std::find(mine.begin(), mine.begin() + k, sent) != mine.begin() + k)
              << p << " ranks, rank " << r << ", round " << k;
        }
      }
    }
    // All ranks of few, some of many.
    for (int r = 1; r < p; r += p < 300 || GroupSizes().size() > 1000 ? 1 : 97) {
      const CirculantNode node(graph, r);
      ASSERT_LE(node.stream_count, 3) << p << " ranks, rank " << r;
      // The base segment is not wanted before it is awaited.
      for (const int use : node.sent_on[static_cast<size_t>(node.base_round())]) {
        ASSERT_TRUE(use > node.base_awaited() && use - q <= node.base_awaited()) << p << " " << r;
      }
    }
    for (const int r : {0, 1, p / 2, p - 1}) {
      std::vector<int> sent;
      for (int k = 0; k < q; ++k) sent.push_back(receives[graph.RankAt(r, graph.skip(k))][k]);
      ASSERT_EQ(graph.Sends(r), sent) << p << " ranks, rank " << r;
    }
  }
}

}  // namespace
}  // namespace brigade
