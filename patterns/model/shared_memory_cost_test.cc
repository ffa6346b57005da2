// The model's prediction for ranks that share memory equals the sum of the work of each rank.

#include <algorithm>
#include <vector>

#include "gtest/gtest.h"
#include "patterns/model/candidates.h"
#include "patterns/model/cost_model.h"

namespace brigade {
namespace {

// A byte takes 0.1 ns to copy in, 0.2 ns to copy out, 0.4 ns to combine, and 0.125 ns in the
// kernel.
constexpr double kIn = 0.0001, kOut = 0.0002, kCombine = 0.0004, kKernel = 0.000125;
constexpr double kSend = 0.5, kLatency = 2, kReceive = 0.25;
constexpr double kHop = kSend + kLatency + kReceive;

MachineDescription Machine(double ranks_per_processor = 1) {
  MachineDescription machine;
  machine.ranks_per_host = 8;
  machine.ranks_per_processor = ranks_per_processor;
  machine.memories.resize(2);
  for (int& memory : machine.memory_of_kind) memory = 1;
  machine.needs_staging = true;
  const auto works = [](const std::vector<double>& byte_us) {
    std::vector<MemoryWork> all(byte_us.size());
    for (size_t i = 0; i < all.size(); ++i) all[i].rate.points = {{1, 1 / byte_us[i]}};
    return all;
  };
  machine.copies = works({kIn, kIn, kOut, kIn});
  machine.adds = works({kCombine, kCombine, kCombine, kCombine});
  machine.within_host.latency_us = kLatency;
  machine.within_host.send_overhead.message_us = kSend;
  machine.within_host.receive_overhead.message_us = kReceive;
  machine.shared_memory.is_shared = true;
  machine.shared_memory.max_inline_bytes = 56;
  machine.shared_memory.least_kernel_bytes = 16384;
  machine.shared_memory.most_kernel_bytes = 65536;
  machine.shared_memory.kernel_mb_s = 1 / kKernel;
  return machine;
}

CostQuery Query(Pattern pattern, Topology topology, int ranks, size_t bytes) {
  CostQuery query;
  query.pattern = pattern;
  query.topology = topology;
  query.ranks = ranks;
  query.bytes = bytes;
  return query;
}

SegmentSettings Settings(const MachineDescription& machine) {
  return SettingsOn(machine, machine.within_host, 32768, 64 * 32768);
}

double Predicted(const MachineDescription& machine, const CostQuery& query) {
  return PredictCost(machine, Settings(machine), query).us;
}

constexpr Topology kWide{Shape::kTree, 8};
constexpr Topology kExchange{Shape::kExchange, 8};

TEST(SharedMemoryCost, ALineIsThereWithItsFlag) {
  EXPECT_DOUBLE_EQ(Predicted(Machine(), Query(Pattern::kSend, {}, 2, 24)), kHop);
  EXPECT_DOUBLE_EQ(Predicted(Machine(), Query(Pattern::kBroadcast, kWide, 2, 24)), kHop);
  EXPECT_DOUBLE_EQ(Predicted(Machine(), Query(Pattern::kSend, {}, 2, 25)),
                   kHop + 25 * (kIn + kOut));
}

TEST(SharedMemoryCost, BothSidesCopySegmentsAtTheSameTime) {
  CostQuery query = Query(Pattern::kBroadcast, kWide, 2, 32000);
  EXPECT_DOUBLE_EQ(Predicted(Machine(), query), 32000 * (kIn + kOut) + kHop);
  query.segment_bytes = 8000;
  EXPECT_DOUBLE_EQ(Predicted(Machine(), query),
                   8000 * (kIn + kOut) + kHop + 3 * (8000 * kOut + kReceive));
}

// The sender copies the message once.
TEST(SharedMemoryCost, SeveralReadAMessageAtOnce) {
  const double one = Predicted(Machine(), Query(Pattern::kBroadcast, kWide, 2, 10000));
  const double four = Predicted(Machine(), Query(Pattern::kBroadcast, kWide, 5, 10000));
  EXPECT_DOUBLE_EQ(four, one + 3 * kSend);
}

TEST(SharedMemoryCost, OneProcessorDoesTheWorkOfAll) {
  const MachineDescription machine = Machine(/*ranks_per_processor=*/5);
  EXPECT_DOUBLE_EQ(Predicted(machine, Query(Pattern::kBroadcast, kWide, 5, 10000)),
                   10000 * kIn + 4 * kSend + 4 * (kReceive + 10000 * kOut));
}

TEST(SharedMemoryCost, TheKernelCopiesOnceIfTheReceiverWaitsAwake) {
  EXPECT_DOUBLE_EQ(Predicted(Machine(), Query(Pattern::kSend, {}, 2, 32000)),
                   kHop + 32000 * kKernel);
  const double staged = kHop + 32000 * (kIn + kOut);
  EXPECT_DOUBLE_EQ(Predicted(Machine(2), Query(Pattern::kSend, {}, 2, 32000)), staged);
  MachineDescription refuses = Machine();
  refuses.shared_memory.most_kernel_bytes = 0;
  EXPECT_DOUBLE_EQ(Predicted(refuses, Query(Pattern::kSend, {}, 2, 32000)), staged);
  CostQuery strided = Query(Pattern::kSend, {}, 2, 32000);
  strided.run_bytes = 100;
  EXPECT_DOUBLE_EQ(Predicted(Machine(), strided), staged);
}

TEST(SharedMemoryCost, AnExchangeIsOneRound) {
  const double each = kReceive + 1000 * kCombine;
  EXPECT_DOUBLE_EQ(Predicted(Machine(), Query(Pattern::kAllReduce, kExchange, 4, 1000)),
                   1000 * kIn + 3 * kSend + kLatency + 3 * each);
  EXPECT_DOUBLE_EQ(Predicted(Machine(), Query(Pattern::kReduce, kExchange, 4, 1000)),
                   1000 * kIn + kSend + kLatency + 3 * each);
  EXPECT_DOUBLE_EQ(Predicted(Machine(4), Query(Pattern::kAllReduce, kExchange, 4, 1000)),
                   kLatency + 4 * (1000 * kIn + 3 * kSend + 3 * each));
  // Else it is the tree in whose order it combines.
  const CostQuery query = Query(Pattern::kAllReduce, kExchange, 4, 1000);
  CostQuery tree = query;
  tree.topology = kWide;
  MachineDescription apart = Machine();
  apart.shared_memory.is_shared = false;
  EXPECT_DOUBLE_EQ(Predicted(apart, query), Predicted(apart, tree));
  EXPECT_LT(Predicted(Machine(), query), Predicted(Machine(), tree));
}

TEST(SharedMemoryCost, BlocksGoFromEachToAllAndBarriersInOneRound) {
  const double theirs = kReceive + 1000 * kOut;
  const double direct = 1000 * kIn + 2 * kSend + kLatency + 2 * theirs;
  for (const Topology& topology : {Topology{Shape::kIncreasingRings, 1}, {Shape::kCirculant, 0}}) {
    EXPECT_DOUBLE_EQ(Predicted(Machine(), Query(Pattern::kMultiBroadcast, topology, 3, 1000)),
                     direct);
  }
  const double summed = kSend + 1000 * kIn + kReceive + 1000 * kCombine;
  EXPECT_DOUBLE_EQ(
      Predicted(Machine(), Query(Pattern::kMultiReduce, {Shape::kCirculant, 0}, 3, 1000)),
      kLatency + 2 * summed);
  EXPECT_DOUBLE_EQ(Predicted(Machine(), Query(Pattern::kBarrier, {}, 3, 0)),
                   2 * kSend + kLatency + 2 * kReceive);
  EXPECT_DOUBLE_EQ(Predicted(Machine(), Query(Pattern::kBarrier, {}, 8, 0)),
                   2 * (kSend + kLatency) + 7 * kReceive + 6 * kSend + kReceive);
}

// Of two that come in either order, one waits for nobody.
TEST(SharedMemoryCost, ASenderThatCameFirstDoesNotWait) {
  CostQuery query = Query(Pattern::kSend, {}, 2, 24);
  query.late_us = 10;
  EXPECT_DOUBLE_EQ(Predicted(Machine(), query), 5 + kHop);
  query = Query(Pattern::kReduce, kExchange, 4, 24);
  const double on_time = Predicted(Machine(), query);
  query.late_us = 10;
  EXPECT_DOUBLE_EQ(Predicted(Machine(), query), 5 + on_time);
}

TEST(SharedMemoryCost, EqualCandidatesAreThereOnce) {
  const auto count = [](const MachineDescription& machine, Pattern pattern, Shape shape) {
    const std::vector<Candidate> all =
        RankCandidates(machine, Settings(machine), Query(pattern, {}, 4, 100000), /*fixed=*/false);
    return std::count_if(all.begin(), all.end(),
                         [&](const Candidate& c) { return c.topology.shape == shape; });
  };
  MachineDescription apart = Machine();
  apart.shared_memory.is_shared = false;
  for (const Pattern pattern : {Pattern::kReduce, Pattern::kAllReduce}) {
    EXPECT_EQ(count(Machine(), pattern, Shape::kExchange), 1);
    EXPECT_EQ(count(apart, pattern, Shape::kExchange), 0);
  }
  for (const Pattern pattern : {Pattern::kBroadcast, Pattern::kMultiBroadcast}) {
    EXPECT_EQ(count(Machine(), pattern, Shape::kCirculant), 0);
    EXPECT_EQ(count(apart, pattern, Shape::kCirculant), 1);
  }
}

}  // namespace
}  // namespace brigade
