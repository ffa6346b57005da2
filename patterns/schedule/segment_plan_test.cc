#include "patterns/schedule/segment_plan.h"

#include <algorithm>

#include "gtest/gtest.h"
#include "patterns/schedule/schedule.h"
#include "patterns/schedule/shares.h"

namespace brigade {
namespace {

TEST(SegmentPlan, RangesCoverTheMessageOnce) {
  const SegmentSettings settings = SegmentSettingsFor(4096, 1 << 20, 16384);
  for (const size_t total : {size_t{1}, size_t{8}, size_t{4000}, size_t{16320}, size_t{16321 * 8},
                             (size_t{1} << 33) + 24}) {
    for (const int ranks : {1, 8}) {
      const SegmentPlan plan = PlanSegments(settings, total, 1, 1, ranks);
      size_t covered = 0;
      const int64_t count = plan.Count();
      for (int64_t i = 0; i < std::min<int64_t>(count, 1000); ++i) {
        EXPECT_EQ(plan.RangeOf(i).offset, covered);
        covered += plan.RangeOf(i).bytes;
        EXPECT_LE(ChunksFor(settings, plan.RangeOf(i).bytes), settings.most_chunks);
      }
      const SegmentPlan::Range last = plan.RangeOf(count - 1);
      EXPECT_EQ(last.offset + last.bytes, total);
      EXPECT_GT(last.bytes, 0u);
    }
  }
}

TEST(SegmentPlan, SharesCoverTheMatrixOnce) {
  const SegmentSettings settings = SegmentSettingsFor(4096, 1 << 20, 4096);
  for (const int ranks : {1, 3, 8, 500}) {
    for (const size_t elems : {size_t{0}, size_t{5}, size_t{400}, size_t{100003}}) {
      size_t covered = 0;
      for (int q = 0; q < ranks; ++q) {
        const size_t begin = ShareBegin(elems, ranks, q);
        const size_t end = ShareBegin(elems, ranks, q + 1);
        EXPECT_LE(end - begin, elems / static_cast<size_t>(ranks) + 1);
        SegmentPlan plan = PlanSegments(settings, (end - begin) * 8, 8, 8, 2);
        plan.begin = begin * 8;
        for (int64_t i = 0; i < plan.Count(); ++i) {
          EXPECT_EQ(plan.RangeOf(i).offset, covered);
          covered += plan.RangeOf(i).bytes;
        }
      }
      EXPECT_EQ(covered, elems * 8);
    }
  }
}

TEST(SegmentPlan, WhereLinksAreSlowSegmentsAreEvenAndNotTooShort) {
  SegmentSettings settings = SegmentSettingsFor(32768, 4 << 20, 262144);
  settings.segment_cost_bytes = 1000;
  const auto segments = [&](size_t total, int ranks) {
    const SegmentPlan plan = PlanSegments(settings, total, 8, 8, ranks);
    const auto n = static_cast<size_t>(plan.Count());
    EXPECT_LT(n * plan.segment_bytes, total + n * 8)
        << total << " bytes";  // all as long as the last
    return n;
  };
  EXPECT_EQ(segments(20000, 8), 1u);
  EXPECT_EQ(segments(28000, 8), 2u);
  EXPECT_EQ(segments(140000, 8), 10u);
  // From here on what the relays add counts for more: 80 segments of 40000 bytes cost as much as
  // the 2 relays' 40000 bytes each.
  EXPECT_EQ(segments(3200000, 4), 80u);
  EXPECT_EQ(segments(3200000, 2), 57u);
}

// The second segment is long enough to wait for its place.
TEST(SegmentPlan, AHeaderThatGoesAheadMayBringTheFirstBytes) {
  SegmentSettings settings = SegmentSettingsFor(4096, 1 << 20, 16384);
  settings.eager_bytes = 1000;
  for (const size_t ahead_bytes : {size_t{0}, size_t{900}}) {
    settings.ahead_bytes = ahead_bytes;
    EXPECT_FALSE(PlanMessage(settings, 1000).header_ahead);
    for (const size_t total : {1001u, 1100u, 1500u, 3000u, 100000u}) {
      const SegmentPlan plan = PlanMessage(settings, total);
      EXPECT_TRUE(plan.header_ahead);
      EXPECT_LE(plan.RangeOf(0).bytes, ahead_bytes);
      size_t covered = 0;
      for (int64_t i = 0; i < plan.Count(); ++i) {
        EXPECT_EQ(plan.RangeOf(i).offset, covered);
        covered += plan.RangeOf(i).bytes;
      }
      EXPECT_EQ(covered, total);
      EXPECT_TRUE(plan.RangeOf(0).bytes == 0 || plan.RangeOf(1).bytes > 1000 + kHeaderBytes);
    }
    EXPECT_EQ(PlanMessage(settings, 100000).RangeOf(0).bytes, ahead_bytes / 64 * 64);
  }
  SegmentSettings small = SegmentSettingsFor(512, 1 << 20, 512);
  small.eager_bytes = 1000;
  small.ahead_bytes = 900;
  EXPECT_LE(PlanMessage(small, 100000).RangeOf(0).bytes, MostPayload(small));
}

TEST(SegmentPlan, AnEmptyMessageIsOneSegment) {
  const SegmentPlan plan = PlanSegments(SegmentSettingsFor(4096, 1 << 20, 4096), 0, 8, 8, 1);
  EXPECT_EQ(plan.Count(), 1);
  EXPECT_EQ(plan.RangeOf(0).bytes, 0u);
}

TEST(SegmentPlan, SegmentsHoldWholeElementsWithTheirLocations) {
  const SegmentSettings settings = SegmentSettingsFor(4096, 1 << 20, 4096);
  const SegmentPlan plan = PlanSegments(settings, 16 * 10000, 16, 20, 1);
  EXPECT_EQ(plan.segment_bytes % 16, 0u);
  EXPECT_LE(plan.segment_bytes / 16 * 20 + kHeaderRoom, 4096u);
}

TEST(SegmentPlan, TheCoreOfEveryScheduleTakesHalfOfThePoolAtMost) {
  for (const size_t chunks : {6, 7, 12, 13, 24, 47, 48, 64, 1000}) {
    const SegmentSettings settings = SegmentSettingsFor(32768, chunks * 32768, 131072);
    if (settings.most_chunks > 1) {
      EXPECT_LE(2 * CoreChunks(settings), static_cast<int>(chunks));
    }
    EXPECT_LE(settings.most_chunks, 4);
  }
  EXPECT_EQ(SegmentSettingsFor(32768, 2 << 20, 131072).most_chunks, 4);
}

TEST(SegmentPlan, PairsHaveTheLongerSegmentsThatTheirOneSlotAllows) {
  for (const size_t chunks : {1, 6, 7, 12, 13, 24, 47, 48, 64, 1000}) {
    const SegmentSettings settings = SegmentSettingsFor(32768, chunks * 32768, 262144);
    const SegmentSettings pairs = OfPairs(settings);
    EXPECT_GE(pairs.most_chunks, settings.most_chunks);
    EXPECT_LE(pairs.most_chunks, 8);
    EXPECT_LE(pairs.most_chunks, kMinSlots * settings.most_chunks);
    if (pairs.most_chunks > settings.most_chunks) {
      EXPECT_LE(pairs.most_chunks, static_cast<int>(chunks) - CoreChunks(settings));
    }
  }
  EXPECT_EQ(SegmentSettingsFor(32768, 2 << 20, 262144).most_chunks, 5);
  EXPECT_EQ(SegmentSettingsFor(32768, 2 << 20, 262144).pair_chunks, 8);
}

TEST(SegmentPlan, LongMessagesGoInWholeSegments) {
  SegmentSettings settings = OfPairs(SegmentSettingsFor(32768, 2 << 20, 262144));
  settings.write_unit_bytes = 65088;
  EXPECT_EQ(PlanMessage(settings, 1 << 20).segment_bytes, size_t{4 * 65088});
  settings.most_chunks = 3;  // a third would be lost
  EXPECT_EQ(PlanMessage(settings, 1 << 20).segment_bytes, MostPayload(settings));
}

// The remainder is no segment of its own.
TEST(SegmentPlan, OverlappedCopiesTakeNoMoreSegmentsThanNeeded) {
  SegmentSettings settings = SegmentSettingsFor(32768, 2 << 20, 32768);
  settings.overlap_bytes = 8192;
  for (const size_t total : {65535u, 65536u, 65537u, 100004u, 200007u}) {
    EXPECT_EQ(PlanMessage(settings, total).Count(), 8) << total;
  }
  EXPECT_EQ(PlanMessage(settings, 8193).Count(), 2);
}

}  // namespace
}  // namespace brigade
