// Inline messages of multi-broadcasts and multi-reduces: the same bits, messages and counts as
// those of other protocols, whichever protocol each rank takes.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
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

constexpr Topology kRing{Shape::kIncreasingRings, 1};
constexpr Topology kCirculant{Shape::kCirculant, 0};
constexpr int kMostRanksOfEager = 6;
constexpr int64_t kMostElemsOfShortLine = 3;

using Member = ProtocolMember;

struct Case {
  Pattern pattern;
  Topology topology;
  int64_t elems;  // of the shortest block
  CombineOp op = CombineOp::kSum;
  bool in_place = false;  // the sum comes where one's own contribution is
};

// The operands and results of a rank. Blocks of different lengths, in columns of one element with
// gaps.
struct Data {
  Data(const Case& c, int rank, int ranks)
      : values(static_cast<size_t>(ranks)), blocks(static_cast<size_t>(ranks)) {
    for (size_t q = 0; q < values.size(); ++q) {
      const auto elems = static_cast<size_t>(c.elems) + q % 2;
      values[q].assign(2 * elems + 1, -1);
      const bool is_given = c.pattern == Pattern::kMultiReduce || q == static_cast<size_t>(rank);
      for (size_t i = 0; i < values[q].size() && is_given; i += 2) {
        // Sums depend on their order; some magnitudes are equal, and some values no numbers.
        values[q][i] = (rank % 2 == 0 ? 1.0 : -1.0) / static_cast<double>(3 + rank + q + i);
        if (i == 4 && rank == 1) values[q][i] = std::numeric_limits<double>::quiet_NaN();
        if (i == 6) values[q][i] = rank % 2 == 0 ? 0.0 : -0.0;
      }
      blocks[q] = MatrixOf(&values[q], elems);
    }
    const auto own = static_cast<size_t>(c.elems) + static_cast<size_t>(rank) % 2;
    result.assign(2 * own + 1, -1);
    matrix = c.in_place ? blocks[static_cast<size_t>(rank)] : MatrixOf(&result, own);
  }
  Data(const Data&) = delete;
  Data& operator=(const Data&) = delete;
  static Matrix MatrixOf(std::vector<double>* memory, size_t elems) {
    Matrix matrix;
    matrix.data = reinterpret_cast<std::byte*>(memory->data());
    Require(
        StridedLayout::General(1, static_cast<int64_t>(elems), 2, sizeof(double), &matrix.layout));
    return matrix;
  }
  PatternCall CallOf(const Case& c) const {
    PatternCall call;
    call.pattern = c.pattern;
    call.topology = c.topology;
    call.op = c.op;
    call.blocks = blocks.data();
    if (c.pattern == Pattern::kMultiReduce) call.matrix = matrix;
    return call;
  }
  // To the bit.
  bool operator==(const Data& other) const {
    const auto equal = [](const std::vector<double>& a, const std::vector<double>& b) {
      return a.size() == b.size() &&
             std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0;
    };
    for (size_t q = 0; q < values.size(); ++q) {
      if (!equal(values[q], other.values[q])) return false;
    }
    return equal(result, other.result);
  }

  std::vector<std::vector<double>> values;
  std::vector<double> result;
  std::vector<Matrix> blocks;
  Matrix matrix;
};

std::vector<Case> Cases(int ranks) {
  std::vector<Case> cases;
  for (const int64_t elems : {0, 1, 2, 3, 5, 60, 400}) {
    const bool is_short = elems < kMostElemsOfShortLine;
    if (ranks > kMostRanksOfEager && !is_short) break;
    for (const Topology& topology : {kRing, kCirculant}) {
      cases.push_back({Pattern::kMultiBroadcast, topology, elems});
      if (topology == kRing && ranks > 2) continue;
      for (const CombineOp op : {CombineOp::kSum, CombineOp::kAbsMax, CombineOp::kAbsMin}) {
        for (const bool in_place : {false, true}) {
          cases.push_back({Pattern::kMultiReduce, topology, elems, op, in_place});
        }
      }
    }
  }
  return cases;
}

// Sets of ranks that use inline messages, a bit for each rank.
std::vector<int> Masks(int ranks) {
  if (ranks > 4) return {0, (1 << ranks) - 1, 0x55 & ((1 << ranks) - 1), 1};
  std::vector<int> all;
  for (int mask = 0; mask < 1 << ranks; ++mask) all.push_back(mask);
  return all;
}

TEST(InlineBlocks, ResultsAndCountsAreEqualForAnyProtocolOfEachRank) {
  for (int ranks = 2; ranks <= rules::kMostRanksOfZeroCopy; ++ranks) {
    RunRanks(ranks, InprocOptions(), [&](InprocWorld& world, int rank) {
      Member me(world, rank);
      int inline_calls = 0;
      for (const Case& c : Cases(ranks)) {
        Data expected(c, rank, ranks);
        OperationStatistics as_usual;
        Require(me.Run(kEagerShared, expected.CallOf(c), &as_usual));
        for (const int by_inline : Masks(ranks)) {
          Data data(c, rank, ranks);
          OperationStatistics did;
          const PatternCall call = data.CallOf(c);
          const Protocol* const first = me.PlanOf(call).protocols[0];
          const bool is_inline = (by_inline >> rank & 1) != 0 && first == &kInlineCollective;
          inline_calls += is_inline ? 1 : 0;
          Require(me.Run(is_inline ? kInlineCollective : kEagerShared, call, &did));
          ASSERT_TRUE(data == expected)
              << PatternName(c.pattern) << ' ' << c.elems << ' ' << by_inline << " rank " << rank;
          // With more ranks the eager segments do not fit the core.
          if (ranks > kMostRanksOfEager) did.segments = as_usual.segments;
          ExpectEqual(did, as_usual);
        }
      }
      EXPECT_GT(inline_calls, 10);
    });
  }
}

// Of eight ranks, whose first messages find no wide rings: bits are those of the sum by distance.
TEST(InlineBlocks, LongMessagesOfManyRanksAreAddedByDistance) {
  constexpr int kRanks = rules::kMostRanksOfZeroCopy;
  RunRanks(kRanks, InprocOptions(), [&](InprocWorld& world, int rank) {
    Member me(world, rank);
    const Case c{Pattern::kMultiReduce, kCirculant, 60};
    Data data(c, rank, kRanks);
    Require(me.Run(kInlineCollective, data.CallOf(c)));
    for (size_t i = 0; i + 1 < data.result.size(); i += 2) {
      std::vector<double> sums;
      for (int distance = 0; distance < kRanks; ++distance) {
        const int from = (rank + kRanks - distance) % kRanks;
        sums.push_back(Data(c, from, kRanks).values[static_cast<size_t>(rank)][i]);
      }
      for (size_t skip = kRanks / 2; skip >= 1; skip /= 2) {
        for (size_t nearer = 0; nearer < skip; ++nearer) sums[nearer] += sums[nearer + skip];
      }
      if (sums[0] != sums[0]) {
        EXPECT_NE(data.result[i], data.result[i]);
      } else {
        EXPECT_EQ(data.result[i], sums[0]) << i;
      }
    }
    Meet(world, rank);
  });
}

// Each rank sends seven messages before it receives one, and first messages find no wide rings.
// There are six chunks, none of which the core spares.
TEST(InlineBlocks, ManyRanksWithLittleStagingMemoryEnd) {
  constexpr int kRanks = rules::kMostRanksOfZeroCopy;
  EngineOptions options;
  options.staging_bytes = 6 * options.chunk_bytes;
  for (const Pattern pattern : {Pattern::kMultiReduce, Pattern::kMultiBroadcast}) {
    for (const int64_t elems : {8, 60, 500}) {
      RunRanks(kRanks, InprocOptions(), [&](InprocWorld& world, int rank) {
        Member me(world, rank, options);
        const Case c{pattern, kCirculant, elems};
        for (int i = 0; i < 3; ++i) {
          Data data(c, rank, kRanks);
          const PatternCall call = data.CallOf(c);
          Require(me.Run(*me.PlanOf(call).protocols[0], call));
        }
        Meet(world, rank);
      });
    }
  }
}

// Ranks that disagree find out by name.
TEST(InlineBlocks, AnotherCallIsAMismatch) {
  RunRanks(2, InprocOptions(), [&](InprocWorld& world, int rank) {
    Member me(world, rank);
    const Case sum{Pattern::kMultiReduce, kCirculant, 1};
    Data data(sum, rank, 2);
    PatternCall call = data.CallOf(sum);
    if (rank == 1) call.op = CombineOp::kAbsMax;
    const Status status = me.Run(kInlineCollective, call);
    EXPECT_EQ(status.code(), StatusCode::kMismatch) << status.ToString();
    EXPECT_TRUE(data == Data(sum, rank, 2));
    Meet(world, rank);
  });
}

}  // namespace
}  // namespace brigade
