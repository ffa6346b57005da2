// Patterns on sim: the times of their schedules, and equal results on all machines.
// patterns_threads_test checks the data at every size, also on sim.

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "patterns/engine/engine.h"
#include "patterns/group/group.h"
#include "patterns/schedule/segment_plan.h"
#include "transport/sim/sim_transport.h"

namespace brigade {
namespace {

constexpr size_t kChunkBytes = 1024;
constexpr size_t kSegmentBytes = kChunkBytes - 64;  // payload of a chunk
constexpr double kSegmentUs = 10;

// Messages take 10 us whatever their length, and nothing else takes any time.
MachineDescription OnlyMessages() {
  MachineDescription machine;
  machine.name = "only messages";
  machine.memories.resize(1);
  machine.copies.resize(1);
  machine.copies[0].rate.points = {{1, kUnlimitedRate}};
  machine.adds = machine.copies;
  machine.between_hosts.message_us = kSegmentUs;
  machine.within_host = machine.between_hosts;
  machine.preferred_segment_bytes = kChunkBytes;
  return machine;
}

MachineDescription Read(const std::string& name) {
  MachineDescription machine;
  const Status status = MachineDescription::Read("transport/machines/" + name + ".json", &machine);
  if (!status.ok()) throw std::runtime_error(status.ToString());
  return machine;
}

void Require(const Status& status) {
  if (!status.ok()) throw std::runtime_error(status.ToString());
}

// The data of every rank after one call, and the time at which the last rank has finished.
struct Outcome {
  std::vector<std::vector<double>> data;
  std::vector<OperationStatistics> statistics;
  std::vector<double> times;
  double last_us = 0;
};

Outcome Simulate(const MachineDescription& machine, int ranks, const PatternCall& call,
                 size_t elems, const SimOptions& sim_options = SimOptions(),
                 size_t chunk_bytes = kChunkBytes, size_t staging_chunks = 64) {
  SimWorld world(machine, ranks, sim_options);
  Outcome outcome;
  outcome.data.resize(ranks);
  outcome.statistics.resize(ranks);
  outcome.times.resize(ranks);
  Require(world.Run([&](int rank) {
    const std::unique_ptr<Endpoint> endpoint = world.CreateEndpoint(rank);
    EngineOptions options;
    options.chunk_bytes = chunk_bytes;
    options.staging_bytes = staging_chunks * chunk_bytes;
    std::unique_ptr<Engine> engine;
    Require(Engine::Create(endpoint.get(), options, &engine));
    std::unique_ptr<Group> group;
    Require(Group::Create(engine.get(), world.MakeBootstrap(rank).get(), 1, ranks, &group));
    std::vector<double>& data = outcome.data[rank];
    data.resize(elems);
    for (size_t i = 0; i < elems; ++i) {
      data[i] = std::sin(static_cast<double>(i * 7 + rank)) * std::pow(10.0, rank);
    }
    PatternCall mine = call;
    mine.matrix.data = reinterpret_cast<std::byte*>(data.data());
    Require(StridedLayout::General(static_cast<int64_t>(elems), 1, static_cast<int64_t>(elems),
                                   sizeof(double), &mine.matrix.layout));
    Require(group->Run(mine, &outcome.statistics[rank]));
    outcome.times[rank] = world.Clock(rank);
    outcome.last_us = std::max(outcome.last_us, world.Clock(rank));
  }));
  return outcome;
}

PatternCall Call(Pattern pattern, const Topology& topology) {
  PatternCall call;
  call.pattern = pattern;
  call.topology = topology;
  return call;
}

// n segments through a chain of p ranks take n + p - 2 times as long as one from rank to rank.
TEST(SimPatterns, AChainTakesOneSegmentTimePerSegmentAndRelay) {
  const PatternCall call = Call(Pattern::kBroadcast, {Shape::kIncreasingRings, 1});
  for (int ranks : {2, 3, 5, 8, 13}) {
    for (int segments : {1, 2, 3, 4, 5, 16, 40}) {
      const size_t elems = segments * kSegmentBytes / sizeof(double);
      const Outcome outcome = Simulate(OnlyMessages(), ranks, call, elems);
      EXPECT_DOUBLE_EQ(outcome.last_us, (segments + ranks - 2) * kSegmentUs)
          << ranks << " ranks, " << segments << " segments";
      EXPECT_EQ(outcome.statistics[0].segments, static_cast<uint64_t>(segments));
      EXPECT_EQ(outcome.data[ranks - 1], outcome.data[0]);
    }
  }
}

// Two hosts, between which all time passes, whose four ranks each alternate in the group. On a
// named ring every edge is between hosts; by host each block comes to the other host once, and a
// sum goes there and back. Calls with a free topology go by host.
TEST(SimPatterns, AMultiFormOnARingByNameKeepsToTheRanks) {
  constexpr int kRanks = 8;
  constexpr double kCrossingUs = 100;
  MachineDescription machine = OnlyMessages();
  machine.within_host = machine.between_hosts = Link();
  machine.between_hosts.latency_us = kCrossingUs;
  machine.ranks_per_host = kRanks / 2;
  const std::vector<int> members = {0, 4, 1, 5, 2, 6, 3, 7};
  const auto crossings = [&](Pattern pattern, const Topology& topology) {
    SimWorld world(machine, kRanks);
    double last_us = 0;
    Require(world.Run([&](int rank) {
      const std::unique_ptr<Endpoint> endpoint = world.CreateEndpoint(rank);
      std::unique_ptr<Engine> engine;
      Require(Engine::Create(endpoint.get(), EngineOptions(), &engine));
      std::unique_ptr<Group> group;
      const auto self = std::find(members.begin(), members.end(), rank) - members.begin();
      Require(Group::Create(engine.get(),
                            world.MakeBootstrap(members, static_cast<int>(self)).get(), 1, kRanks,
                            &group));
      double data[kRanks] = {};
      std::vector<Matrix> blocks(kRanks);
      for (int q = 0; q < kRanks; ++q) {
        blocks[q].data = reinterpret_cast<std::byte*>(&data[q]);
        Require(StridedLayout::General(1, 1, 1, sizeof(double), &blocks[q].layout));
      }
      double sum = 0;
      PatternCall call = Call(pattern, topology);
      call.op = CombineOp::kAbsMax;
      call.blocks = blocks.data();
      call.matrix = blocks[0];
      call.matrix.data = reinterpret_cast<std::byte*>(&sum);
      Require(group->Run(call));
      last_us = std::max(last_us, world.Clock(rank));
    }));
    return last_us / kCrossingUs;
  };
  const Topology ring{Shape::kIncreasingRings, 1};
  const Topology ring_by_host{Shape::kIncreasingRings, 1, /*by_host=*/true};
  for (const Pattern pattern : {Pattern::kMultiBroadcast, Pattern::kMultiReduce}) {
    const double by_host = pattern == Pattern::kMultiBroadcast ? 1 : 2;
    EXPECT_DOUBLE_EQ(crossings(pattern, ring), kRanks - 1);
    EXPECT_DOUBLE_EQ(crossings(pattern, ring_by_host), by_host);
    EXPECT_DOUBLE_EQ(crossings(pattern, {Shape::kFree, 0}), by_host);
  }
}

// Messages that wait for their receives are granted all at once, not one after the other.
TEST(SimPatterns, ARootGrantsToAllItsChildrenAtOnce) {
  constexpr double kGrantUs = 20 * kSegmentUs;
  MachineDescription machine = OnlyMessages();
  machine.between_hosts.eager_bytes = kSegmentBytes / 2;
  machine.between_hosts.grant_us = kGrantUs;
  for (const int ranks : {2, 5, 9}) {
    const Outcome outcome = Simulate(machine, ranks, Call(Pattern::kReduce, {Shape::kTree, ranks}),
                                     kSegmentBytes / sizeof(double));
    EXPECT_DOUBLE_EQ(outcome.last_us, kGrantUs + (ranks - 1) * kSegmentUs) << ranks << " ranks";
  }
}

// Each granted message needs a chunk to land in: beyond two, a root grants as many as it has spare
// chunks, and has an equal sum.
TEST(SimPatterns, ARootGrantsToAsManyChildrenAsItHasChunks) {
  constexpr int kRanks = 9;
  MachineDescription machine = OnlyMessages();
  machine.between_hosts.eager_bytes = kSegmentBytes / 2;
  machine.between_hosts.grant_us = 20 * kSegmentUs;
  const PatternCall call = Call(Pattern::kReduce, {Shape::kTree, kRanks});
  const auto with_chunks = [&](size_t chunks) {
    return Simulate(machine, kRanks, call, kSegmentBytes / sizeof(double), SimOptions(),
                    kChunkBytes, chunks);
  };
  SegmentSettings settings;
  settings.chunk_bytes = kChunkBytes;
  const auto core_chunks = static_cast<size_t>(CoreChunks(settings));
  const Outcome plenty = with_chunks(64);
  double before_us = with_chunks(core_chunks + 1).last_us;
  EXPECT_GT(before_us, 3 * plenty.last_us);  // two at a time
  for (size_t spare = 1; spare <= 12; ++spare) {
    const Outcome outcome = with_chunks(core_chunks + spare);
    EXPECT_EQ(outcome.data[0], plenty.data[0]) << spare;
    EXPECT_LE(outcome.last_us, before_us) << spare;
    before_us = outcome.last_us;
  }
  EXPECT_EQ(before_us, plenty.last_us);
}

// One segment down a binomial tree takes as many messages one after the other as the tree is high,
// and the root sends that many.
TEST(SimPatterns, ATreeTakesALogarithmOfMessages) {
  for (int ranks : {2, 4, 8, 16, 32}) {
    for (Pattern pattern : {Pattern::kBroadcast, Pattern::kReduce}) {
      const Outcome outcome = Simulate(OnlyMessages(), ranks, Call(pattern, {Shape::kTree, 2}), 10);
      EXPECT_DOUBLE_EQ(outcome.last_us, std::log2(ranks) * kSegmentUs)
          << PatternName(pattern) << " on " << ranks;
    }
  }
}

// n blocks from p ranks in n - 1 + ceil(log2 p) messages one after the other: the fewest for ranks
// that send and receive one at once. In a broadcast, ranks that need not wait at first, like the
// root, send ahead of their turn, and early messages keep a port from due ones: exact for one block
// and for two ranks only.
TEST(SimPatterns, ACirculantGraphTakesTheLeastMessagesInARow) {
  constexpr size_t kBytes = size_t{16} << 10;  // of a chunk: holds the last block, too
  MachineDescription machine = OnlyMessages();
  machine.preferred_segment_bytes = kBytes;
  std::set<uint64_t> numbers;
  for (const int ranks : {2, 3, 4, 5, 7, 8, 11, 14, 16, 17, 33}) {
    const auto rounds = static_cast<uint64_t>(std::ceil(std::log2(ranks)));
    for (const double segments_per_kind : {0.0, 0.2, 1.0, 1.5, 2.0, 3.0, 6.0}) {
      for (const size_t more : {0, 1, 2}) {
        const double bytes = segments_per_kind * static_cast<double>(rounds * (kBytes - 64));
        const size_t elems = static_cast<size_t>(bytes) / sizeof(double) + 1024 + more;
        for (const Pattern pattern : {Pattern::kBroadcast, Pattern::kReduce}) {
          PatternCall call = Call(pattern, {Shape::kCirculant, 0});
          call.root = ranks / 3;
          const Outcome outcome = Simulate(machine, ranks, call, elems, SimOptions(), kBytes);
          const uint64_t n = outcome.statistics[0].segments;
          numbers.insert(n);
          const double least_us = static_cast<double>(n - 1 + rounds) * kSegmentUs;
          if (pattern == Pattern::kReduce || n == 1 || ranks == 2) {
            EXPECT_DOUBLE_EQ(outcome.last_us, least_us)
                << PatternName(pattern) << " on " << ranks << ", " << n << " blocks";
          } else {
            EXPECT_GE(outcome.last_us, least_us);
          }
          if (pattern == Pattern::kBroadcast) {
            EXPECT_EQ(outcome.data[ranks - 1], outcome.data[call.root]);
          }
        }
      }
    }
  }
  EXPECT_EQ(numbers.count(1), 1u);
  EXPECT_GE(numbers.size(), 15u);
}

// Every rank's block to all, or all contributions to every block, in ceil(log2 p) messages one
// after the other.
TEST(SimPatterns, ShortBlocksTakeALogarithmOfMessages) {
  constexpr int kTooMany = 2000;  // for the least chunks
  for (const Pattern pattern : {Pattern::kMultiBroadcast, Pattern::kMultiReduce}) {
    const bool sums = pattern == Pattern::kMultiReduce;
    for (const int ranks : {2, 3, 5, 8, 13, 16, 300, kTooMany}) {
      for (const size_t chunk_bytes : {kLeastChunkBytes, 4 * kLeastChunkBytes}) {
        if (ranks == kTooMany && chunk_bytes > kLeastChunkBytes) continue;
        SimWorld world(OnlyMessages(), ranks);
        double last_us = 0;
        Require(world.Run([&](int rank) {
          const std::unique_ptr<Endpoint> endpoint = world.CreateEndpoint(rank);
          EngineOptions options;
          options.chunk_bytes = chunk_bytes;
          options.staging_bytes = 8 * chunk_bytes;
          std::unique_ptr<Engine> engine;
          Require(Engine::Create(endpoint.get(), options, &engine));
          std::unique_ptr<Group> group;
          Require(Group::Create(engine.get(), world.MakeBootstrap(rank).get(), 1, ranks, &group));
          std::vector<int32_t> data(ranks);
          for (int q = 0; q < ranks; ++q) data[q] = sums || q == rank ? rank + 1000 * q : -1;
          std::vector<Matrix> blocks(ranks);
          int32_t sum = 0;
          PatternCall call = Call(pattern, {Shape::kCirculant, 0});
          call.type = Element::kInt32;
          for (int q = 0; q < ranks; ++q) {
            blocks[q].data = reinterpret_cast<std::byte*>(&data[q]);
            Require(StridedLayout::General(1, 1, 1, sizeof(int32_t), &blocks[q].layout));
          }
          call.blocks = blocks.data();
          if (sums) call.matrix = {reinterpret_cast<std::byte*>(&sum), blocks[0].layout};
          const Status status = group->Run(call, nullptr);
          // A message has room for an element of each of its blocks, or it is not begun.
          if (ranks == kTooMany) {
            EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
            EXPECT_NE(status.message().find(std::to_string(kLeastChunkBytes)), std::string::npos)
                << status.message();
            return;
          }
          Require(status);
          for (int q = 0; q < ranks; ++q) EXPECT_EQ(data[q], (sums ? rank : q) + 1000 * q);
          EXPECT_EQ(sum, sums ? ranks * (ranks - 1) / 2 + 1000 * rank * ranks : 0);
          last_us = std::max(last_us, world.Clock(rank));
        }));
        if (last_us > 0) {
          EXPECT_DOUBLE_EQ(last_us, std::ceil(std::log2(ranks)) * kSegmentUs) << ranks;
        }
      }
    }
  }
}

// Copies of a segment by root, relays and last rank; only those of root and last rank delay it.
TEST(SimPatterns, RelaysForwardBeforeTheyCopy) {
  MachineDescription machine = OnlyMessages();
  const double copy_us = 3;
  machine.copies[0].rate.points = {{1, kSegmentBytes / copy_us}};
  const Outcome outcome = Simulate(
      machine, 6, Call(Pattern::kBroadcast, {Shape::kIncreasingRings, 1}), kSegmentBytes / 8);
  EXPECT_NEAR(outcome.last_us, copy_us + 5 * kSegmentUs + copy_us, 1e-5);
  EXPECT_NEAR(outcome.times[0], copy_us, 1e-5);  // it waits for nobody
  EXPECT_NEAR(outcome.times[2], copy_us + 2 * kSegmentUs + copy_us, 1e-5);
}

// Equal bits, copies and messages on every machine; with lengths only, equal actions in equal
// times.
TEST(SimPatterns, MachinesDifferInTimeOnly) {
  const std::vector<Topology> topologies = {
      {Shape::kTree, 2}, {Shape::kIncreasingRings, 1}, {Shape::kHypercube, 0}};
  for (const Topology& topology : topologies) {
    const PatternCall call = Call(Pattern::kAllReduce, topology);
    std::vector<double> bits;
    std::vector<double> times;
    for (const char* name : {"ap3000", "shaped_cluster", "fat_nodes_100g"}) {
      const MachineDescription machine = Read(name);
      const Outcome outcome = Simulate(machine, 7, call, 3000);
      if (bits.empty()) bits = outcome.data[0];
      for (const std::vector<double>& data : outcome.data) {
        EXPECT_EQ(std::memcmp(data.data(), bits.data(), bits.size() * sizeof(double)), 0) << name;
      }
      times.push_back(outcome.last_us);
      SimOptions lengths;
      lengths.carries_payload = false;
      const Outcome without = Simulate(machine, 7, call, 3000, lengths);
      EXPECT_EQ(without.times, outcome.times) << name;
      for (int rank = 0; rank < 7; ++rank) {
        EXPECT_EQ(without.statistics[rank].combines, outcome.statistics[rank].combines);
        EXPECT_EQ(without.statistics[rank].bytes_sent, outcome.statistics[rank].bytes_sent);
      }
    }
    EXPECT_GT(times[0], times[2]);
    EXPECT_GT(times[1], times[2]);
  }
}

// A returned send that went to overflow memory needs a chunk of the surplus to leave.
TEST(SimPatterns, OverflowDrainsThroughOneChunk) {
  SimWorld world(Read("ap3000"), 2);
  Require(world.Run([&](int rank) {
    const std::unique_ptr<Endpoint> endpoint = world.CreateEndpoint(rank);
    EngineOptions options;
    options.chunk_bytes = kChunkBytes;
    options.staging_bytes = 6 * kChunkBytes;  // all of it the core
    std::unique_ptr<Engine> engine;
    const Status refused = Engine::Create(endpoint.get(), options, &engine);
    EXPECT_EQ(refused.code(), StatusCode::kInvalidArgument);
    EXPECT_NE(refused.message().find("7168"), std::string::npos) << refused.message();
    options.staging_bytes += kChunkBytes;
    Require(Engine::Create(endpoint.get(), options, &engine));
    std::unique_ptr<Group> group;
    Require(Group::Create(engine.get(), world.MakeBootstrap(rank).get(), 1, 2, &group));
    std::vector<double> data(1000, rank);
    PatternCall call;
    call.matrix.data = reinterpret_cast<std::byte*>(data.data());
    call.matrix.layout = StridedLayout::Contiguous(data.size() * sizeof(double));
    call.root = 1 - rank;
    for (Pattern pattern : {Pattern::kSend, Pattern::kReceive}) {
      call.pattern = pattern;
      OperationStatistics statistics;
      Require(group->Run(call, &statistics));
      EXPECT_EQ(statistics.overflow_segments > 0, pattern == Pattern::kSend);
    }
    EXPECT_EQ(data, std::vector<double>(1000, 1 - rank));
  }));
}

// A second run of everything is the same to the bit.
TEST(SimPatterns, IsDeterministic) {
  for (const char* name : {"ap3000", "fat_nodes_100g"}) {
    MachineDescription machine = Read(name);
    machine.ranks_per_host = 3;
    const PatternCall call = Call(Pattern::kAllReduce, {Shape::kTree, 3});
    const Outcome first = Simulate(machine, 11, call, 5000);
    const Outcome second = Simulate(machine, 11, call, 5000);
    EXPECT_EQ(first.times, second.times) << name;
  }
}

}  // namespace
}  // namespace brigade
