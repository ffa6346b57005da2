#include "patterns/schedule/cursor.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "patterns/schedule/schedule.h"
#include "patterns/schedule/shares.h"

namespace brigade {
namespace {

Step Of(int block, int lead) {
  Step step;
  step.block = block;
  step.lead = lead;
  return step;
}

// Returns pairs of a step and the segment on which it works, in order.
std::vector<std::pair<size_t, int64_t>> Walk(const Turns& turns, const std::vector<Step>& steps) {
  std::vector<std::pair<size_t, int64_t>> seen;
  Cursor at;
  for (const Step& step : steps) at.round = std::min<int64_t>(at.round, -step.lead);
  for (; at.SkipToExisting(turns, steps); ++at.step) {
    seen.emplace_back(at.step, turns.SegmentOf(steps[at.step], at.round));
  }
  EXPECT_FALSE(at.SkipToExisting(turns, steps)) << "goes on after the end";
  return seen;
}

using Seen = std::vector<std::pair<size_t, int64_t>>;

TEST(Cursor, RepeatsTheStepsForEverySegment) {
  Turns turns;
  turns.Set(Shares(), {3});
  EXPECT_EQ(Walk(turns, {Of(-1, 0), Of(-1, 0)}),
            (Seen{{0, 0}, {1, 0}, {0, 1}, {1, 1}, {0, 2}, {1, 2}}));
  EXPECT_EQ(Walk(turns, {}), Seen());
}

TEST(Cursor, StepsWithALeadComeRoundsEarlier) {
  Turns turns;
  turns.Set(Shares(), {2});
  EXPECT_EQ(Walk(turns, {Of(-1, 0), Of(-1, 1)}), (Seen{{1, 0}, {0, 0}, {1, 1}, {0, 1}}));
}

TEST(Cursor, SkipsStepsOfBlocksThatHaveNoMoreSegments) {
  Turns turns;
  turns.Set(Shares(), {0, 2, 0, 1});
  EXPECT_EQ(Walk(turns, {Of(0, 0), Of(1, 0), Of(2, 0)}), (Seen{{0, 0}, {2, 0}, {0, 1}}));
  EXPECT_EQ(turns.rounds(), 2);
}

TEST(Cursor, TheLastSegmentHasItsTurnWhenTheOthersAreThrough) {
  Turns turns;
  turns.Set(Shares::Segments(2, /*backwards=*/false), {0, 1, 2, 1});
  EXPECT_EQ(Walk(turns, {Of(0, 0), Of(1, 0), Of(2, 0)}), (Seen{{1, 0}, {0, 0}, {1, 1}, {2, 0}}));
}

}  // namespace
}  // namespace brigade
