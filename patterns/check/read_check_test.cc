#include "patterns/check/read_check.h"

#include <algorithm>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "patterns/catalogue/catalogue.h"

namespace brigade {
namespace {

CheckCase CaseOf(Pattern pattern, int size, bool decreasing = false) {
  CheckCase c;
  c.pattern = pattern;
  c.topology = pattern == Pattern::kAllReduce ? Topology{Shape::kDealt, 0}
                                              : Topology{Shape::kIncreasingRings, 1};
  c.size = size;
  c.decreasing = decreasing;
  return c;
}

TEST(ReadCheckTest, EveryReadScheduleIsRightForAllGroups) {
  int entries = 0;
  for (const CatalogueEntry& entry : Catalogue()) {
    if (entry.compile_reads == nullptr) continue;
    ++entries;
    for (int size = 1; size <= 64; ++size) {
      for (const bool decreasing : {false, true}) {
        if (decreasing && !entry.multi) continue;
        const CheckCase c = CaseOf(entry.pattern, size, decreasing);
        EXPECT_TRUE(ReadsKeepOrder(c.pattern, c.topology, size));
        const Status status = CheckReads(c, CompileAllReads(c));
        EXPECT_TRUE(status.ok()) << entry.name << ", " << size << " ranks: " << status.message();
      }
    }
  }
  EXPECT_EQ(entries, 3);
}

void ExpectWrong(const CheckCase& c, const std::vector<ReadSchedule>& schedules,
                 const std::string& text) {
  const Status status = CheckReads(c, schedules);
  EXPECT_NE(status.message().find(text), std::string::npos) << status.message();
}

TEST(ReadCheckTest, ARankThatDoesNotWaitForReadersIsFound) {
  for (const Pattern pattern :
       {Pattern::kMultiBroadcast, Pattern::kMultiReduce, Pattern::kAllReduce}) {
    const CheckCase c = CaseOf(pattern, 4);
    std::vector<ReadSchedule> schedules = CompileAllReads(c);
    for (ReadSchedule& schedule : schedules) schedule.steps.pop_back();
    ExpectWrong(c, schedules, "may be reading");
    schedules = CompileAllReads(c);
    schedules[2].steps.pop_back();
    ExpectWrong(c, schedules, "waits for ever");
  }
}

TEST(ReadCheckTest, AMissingExposureIsFound) {
  const CheckCase c = CaseOf(Pattern::kAllReduce, 3);
  std::vector<ReadSchedule> schedules = CompileAllReads(c);
  std::vector<ReadStep>& steps = schedules[1].steps;
  steps.erase(steps.begin() + 2);  // its sum may be read before it is there
  ExpectWrong(c, schedules, "may not be written yet");
  steps.erase(steps.begin());
  ExpectWrong(c, schedules, "waits for ever");
}

TEST(ReadCheckTest, AWriteToWhatOthersReadIsFound) {
  const CheckCase c = CaseOf(Pattern::kAllReduce, 3);
  std::vector<ReadSchedule> schedules = CompileAllReads(c);
  // Rank 1 combines the share of rank 0, too.
  std::vector<ReadStep>& steps = schedules[1].steps;
  steps.insert(steps.begin() + 2, {ReadStep::kCombine, -1, 0});
  EXPECT_FALSE(CheckReads(c, schedules).ok());
}

TEST(ReadCheckTest, AnotherOrderIsFound) {
  const CheckCase c = CaseOf(Pattern::kMultiReduce, 4);
  std::vector<ReadSchedule> schedules = CompileAllReads(c);
  std::swap(schedules[3].order[0], schedules[3].order[1]);
  ExpectWrong(c, schedules, "rank 3: combines block 3 out of order");
  schedules[3].order.resize(3);
  EXPECT_FALSE(CheckReads(c, schedules).ok());
}

TEST(ReadCheckTest, AReadOfTheWrongBlockIsFound) {
  const CheckCase c = CaseOf(Pattern::kMultiBroadcast, 4);
  std::vector<ReadSchedule> schedules = CompileAllReads(c);
  schedules[0].steps[1].block = 2;
  ExpectWrong(c, schedules, "rank 1: writes what rank 0 may be reading");
}

}  // namespace
}  // namespace brigade
