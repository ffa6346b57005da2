// The cost model beside the simulator: predictions are equal to simulated times.

#include "patterns/model/cost_model.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "patterns/catalogue/catalogue.h"
#include "patterns/engine/engine.h"
#include "patterns/group/group.h"
#include "patterns/model/candidates.h"
#include "transport/sim/sim_transport.h"
#include "transport/simulated_processor.h"

namespace brigade {
namespace {

constexpr size_t kChunkBytes = size_t{32} << 10;
constexpr size_t kStagingBytes = size_t{2} << 20;

void Require(const Status& status) {
  if (!status.ok()) throw std::runtime_error(status.ToString());
}

MachineDescription Read(const std::string& name) {
  MachineDescription machine;
  Require(MachineDescription::Read("transport/machines/" + name + ".json", &machine));
  machine.ranks_per_processor = 1;  // as when simulated
  return machine;
}

// The longest that a rank is in the call, in microseconds.
double Simulate(const MachineDescription& machine, const CostQuery& query) {
  SimOptions sim_options;
  sim_options.carries_payload = false;
  SimWorld world(machine, query.ranks, sim_options);
  double us = 0;
  std::byte memory[8];  // lengths only
  Require(world.Run([&](int rank) {
    const std::unique_ptr<Endpoint> endpoint = world.CreateEndpoint(rank);
    EngineOptions options;
    options.chunk_bytes = kChunkBytes;
    options.staging_bytes = kStagingBytes;
    std::unique_ptr<Engine> engine;
    Require(Engine::Create(endpoint.get(), options, &engine));
    std::unique_ptr<Group> group;
    Require(Group::Create(engine.get(), world.MakeBootstrap(rank).get(), 1, query.ranks, &group));
    const auto elems = static_cast<int64_t>(query.bytes / sizeof(double));
    Matrix matrix;
    matrix.data = memory;
    Require(StridedLayout::General(elems, 1, elems, sizeof(double), &matrix.layout));
    const std::vector<Matrix> blocks(static_cast<size_t>(query.ranks), matrix);
    PatternCall call;
    call.pattern = query.pattern;
    call.topology = query.topology;
    call.segment_bytes = query.segment_bytes;
    call.matrix = matrix;
    call.blocks = call.sent = blocks.data();
    call.equal_blocks = true;
    if (query.pattern == Pattern::kSend) {
      call.root = 1 - rank;
      if (rank == 1) call.pattern = Pattern::kReceive;
    }
    const int place = (rank - query.first + query.ranks) % query.ranks;
    const double late_us = query.late_us * place / (query.ranks - 1);
    const auto late_bytes = static_cast<size_t>(late_us * machine.copies[0].rate.RateAt(1e9));
    if (late_us > 0) endpoint->simulated_processor()->Copy(memory, memory, late_bytes, late_bytes);
    const double begin_us = world.Clock(rank);
    Require(group->Run(call));
    us = std::max(us, world.Clock(rank) - begin_us);
  }));
  return us;
}

struct Deviation {
  double error;  // of the prediction, relative
  std::string what;
};

bool operator<(const Deviation& a, const Deviation& b) { return a.error < b.error; }

std::string Describe(const CostQuery& query, const Cost& cost, double simulated_us) {
  std::ostringstream text;
  text << PatternName(query.pattern) << ", shape " << static_cast<int>(query.topology.shape) << "/"
       << query.topology.parameter << (query.topology.by_host ? " by host" : "") << ", "
       << query.ranks << " ranks, " << query.bytes << " bytes in " << cost.segments
       << " segments: predicted " << cost.us << " us, simulated " << simulated_us;
  return text.str();
}

// All variants of a call on a group: whether messages can go by host here.
std::vector<bool> WaysByHost(const CatalogueEntry& entry, const Topology& topology, int hosts,
                             int ranks) {
  if (topology.shape == Shape::kExchange) return {};  // to the model it is its tree
  if (hosts == 1 || hosts == ranks) return {false};
  if (topology.shape == Shape::kCirculant) {
    return entry.multi ? std::vector<bool>{false} : std::vector<bool>{};  // not modelled
  }
  const bool by_rank_only =
      entry.topologies.empty() || KeepsToRanks(entry.pattern) ||
      topology.shape == Shape::kHypercube || topology.shape == Shape::kTwoTree ||
      (IsRootedBlocks(entry.pattern) && topology.shape == Shape::kIncreasingRings);
  return by_rank_only ? std::vector<bool>{false} : std::vector<bool>{false, true};
}

// Of all entries, wanted shapes, numbers of ranks and lengths, in increasing order.
std::vector<Deviation> DeviationsOn(const MachineDescription& machine,
                                    bool (*wanted)(const CatalogueEntry&, const Topology&)) {
  const SegmentSettings settings =
      SettingsOn(machine, machine.between_hosts, kChunkBytes, kStagingBytes);
  std::vector<Deviation> deviations;
  for (const CatalogueEntry& entry : Catalogue()) {
    if (IsPair(entry.pattern)) continue;
    std::vector<Topology> topologies = entry.topologies;
    if (topologies.empty()) topologies.emplace_back();
    for (Topology topology : topologies) {
      if (!wanted(entry, topology)) continue;
      for (const int ranks : {2, 3, 5, 8, 13, 16}) {
        const int hosts = machine.HostOf(ranks - 1) + 1;
        for (const bool by_host : WaysByHost(entry, topology, hosts, ranks)) {
          for (const size_t bytes : {8, 1024, 16384, 65536, 524288, 4194304}) {
            CostQuery query;
            query.pattern = entry.pattern;
            query.topology = topology;
            query.topology.by_host = by_host;
            query.ranks = ranks;
            query.bytes = bytes;
            const double simulated_us = Simulate(machine, query);
            const Cost cost = PredictCost(machine, settings, query);
            deviations.push_back(
                {std::abs(cost.us / simulated_us - 1), Describe(query, cost, simulated_us)});
          }
        }
      }
    }
  }
  std::sort(deviations.begin(), deviations.end());
  return deviations;
}

bool IsCirculantMulti(const CatalogueEntry& entry, const Topology& topology) {
  return entry.multi && topology.shape == Shape::kCirculant;
}
bool OutOfStep(const CatalogueEntry& entry, const Topology& topology) {
  return topology.shape == Shape::kTwoTree || (topology.shape == Shape::kCirculant && !entry.multi);
}
bool IsOfPrefixes(const CatalogueEntry& entry, const Topology&) { return IsScan(entry.pattern); }
bool IsOfOwnBlocks(const CatalogueEntry& entry, const Topology& topology) {
  return IsRootedBlocks(entry.pattern) ||
         (entry.pattern == Pattern::kAllToAll && topology.shape != Shape::kCirculant);
}
bool InStep(const CatalogueEntry& entry, const Topology& topology) {
  return !OutOfStep(entry, topology) && !IsCirculantMulti(entry, topology) &&
         !IsOfPrefixes(entry, topology) && !IsOfOwnBlocks(entry, topology);
}

void ExpectWithin(const MachineDescription& machine,
                  bool (*wanted)(const CatalogueEntry&, const Topology&), double median,
                  double most, double worst) {
  const std::vector<Deviation> deviations = DeviationsOn(machine, wanted);
  const Deviation& p95 = deviations[deviations.size() * 95 / 100];
  EXPECT_LE(deviations[deviations.size() / 2].error, median) << machine.name;
  EXPECT_LE(p95.error, most) << machine.name << ", 95 of 100; " << p95.what;
  EXPECT_LE(deviations.back().error, worst) << machine.name << "; " << deviations.back().what;
}

// Both are exact, so the figures are the model's errors, without noise. The largest errors among
// the first are all-reduces along trees, whose two directions interfere at the ports; along two
// trees and on circulant graphs all messages do.
TEST(CostModel, AgreesWithTheSimulator) {
  ExpectWithin(Read("shaped_cluster"), InStep, 0.005, 0.11, 0.34);
  ExpectWithin(Read("shaped_cluster"), OutOfStep, 0.13, 0.40, 0.52);
  MachineDescription machine = Read("fat_nodes_100g");
  ExpectWithin(machine, InStep, 0.005, 0.05, 0.20);
  ExpectWithin(machine, OutOfStep, 0.13, 0.40, 0.55);
  machine.ranks_per_host = 4;
  ExpectWithin(machine, InStep, 0.005, 0.09, 0.20);
}

// One message each way in each round: exact but for the order in which messages meet at ports,
// which matters where a host has fewer ranks than others.
TEST(CostModel, BlocksOnCirculantGraphs) {
  ExpectWithin(Read("shaped_cluster"), IsCirculantMulti, 0.0001, 0.01, 0.02);
  MachineDescription machine = Read("fat_nodes_100g");
  for (const int ranks_per_host : {64, 8, 4, 2, 1}) {
    machine.ranks_per_host = ranks_per_host;
    ExpectWithin(machine, IsCirculantMulti, 0.005, 0.06, 0.09);
  }
  machine.ranks_per_host = 5;
  ExpectWithin(machine, IsCirculantMulti, 0.01, 0.06, 0.19);
}

// The chosen topology is the faster one when simulated, too.
TEST(CostModel, AllToAllsTakeACirculantGraphWhereItIsFaster) {
  for (const char* name : {"shaped_cluster", "fat_nodes_100g"}) {
    MachineDescription machine = Read(name);
    machine.ranks_per_host = 1;
    const SegmentSettings settings =
        SettingsOn(machine, machine.between_hosts, kChunkBytes, kStagingBytes);
    int taken = 0;
    for (const int ranks : {8, 16, 24}) {
      for (const size_t bytes : {8, 256, 1024, 4096}) {
        CostQuery query;
        query.pattern = Pattern::kAllToAll;
        query.ranks = ranks;
        query.bytes = bytes;
        const Candidate chosen = RankCandidates(machine, settings, query, /*fixed=*/false).front();
        query.topology = {Shape::kIncreasingRings, 1};
        const double ring_us = Simulate(machine, query);
        query.topology = {Shape::kCirculant, 0};
        const double circulant_us = Simulate(machine, query);
        SCOPED_TRACE(Describe(query, chosen.cost, circulant_us));
        if (chosen.topology == query.topology) {
          EXPECT_LT(circulant_us, ring_us);
          ++taken;
        } else {
          EXPECT_LT(ring_us, 1.06 * circulant_us);
        }
      }
    }
    EXPECT_GE(taken, 3) << name;
    EXPECT_LE(taken, 8) << name;
  }
}

// The rank with the most messages to other hosts is the busiest, whatever its number is.
TEST(CostModel, AnAllToAllCostsTheSameWhicheverHostIsLast) {
  MachineDescription machine = Read("shaped_cluster");
  machine.between_hosts.ports_of_host = false;
  machine.between_hosts.burst_bytes = size_t{1} << 20;
  const SegmentSettings settings =
      SettingsOn(machine, machine.between_hosts, kChunkBytes, kStagingBytes);
  CostQuery query;
  query.pattern = Pattern::kAllToAll;
  query.topology = {Shape::kIncreasingRings, 1};
  query.ranks = 4;
  query.bytes = size_t{1} << 20;
  query.segment_bytes = 16384;
  query.hosts = {0, 0, 0, 1};
  const Cost cost = PredictCost(machine, settings, query);
  EXPECT_GT(cost.segments, 1);
  query.hosts = {1, 0, 0, 0};
  EXPECT_DOUBLE_EQ(PredictCost(machine, settings, query).us, cost.us);
}

// Exact but where messages of several segments, which are in different rounds, meet at ports.
TEST(CostModel, Scans) {
  ExpectWithin(Read("shaped_cluster"), IsOfPrefixes, 0.005, 0.19, 0.26);
  MachineDescription machine = Read("fat_nodes_100g");
  ExpectWithin(machine, IsOfPrefixes, 0.005, 0.12, 0.18);
  machine.ranks_per_host = 4;
  ExpectWithin(machine, IsOfPrefixes, 0.005, 0.12, 0.18);
}

// The same, and where links within a host and between hosts do not take equally long.
TEST(CostModel, GatherScatterAndAllToAll) {
  ExpectWithin(Read("shaped_cluster"), IsOfOwnBlocks, 0.005, 0.19, 0.26);
  MachineDescription machine = Read("fat_nodes_100g");
  ExpectWithin(machine, IsOfOwnBlocks, 0.005, 0.17, 0.32);
  machine.ranks_per_host = 4;
  ExpectWithin(machine, IsOfOwnBlocks, 0.005, 0.2, 0.32);
}

// Byte counts do not fit 32 bits.
TEST(CostModel, BlocksAndScansBeyondFourGigabytes) {
  const MachineDescription machine = Read("fat_nodes_100g");
  const SegmentSettings settings =
      SettingsOn(machine, machine.within_host, kChunkBytes, kStagingBytes);
  for (const Pattern pattern : {Pattern::kGather, Pattern::kScatter, Pattern::kAllToAll,
                                Pattern::kScan, Pattern::kExscan}) {
    CostQuery query;
    query.pattern = pattern;
    query.topology = EntryOf(pattern).topologies.front();
    query.ranks = 3;
    query.bytes = size_t{5} << 30;
    const double simulated_us = Simulate(machine, query);
    const Cost cost = PredictCost(machine, settings, query);
    EXPECT_GT(simulated_us, static_cast<double>(query.bytes) / machine.within_host.mb_s);
    EXPECT_NEAR(cost.us / simulated_us, 1, 0.35) << Describe(query, cost, simulated_us);
  }
}

// On a ring that goes to the other host at every step all messages of a host pass its port.
TEST(CostModel, RanksOfAHostShareItsPortAlongARing) {
  const MachineDescription machine = Read("fat_nodes_100g");
  const SegmentSettings settings =
      SettingsOn(machine, machine.between_hosts, kChunkBytes, kStagingBytes);
  for (const Pattern pattern : {Pattern::kMultiBroadcast, Pattern::kMultiReduce}) {
    CostQuery query;
    query.pattern = pattern;
    query.topology = {Shape::kIncreasingRings, 1};
    query.ranks = 64;
    query.bytes = 16384;
    const double wire_us = 16384 / machine.between_hosts.mb_s;
    for (int r = 0; r < query.ranks; ++r) query.hosts.push_back(r / 32);
    EXPECT_LT(PredictCost(machine, settings, query).us, 16 * 63 * wire_us);
    for (int r = 0; r < query.ranks; ++r) query.hosts[static_cast<size_t>(r)] = r % 2;
    EXPECT_NEAR(PredictCost(machine, settings, query).us / (32 * 63 * wire_us), 1, 0.05);
  }
}

// Sums to all along a hypercube: all ranks of a host have partners on the same other one.
TEST(CostModel, RanksOfAHostShareItsPortAlongAHypercube) {
  for (const char* name : {"shaped_cluster", "fat_nodes_100g"}) {
    MachineDescription machine = Read(name);
    machine.between_hosts.ports_of_host = true;
    const SegmentSettings settings =
        SettingsOn(machine, machine.between_hosts, kChunkBytes, kStagingBytes);
    for (const int ranks_per_host : {2, 4, 8}) {
      machine.ranks_per_host = ranks_per_host;
      for (const size_t bytes : {8, 1024, 16384, 65536}) {
        CostQuery query;
        query.pattern = Pattern::kAllReduce;
        query.topology = {Shape::kHypercube, 0};
        query.ranks = 4 * ranks_per_host;
        query.bytes = bytes;
        const double simulated_us = Simulate(machine, query);
        const Cost cost = PredictCost(machine, settings, query);
        EXPECT_NEAR(cost.us / simulated_us, 1, 0.1) << name << Describe(query, cost, simulated_us);
      }
    }
  }
}

// The order in which ranks come is unknown: the cost is the mean over all orders in which they
// follow one another.
TEST(CostModel, RanksThatComeOneAfterTheOther) {
  const MachineDescription machine = Read("shaped_cluster");
  const SegmentSettings settings =
      SettingsOn(machine, machine.between_hosts, kChunkBytes, kStagingBytes);
  for (const Pattern pattern : {Pattern::kBroadcast, Pattern::kReduce, Pattern::kAllReduce}) {
    std::vector<Topology> topologies = {
        {Shape::kTree, 2}, {Shape::kTree, 8}, {Shape::kIncreasingRings, 1}};
    if (pattern != Pattern::kAllReduce) {  // so short, both are binomial trees
      topologies.insert(topologies.end(), {{Shape::kTwoTree, 0}, {Shape::kCirculant, 0}});
    }
    for (const Topology& topology : topologies) {
      for (const int ranks : {2, 3, 8}) {
        for (const double late_us : {20.0, 100.0, 1000.0}) {
          CostQuery query;
          query.pattern = pattern;
          query.topology = topology;
          query.ranks = ranks;
          query.bytes = 1024;
          query.late_us = late_us;
          double sum_us = 0;
          for (query.first = 0; query.first < ranks; ++query.first) {
            sum_us += Simulate(machine, query);
          }
          const double simulated_us = sum_us / ranks;
          const Cost cost = PredictCost(machine, settings, query);
          EXPECT_NEAR(cost.us / simulated_us, 1, 0.1)
              << late_us << " us late, " << Describe(query, cost, simulated_us);
        }
      }
    }
  }
}

TEST(CostModel, AMessageFromRankToRank) {
  for (const char* name : {"shaped_cluster", "fat_nodes_100g"}) {
    const MachineDescription machine = Read(name);
    const SegmentSettings settings =
        SettingsOn(machine, machine.LinkBetween(machine.HostOf(0), machine.HostOf(1)), kChunkBytes,
                   kStagingBytes);
    for (const size_t bytes : {8, 1024, 16384, 65536, 524288, 4194304}) {
      CostQuery query;
      query.pattern = Pattern::kSend;
      query.bytes = bytes;
      const double simulated_us = Simulate(machine, query);
      const Cost cost = PredictCost(machine, settings, query);
      EXPECT_NEAR(cost.us / simulated_us, 1, 0.1) << Describe(query, cost, simulated_us);
    }
  }
}

// Many segments are through before the buckets of idle ports are empty.
TEST(CostModel, ShortSegmentsOnCirculantGraphs) {
  const MachineDescription machine = Read("shaped_cluster");
  const SegmentSettings settings =
      SettingsOn(machine, machine.between_hosts, kChunkBytes, kStagingBytes);
  for (const Pattern pattern :
       {Pattern::kMultiBroadcast, Pattern::kMultiReduce, Pattern::kAllToAll}) {
    for (const int ranks : {2, 3, 8}) {
      for (const size_t segment_bytes : {1024, 4096, 16384}) {
        CostQuery query;
        query.pattern = pattern;
        query.topology = {Shape::kCirculant, 0};
        query.ranks = ranks;
        query.bytes = size_t{256} << 10;
        query.segment_bytes = segment_bytes;
        const double simulated_us = Simulate(machine, query);
        const Cost cost = PredictCost(machine, settings, query);
        EXPECT_NEAR(cost.us / simulated_us, 1, 0.1) << Describe(query, cost, simulated_us);
      }
    }
  }
}

// No machine, no ranks: the costs for 65536 ranks follow from the same arithmetic.
TEST(CostModel, ScalesAsTheShapesDo) {
  MachineDescription machine = Read("shaped_cluster");
  machine.between_hosts.burst_bytes = 0;
  const SegmentSettings settings =
      SettingsOn(machine, machine.between_hosts, kChunkBytes, kStagingBytes);
  const auto us = [&](Pattern pattern, const Topology& topology, int ranks) {
    CostQuery query;
    query.pattern = pattern;
    query.topology = topology;
    query.ranks = ranks;
    query.bytes = 8;
    return PredictCost(machine, settings, query).us;
  };
  const Topology binomial{Shape::kTree, 2}, ring{Shape::kIncreasingRings, 1};
  EXPECT_NEAR(us(Pattern::kBroadcast, binomial, 65536) / us(Pattern::kBroadcast, binomial, 16), 4,
              0.1);
  EXPECT_NEAR(us(Pattern::kReduce, ring, 65537) / us(Pattern::kReduce, ring, 65), 1024, 1);
  EXPECT_NEAR(
      us(Pattern::kMultiReduce, Topology(), 65537) / us(Pattern::kMultiReduce, Topology(), 65),
      1024, 1);
}

}  // namespace
}  // namespace brigade
