// Short combines and barriers in one round: the same bits, messages and counts as the short path's,
// whichever way each rank goes, and what is not as usual is left as it was.

#include "patterns/direct/exchange_lines.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "membuf/combine.h"
#include "membuf/rules.h"
#include "membuf/strided_layout.h"
#include "patterns/catalogue/catalogue.h"
#include "patterns/engine/pattern_call.h"
#include "patterns/short_path/short_path.h"
#include "test/support/group_member.h"
#include "test/support/line_member.h"
#include "test/support/run_ranks.h"
#include "transport/inproc/inproc_transport.h"

namespace brigade {
namespace {

struct Case {
  Pattern pattern;
  Topology topology;
  CombineOp op = CombineOp::kSum;
  bool located = false;
  int64_t elems = 1;
  int root = 0;
};

// What a rank gives, and gets. Columns of one element, with gaps.
struct Data {
  Data(const Case& c, int rank)
      : values(2 * static_cast<size_t>(c.elems) + 1, -1), locations(static_cast<size_t>(c.elems)) {
    for (size_t i = 0; i < values.size(); i += 2) {
      // Sums depend on their order; some magnitudes are equal, and some values no numbers.
      values[i] = (rank % 2 == 0 ? 1.0 : -1.0) / static_cast<double>(3 + rank + i);
      if (i == 4 && rank == 1) values[i] = std::numeric_limits<double>::quiet_NaN();
      if (i == 6) values[i] = rank % 2 == 0 ? 0.0 : -0.0;
    }
    std::fill(locations.begin(), locations.end(), rank);
  }
  PatternCall CallOf(const Case& c) {
    PatternCall call;
    call.pattern = c.pattern;
    call.topology = c.topology;
    call.op = c.op;
    call.root = c.root;
    if (c.pattern == Pattern::kBarrier) return call;
    call.matrix.data = reinterpret_cast<std::byte*>(values.data());
    Require(StridedLayout::General(1, c.elems, 2, sizeof(double), &call.matrix.layout));
    if (c.located) call.locations = locations.data();
    return call;
  }
  bool operator==(const Data& other) const {
    const size_t bytes = values.size() * sizeof(double);
    return std::memcmp(values.data(), other.values.data(), bytes) == 0 &&
           locations == other.locations;
  }

  std::vector<double> values;
  std::vector<int32_t> locations;
};

using Member = LineMember<RunExchangeLines>;

std::vector<Case> Cases(int ranks) {
  std::vector<Case> cases;
  const Topology exchange{Shape::kExchange, rules::kWideBranches};
  for (const int64_t elems : {0, 1, 2, 3, 5, 60, 400}) {
    for (const CombineOp op : {CombineOp::kSum, CombineOp::kAbsMax, CombineOp::kAbsMin}) {
      for (const bool located : {false, true}) {
        if (located && op == CombineOp::kSum) continue;
        if (ranks == 2) {
          cases.push_back({Pattern::kAllReduce, {Shape::kHypercube, 0}, op, located, elems});
        }
        cases.push_back({Pattern::kAllReduce, exchange, op, located, elems});
        cases.push_back({Pattern::kReduce, exchange, op, located, elems, ranks - 1});
      }
    }
    cases.push_back({Pattern::kBarrier, Topology()});
  }
  return cases;
}

TEST(ExchangeLines, WhicheverWayEachRankGoesResultsAndCountsAreTheSame) {
  for (int ranks = 2; ranks <= rules::kMostRanksOnExchange + 1; ++ranks) {
    RunRanks(ranks, InprocOptions(), [&](InprocWorld& world, int rank) {
      Member me(world, rank);
      for (const Case& c : Cases(ranks)) {
        Data expected(c, rank);
        OperationStatistics as_usual;
        Require(me.Run(expected.CallOf(c), /*by_lines=*/false, &as_usual));
        for (int lines = 0; lines < 1 << ranks; ++lines) {  // a bit for each rank
          Data data(c, rank);
          OperationStatistics did;
          Require(me.Run(data.CallOf(c), (lines >> rank & 1) != 0, &did));
          ASSERT_TRUE(data == expected)
              << PatternName(c.pattern) << ' ' << c.elems << ' ' << lines << " rank " << rank;
          ExpectEqual(did, as_usual);
        }
      }
    });
  }
}

constexpr Case kUsual{Pattern::kAllReduce, {Shape::kExchange, 8}};

// Nothing is sent, nothing is taken, no number is used up.
TEST(ExchangeLines, WhatIsUnusualIsLeftAsItIs) {
  RunRanks(3, InprocOptions(), [&](InprocWorld& world, int rank) {
    Member me(world, rank, GroupMember::Small());
    Data data(kUsual, rank);
    const PatternCall usual = data.CallOf(kUsual);
    std::vector<std::pair<std::string, PatternCall>> calls;
    const auto add = [&](const char* what) -> PatternCall& {
      calls.emplace_back(what, usual);
      return calls.back().second;
    };
    add("a broadcast").pattern = Pattern::kBroadcast;
    add("point to point").scope = ChannelKind::kPointToPoint;
    add("no data").matrix.data = nullptr;
    add("a tree").topology = {Shape::kTree, 8};
    add("a tree of more levels").topology = {Shape::kExchange, 2};
    add("a hypercube of three").topology = {Shape::kHypercube, 0};
    add("by host").topology.by_host = true;
    add("a root below all").root = -1;
    add("a root beyond all").root = 3;
    add("elements of other types").type = ElementType::kFloat;
    add("locations of a sum").locations = data.locations.data();
    add("pieces that are asked for").piece_bytes = 8;
    std::vector<double> more(500);
    Matrix& several = add("several pieces").matrix;
    several.data = reinterpret_cast<std::byte*>(more.data());
    Require(StridedLayout::General(500, 1, 500, sizeof(double), &several.layout));
    me.state.failure = Status(StatusCode::kAborted, "given up");
    EXPECT_EQ(me.RunLines(usual), LineRound::kUnusual) << "a broken group";
    me.state.failure = Status();
    me.ExpectLeftAsTheyAre(world, calls, usual);
  });
}

TEST(ExchangeLines, WhoIsLateIsWaitedForOnTheShortPath) {
  RunRanks(2, InprocOptions(), [&](InprocWorld& world, int rank) {
    Member me(world, rank);
    Data data(kUsual, rank);
    const PatternCall call = data.CallOf(kUsual);
    if (rank == 0) {
      EXPECT_EQ(me.RunLines(call), LineRound::kSent);
      EXPECT_EQ(me.sequence(), 0);
    }
    Meet(world, rank);
    OperationStatistics did;
    if (rank == 0) {
      ShortPath<EdgePort> path(me.engine.get(), &me.state, EntryOf(call.pattern), call);
      Require(path.RunAfterSends(me.ScheduleOf(call), 0));
    } else {
      Require(me.Run(call, /*by_lines=*/true, &did));
    }
    EXPECT_EQ(data.values[0], Data(kUsual, 0).values[0] + Data(kUsual, 1).values[0]);
  });
}

// Ranks that disagree find out by name.
TEST(ExchangeLines, AnotherCallIsAMismatch) {
  RunRanks(2, InprocOptions(), [&](InprocWorld& world, int rank) {
    Member me(world, rank);
    Data data(kUsual, rank);
    PatternCall call = data.CallOf(kUsual);
    if (rank == 1) call.op = CombineOp::kAbsMax;
    OperationStatistics did;
    const Status status = me.Run(call, /*by_lines=*/true, &did);
    EXPECT_EQ(status.code(), StatusCode::kMismatch) << status.ToString();
    EXPECT_EQ(data.values[0], Data(kUsual, rank).values[0]);
    Meet(world, rank);
  });
}

}  // namespace
}  // namespace brigade
