// Short broadcasts in one round: the same data, messages and counts as the short path's, whichever
// way each rank goes, and what is not as usual is left as it was.

#include "patterns/direct/broadcast_lines.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "membuf/rules.h"
#include "membuf/strided_layout.h"
#include "patterns/catalogue/catalogue.h"
#include "patterns/engine/pattern_call.h"
#include "test/support/group_member.h"
#include "test/support/line_member.h"
#include "test/support/run_ranks.h"
#include "transport/inproc/inproc_transport.h"

namespace brigade {
namespace {

constexpr Topology kWide{Shape::kTree, 8};

using Member = LineMember<RunBroadcastLines>;

// A column of elements with gaps.
struct Data {
  Data(int64_t elems, double value) : values(2 * static_cast<size_t>(elems) + 1, -1) {
    for (size_t i = 0; i < values.size(); i += 2) values[i] = value + static_cast<double>(i);
    values.back() = -1;
    call.pattern = Pattern::kBroadcast;
    call.topology = kWide;
    call.matrix.data = reinterpret_cast<std::byte*>(values.data());
    Require(StridedLayout::General(1, elems, 2, sizeof(double), &call.matrix.layout));
  }
  Data(const Data&) = delete;
  Data& operator=(const Data&) = delete;

  std::vector<double> values;
  PatternCall call;
};

// Those in which the root tells all of so many ranks.
std::vector<Topology> DirectTopologies(int ranks) {
  std::vector<Topology> direct = {kWide, {Shape::kIncreasingRings, 1 << 20}};
  if (ranks <= 3) direct.push_back({Shape::kSplitRing, 0});
  if (ranks == 2) direct.insert(direct.end(), {{Shape::kTree, 2}, {Shape::kDecreasingRings, 1}});
  return direct;
}

TEST(BroadcastLines, WhicheverWayEachRankGoesDataAndCountsAreTheSame) {
  for (const int ranks : {2, 3, 4, rules::kMostRanksOfRound}) {
    RunRanks(ranks, InprocOptions(), [&](InprocWorld& world, int rank) {
      Member me(world, rank);
      double value = 0;
      for (const Topology& topology : DirectTopologies(ranks)) {
        for (const int64_t elems : {0, 1, 3, 4, 60, 500}) {
          for (const int lines : {0, 1, 2, 0x55, 0xff}) {  // a bit for each rank
            value += 10000;
            Data data(elems, 0);
            const Data expected(elems, value);
            data.call.topology = topology;
            data.call.root = static_cast<int>(value / 10000) % ranks;
            if (data.call.root == rank) data.values = expected.values;
            OperationStatistics did;
            Require(me.Run(data.call, (lines >> rank & 1) != 0, &did));
            ASSERT_EQ(data.values, expected.values) << elems << ' ' << lines << " rank " << rank;
            OperationStatistics usual;
            usual.pieces = usual.copies = 1;
            usual.bytes_copied = static_cast<uint64_t>(elems) * sizeof(double);
            usual.messages_sent = data.call.root == rank ? static_cast<uint64_t>(ranks) - 1 : 0;
            usual.bytes_sent = usual.messages_sent * (kHeaderBytes + usual.bytes_copied);
            ExpectEqual(did, usual);
            Meet(world, rank);
          }
        }
      }
    });
  }
}

// Nothing is sent, nothing is taken, no number is used up.
TEST(BroadcastLines, WhatIsUnusualIsLeftAsItIs) {
  constexpr int kRanks = 3;
  RunRanks(kRanks, InprocOptions(), [&](InprocWorld& world, int rank) {
    Member me(world, rank, GroupMember::Small());
    Data data(1, rank);
    const PatternCall usual = data.call;
    std::vector<std::pair<std::string, PatternCall>> calls;
    const auto add = [&](const char* what) -> PatternCall& {
      calls.emplace_back(what, usual);
      return calls.back().second;
    };
    add("a sum").pattern = Pattern::kReduce;
    add("point to point").scope = ChannelKind::kPointToPoint;
    add("no data").matrix.data = nullptr;
    add("a relay").topology = {Shape::kTree, 2};
    add("a ring").topology = {Shape::kIncreasingRings, 1};
    add("two trees").topology = {Shape::kTwoTree, 0};
    add("by host").topology.by_host = true;
    add("a root below all").root = -1;
    add("a root beyond all").root = kRanks;
    add("pieces that are asked for").piece_bytes = 8;
    Data several(150, rank);
    add("several pieces").matrix = several.call.matrix;
    for (size_t i = calls.size(); i-- > 0;) {
      const std::pair<std::string, PatternCall> from_first = calls[i];
      for (int root = 1; root < kRanks && from_first.second.root == 0; ++root) {
        calls.push_back(from_first);
        calls.back().second.root = root;
      }
    }
    me.ExpectLeftAsTheyAre(world, calls, usual);
    EXPECT_EQ(data.values[0], 0);
  });
}

// What would be copied too often goes in one copy, which serves all.
TEST(BroadcastLines, ALongMessageIsCopiedOnceForAll) {
  constexpr int kRanks = 4;
  RunRanks(kRanks, InprocOptions(), [&](InprocWorld& world, int rank) {
    Member me(world, rank);
    Data data(300, rank);
    EXPECT_EQ(me.RunLines(data.call), LineRound::kUnusual);
    Meet(world, rank);
  });
}

}  // namespace
}  // namespace brigade
