#include "blacs_shim/statistics.h"

#include "gtest/gtest.h"

namespace brigade {
namespace blacs {
namespace {

constexpr Routine kDgebs2d{"dgebs2d", Verb::kGebs2d, ElementType::kDouble};
constexpr Routine kIgebs2d{"igebs2d", Verb::kGebs2d, ElementType::kInt32};
constexpr Routine kZgamn2d{"zgamn2d", Verb::kGamn2d, ElementType::kComplexDouble};
constexpr Routine kBarrier{"blacs_barrier", Verb::kBarrier, ElementType::kInt32};

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
