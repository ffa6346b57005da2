#include "windows/core/access_range.h"

#include <cstdint>

#include "gtest/gtest.h"

namespace brigade {
namespace {

MemberAttributes Member(uint64_t bytes, int64_t unit) {
  MemberAttributes member;
  member.bytes = bytes;
  member.unit = unit;
  return member;
}

TEST(DescribeAccessOutside, SaysHowFarBeyondAnAccessEnds) {
  EXPECT_EQ(DescribeAccessOutside(Member(1 << 20, 8), 1, 5, 0, 1 << 20),
            "the access to bytes 40 to 1048615 of rank 1's window, which has 1048576 bytes, ends "
            "40 bytes beyond the window: displacement 5, in units of 8 bytes");
  EXPECT_EQ(DescribeAccessOutside(Member(0, 1), 3, 0, 0, 1),
            "the access to bytes 0 to 0 of rank 3's window, which has 0 bytes, ends 1 byte beyond "
            "the window: displacement 0, in units of 1 byte");
}

TEST(DescribeAccessOutside, SaysHowFarBeforeAnAccessBegins) {
  EXPECT_EQ(DescribeAccessOutside(Member(64, 8), 0, -1, 0, 8),
            "the access to bytes -8 to -1 of rank 0's window, which has 64 bytes, begins 8 bytes "
            "before the window: displacement -1, in units of 8 bytes");
  EXPECT_EQ(DescribeAccessOutside(Member(64, 8), 0, 0, -4, 80),
            "the access to bytes -4 to 79 of rank 0's window, which has 64 bytes, begins 4 bytes "
            "before the window and ends 16 bytes beyond the window: displacement 0, in units of 8 "
            "bytes");
}

// The bytes are inside, by the datatype's lower bound.
TEST(DescribeAccessOutside, NamesADisplacementOutside) {
  EXPECT_EQ(DescribeAccessOutside(Member(64, 8), 0, -1, 8, 16),
            "the access to bytes 0 to 7 of rank 0's window, which has 64 bytes, starts from a "
            "displacement outside the window: displacement -1, in units of 8 bytes");
}

TEST(DescribeAccessOutside, CountsNoFurtherThanAnIntegerDoes) {
  for (const int64_t displacement : {INT64_MAX, INT64_MIN}) {
    EXPECT_EQ(DescribeAccessOutside(Member(64, 8), 2, displacement, 0, 8),
              "the access to 8 bytes of rank 2's window, which has 64 bytes, starts from a "
              "displacement outside the window: displacement " +
                  std::to_string(displacement) + ", in units of 8 bytes");
  }
  EXPECT_NE(DescribeAccessOutside(Member(64, 1), 2, INT64_MIN, 0, 8).find("8 bytes of"),
            std::string::npos);
}

TEST(DescribeAccessOutside, NamesAnAddressThatIsNone) {
  EXPECT_EQ(DescribeAccessOutside(Member(kProcessBytes, 1), 2, 0, 0, 8),
            "the access to 8 bytes at address 0 of rank 2 reaches no memory: displacements in this "
            "window are addresses of the target");
}

}  // namespace
}  // namespace brigade
