#include "patterns/check/read_check.h"

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "patterns/catalogue/catalogue.h"

namespace brigade {
namespace {

CheckCase CaseOf(Pattern pattern, int size, bool decreasing = false) {
  CheckCase c;
  c.pattern = pattern;
  c.topology = pattern == Pattern::kAllReduce ? Topology{Shape::kReduceScatterAllgather, 0}
                                              : Topology{Shape::kIncreasingRings, 1};
  c.size = size;
  c.decreasing = decreasing;
  return c;
}

TEST(ReadCheckTest, EveryReadScheduleIsRightForAllGroups) {
  std::set<std::pair<Pattern, Shape>> proved;
  for (const CatalogueEntry& entry : Catalogue()) {
    if (entry.compile_reads == nullptr) continue;
    for (const Topology& topology : entry.topologies) {
      for (int size = 1; size <= 64; ++size) {
        if (!ReadsKeepOrder(entry.pattern, topology, size, /*commutes=*/true)) continue;
        for (const bool decreasing : {false, true}) {
          if (decreasing && !entry.multi) continue;
          CheckCase c = CaseOf(entry.pattern, size, decreasing);
          c.topology = topology;
          const Status status = CheckReads(c, CompileAllReads(c));
          EXPECT_TRUE(status.ok()) << entry.name << ", " << size << " ranks: " << status.message();
          proved.emplace(entry.pattern, topology.shape);
          c.separate_source = entry.pattern == Pattern::kAllReduce && size > 1;
          const Status apart = CheckReads(c, CompileAllReads(c));
          EXPECT_TRUE(apart.ok()) << size << " ranks with sources: " << apart.message();
        }
      }
    }
  }
  EXPECT_EQ(proved.size(), 8u) << "two topologies of each of four patterns";
}

void ExpectWrong(const CheckCase& c, const std::vector<ReadSchedule>& schedules,
                 const std::string& text) {
  const Status status = CheckReads(c, schedules);
  EXPECT_NE(status.message().find(text), std::string::npos) << status.message();
}

TEST(ReadCheckTest, ARankThatDoesNotWaitForReadersIsFound) {
  for (const Pattern pattern :
       {Pattern::kMultiBroadcast, Pattern::kMultiReduce, Pattern::kAllReduce, Pattern::kAllToAll}) {
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

TEST(ReadCheckTest, AReadBeforeTheSecondExposureIsFound) {
  const CheckCase c = CaseOf(Pattern::kAllReduce, 3);
  std::vector<ReadSchedule> schedules = CompileAllReads(c);
  // Rank 1 reads a share before the second exposure, while rank 2 combines it.
  std::vector<ReadStep>& steps = schedules[1].steps;
  steps.insert(steps.begin() + 1, {ReadStep::kRead, 2});
  ExpectWrong(c, schedules, "rank 1: reads what may not be written yet");
}

TEST(ReadCheckTest, AnotherOrderIsFound) {
  const CheckCase c = CaseOf(Pattern::kMultiReduce, 4);
  std::vector<ReadSchedule> schedules = CompileAllReads(c);
  std::swap(schedules[3].order[0], schedules[3].order[1]);
  ExpectWrong(c, schedules, "rank 3: combines out of order");
  schedules = CompileAllReads(c);
  schedules[3].order.resize(2);
  ExpectWrong(c, schedules, "rank 3: does not combine its own block of all ranks");
  schedules[3].order.push_back(3);
  ExpectWrong(c, schedules, "rank 3: combines of no other rank");
}

TEST(ReadCheckTest, AThirdExposureIsFound) {
  const CheckCase c = CaseOf(Pattern::kAllReduce, 2);
  std::vector<ReadSchedule> schedules = CompileAllReads(c);
  schedules[0].steps.back() = {ReadStep::kExpose};
  ExpectWrong(c, schedules, "exposes too often");
}

TEST(ReadCheckTest, AReadOfTheWrongBlockIsFound) {
  const CheckCase c = CaseOf(Pattern::kMultiBroadcast, 4);
  std::vector<ReadSchedule> schedules = CompileAllReads(c);
  schedules[0].steps[1].block = 2;
  ExpectWrong(c, schedules, "block 1");
  schedules[0].steps[1].block = 0;
  ExpectWrong(c, schedules, "reads of no other rank");
}

}  // namespace
}  // namespace brigade
