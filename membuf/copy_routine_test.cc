#include "membuf/copy_routine.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "gtest/gtest.h"

namespace brigade {
namespace {

TEST(CopyTable, RowsAscendAndCoverEveryLength) {
  size_t bound = 0;
  for (const CopyTableRow& row : kCopyTable) {
    EXPECT_LT(bound, row.up_to_run_bytes);
    bound = row.up_to_run_bytes;
  }
  EXPECT_EQ(bound, SIZE_MAX);
  EXPECT_EQ(CopyRowFor(8).name, std::string("elements<8>"));
  EXPECT_EQ(CopyRowFor(SIZE_MAX).name, std::string("memcpy"));
}

// Gathers and scatters with the routine of every length: each run arrives, nothing else changes.
TEST(CopyTable, EveryLengthIsCopiedExactly) {
  constexpr size_t kRuns = 7;
  for (size_t run_bytes = 1; run_bytes <= 1200; ++run_bytes) {
    SCOPED_TRACE(testing::Message() << run_bytes << " by " << CopyRowFor(run_bytes).name);
    const size_t stride = run_bytes + 5;
    std::vector<std::byte> strided(kRuns * stride - 5);
    for (size_t k = 0; k < strided.size(); ++k) strided[k] = static_cast<std::byte>(k * 7 + 1);
    std::vector<std::byte> packed(kRuns * run_bytes);
    CopyRowFor(run_bytes).routine({packed.data(), run_bytes}, {strided.data(), stride}, run_bytes,
                                  kRuns);
    std::vector<std::byte> expected(strided.size());
    for (size_t r = 0; r < kRuns; ++r) {
      const std::byte* run = strided.data() + r * stride;
      ASSERT_TRUE(std::equal(run, run + run_bytes, packed.data() + r * run_bytes)) << "run " << r;
      std::copy(run, run + run_bytes, expected.data() + r * stride);
    }
    std::vector<std::byte> scattered(strided.size());
    CopyRowFor(run_bytes).routine({scattered.data(), stride}, {packed.data(), run_bytes}, run_bytes,
                                  kRuns);
    ASSERT_EQ(scattered, expected);
  }
}

}  // namespace
}  // namespace brigade
