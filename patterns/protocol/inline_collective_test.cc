// Inline messages of broadcasts, combines and barriers: the same bits, messages and counts as those
// of eager segments, whichever protocol each rank takes.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "membuf/combine.h"
#include "membuf/strided_layout.h"
#include "patterns/catalogue/catalogue.h"
#include "patterns/engine/pattern_call.h"
#include "patterns/protocol/protocols.h"
#include "patterns/rules.h"
#include "test/support/protocol_member.h"
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

// The operands and results of a rank. Columns of one element, with gaps.
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

using Member = ProtocolMember;

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
    for (const Topology& topology :
         {Topology{Shape::kTree, 8}, Topology{Shape::kTree, 2},
          Topology{Shape::kIncreasingRings, 1}, Topology{Shape::kSplitRing}}) {
      Case c{Pattern::kBroadcast, topology};
      c.elems = elems;
      c.root = ranks / 2;
      cases.push_back(c);
    }
    for (const Pattern pattern : {Pattern::kReduce, Pattern::kAllReduce}) {
      cases.push_back({pattern, {Shape::kTree, 2}, CombineOp::kSum, false, elems});
    }
    cases.push_back({Pattern::kBarrier, Topology()});
  }
  return cases;
}

TEST(InlineCollective, ResultsAndCountsAreEqualForAnyProtocolOfEachRank) {
  for (int ranks = 2; ranks <= rules::kMostRanksOnExchange + 1; ++ranks) {
    RunRanks(ranks, InprocOptions(), [&](InprocWorld& world, int rank) {
      Member me(world, rank);
      int inline_calls = 0;
      for (const Case& c : Cases(ranks)) {
        Data expected(c, rank);
        OperationStatistics as_usual;
        Require(me.Run(kEagerShared, expected.CallOf(c), &as_usual));
        for (int by_inline = 0; by_inline < 1 << ranks; ++by_inline) {  // a bit for each rank
          Data data(c, rank);
          OperationStatistics did;
          const PatternCall call = data.CallOf(c);
          const Protocol* const first = me.PlanOf(call).protocols[0];
          const bool is_inline = (by_inline >> rank & 1) != 0 && first == &kInlineCollective;
          inline_calls += is_inline ? 1 : 0;
          Require(me.Run(is_inline ? kInlineCollective : kEagerShared, call, &did));
          ASSERT_TRUE(data == expected)
              << PatternName(c.pattern) << ' ' << c.elems << ' ' << by_inline << " rank " << rank;
          ExpectEqual(did, as_usual);
        }
      }
      EXPECT_GT(inline_calls, 100);
    });
  }
}

constexpr Case kUsual{Pattern::kAllReduce, {Shape::kExchange, 8}};

TEST(InlineCollective, IsListedWhereMessagesAreShort) {
  RunRanks(3, InprocOptions(), [&](InprocWorld& world, int rank) {
    Member me(world, rank);
    const auto is_listed = [&](const PatternCall& call) {
      return me.PlanOf(call).protocols[0] == &kInlineCollective;
    };
    Case c = kUsual;
    c.elems = 512;
    EXPECT_TRUE(is_listed(Data(c, rank).CallOf(c)));
    c.elems = 513;
    EXPECT_FALSE(is_listed(Data(c, rank).CallOf(c)));
    Case broadcast{Pattern::kBroadcast, {Shape::kTree, 8}};
    broadcast.elems = 256;  // each of two ranks takes a copy
    EXPECT_EQ(is_listed(Data(broadcast, rank).CallOf(broadcast)), true);
    broadcast.elems = 512;
    EXPECT_EQ(is_listed(Data(broadcast, rank).CallOf(broadcast)), rank != 0);
    c.elems = 1;
    Data data(c, rank);
    PatternCall call = data.CallOf(c);
    EXPECT_TRUE(is_listed(call));
    call.segment_bytes = 8;
    EXPECT_FALSE(is_listed(call)) << "segments that are asked for";
    call.segment_bytes = 0;
    call.topology = {Shape::kReduceScatterAllgather, 0};
    EXPECT_FALSE(is_listed(call)) << "the matrix is cut";
  });
}

TEST(InlineCollective, ARankThatIsLateIsWaitedFor) {
  RunRanks(2, InprocOptions(), [&](InprocWorld& world, int rank) {
    Member me(world, rank);
    for (const int late : {0, 1}) {
      Data data(kUsual, rank);
      if (rank == late) std::this_thread::sleep_for(std::chrono::milliseconds(50));
      Require(me.Run(kInlineCollective, data.CallOf(kUsual)));
      EXPECT_EQ(data.values[0], Data(kUsual, 0).values[0] + Data(kUsual, 1).values[0]);
    }
  });
}

// Ranks that disagree find out by name.
TEST(InlineCollective, AnotherCallIsAMismatch) {
  RunRanks(2, InprocOptions(), [&](InprocWorld& world, int rank) {
    Member me(world, rank);
    Data data(kUsual, rank);
    PatternCall call = data.CallOf(kUsual);
    if (rank == 1) call.op = CombineOp::kAbsMax;
    const Status status = me.Run(kInlineCollective, call);
    EXPECT_EQ(status.code(), StatusCode::kMismatch) << status.ToString();
    EXPECT_EQ(data.values[0], Data(kUsual, rank).values[0]);
    Meet(world, rank);
  });
}

// Each call of a plan is checked.
TEST(InlineCollective, AWrongCallIsRefusedBehindARightOne) {
  RunRanks(2, InprocOptions(), [&](InprocWorld& world, int rank) {
    Member me(world, rank);
    for (const Pattern pattern : {Pattern::kBroadcast, Pattern::kSend}) {
      Case c{pattern, {Shape::kTree, 2}};
      c.root = 1 - rank;
      Data data(c, rank);
      PatternCall call = data.CallOf(c);
      (void)me.PlanOf(call);
      call.locations = data.locations.data();
      const Plan* plan = nullptr;
      EXPECT_EQ(FindPlan(*me.engine, &me.state, call, &plan).code(), StatusCode::kInvalidArgument);
    }
  });
}

// Where nothing is taken for long messages go on through staging memory.
TEST(InlineCollective, MessagesThatFindNoSlotAreSentAllTheSame) {
  constexpr int kCalls = 200;
  RunRanks(2, InprocOptions(), [&](InprocWorld& world, int rank) {
    Member me(world, rank);
    for (const int64_t elems : {1, 100}) {
      Case c{Pattern::kBroadcast, {Shape::kTree, 2}};
      c.elems = elems;
      if (rank == 1) Meet(world, rank);
      size_t staged_bytes = 0;
      for (int i = 0; i < kCalls; ++i) {
        Data data(c, i);
        const Data expected(c, i);
        if (rank == 1) data = Data(c, kCalls);
        OperationStatistics did;
        Require(me.Run(kInlineCollective, data.CallOf(c), &did));
        ASSERT_EQ(data.values[0], expected.values[0]) << i;
        EXPECT_EQ(did.copies, 1u);
        staged_bytes = std::max(staged_bytes, did.peak_staging_bytes);
      }
      EXPECT_EQ(staged_bytes > 0, rank == 0 && elems > 3) << "what lies in slots needs none";
      if (rank == 0) Meet(world, rank);
      Meet(world, rank);
    }
  });
}

}  // namespace
}  // namespace brigade
