#include "patterns/model/model_choice.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "patterns/schedule/geometry.h"
#include "test/support/slow_links.h"

namespace brigade {
namespace {

constexpr size_t kChunkBytes = size_t{32} << 10;

// TCP between the ranks of one.
MachineDescription OneHost(double ranks_per_processor) {
  MachineDescription machine = SlowLinks();
  machine.ranks_per_processor = ranks_per_processor;
  machine.ranks_per_host = 8;
  machine.within_host.latency_us = 11;
  machine.within_host.send_overhead = machine.within_host.receive_overhead = {10, 5000};
  return machine;
}

CostQuery Query(Pattern pattern, size_t bytes) {
  CostQuery query;
  query.pattern = pattern;
  query.ranks = 8;
  query.bytes = bytes;
  return query;
}

std::vector<Candidate> Ranked(const CostQuery& query, bool fixed) {
  const MachineDescription machine = SlowLinks();
  return RankCandidates(machine,
                        SettingsOn(machine, machine.between_hosts, kChunkBytes, 64 * kChunkBytes),
                        query, fixed);
}

SegmentSettings Settings() {
  return SegmentSettingsFor(kChunkBytes, 64 * kChunkBytes, 4 * kChunkBytes);
}

TEST(SizeClass, EveryLengthIsInOneAndTheyFollowEachOther) {
  const SegmentSettings settings = Settings();
  int before = 0;
  for (size_t bytes = 0; bytes < 200000; ++bytes) {
    const int size_class = SizeClassOf(settings, bytes);
    ASSERT_GE(size_class, before) << bytes;
    const size_t longest = LongestOfClass(settings, size_class);
    ASSERT_GE(longest, bytes);
    ASSERT_EQ(SizeClassOf(settings, longest), size_class) << bytes;
    ASSERT_LE(longest, bytes + bytes / 4 + 1);
    before = size_class;
  }
  const int greatest = SizeClassOf(settings, SIZE_MAX / 8);
  EXPECT_EQ(SizeClassOf(settings, LongestOfClass(settings, greatest)), greatest);
}

TEST(SizeClass, PowersOfTwoAreTheLongestOfTheirs) {
  const SegmentSettings settings = Settings();
  for (size_t bytes = 1; bytes <= SIZE_MAX / 8; bytes *= 2) {
    EXPECT_EQ(LongestOfClass(settings, SizeClassOf(settings, bytes)), bytes);
  }
}

// Else a message that a segment holds would be cut as the longest of its class has to be.
TEST(SizeClass, UncutAndCutMessagesShareNoClass) {
  const SegmentSettings settings = Settings();
  const size_t most = MostPayload(settings);
  ASSERT_EQ(most % kChunkBytes, kChunkBytes - kHeaderRoom);  // amid a step
  EXPECT_EQ(LongestOfClass(settings, SizeClassOf(settings, most)), most);
  EXPECT_EQ(SizeClassOf(settings, most - 1000), SizeClassOf(settings, most));
  EXPECT_EQ(LongestOfClass(settings, SizeClassOf(settings, most - 1000)), most);
  EXPECT_GT(SizeClassOf(settings, most + 1), SizeClassOf(settings, most));
}

// In whatever proportion, there are no more segments than were predicted.
TEST(ModelChoice, SegmentsAreInProportion) {
  for (const size_t of_bytes : {1, 1279, 65535, 5242879}) {
    for (const size_t segment_bytes : {1, 100, 4096, 131008}) {
      const ModelChoice choice{Topology(), segment_bytes, of_bytes};
      const size_t segments = (of_bytes + segment_bytes - 1) / segment_bytes;
      for (const size_t bytes : {of_bytes * 4 / 5, of_bytes - 1, of_bytes}) {
        EXPECT_GE(choice.SegmentBytes(bytes) * segments, bytes);
        EXPECT_GT(choice.SegmentBytes(bytes), 0u);
        EXPECT_LE(choice.SegmentBytes(bytes), segment_bytes);
      }
    }
  }
}

// The text names the chosen topology, its predicted time, the model's own choice, and the rule.
TEST(ExplainRule, ShowsTheModelsPredictionWhereRanksShareMemory) {
  MachineDescription machine = OneHost(/*ranks_per_processor=*/1);
  machine.within_host.send_overhead = machine.within_host.receive_overhead = {1, 5000};
  machine.shared_memory.is_shared = true;
  const SegmentSettings settings =
      SettingsOn(machine, machine.within_host, kChunkBytes, 64 * kChunkBytes);
  CostQuery query = Query(Pattern::kAllReduce, 1000);
  query.ranks = 4;
  query.topology = {Shape::kTree, 8};
  const auto says = [&](bool fixed, const std::string& text) {
    return ExplainRule(machine, settings, query, fixed).find(text) != std::string::npos;
  };
  EXPECT_TRUE(says(false, "8-nomial tree in 1 segment, predicted "));
  EXPECT_TRUE(says(false,
                   " us. Chosen by the rule for ranks that share memory. The model would "
                   "choose exchange (order of the "));
  EXPECT_FALSE(says(false, "gives a sum its order"));
  EXPECT_TRUE(says(true,
                   " us. Chosen by the rule for ranks that share memory; the topology gives "
                   "a sum its order, which is part of the result. The model would choose "
                   "the same"));
}

TEST(RankCandidates, FastestFirstAndEachShapeOnce) {
  for (const Pattern pattern : {Pattern::kBroadcast, Pattern::kReduce, Pattern::kAllReduce}) {
    const std::vector<Candidate> candidates = Ranked(Query(pattern, 100000), /*fixed=*/false);
    EXPECT_GE(candidates.size(), 5u);
    for (size_t i = 1; i < candidates.size(); ++i) {
      const Cost& before = candidates[i - 1].cost;
      const Cost& cost = candidates[i].cost;
      EXPECT_GE(before.in_step, cost.in_step);
      if (before.in_step == cost.in_step) {
        EXPECT_LE(before.us, cost.us);
      }
      for (size_t j = 0; j < i; ++j) {
        EXPECT_FALSE(candidates[i].topology == candidates[j].topology);
      }
    }
  }
}

// Three ranks are a line, or two hang on the third, by any name.
TEST(RankCandidates, TreesThatComeToTheSameAreThereOnce) {
  const auto names = [](int ranks, size_t bytes) {
    CostQuery query = Query(Pattern::kBroadcast, bytes);
    query.ranks = ranks;
    std::set<std::string> found;
    for (const Candidate& c : Ranked(query, /*fixed=*/false))
      found.insert(TopologyName(c.topology));
    return found;
  };
  using Names = std::set<std::string>;
  EXPECT_EQ(names(2, 64), Names({"binomial tree"}));
  EXPECT_EQ(names(3, 64), Names({"binomial tree", "increasing ring"}));
  EXPECT_EQ(names(3, 100000),
            Names({"binomial tree", "increasing ring", "two trees", "circulant graph"}));
  EXPECT_EQ(names(4, 64),
            Names({"binomial tree", "3-nomial tree", "increasing ring", "split ring"}));
}

// A short message goes along a tree in one segment, a long one along a ring in many.
TEST(RankCandidates, TreesForShortMessagesAndRingsForLongOnes) {
  const Candidate brief = Ranked(Query(Pattern::kBroadcast, 64), false).front();
  EXPECT_EQ(brief.topology.shape, Shape::kTree);
  EXPECT_EQ(brief.cost.segments, 1);
  const Candidate lengthy = Ranked(Query(Pattern::kBroadcast, 4 << 20), false).front();
  EXPECT_EQ(TopologyName(lengthy.topology), "increasing ring");
  EXPECT_GT(lengthy.cost.segments, 30);
}

// Where others are better by less than the model's error.
TEST(RankCandidates, TheRuleCutsWhereItIsAsGoodAsAny) {
  EXPECT_EQ(Ranked(Query(Pattern::kSend, 4096), false).front().segment_bytes, 0u);
  const CostQuery query = Query(Pattern::kBroadcast, 4 << 20);
  const Candidate chosen = Ranked(query, false).front();
  const MachineDescription machine = SlowLinks();
  const std::vector<Candidate> all = AllCandidates(
      machine, SettingsOn(machine, machine.between_hosts, kChunkBytes, 64 * kChunkBytes), query);
  int of_that_topology = 0;
  for (const Candidate& other : all) {
    if (!other.cost.in_step) continue;
    EXPECT_LE(chosen.cost.us, 1.05 * other.cost.us);
    of_that_topology += other.topology == chosen.topology ? 1 : 0;
  }
  EXPECT_GT(of_that_topology, 2);
}

// Blocks that take longer on their way than at the ports go in few messages.
TEST(RankCandidates, MultiFormsOfShortBlocksGoAlongCirculantGraphs) {
  for (const Pattern pattern : {Pattern::kMultiBroadcast, Pattern::kMultiReduce}) {
    EXPECT_EQ(Ranked(Query(pattern, 64), false).front().topology.shape, Shape::kCirculant);
    EXPECT_NE(Ranked(Query(pattern, 1 << 20), false).front().topology.shape, Shape::kCirculant);
    CostQuery many = Query(pattern, 64);
    many.ranks = 1 << 14;
    const MachineDescription machine = SlowLinks();
    const SegmentSettings scarce = SettingsOn(machine, machine.between_hosts, 1024, 1 << 20);
    EXPECT_NE(RankCandidates(machine, scarce, many, false).front().topology.shape,
              Shape::kCirculant);
  }
}

// There nobody passes anything on. Messages of a ring wait for the one before, which the model
// takes to be the same, but for what is copied.
TEST(RankCandidates, MultiFormsOfShortBlocksOnThreeHostsGoAlongACirculantGraph) {
  MachineDescription machine = SlowLinks();
  const SegmentSettings settings =
      SettingsOn(machine, machine.between_hosts, kChunkBytes, 64 * kChunkBytes);
  for (const Pattern pattern : {Pattern::kMultiBroadcast, Pattern::kMultiReduce}) {
    CostQuery query = Query(pattern, 4);
    query.ranks = 3;
    for (int i = 0; i < 100; ++i) {
      machine.between_hosts.latency_us *= 1.01;
      machine.between_hosts.send_overhead.message_us *= 0.99;
      const Candidate first = RankCandidates(machine, settings, query, /*fixed=*/false).front();
      EXPECT_EQ(first.topology.shape, Shape::kCirculant) << i;
    }
  }
}

// The model does not know that one message serves all ranks of a host.
TEST(RankCandidates, TopologiesByRankAreCandidatesUnlessRanksShareMemory) {
  const Topology ring{Shape::kIncreasingRings, 1};
  const Topology ring_by_host{Shape::kIncreasingRings, 1, /*by_host=*/true};
  const Topology circulant{Shape::kCirculant, 0};
  for (const Pattern pattern :
       {Pattern::kBroadcast, Pattern::kMultiBroadcast, Pattern::kMultiReduce}) {
    CostQuery query = Query(pattern, 64);
    query.hosts = {0, 0, 0, 1, 1, 1, 2, 2};
    query.topology.by_host = true;
    for (const bool share : {false, true}) {
      query.some_share_memory = share;
      const std::vector<Candidate> candidates = Ranked(query, /*fixed=*/false);
      const auto has = [&](const Topology& topology) {
        return std::any_of(candidates.begin(), candidates.end(),
                           [&](const Candidate& c) { return c.topology == topology; });
      };
      EXPECT_TRUE(has(ring_by_host));
      EXPECT_EQ(has(ring), !share);
      EXPECT_EQ(has(circulant), !share && pattern != Pattern::kBroadcast);
    }
  }
}

// A block of a gather or a scatter has one reader.
TEST(RankCandidates, GathersAndScattersByRankAreCandidatesEvenIfRanksShareMemory) {
  for (const Pattern pattern : {Pattern::kGather, Pattern::kScatter}) {
    CostQuery query = Query(pattern, 64);
    query.hosts = {0, 0, 0, 1, 1, 1, 2, 2};
    query.topology.by_host = query.some_share_memory = true;
    const std::vector<Candidate> candidates = Ranked(query, /*fixed=*/false);
    for (const bool by_host : {false, true}) {
      EXPECT_TRUE(std::any_of(candidates.begin(), candidates.end(),
                              [&](const Candidate& c) { return c.topology.by_host == by_host; }));
    }
    EXPECT_TRUE(std::all_of(candidates.begin(), candidates.end(),
                            [](const Candidate& c) { return c.topology.shape == Shape::kTree; }));
  }
}

// Rank 4 is alone on its host. As a root it has fewer messages with a tree by host, for which rank
// 0 copies the blocks of its host once more.
TEST(RankCandidates, GathersAndScattersGoByHostIfThatIsFasterForTheirRoot) {
  for (const Pattern pattern : {Pattern::kGather, Pattern::kScatter}) {
    CostQuery query = Query(pattern, 64);
    query.ranks = 5;
    query.root = 4;
    query.hosts = {0, 0, 0, 0, 1};
    query.topology.by_host = true;
    EXPECT_TRUE(Ranked(query, /*fixed=*/false).front().topology.by_host);

    MachineDescription machine = SlowLinks();
    machine.between_hosts.mb_s = machine.within_host.mb_s;
    machine.copies[0].rate.points = {{1, 50}};
    query.bytes = 4096;
    const std::vector<Candidate> candidates = RankCandidates(
        machine, SettingsOn(machine, machine.between_hosts, kChunkBytes, 64 * kChunkBytes), query,
        /*fixed=*/false);
    EXPECT_FALSE(candidates.front().topology.by_host);
  }
}

// The root has as many messages as on a flat tree, whose blocks pass no other rank.
TEST(RankCandidates, NoRingOfBlocksIsACandidateSinceAFlatTreeIsAsFast) {
  for (const Pattern pattern : {Pattern::kGather, Pattern::kScatter}) {
    for (const size_t bytes : {size_t{64}, size_t{16} << 10, size_t{1} << 20}) {
      CostQuery query = Query(pattern, bytes);
      const std::vector<Candidate> candidates = Ranked(query, /*fixed=*/false);
      EXPECT_TRUE(std::all_of(candidates.begin(), candidates.end(),
                              [](const Candidate& c) { return c.topology.shape == Shape::kTree; }));
      const auto us_of = [&](const Topology& topology) {
        query.topology = topology;
        return Ranked(query, /*fixed=*/true).front().cost.us;
      };
      EXPECT_GT(1.05 * us_of({Shape::kIncreasingRings, 1}), us_of({Shape::kTree, kFlatBranches}));
    }
  }
}

// The first is about as fast as the fastest, and no other that is as fast has fewer segments.
// Reduce-scatter + allgather has a segment for every rank on the way there, and on the way back.
TEST(RankCandidates, TheFewestSegmentsComeFirstAtAboutEqualSpeed) {
  const int others = Query(Pattern::kAllReduce, 1).ranks - 1;
  const auto segments = [&](const Candidate& c) {
    return c.cost.segments * (c.topology.shape == Shape::kReduceScatterAllgather ? 2 * others : 1);
  };
  int slower = 0;
  for (const Pattern pattern : {Pattern::kBroadcast, Pattern::kReduce, Pattern::kAllReduce,
                                Pattern::kMultiBroadcast, Pattern::kMultiReduce}) {
    for (size_t bytes = 1024; bytes <= size_t{4} << 20; bytes += bytes / 2) {
      const std::vector<Candidate> candidates = Ranked(Query(pattern, bytes), /*fixed=*/false);
      double best_us = candidates.front().cost.us;
      for (const Candidate& c : candidates) {
        if (c.cost.in_step) best_us = std::min(best_us, c.cost.us);
      }
      const Cost& first = candidates.front().cost;
      const bool gathers = pattern == Pattern::kReduce && first.segments == 1;
      EXPECT_LE(first.us, (gathers ? 1.2 : 1.05) * best_us);
      slower += first.us > best_us;
      for (const Candidate& c : candidates) {
        if (!c.cost.in_step || c.cost.us > 1.05 * best_us) continue;
        if (c.topology.shape == Shape::kCirculant) continue;  // the next test
        EXPECT_GE(segments(c), segments(candidates.front()))
            << TopologyName(c.topology) << ", " << bytes;
      }
    }
  }
  EXPECT_GT(slower, 0);
}

// On one host, whose processors are what all wait for, the shares of a reduce-scatter are about as
// fast as long messages along trees, and in fewer segments.
TEST(RankCandidates, ATreeThatIsAboutAsFastGoesBeforeReduceScatterAllgather) {
  const MachineDescription machine = OneHost(/*ranks_per_processor=*/2.5);
  const SegmentSettings settings =
      SettingsOn(machine, machine.within_host, kChunkBytes, 64 * kChunkBytes);
  int passed_over = 0;
  for (int ranks = 4; ranks <= 8; ++ranks) {
    for (size_t bytes = size_t{1} << 20; bytes <= size_t{16} << 20; bytes *= 2) {
      CostQuery query = Query(Pattern::kAllReduce, bytes);
      query.ranks = ranks;
      const std::vector<Candidate> all = RankCandidates(machine, settings, query, /*fixed=*/false);
      if (all.front().topology.shape == Shape::kReduceScatterAllgather) continue;
      for (const Candidate& c : all) {
        passed_over += c.topology.shape == Shape::kReduceScatterAllgather &&
                       c.cost.us <= all.front().cost.us &&
                       c.cost.segments < all.front().cost.segments;
      }
    }
  }
  EXPECT_GT(passed_over, 0);
}

// For each a rank has to wake; who receives from many wakes once for several.
TEST(RankCandidates, TheFlattestTreeInOneSegmentIsFirst) {
  for (const Pattern pattern : {Pattern::kBroadcast, Pattern::kReduce, Pattern::kAllReduce}) {
    const double limit = pattern == Pattern::kReduce ? 1.2 : 1.05;
    int slower = 0;
    for (int ranks = 3; ranks <= 64; ++ranks) {
      CostQuery query = Query(pattern, 1024);
      query.ranks = ranks;
      const std::vector<Candidate> candidates = Ranked(query, /*fixed=*/false);
      const Candidate& first = candidates.front();
      double best_us = first.cost.us;
      for (const Candidate& c : candidates) {
        if (c.cost.in_step) best_us = std::min(best_us, c.cost.us);
      }
      EXPECT_LE(first.cost.us, limit * best_us);
      if (first.topology.shape != Shape::kTree) continue;
      slower += first.cost.us > best_us;
      for (const Candidate& c : candidates) {
        if (c.topology.shape != Shape::kTree || c.cost.us > limit * best_us) continue;
        EXPECT_GE(TreeHeight(c.topology, ranks), TreeHeight(first.topology, ranks)) << ranks;
      }
    }
    if (pattern == Pattern::kReduce) {
      EXPECT_GT(slower, 0);
    }
  }
}

// Even if the graph has as few segments; unless it is the fastest, and has one.
TEST(RankCandidates, ARingThatIsAboutAsFastGoesBeforeACirculantGraph) {
  int passed_over = 0;
  MachineDescription machine = SlowLinks();
  machine.between_hosts.burst_bytes = 20000;
  const SegmentSettings settings =
      SettingsOn(machine, machine.between_hosts, kChunkBytes, 64 * kChunkBytes);
  for (const Pattern pattern : {Pattern::kMultiBroadcast, Pattern::kMultiReduce}) {
    for (size_t bytes = 1024; bytes <= size_t{4} << 20; bytes += bytes / 2) {
      for (int ranks = 3; ranks <= 8; ++ranks) {
        CostQuery query = Query(pattern, bytes);
        query.ranks = ranks;
        const std::vector<Candidate> candidates =
            RankCandidates(machine, settings, query, /*fixed=*/false);
        const auto graph =
            std::find_if(candidates.begin(), candidates.end(),
                         [](const Candidate& c) { return c.topology.shape == Shape::kCirculant; });
        const auto ring = std::find_if(
            candidates.begin(), candidates.end(),
            [](const Candidate& c) { return c.topology.shape == Shape::kIncreasingRings; });
        if (graph == candidates.end()) continue;
        const bool stands = graph->cost.segments == 1 && graph->cost.us <= 1.005 * ring->cost.us;
        EXPECT_EQ(ring < graph, !stands && ring->cost.us <= 1.05 * graph->cost.us)
            << ranks << ", " << bytes;
        passed_over += ring < graph && graph->cost.us <= 1.05 * ring->cost.us &&
                       graph->cost.segments <= ring->cost.segments;
      }
    }
  }
  EXPECT_GT(passed_over, 0);
}

TEST(RankCandidates, AFixedTopologyIsTheOnlyOne) {
  CostQuery query = Query(Pattern::kReduce, 100000);
  query.topology = {Shape::kTree, 3};
  const std::vector<Candidate> candidates = Ranked(query, /*fixed=*/true);
  ASSERT_EQ(candidates.size(), 1u);
  EXPECT_EQ(candidates[0].topology, query.topology);
}

// The choice, and its reason.
std::pair<ModelChoice, std::string> Chosen(const CostQuery& query, Latitude latitude) {
  const MachineDescription machine = SlowLinks();
  std::string reason;
  const ModelChoice choice = ChooseByModel(
      machine, SettingsOn(machine, machine.between_hosts, kChunkBytes, 64 * kChunkBytes), query,
      latitude, &reason);
  return {choice, reason};
}

void ExpectText(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << text;
}

TEST(ChooseByModel, NamesTheChoiceAndTheNext) {
  const auto [choice, reason] = Chosen(Query(Pattern::kBroadcast, 4 << 20), Latitude::kAll);
  EXPECT_EQ(TopologyName(choice.topology), "increasing ring");
  EXPECT_EQ(reason.find("increasing ring in "), 0u) << reason;
  ExpectText(reason, " us. Chosen by the model. Alternatives:\n  ");
  // One on each line.
  EXPECT_EQ(std::count(reason.begin(), reason.end(), '\n'), 3) << reason;
}

TEST(ChooseByModel, AnOrderIsKept) {
  CostQuery query = Query(Pattern::kReduce, 4 << 20);
  query.topology = {Shape::kTree, 3};
  const auto [choice, reason] = Chosen(query, Latitude::kSegments);
  EXPECT_EQ(choice.topology, query.topology);
  EXPECT_LT(choice.SegmentBytes(4 << 20), size_t{4} << 20);
  ExpectText(reason, "3-nomial tree in ");
  ExpectText(reason, " us. The model has chosen the segments only: ");
}

TEST(ChooseByModel, ARequestedTopologyStaysUnlessItIsTooSlow) {
  CostQuery query = Query(Pattern::kBroadcast, 4 << 20);
  query.topology = {Shape::kSplitRing, 0};  // 1.99 times as slow
  ExpectText(
      Chosen(query, Latitude::kHint).second,
      "instead of the topology that the program has named, which is too slow: split ring in ");
  EXPECT_EQ(TopologyName(Chosen(query, Latitude::kHint).first.topology), "increasing ring");
  query.bytes = 16 << 10;
  ExpectText(Chosen(query, Latitude::kHint).second,
             " us. The program has named this topology. The model would choose ");
  EXPECT_EQ(Chosen(query, Latitude::kHint).first.topology, query.topology);
}

}  // namespace
}  // namespace brigade
