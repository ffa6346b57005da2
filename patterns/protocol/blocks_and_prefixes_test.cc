// Gather, scatter, all-to-all and scans: the same bits, whichever protocol each rank
// takes; scans in their documented order.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "membuf/strided_layout.h"
#include "patterns/catalogue/catalogue.h"
#include "patterns/engine/pattern_call.h"
#include "patterns/protocol/protocols.h"
#include "patterns/schedule/geometry.h"
#include "test/support/protocol_member.h"
#include "test/support/run_ranks.h"
#include "transport/inproc/inproc_transport.h"

namespace brigade {
namespace {

constexpr Topology kChain{Shape::kIncreasingRings, 1};
constexpr Topology kDoubling{Shape::kHypercube, 0};
constexpr Topology kFlat{Shape::kTree, kFlatBranches};
constexpr Topology kBinomial{Shape::kTree, 2};
constexpr Topology kCirculant{Shape::kCirculant, 0};
constexpr int64_t kElems[] = {0, 1, 3, 60, 400, 3000};

using Values = std::vector<double>;

// Elements with gaps.
Matrix MatrixOf(Values* memory, size_t elems) {
  memory->resize(2 * elems, -1);
  Matrix matrix;
  matrix.data = reinterpret_cast<std::byte*>(memory->data());
  Require(
      StridedLayout::General(1, static_cast<int64_t>(elems), 2, sizeof(double), &matrix.layout));
  return matrix;
}

// Returns the protocol of this rank for the `run`-th run of a call: inline messages or eager
// segments where they serve, and the pipeline.
const Protocol& ProtocolOf(ProtocolMember* me, const PatternCall& call, int rank, int run) {
  const Plan& plan = me->PlanOf(call);
  return *plan.protocols[(rank * 5 + run) % plan.protocol_count];
}

// --- scans ---

double Contribution(int rank, size_t i) { return 1.0 / static_cast<double>(3 + 7 * rank + i); }

// Returns the sum of the `count` contributions that end with rank `last`, or of all up to it. The
// nearer half is the right operand.
double SumOf(int last, int count, size_t i) {
  if (count == 1) return Contribution(last, i);
  const int half = count / 2;
  const double right = SumOf(last, half, i);
  return last < half ? right : SumOf(last - half, half, i) + right;
}

// Returns the result of a rank in the documented order.
double Prefix(const Topology& topology, bool exclusive, int rank, size_t i) {
  if (topology == kChain) {
    double sum = Contribution(0, i);
    for (int r = 1; r < (exclusive ? rank : rank + 1); ++r) sum += Contribution(r, i);
    return sum;
  }
  double sum = Contribution(exclusive ? rank - 1 : rank, i);
  for (int count = exclusive ? 2 : 1; count <= rank; count *= 2) {
    sum = SumOf(rank - count, count, i) + sum;
  }
  return sum;
}

TEST(BlocksAndPrefixes, ScansHaveTheBitsOfTheirOrder) {
  for (int ranks = 1; ranks <= 8; ++ranks) {
    RunRanks(ranks, InprocOptions(), [&](InprocWorld& world, int rank) {
      ProtocolMember me(world, rank);
      for (const Pattern pattern : {Pattern::kScan, Pattern::kExscan}) {
        for (const Topology& topology : {kChain, kDoubling}) {
          for (const int64_t elems : kElems) {
            for (int run = 0; run < 4; ++run) {
              Values values;
              PatternCall call;
              call.pattern = pattern;
              call.topology = topology;
              call.matrix = MatrixOf(&values, static_cast<size_t>(elems));
              Values expected = values;
              const bool exclusive = pattern == Pattern::kExscan;
              for (size_t i = 0; i < static_cast<size_t>(elems); ++i) {
                values[2 * i] = Contribution(rank, i);
                expected[2 * i] =
                    exclusive && rank == 0 ? values[2 * i] : Prefix(topology, exclusive, rank, i);
              }
              Require(me.Run(ProtocolOf(&me, call, rank, run), call));
              ASSERT_TRUE(values == expected) << PatternName(pattern) << ' ' << elems << " rank "
                                              << rank << " of " << ranks << " run " << run;
            }
          }
        }
      }
      Meet(world, rank);
    });
  }
}

// --- blocks ---

// The elements of a block of an all-to-all, or of one that stays on its rank. On a
// circulant graph all blocks are equally long.
size_t ElemsOf(const Topology& topology, int64_t elems, int from, int to) {
  if (topology == kCirculant) return static_cast<size_t>(elems);
  if (from == 0 && to == 1) return static_cast<size_t>(9 * elems);
  return static_cast<size_t>(elems) * static_cast<size_t>((2 * from + 3 * to + 1) % 4);
}

double Datum(int from, int to, size_t i) {
  return 1000.0 * from + to + 0.001 * static_cast<double>(i);
}

struct Blocks {
  Blocks(Pattern pattern, const Topology& topology, int root, int64_t elems, int rank, int ranks)
      : values(static_cast<size_t>(ranks)), sent(static_cast<size_t>(ranks)) {
    const bool to_all = pattern == Pattern::kAllToAll;
    const bool scatters = pattern == Pattern::kScatter;
    expected = values;
    for (int q = 0; q < ranks; ++q) {
      const auto index = static_cast<size_t>(q);
      const size_t count = ElemsOf(topology, elems, q, to_all ? rank : q);
      blocks.push_back(MatrixOf(&values[index], count));
      expected[index] = values[index];
      const int owner = scatters ? root : q;
      const bool has = !to_all && (scatters ? rank == root : q == rank);
      const bool gets = to_all || (scatters ? q == rank : rank == root);
      for (size_t i = 0; i < count; ++i) {
        if (has) values[index][2 * i] = Datum(owner, q, i);
        if (has || gets) expected[index][2 * i] = Datum(owner, to_all ? rank : q, i);
      }
      if (!has && !gets) blocks.back().data = nullptr;
      sent_blocks.push_back(MatrixOf(&sent[index], ElemsOf(topology, elems, rank, q)));
      for (size_t i = 0; i < sent[index].size(); i += 2) sent[index][i] = Datum(rank, q, i / 2);
    }
    call.pattern = pattern;
    call.topology = topology;
    call.root = root;
    call.blocks = blocks.data();
    call.sent = to_all ? sent_blocks.data() : nullptr;
    call.equal_blocks = topology == kCirculant;
  }
  Blocks(const Blocks&) = delete;
  Blocks& operator=(const Blocks&) = delete;

  std::vector<Values> values;
  std::vector<Values> expected;
  std::vector<Values> sent;
  std::vector<Matrix> blocks;
  std::vector<Matrix> sent_blocks;
  PatternCall call;
};

TEST(BlocksAndPrefixes, BlocksArriveForAnyProtocolOfEachRank) {
  for (int ranks = 1; ranks <= 8; ++ranks) {
    RunRanks(ranks, InprocOptions(), [&](InprocWorld& world, int rank) {
      ProtocolMember me(world, rank);
      int inline_calls = 0;
      for (const Pattern pattern : {Pattern::kGather, Pattern::kScatter, Pattern::kAllToAll}) {
        for (const Topology& topology : {kFlat, kBinomial, kCirculant}) {
          if (topology == (pattern == Pattern::kAllToAll ? kBinomial : kCirculant)) continue;
          for (const int root : {0, ranks - 1}) {
            if (pattern == Pattern::kAllToAll && root > 0) continue;
            for (const int64_t elems : kElems) {
              for (int run = 0; run < 4; ++run) {
                Blocks data(pattern, topology, root, elems, rank, ranks);
                const Protocol& first = ProtocolOf(&me, data.call, rank, run);
                inline_calls += &first == &kInlineCollective ? 1 : 0;
                Require(me.Run(first, data.call));
                ASSERT_TRUE(data.values == data.expected)
                    << PatternName(pattern) << ' ' << elems << " root " << root << " rank " << rank
                    << " of " << ranks << " run " << run;
              }
            }
          }
        }
      }
      EXPECT_GE(inline_calls, ranks > 1 ? 10 : 0);
      Meet(world, rank);
    });
  }
}

// Where no two ranks share memory, in one message after the other: in several segments, from
// strided memory and into it, with the least staging memory. Blocks are counted that way.
TEST(BlocksAndPrefixes, EqualBlocksArriveAlongACirculantGraph) {
  constexpr int kHops[] = {0, 0, 1, 2, 4, 5, 7, 9, 12, 12};  // of all blocks of a rank, by ranks
  constexpr int kRounds[] = {0, 0, 1, 2, 2, 3, 3, 3, 3, 4};
  for (int ranks = 1; ranks <= 9; ++ranks) {
    for (const size_t chunks : {6, 32}) {
      RunRanks(ranks, InprocOptions(), [&](InprocWorld& world, int rank) {
        EngineOptions options;
        options.chunk_bytes = 1024;
        options.staging_bytes = chunks * options.chunk_bytes;
        ProtocolMember me(world, rank, world.CreateEndpoint(rank), options);
        for (const int64_t elems : kElems) {
          Blocks data(Pattern::kAllToAll, kCirculant, 0, elems, rank, ranks);
          OperationStatistics did;
          Require(me.Run(*me.PlanOf(data.call).protocols[0], data.call, &did));
          ASSERT_TRUE(data.values == data.expected) << elems << " rank " << rank << " of " << ranks;
          const size_t bytes = static_cast<size_t>(elems) * sizeof(double);
          EXPECT_EQ(did.bytes_copied, (2 * static_cast<size_t>(kHops[ranks]) + 1) * bytes);
          if (elems <= 3) {
            EXPECT_EQ(did.messages_sent, static_cast<uint64_t>(kRounds[ranks]));
          }
        }
        Meet(world, rank);
      });
    }
  }
}

// Every rank sends seven messages before it receives one, and has the least staging memory.
TEST(BlocksAndPrefixes, AnAllToAllOfManyRanksNeedsLittleStagingMemory) {
  constexpr int kRanks = 8;
  EngineOptions options;
  options.staging_bytes = 6 * options.chunk_bytes;
  for (const int64_t elems : {8, 60, 20000}) {
    RunRanks(kRanks, InprocOptions(), [&](InprocWorld& world, int rank) {
      ProtocolMember me(world, rank, options);
      for (int i = 0; i < 3; ++i) {
        Blocks data(Pattern::kAllToAll, Topology(), 0, elems, rank, kRanks);
        Require(me.Run(*me.PlanOf(data.call).protocols[0], data.call));
        EXPECT_TRUE(data.values == data.expected);
      }
      Meet(world, rank);
    });
  }
}

// Ranks other than 0 and 1 do not know that one block is much longer than all others.
TEST(BlocksAndPrefixes, ABlockIsCutByItsOwnLength) {
  constexpr int kRanks = 4;
  EngineOptions options;
  options.chunk_bytes = 1024;
  options.staging_bytes = 128 * options.chunk_bytes;  // segments of several chunks
  RunRanks(kRanks, InprocOptions(), [&](InprocWorld& world, int rank) {
    ProtocolMember me(world, rank, options);
    for (const int64_t elems : {100, 400, 3000}) {
      for (int run = 0; run < 6; ++run) {
        Blocks data(Pattern::kAllToAll, Topology(), 0, elems, rank, kRanks);
        Require(me.Run(ProtocolOf(&me, data.call, rank, run), data.call));
        EXPECT_TRUE(data.values == data.expected);
      }
    }
    Meet(world, rank);
  });
}

// A block of another length is named by the receiver.
TEST(BlocksAndPrefixes, BlocksOfOtherLengthsAreAMismatch) {
  RunRanks(2, InprocOptions(), [&](InprocWorld& world, int rank) {
    ProtocolMember me(world, rank);
    Blocks data(Pattern::kAllToAll, Topology(), 0, 4, rank, 2);
    Values longer;
    if (rank == 1) data.sent_blocks[0] = MatrixOf(&longer, 5);
    const Status status = me.Run(*me.PlanOf(data.call).protocols[0], data.call);
    if (rank == 0) {
      EXPECT_EQ(status.code(), StatusCode::kMismatch) << status.ToString();
      EXPECT_NE(status.message().find("differ in bytes"), std::string::npos) << status.ToString();
    }
    Meet(world, rank);
  });
}

}  // namespace
}  // namespace brigade
