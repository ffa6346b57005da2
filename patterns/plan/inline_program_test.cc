#include "patterns/plan/inline_program.h"

#include <algorithm>
#include <vector>

#include "gtest/gtest.h"
#include "patterns/catalogue/catalogue.h"
#include "patterns/rules.h"
#include "patterns/schedule/pattern.h"
#include "patterns/schedule/segment_plan.h"

namespace brigade {
namespace {

// Every second rank of a group, from rank 3 on.
constexpr int kFirst = 3;
constexpr int kStride = 2;

const EdgeConfig* Config() {
  static const EdgeConfig config = [] {
    EdgeConfig made;
    made.settings = SegmentSettingsFor(32 << 10, 2 << 20, 64 << 10);
    return made;
  }();
  return &config;
}

InlineProgram Compile(Pattern pattern, const Topology& topology, int size, int rank, int root = 0) {
  ScheduleParameters p;
  p.size = size;
  p.rank = rank;
  p.root = root;
  p.topology = topology;
  p.shares_memory = true;
  return CompileInline(EntryOf(pattern).compile(p), {size, rank, kFirst, kStride, 1, Config()});
}

int Count(const InlineProgram& program, Opcode opcode) {
  return static_cast<int>(std::count_if(program.steps.begin(), program.steps.end(),
                                        [&](const Step& s) { return s.opcode == opcode; }));
}

TEST(InlineProgram, ARootSendsFromItsMatrix) {
  const InlineProgram program = Compile(Pattern::kBroadcast, {Shape::kTree, 8}, 4, 0);
  EXPECT_EQ(Count(program, Opcode::kSend), 3);
  EXPECT_EQ(Count(program, Opcode::kFree), 0) << "it received nothing";
  EXPECT_EQ(program.copied_blocks, std::vector<int>(1, -1));
  for (const Step& step : program.steps) {
    EXPECT_TRUE(step.left == Place::Matrix());
    EXPECT_EQ((step.peer - kFirst) % kStride, 0);
  }
  EXPECT_EQ(program.most_bytes, rules::kMostInlineCollectiveBytes / 3);
}

TEST(InlineProgram, ARelaySendsTheReceivedMessage) {
  const InlineProgram program = Compile(Pattern::kBroadcast, {Shape::kIncreasingRings, 1}, 4, 1);
  ASSERT_EQ(program.steps.size(), 4u);
  EXPECT_EQ(program.steps[0].opcode, Opcode::kAwait);
  EXPECT_EQ(program.steps[0].peer, kFirst);
  EXPECT_EQ(program.steps[1].opcode, Opcode::kSend);
  EXPECT_TRUE(program.steps[1].left.in_stream());
  EXPECT_EQ(program.steps[2].opcode, Opcode::kCopy);
  EXPECT_TRUE(program.steps[2].dst == Place::Matrix());
  EXPECT_EQ(program.steps[3].opcode, Opcode::kFree);
}

// A contribution is sent before the sum takes its place.
TEST(InlineProgram, AllSendsOfAnExchangeComeBeforeTheSum) {
  for (int rank = 0; rank < 4; ++rank) {
    const InlineProgram program = Compile(Pattern::kAllReduce, {Shape::kExchange, 8}, 4, rank);
    EXPECT_EQ(Count(program, Opcode::kSend), 3);
    EXPECT_EQ(Count(program, Opcode::kAwait), 3);
    EXPECT_EQ(Count(program, Opcode::kFree), 3);
    bool is_written = false;
    for (const Step& step : program.steps) {
      is_written |= step.dst == Place::Matrix();
      EXPECT_FALSE(step.opcode == Opcode::kSend && is_written) << rank;
    }
    EXPECT_TRUE(is_written);
  }
}

// Two ranks of a hypercube: what is sent stays a copy if the matrix changes before it is freed.
TEST(InlineProgram, UserMemoryThatChangesIsCopied) {
  Schedule schedule;
  ScheduleBuilder b;
  const int stream = b.AddStream("S", ChunkRole::kBufferedSend);
  const int received = b.AddStream("R", ChunkRole::kReceive);
  b.Copy(Place::New(stream), Place::Matrix());
  b.ReceiveAndAwait(1, received);
  b.Copy(Place::Matrix(), Place::Current(received));
  b.Free(received);
  b.Send(stream, 1);
  b.Free(stream);
  const InlineProgram program = CompileInline(b.Build(), {2, 0, 0, 1, 1, Config()});
  ASSERT_FALSE(program.steps.empty());
  EXPECT_TRUE(program.steps[0].dst == Place::New(stream));
  EXPECT_TRUE(program.steps.back().left == Place::Current(stream));
}

// Of eight ranks each sends seven messages before it receives one.
TEST(InlineProgram, SlotsMustBeFreeWhereTheCoreIsTooSmall) {
  EXPECT_TRUE(Compile(Pattern::kMultiReduce, {Shape::kCirculant, 0}, 4, 0).fits_core);
  const InlineProgram program = Compile(Pattern::kMultiReduce, {Shape::kCirculant, 0}, 8, 0);
  EXPECT_EQ(Count(program, Opcode::kSend), 7);
  EXPECT_FALSE(program.fits_core);
}

TEST(InlineProgram, BlocksMayBeLonger) {
  constexpr Topology kFlat{Shape::kTree, kFlatBranches};
  for (int rank = 0; rank < 4; ++rank) {
    EXPECT_EQ(Compile(Pattern::kAllToAll, {Shape::kIncreasingRings, 1}, 4, rank).most_bytes,
              rules::kMostInlineBlockBytes);
    EXPECT_EQ(Compile(Pattern::kGather, kFlat, 4, rank).most_bytes, rules::kMostInlineBlockBytes);
    EXPECT_EQ(Compile(Pattern::kScatter, kFlat, 4, rank).most_bytes, rules::kMostInlineBlockBytes);
    EXPECT_EQ(Compile(Pattern::kBroadcast, {Shape::kIncreasingRings, 1}, 4, rank).most_bytes,
              rules::kMostInlineCollectiveBytes);
  }
}

TEST(InlineProgram, SchedulesThatCutHaveNone) {
  EXPECT_TRUE(
      Compile(Pattern::kAllReduce, {Shape::kReduceScatterAllgather, 0}, 4, 0).steps.empty());
  EXPECT_TRUE(Compile(Pattern::kBroadcast, {Shape::kTwoTree, 0}, 4, 0).steps.empty());
}

}  // namespace
}  // namespace brigade
