#include "patterns/model/free_topology.h"

#include <algorithm>
#include <vector>

#include "gtest/gtest.h"
#include "patterns/catalogue/catalogue.h"
#include "patterns/rules.h"

namespace brigade {
namespace {

// Transports different enough for a broadcast to go different ways, and all kinds of hosts.
std::vector<Ranks> RanksToTry() {
  static const Capabilities plain;
  static const Capabilities shared = [] {
    Capabilities has;
    has.lands_in_peer_memory = true;
    return has;
  }();
  static const Capabilities slow = [] {
    Capabilities has;
    has.tuning.segment_cost_bytes = 512;
    return has;
  }();
  std::vector<Ranks> all;
  for (const int count : {2, 3, 8, 64, 120, 121}) {
    for (const Capabilities* transport : {&plain, &shared, &slow}) {
      for (const int hosts : {1, 2, (count + 1) / 2, count}) {
        all.push_back({count, hosts, transport});
      }
    }
  }
  return all;
}

TEST(FreeTopology, IsOneThePatternKnows) {
  for (const CatalogueEntry& entry : Catalogue()) {
    for (const Ranks& ranks : RanksToTry()) {
      for (const size_t bytes : {size_t{8}, size_t{1} << 20}) {
        for (const bool order_free : {false, true}) {
          const Topology topology = FreeTopology(entry.pattern, ranks, bytes, order_free);
          EXPECT_FALSE(topology.shape == Shape::kFree);
          EXPECT_TRUE(CheckTopology(entry.pattern, topology).ok()) << entry.name;
        }
      }
    }
  }
}

// The topology whose order a sum has.
Topology OrderOf(const Topology& topology) {
  if (topology.shape != Shape::kExchange) return topology;
  return {Shape::kTree, topology.parameter, topology.by_host};
}

TEST(FreeTopology, OrderOfASumDependsOnRanksAndBytesOnly) {
  const Capabilities plain;
  for (const Pattern pattern : {Pattern::kReduce, Pattern::kAllReduce, Pattern::kMultiReduce,
                                Pattern::kScan, Pattern::kExscan}) {
    for (const Ranks& ranks : RanksToTry()) {
      if (ranks.count == 2) continue;  // they have one order only
      for (size_t bytes = 1; bytes < 1 << 20; bytes *= 2) {
        const auto order_of = [&](const Ranks& of) {
          return OrderOf(FreeTopology(pattern, of, bytes, /*order_free=*/false));
        };
        EXPECT_TRUE(order_of(ranks) == order_of({ranks.count, 1, &plain}));
      }
    }
  }
}

TEST(FreeTopology, PartnersExchangeSumsOfMiddleLength) {
  for (const Ranks& ranks : RanksToTry()) {
    if (ranks.count == 2) continue;
    const auto shape = [&](Pattern pattern, size_t bytes) {
      return FreeTopology(pattern, ranks, bytes, /*order_free=*/false).shape;
    };
    const bool partners = ranks.count == 4 || ranks.count == 8 || ranks.count == 64;
    const size_t most = std::max<size_t>(24576, 1024 * static_cast<size_t>(ranks.count));
    EXPECT_EQ(shape(Pattern::kAllReduce, 8193) == Shape::kHypercube, partners);
    EXPECT_EQ(shape(Pattern::kAllReduce, most) == Shape::kHypercube, partners);
    EXPECT_EQ(shape(Pattern::kAllReduce, 8192), Shape::kTree);
    EXPECT_NE(shape(Pattern::kAllReduce, most + 1), Shape::kHypercube);
    EXPECT_NE(shape(Pattern::kReduce, 16384), Shape::kHypercube);
  }
}

bool ShareMemory(const Ranks& ranks) {
  return ranks.hosts == 1 && ranks.transport->lands_in_peer_memory;
}

TEST(FreeTopology, LongSumsToAllAreReduceScattered) {
  for (const Ranks& ranks : RanksToTry()) {
    if (ranks.count == 2) continue;
    for (const bool order_free : {false, true}) {
      if (order_free && ShareMemory(ranks)) continue;  // the next test
      const auto shape = [&](Pattern pattern, size_t bytes) {
        return FreeTopology(pattern, ranks, bytes, order_free).shape;
      };
      const bool by_host = order_free && ranks.hosts > 1 && ranks.hosts < ranks.count;
      const size_t most = std::max<size_t>(8192, 1024 * static_cast<size_t>(ranks.count));
      const bool partners = !by_host && (ranks.count & (ranks.count - 1)) == 0;
      EXPECT_EQ(shape(Pattern::kAllReduce, (partners ? std::max<size_t>(most, 24576) : most) + 1),
                by_host ? Shape::kIncreasingRings : Shape::kReduceScatterAllgather);
      EXPECT_EQ(shape(Pattern::kAllReduce, 8192), Shape::kTree);
      EXPECT_EQ(shape(Pattern::kReduce, most + 1), Shape::kIncreasingRings);
      EXPECT_EQ(shape(Pattern::kReduce, most), Shape::kTree);
    }
  }
}

TEST(FreeTopology, TwoRanksExchangeSumsToBothUnlessTheyAreLong) {
  for (const Ranks& ranks : RanksToTry()) {
    if (ranks.count != 2) continue;
    const auto shape = [&](size_t bytes) {
      return FreeTopology(Pattern::kAllReduce, ranks, bytes, /*order_free=*/false).shape;
    };
    EXPECT_EQ(shape(rules::kPairSumBytes), Shape::kHypercube);
    EXPECT_EQ(shape(rules::kPairSumBytes + 1), ranks.transport->lands_in_peer_memory
                                                   ? Shape::kReduceScatterAllgather
                                                   : Shape::kHypercube);
  }
}

TEST(FreeTopology, SumsOfAnyOrderInSharedMemoryTakeAWideTree) {
  const Topology wide{Shape::kTree, 8};
  for (const Ranks& ranks : RanksToTry()) {
    if (ranks.count == 2 || !ShareMemory(ranks)) continue;
    for (const Pattern pattern : {Pattern::kReduce, Pattern::kAllReduce}) {
      for (const size_t bytes : {size_t{8}, size_t{64} << 10, size_t{128} << 10}) {
        EXPECT_TRUE(OrderOf(FreeTopology(pattern, ranks, bytes, /*order_free=*/true)) == wide);
      }
      constexpr size_t kLong = (128 << 10) + 1;
      EXPECT_FALSE(FreeTopology(pattern, ranks, kLong, /*order_free=*/true) == wide);
      Ranks crowded = ranks;
      crowded.crowded = true;
      EXPECT_TRUE(FreeTopology(pattern, crowded, kLong, /*order_free=*/true) == wide);
      EXPECT_FALSE(FreeTopology(pattern, crowded, kLong, /*order_free=*/false) == wide);
    }
  }
}

TEST(FreeTopology, ShortSumsInSharedMemoryTakeOneRound) {
  for (const Ranks& ranks : RanksToTry()) {
    for (const Pattern pattern : {Pattern::kReduce, Pattern::kAllReduce}) {
      for (const bool order_free : {false, true}) {
        const auto exchanges = [&](size_t bytes) {
          return FreeTopology(pattern, ranks, bytes, order_free).shape == Shape::kExchange;
        };
        const bool of_two = ranks.count == 2 && (pattern == Pattern::kAllReduce);
        const int most =
            pattern == Pattern::kReduce ? rules::kMostRanksGathered : rules::kMostRanksOnExchange;
        EXPECT_EQ(exchanges(rules::kExchangeBytes),
                  ShareMemory(ranks) && ranks.count <= most && !of_two)
            << ranks.count;
        EXPECT_FALSE(exchanges(rules::kExchangeBytes + 1));
      }
    }
  }
}

// All edges are messages, of one kind.
bool AreAlike(const Ranks& ranks) {
  return ranks.hosts == ranks.count || (ranks.hosts == 1 && !ShareMemory(ranks));
}

// Blocks of so many bytes together are not long.
size_t LongestShort(const Ranks& ranks) {
  return std::max(size_t{16} << 10, (size_t{1} << 10) * static_cast<size_t>(ranks.count));
}

TEST(FreeTopology, ShortMultiBroadcastsBetweenHostsTakeFewMessages) {
  for (const Ranks& ranks : RanksToTry()) {
    const auto shape = [&](size_t bytes) {
      return FreeTopology(Pattern::kMultiBroadcast, ranks, bytes, /*order_free=*/true).shape;
    };
    const bool apart = ranks.count > 2 && ranks.count <= 120 && AreAlike(ranks);
    EXPECT_EQ(shape(LongestShort(ranks)), apart ? Shape::kCirculant : Shape::kIncreasingRings);
    EXPECT_EQ(shape(LongestShort(ranks) + 1), Shape::kIncreasingRings);
  }
}

TEST(FreeTopology, ShortMultiReducesTakeFewMessages) {
  for (const Ranks& ranks : RanksToTry()) {
    for (const bool order_free : {false, true}) {
      const auto shape = [&](size_t bytes) {
        return FreeTopology(Pattern::kMultiReduce, ranks, bytes, order_free).shape;
      };
      const bool exchanges =
          ranks.transport->lands_in_peer_memory && ranks.hosts == 1 && ranks.count <= 8;
      const bool few =
          ranks.count > 2 && ranks.count <= 120 && (AreAlike(ranks) || !order_free || exchanges);
      EXPECT_EQ(shape(LongestShort(ranks)), few ? Shape::kCirculant : Shape::kIncreasingRings);
      EXPECT_EQ(shape(LongestShort(ranks) + 1), Shape::kIncreasingRings);
    }
  }
}

TEST(FreeTopology, GoesByHostWhereAHostHasSeveralRanks) {
  for (const Pattern pattern : {Pattern::kBroadcast, Pattern::kReduce, Pattern::kAllReduce}) {
    for (const Ranks& ranks : RanksToTry()) {
      const bool several = ranks.hosts > 1 && ranks.hosts < ranks.count;
      for (const size_t bytes : {size_t{8}, size_t{1} << 20}) {
        EXPECT_EQ(FreeTopology(pattern, ranks, bytes, /*order_free=*/true).by_host, several);
      }
    }
  }
}

}  // namespace
}  // namespace brigade
