#include "patterns/schedule/message_cut.h"

#include <vector>

#include "gtest/gtest.h"

namespace brigade {
namespace {

SegmentSettings Settings() {
  SegmentSettings settings;
  settings.chunk_bytes = 4096;
  settings.most_chunks = 4;
  return settings;
}
const size_t kOneChunk = 4096 - kHeaderRoom;

struct Cutting {
  explicit Cutting(const CutRule& rule, const Schedule& of, size_t matrix_bytes,
                   const std::vector<size_t>& block_bytes = {})
      : schedule(of), status(cut.Cut(rule, schedule, matrix_bytes, block_bytes)) {}

  const Schedule schedule;
  MessageCut cut;
  Status status;
};

// The segments of `block` follow each other.
void ExpectCovers(const MessageCut& cut, int block, size_t begin, size_t bytes) {
  size_t end = begin;
  for (int64_t i = 0; i < cut.turns().Segments(block); ++i) {
    const SegmentPlan::Range range = cut.RangeOf(block, i);
    EXPECT_EQ(range.offset, end);
    EXPECT_LE(range.bytes, cut.segment_bytes());
    end += range.bytes;
  }
  EXPECT_EQ(end, begin + bytes);
  EXPECT_EQ(cut.TotalBytes(block), bytes);
}

TEST(MessageCut, AnUncutMatrixIsCutByThePlanOfEagerExecutors) {
  const SegmentSettings settings = Settings();
  CutRule rule{settings};
  rule.elem_bytes = 16;
  rule.wire_bytes = 20;
  rule.ranks = 8;
  for (const size_t bytes : {size_t{0}, size_t{16}, size_t{3200}, size_t{160000}}) {
    const SegmentPlan plan = PlanLongest(rule, Shares(), bytes);
    Cutting cutting(rule, Schedule(), bytes);
    ASSERT_TRUE(cutting.status.ok());
    const MessageCut& cut = cutting.cut;
    EXPECT_EQ(cut.turns().rounds(), plan.Count());
    EXPECT_EQ(cut.segments(), plan.Count());
    EXPECT_EQ(plan.IsOneSegment(), plan.Count() == 1);
    EXPECT_EQ(cut.longest_bytes(), bytes);
    EXPECT_EQ(cut.segment_bytes(), std::min(plan.segment_bytes, bytes));
    ExpectCovers(cut, -1, 0, bytes);
    EXPECT_EQ(cut.Digest(-1), 0);
  }
}

TEST(MessageCut, WantedBytesCountForAllButPairs) {
  const SegmentSettings settings = Settings();
  CutRule rule{settings};
  rule.ranks = 2;
  rule.wanted_bytes = 1000;
  EXPECT_EQ(PlanLongest(rule, Shares(), 100000).segment_bytes, 1000u);
  EXPECT_EQ(PlanLongest(rule, Shares::Halves(2), 100000).segment_bytes, 1000u);
  rule.pair = true;
  EXPECT_EQ(PlanLongest(rule, Shares(), 100000).segment_bytes, MostPayload(settings));
}

TEST(MessageCut, AReceiveKnowsOneSegmentUntilItHasItsSendersPlan) {
  SegmentSettings settings = Settings();
  settings.eager_bytes = 1000;
  CutRule rule{settings};
  rule.pair = true;
  rule.ranks = 2;
  Cutting cutting(rule, Schedule(), 1 << 20);
  cutting.cut.AwaitPlan();
  EXPECT_FALSE(cutting.cut.plan_known());
  EXPECT_EQ(cutting.cut.turns().rounds(), 1);
  EXPECT_EQ(cutting.cut.segments(), 1);
  const SegmentPlan plan = PlanMessage(settings, 50000);
  cutting.cut.SetPlan(plan);
  EXPECT_TRUE(cutting.cut.plan_known());
  EXPECT_EQ(cutting.cut.turns().rounds(), plan.Count());
  EXPECT_EQ(cutting.cut.segments(), plan.Count());
  ExpectCovers(cutting.cut, -1, 0, 50000);
}

TEST(MessageCut, BlocksShareTheirSegmentLength) {
  const SegmentSettings settings = Settings();
  CutRule rule{settings};
  rule.multi = true;
  rule.ranks = 3;
  Cutting cutting(rule, Schedule(), 7, {100, 0, 20000});
  const MessageCut& cut = cutting.cut;
  EXPECT_EQ(cut.longest_bytes(), 20000u);
  EXPECT_EQ(cut.turns().Segments(-1), 0) << "the matrix is no message";
  EXPECT_EQ(cut.turns().Segments(0), 1);
  EXPECT_EQ(cut.turns().Segments(1), 1) << "an empty one is a segment, too";
  EXPECT_EQ(cut.turns().rounds(), cut.turns().Segments(2));
  EXPECT_EQ(cut.segments(), 2 + cut.turns().Segments(2));
  ExpectCovers(cut, 0, 0, 100);
  ExpectCovers(cut, 1, 0, 0);
  ExpectCovers(cut, 2, 0, 20000);
  EXPECT_EQ(PlanLongest(rule, Shares(), 20000).segment_bytes, cut.segment_bytes());
}

// No block waits for a relay of another rank to be through with it.
TEST(MessageCut, BlocksAreNotCutForARowOfRelays) {
  SegmentSettings settings = Settings();
  settings.segment_cost_bytes = 100;
  CutRule rule{settings};
  rule.ranks = 50;
  const size_t of_matrix = PlanLongest(rule, Shares(), 400000).segment_bytes;
  rule.multi = true;
  EXPECT_GT(PlanLongest(rule, Shares(), 400000).segment_bytes, of_matrix);
}

// Ranks that do not know the lengths of other blocks cut a block alike.
TEST(MessageCut, EachBlockMayBeCutByItsOwnLength) {
  SegmentSettings settings = Settings();
  settings.most_chunks = 8;
  CutRule rule{settings};
  rule.multi = rule.each_alone = true;
  rule.ranks = 2;
  const std::vector<size_t> bytes = {10000, 0, 100000, 10000};
  Cutting cutting(rule, Schedule(), 0, bytes);
  Cutting other(rule, Schedule(), 0, {10000, 200});
  const MessageCut& cut = cutting.cut;
  EXPECT_EQ(cut.turns().Segments(0), PlanLongest(rule, Shares(), 10000).Count());
  EXPECT_EQ(cut.turns().Segments(0), cut.turns().Segments(3));
  EXPECT_EQ(cut.turns().Segments(0), other.cut.turns().Segments(0));
  EXPECT_EQ(cut.RangeOf(0, 0).bytes, other.cut.RangeOf(0, 0).bytes);
  for (int q = 0; q < 4; ++q) ExpectCovers(cut, q, 0, bytes[static_cast<size_t>(q)]);
}

TEST(MessageCut, SharesFollowEachOtherInTheMatrix) {
  const SegmentSettings settings = Settings();
  CutRule rule{settings};
  rule.elem_bytes = rule.wire_bytes = 8;
  rule.ranks = 8;
  Schedule schedule;
  schedule.shares = Shares::Segments(3, /*backwards=*/false);
  const size_t elems = 12345;
  Cutting cutting(rule, schedule, elems * 8);
  const MessageCut& cut = cutting.cut;
  size_t begin = 0;
  std::vector<int64_t> segments;
  for (int share = 0; share < 4; ++share) {
    const size_t end = ShareBegin(schedule.shares, elems, 8, share + 1) * 8;
    ExpectCovers(cut, share, begin, end - begin);
    begin = end;
    segments.push_back(cut.turns().Segments(share));
  }
  EXPECT_EQ(begin, elems * 8);
  EXPECT_EQ(cut.longest_bytes(), LongestShare(schedule.shares, elems, 8) * 8);
  EXPECT_EQ(cut.TotalBytes(-1), elems * 8) << "what the first header says";
  // Their first rounds are those of FirstRounds, and the last block comes last.
  const std::vector<int64_t> first = FirstRounds(schedule.shares, segments);
  EXPECT_EQ(cut.turns().rounds(), first[3] + segments[3]);
  Step step;
  step.block = 3;
  EXPECT_EQ(cut.turns().SegmentOf(step, first[3]), 0);
}

class Runs : public testing::Test {
 protected:
  Runs() : settings_(Settings()), rule_{settings_} {
    rule_.multi = true;
    rule_.elem_bytes = rule_.wire_bytes = 8;
    rule_.ranks = 4;
    schedule_.runs = {{1, 1}, {3, 2}};
  }
  SegmentSettings settings_;
  CutRule rule_;
  Schedule schedule_;
};

TEST_F(Runs, HoldASegmentOfEachBlockThatHasOne) {
  Cutting cutting(rule_, schedule_, 0, {24000, 80, 160, 8000});
  const MessageCut& cut = cutting.cut;
  ASSERT_TRUE(cut.in_runs());
  const size_t most = MostPayload(settings_) / 2 / 8 * 8;  // of a block in a message
  EXPECT_EQ(cut.TotalBytes(0), 80u);
  EXPECT_EQ(cut.TotalBytes(1), 32000u) << "blocks 3 and 0";
  EXPECT_EQ(cut.RangeOf(0, 0).bytes, 80u);
  EXPECT_EQ(cut.RangeOf(1, 0).bytes, most + 8000);
  EXPECT_EQ(cut.RangeOf(1, 1).bytes, most) << "block 3 has one segment";
  EXPECT_EQ(cut.RunBytes(3, 1, 0), 8000u) << "a part of a run";
  EXPECT_EQ(cut.turns().Segments(1), cut.PlanInRun(0).Count());
  int64_t segments = 0;
  for (int q = 0; q < 4; ++q) segments += cut.PlanInRun(q).Count();
  EXPECT_EQ(cut.segments(), segments);
  size_t bytes = 0;
  for (int64_t i = 0; i < cut.turns().Segments(1); ++i) bytes += cut.RangeOf(1, i).bytes;
  EXPECT_EQ(bytes, cut.TotalBytes(1));
}

// Their bytes are then not added up one by one.
TEST_F(Runs, TakeEqualBytesOfEqualBlocks) {
  const Cutting cutting(rule_, schedule_, 0, std::vector<size_t>(4, 24000));
  const MessageCut& cut = cutting.cut;
  const SegmentPlan& plan = cut.PlanInRun(2);
  ASSERT_GT(plan.Count(), 1);
  for (int64_t i = 0; i < plan.Count(); ++i) {
    EXPECT_EQ(cut.RunBytes(1, 3, i), 3 * plan.RangeOf(i).bytes);
    EXPECT_EQ(cut.RangeOf(1, i).bytes, 2 * plan.RangeOf(i).bytes);
  }
  EXPECT_EQ(cut.RunBytes(1, 3, plan.Count()), 0u);
}

// The digest in a header assigns lengths to blocks.
TEST_F(Runs, DigestsTellLengthsApart) {
  const uint16_t one = Cutting(rule_, schedule_, 0, {8, 80, 160, 16}).cut.Digest(1);
  EXPECT_EQ(one, Cutting(rule_, schedule_, 0, {8, 8, 8, 16}).cut.Digest(1)) << "of others";
  EXPECT_NE(one, Cutting(rule_, schedule_, 0, {16, 80, 160, 8}).cut.Digest(1));
  EXPECT_NE(one, Cutting(rule_, schedule_, 0, {0, 80, 160, 24}).cut.Digest(1));
}

TEST_F(Runs, NeedRoomForAnElementOfEach) {
  settings_.chunk_bytes = kHeaderRoom + 12;
  settings_.most_chunks = 1;
  const Cutting cutting(rule_, schedule_, 0, {8, 8, 8, 8});
  EXPECT_EQ(cutting.status.code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(SegmentBytesTogether(rule_, 2, 100), 0u);
  EXPECT_EQ(SegmentBytesTogether(rule_, 1, 100), 8u);
}

TEST_F(Runs, ACutForgetsTheOneBefore) {
  Cutting cutting(rule_, schedule_, 0, {24000, 80, 160, 8000});
  const Schedule uncut;
  CutRule rule{settings_};
  rule.ranks = 1;
  ASSERT_TRUE(cutting.cut.Cut(rule, uncut, kOneChunk, {}).ok());
  EXPECT_FALSE(cutting.cut.in_runs());
  EXPECT_EQ(cutting.cut.segments(), 1);
  EXPECT_EQ(cutting.cut.Digest(-1), 0);
  ExpectCovers(cutting.cut, -1, 0, kOneChunk);
}

}  // namespace
}  // namespace brigade
