#include "bench/simulated/scale_cells.h"

#include <cmath>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "patterns/model/candidates.h"

namespace brigade::bench {
namespace {

using A = PeerAlgorithm;

constexpr Pattern kAllPatterns[] = {Pattern::kBroadcast, Pattern::kReduce, Pattern::kMultiBroadcast,
                                    Pattern::kMultiReduce};

MachineDescription FatNodes() {
  MachineDescription machine;
  const Status status =
      MachineDescription::Read("transport/machines/fat_nodes_100g.json", &machine);
  EXPECT_TRUE(status.ok()) << status.ToString();
  return machine;
}

int Log2(int ranks) { return static_cast<int>(std::lround(std::log2(ranks))); }

PeerResult RunPeer(const MachineDescription& machine, Pattern pattern, int ranks, size_t bytes,
                   A algorithm) {
  PeerResult result;
  const Status status = SimulatePeer(machine, {pattern, ranks, bytes}, algorithm, &result);
  EXPECT_TRUE(status.ok()) << PeerAlgorithmName(algorithm) << ", " << ranks
                           << " ranks: " << status.ToString();
  return result;
}

TEST(ScaleCells, BlocksHaveADoubleAtLeast) {
  EXPECT_EQ(ScaleCells(Pattern::kBroadcast, 65536).size(), 14u * 5);
  const std::vector<ScaleCell> cells = ScaleCells(Pattern::kMultiReduce, 65536);
  // Of 8 KiB up to 512 ranks, of 64 KiB up to 4096, all others everywhere.
  EXPECT_EQ(cells.size(), 14u * 3 + 7 + 10);
  for (const ScaleCell& cell : cells) {
    EXPECT_EQ(cell.bytes % sizeof(double), 0u);
    EXPECT_GE(cell.bytes, sizeof(double));
  }
  EXPECT_EQ(cells.back().total_bytes(), size_t{16} << 20);
}

// Facts of release 4.1.4, one of each kind of rule.
TEST(PeerRules, MatchTheRelease) {
  EXPECT_EQ(PeerAlgorithmFor(Pattern::kBroadcast, 15, 32768), A::kLinear);
  EXPECT_EQ(PeerAlgorithmFor(Pattern::kBroadcast, 15, 32767), A::kBinomial);
  EXPECT_EQ(PeerAlgorithmFor(Pattern::kBroadcast, 16, 1 << 20), A::kScatterAllGather);
  EXPECT_EQ(PeerAlgorithmFor(Pattern::kBroadcast, 100, 8), A::kFourNomial);
  EXPECT_EQ(PeerAlgorithmFor(Pattern::kBroadcast, 65536, 8192), A::kBinary);
  EXPECT_EQ(PeerAlgorithmFor(Pattern::kReduce, 8, 8), A::kBinary);
  EXPECT_EQ(PeerAlgorithmFor(Pattern::kReduce, 65536, 8), A::kBinomial);
  EXPECT_EQ(PeerAlgorithmFor(Pattern::kReduce, 65536, 8192), A::kInOrderBinary);
  EXPECT_EQ(PeerAlgorithmFor(Pattern::kMultiBroadcast, 8, 64), A::kGatherBroadcast);
  EXPECT_EQ(PeerAlgorithmFor(Pattern::kMultiBroadcast, 128, 128 * 4096), A::kNeighbourExchange);
  EXPECT_EQ(PeerAlgorithmFor(Pattern::kMultiBroadcast, 65536, 65536 * 8), A::kBruck);
  EXPECT_EQ(PeerAlgorithmFor(Pattern::kMultiReduce, 16, 262144), A::kRing);
  EXPECT_EQ(PeerAlgorithmFor(Pattern::kMultiReduce, 16, 262143), A::kRecursiveHalving);
  EXPECT_EQ(PeerAlgorithmFor(Pattern::kMultiReduce, 65536, 1 << 20), A::kButterfly);
}

// Whatever the cells need is there.
TEST(PeerRules, NoCellMeetsAnAlgorithmThatIsNotWritten) {
  for (const Pattern pattern : kAllPatterns) {
    for (const ScaleCell& cell : ScaleCells(pattern, 65536)) {
      EXPECT_NE(PeerAlgorithmFor(pattern, cell.ranks, cell.total_bytes()), A::kNotWritten)
          << PatternName(pattern) << ", " << cell.ranks << " ranks, " << cell.total_bytes();
    }
  }
  PeerResult result;
  const ScaleCell cell{Pattern::kBroadcast, 8, 8};
  EXPECT_EQ(SimulatePeer(FatNodes(), cell, A::kNotWritten, &result).code(),
            StatusCode::kUnavailable);
}

// As many messages and bytes as the algorithm is known to send, all of them received.
TEST(PeerAlgorithms, SendTheKnownMessagesAndBytes) {
  const MachineDescription machine = FatNodes();
  constexpr size_t kBytes = 4096;
  for (const int ranks : {8, 16, 64, 128}) {
    const auto p = static_cast<uint64_t>(ranks);
    const auto q = static_cast<uint64_t>(Log2(ranks));
    const auto expect = [&](Pattern pattern, A algorithm, uint64_t messages, uint64_t bytes,
                            uint64_t combined) {
      const PeerResult result = RunPeer(machine, pattern, ranks, kBytes, algorithm);
      const std::string what =
          std::string(PeerAlgorithmName(algorithm)) + ", " + std::to_string(ranks) + " ranks";
      EXPECT_EQ(result.messages, messages) << what;
      EXPECT_EQ(result.bytes_sent, bytes) << what;
      EXPECT_EQ(result.bytes_combined, combined) << what;
      EXPECT_GT(result.us, 0);
    };
    const uint64_t tree_bytes = (p - 1) * kBytes;
    for (const A tree : {A::kLinear, A::kBinary, A::kBinomial, A::kFourNomial}) {
      expect(Pattern::kBroadcast, tree, p - 1, tree_bytes, 0);
    }
    expect(Pattern::kBroadcast, A::kScatterAllGather, p - 1 + p * q, q * kBytes / 2 + tree_bytes,
           0);
    expect(Pattern::kReduce, A::kBinary, p - 1, tree_bytes, tree_bytes);
    expect(Pattern::kReduce, A::kBinomial, p - 1, tree_bytes, tree_bytes);
    expect(Pattern::kReduce, A::kInOrderBinary, p, tree_bytes + kBytes, tree_bytes);
    const uint64_t all_bytes = p * (p - 1) * kBytes;
    expect(Pattern::kMultiBroadcast, A::kBruck, p * q, all_bytes, 0);
    expect(Pattern::kMultiBroadcast, A::kRing, p * (p - 1), all_bytes, 0);
    expect(Pattern::kMultiBroadcast, A::kNeighbourExchange, p * p / 2, all_bytes, 0);
    expect(Pattern::kMultiReduce, A::kRing, p * (p - 1), all_bytes, all_bytes);
    expect(Pattern::kMultiReduce, A::kRecursiveHalving, p * q, all_bytes, all_bytes);
    // A rank whose bit-reversed number is its own number keeps its block.
    const uint64_t moved = p - (uint64_t{1} << ((q + 1) / 2));
    expect(Pattern::kMultiReduce, A::kButterfly, p * q + moved, all_bytes + moved * kBytes,
           all_bytes);
  }
}

// The blocks to rank 0, and the broadcast that the rules say then: 64 KiB on 16 ranks, binomial.
TEST(PeerAlgorithms, GatherAndBroadcast) {
  const PeerResult result =
      RunPeer(FatNodes(), Pattern::kMultiBroadcast, 16, 4096, A::kGatherBroadcast);
  EXPECT_EQ(result.messages, 30u);
  EXPECT_EQ(result.bytes_sent, 15 * 4096 + uint64_t{15} * 65536);
}

// The root's link carries all messages, one after the other.
TEST(PeerAlgorithms, TakeTheTimeOfTheirLinks) {
  const MachineDescription machine = FatNodes();
  constexpr size_t kBytes = size_t{1} << 20;
  const double wire_us = static_cast<double>(kBytes) / machine.within_host.mb_s;
  const double linear = RunPeer(machine, Pattern::kBroadcast, 8, kBytes, A::kLinear).us;
  EXPECT_NEAR(linear / (7 * wire_us), 1, 0.003);
  // Three messages, one after the other, to every rank of the farthest.
  const double binomial = RunPeer(machine, Pattern::kBroadcast, 8, kBytes, A::kBinomial).us;
  EXPECT_NEAR(binomial / (3 * wire_us), 1, 0.003);
  const double sum_us = static_cast<double>(kBytes) / 4000;
  const double reduce = RunPeer(machine, Pattern::kReduce, 8, kBytes, A::kBinomial).us;
  EXPECT_NEAR(reduce / (3 * (wire_us + sum_us)), 1, 0.003);
}

// The closed form, printed for cells without a simulation, is close to the simulation of other
// cells.
TEST(ScaleChoice, ClosedFormAgreesWithTheSimulation) {
  constexpr int64_t kMostMessages = 4000;
  const MachineDescription machine = FatNodes();
  int compared = 0;
  for (const Pattern pattern : kAllPatterns) {
    for (const ScaleCell& cell : ScaleCells(pattern, 128)) {
      for (const Chooser chooser : {Chooser::kLibrary, Chooser::kBestByName}) {
        const ScaleChoice choice = ChooseFor(machine, cell, chooser);
        if (choice.messages > kMostMessages) continue;
        double us = 0;
        const Status status = SimulateChoice(machine, cell, choice, &us);
        ASSERT_TRUE(status.ok()) << status.ToString();
        EXPECT_NEAR(choice.cost.us / us, 1, 0.13)
            << PatternName(pattern) << ", " << cell.ranks << " ranks, " << cell.bytes << " bytes, "
            << TopologyName(choice.topology);
        double again = 0;
        EXPECT_TRUE(SimulateChoice(machine, cell, choice, &again).ok());
        EXPECT_EQ(us, again);
        ++compared;
      }
    }
  }
  EXPECT_GT(compared, 80);
}

}  // namespace
}  // namespace brigade::bench
