#include "blacs_shim/statistics.h"

#include "gtest/gtest.h"
#include "membuf/version.h"
#include "nlohmann/json.hpp"

namespace brigade {
namespace blacs {
namespace {

constexpr Routine kDgebs2d{"dgebs2d", Verb::kGebs2d, Element::kDouble};
constexpr Routine kIgebs2d{"igebs2d", Verb::kGebs2d, Element::kInt32};
constexpr Routine kZgamn2d{"zgamn2d", Verb::kGamn2d, Element::kComplexDouble};
constexpr Routine kBarrier{"blacs_barrier", Verb::kBarrier, Element::kInt32};

TEST(StatisticsTest, CountsPerRoutineAndTopology) {
  Statistics statistics;
  statistics.Add(kDgebs2d, 'i', 100, 2000000, 500000);
  statistics.Add(kDgebs2d, 'I', 11, 1000000, 0);
  statistics.Add(kDgebs2d, ' ', 7, 0, 0);
  statistics.Add(kIgebs2d, 'I', 5, 0, 0);
  statistics.Add(kZgamn2d, 'T', 3, 0, 0);
  statistics.Add(kBarrier, ' ', 0, 0, 0);
  EXPECT_EQ(statistics.ToString("of rank 3"),
            "brigade statistics of rank 3\n"
            "brigade routine        top        calls            bytes       time s    waiting s\n"
            "brigade igebs2d        'I'            1                5     0.000000     0.000000\n"
            "brigade dgebs2d        ' '            1                7     0.000000     0.000000\n"
            "brigade dgebs2d        'I'            2              111     0.003000     0.000500\n"
            "brigade zgamn2d        'T'            1                3     0.000000     0.000000\n"
            "brigade blacs_barrier  ' '            1                0     0.000000     0.000000\n"
            "brigade staging high water 0 bytes, overflow high water 0 bytes in 0 blocks\n");
}

TEST(StatisticsTest, JsonHasSizes) {
  StagingStatistics staging;
  staging.high_water_bytes = 65536;
  Statistics statistics;
  statistics.Add(kDgebs2d, 'i', 8, 3000000000, 500000000);
  statistics.Add(kDgebs2d, 'I', 15, 0, 0);
  statistics.Add(kDgebs2d, 'I', 16, 0, 0);
  statistics.Add(kBarrier, ' ', 0, 0, 0);
  statistics.Add(kBarrier, ' ', uint64_t{1} << 60, 0, 0);
  statistics.SetMemory(staging, OverflowStatistics());
  using Json = nlohmann::ordered_json;
  EXPECT_EQ(Json::parse(statistics.ToJson(3, 4)), Json::parse(R"({
    "brigade": ")" BRIGADE_VERSION R"(", "ranks": 4, "rank": 3,
    "routines": [
      {"routine": "dgebs2d", "topology": "I", "calls": 3, "bytes": 39, "seconds": 3.0,
       "waiting_seconds": 0.5, "sizes": [{"from_bytes": 8, "calls": 2}, {"from_bytes": 16, "calls": 1}]},
      {"routine": "blacs_barrier", "topology": " ", "calls": 2, "bytes": 1152921504606846976,
       "seconds": 0.0, "waiting_seconds": 0.0,
       "sizes": [{"from_bytes": 0, "calls": 1}, {"from_bytes": 70368744177664, "calls": 1}]}],
    "memory": {"staging_high_water_bytes": 65536, "overflow_high_water_bytes": 0,
               "overflow_blocks": 0}})"));
}

TEST(StatisticsTest, ReportsTheTimeInMpiIfItWasCounted) {
  Statistics statistics;
  EXPECT_EQ(statistics.ToString("").find("inside MPI"), std::string::npos);
  statistics.SetMpiTime({12, 1500000000});
  EXPECT_NE(statistics.ToString("").find("brigade inside MPI 1.500000 s in 12 calls of its own\n"),
            std::string::npos);
  const auto json = nlohmann::ordered_json::parse(statistics.ToJson(0, 1));
  EXPECT_EQ(json["mpi"], nlohmann::ordered_json::parse(R"({"calls": 12, "seconds": 1.5})"));
}

TEST(StatisticsTest, ReportsUnfreedContextsAndMemoryOfAnAbortedJob) {
  StagingStatistics staging;
  staging.in_use_bytes = 32768;
  OverflowStatistics overflow;
  overflow.in_use_bytes = 800;
  Statistics statistics;
  statistics.SetMemory(staging, overflow);
  EXPECT_EQ(statistics.ToString("").find("left"), std::string::npos);
  statistics.SetAborted(2);
  EXPECT_NE(statistics.ToString("").find("brigade left 2 contexts, 32768 bytes of staging memory "
                                         "and 800 of overflow memory in use\n"),
            std::string::npos);
  const auto json = nlohmann::ordered_json::parse(statistics.ToJson(1, 2));
  EXPECT_EQ(json["aborted"], true);
  EXPECT_EQ(json["left"], nlohmann::ordered_json::parse(
                              R"({"contexts": 2, "staging_bytes": 32768, "overflow_bytes": 800})"));
}

TEST(StatisticsTest, ReportsMemory) {
  StagingStatistics staging;
  staging.high_water_bytes = 65536;
  OverflowStatistics overflow;
  overflow.high_water_bytes = 1 << 20;
  overflow.blocks = 32;
  Statistics statistics;
  statistics.SetMemory(staging, overflow);
  EXPECT_NE(statistics.ToString("").find("brigade staging high water 65536 bytes, overflow high "
                                         "water 1048576 bytes in 32 blocks\n"),
            std::string::npos);
}

}  // namespace
}  // namespace blacs
}  // namespace brigade
