#include "membuf/strided_layout.h"

#include <algorithm>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "membuf/naive_layout.h"
#include "test/support/stress.h"

namespace brigade {
namespace {

using Part = StridedLayout::Part;
using Diagonal = StridedLayout::Diagonal;

// Maximal runs of a list of memory offsets.
std::vector<StridedLayout::Run> RunsOf(const std::vector<size_t>& offsets, size_t begin) {
  std::vector<StridedLayout::Run> runs;
  for (size_t k = begin; k < offsets.size(); ++k) {
    if (k > begin && offsets[k] == offsets[k - 1] + 1) {
      ++runs.back().bytes;
    } else {
      runs.push_back({offsets[k], 1});
    }
  }
  return runs;
}

void ExpectCursorFrom(const StridedLayout& layout, const std::vector<size_t>& offsets,
                      size_t packed_offset) {
  StridedLayout::Cursor cursor(layout, packed_offset);
  for (const StridedLayout::Run& expected : RunsOf(offsets, packed_offset)) {
    const StridedLayout::Run run = cursor.Next();
    ASSERT_EQ(run.memory_offset, expected.memory_offset) << "from packed byte " << packed_offset;
    ASSERT_EQ(run.bytes, expected.bytes) << "from packed byte " << packed_offset;
    // In two steps where it can be: the rest of a run is a run.
    cursor.Advance(run.bytes / 2);
    ASSERT_EQ(cursor.Next().bytes, run.bytes - run.bytes / 2);
    ASSERT_EQ(cursor.Next().memory_offset, run.memory_offset + run.bytes / 2);
    cursor.Advance(run.bytes - run.bytes / 2);
  }
  ASSERT_EQ(cursor.Next().bytes, 0u);
}

// Blocks of at most `most` bytes cover [begin, begin + bytes) exactly, in order.
void ExpectBlocks(const StridedLayout& layout, const std::vector<size_t>& offsets, size_t begin,
                  size_t bytes, size_t most) {
  StridedLayout::Cursor cursor(layout, begin);
  size_t packed = begin;
  while (packed < begin + bytes) {
    const size_t max_bytes = std::min(begin + bytes - packed, most);
    const StridedLayout::RunBlock block = cursor.TakeBlock(max_bytes);
    ASSERT_GT(block.run_bytes * block.runs, 0u);
    ASSERT_LE(block.run_bytes * block.runs, max_bytes);
    for (size_t r = 0; r < block.runs; ++r) {
      for (size_t b = 0; b < block.run_bytes; ++b) {
        ASSERT_EQ(block.memory_offset + r * block.stride_bytes + b, offsets[packed++]);
      }
    }
  }
  const size_t left = RunsOf(offsets, packed).empty() ? 0 : RunsOf(offsets, packed)[0].bytes;
  ASSERT_EQ(cursor.Next().bytes, left);
}

// A range is contiguous if its first run holds all of it.
void ExpectContiguousRange(const StridedLayout& layout, const std::vector<size_t>& offsets,
                           size_t begin, size_t bytes) {
  size_t memory_offset = 0;
  const bool contiguous = layout.ContiguousRange(begin, bytes, &memory_offset);
  ASSERT_EQ(contiguous, bytes == 0 || bytes <= RunsOf(offsets, begin)[0].bytes);
  if (contiguous && bytes > 0) {
    ASSERT_EQ(memory_offset, offsets[begin]);
  }
}

void ExpectAgrees(const LayoutShape& shape, const std::vector<std::pair<size_t, size_t>>& ranges) {
  StridedLayout layout;
  ASSERT_TRUE(shape.Make(&layout).ok());
  const std::vector<size_t> offsets = shape.MemoryOffsets();
  const std::vector<StridedLayout::Run> runs = RunsOf(offsets, 0);
  size_t longest = 0;
  for (const StridedLayout::Run& run : runs) longest = std::max(longest, run.bytes);
  ASSERT_EQ(layout.bytes(), offsets.size());
  ASSERT_EQ(layout.run_bytes(), longest);
  ASSERT_EQ(layout.contiguous(), runs.size() <= 1);

  for (const auto& [begin, bytes] : ranges) {
    SCOPED_TRACE(testing::Message() << bytes << " bytes from " << begin);
    ExpectCursorFrom(layout, offsets, begin);
    for (const size_t most : {size_t{3}, size_t{8}, SIZE_MAX}) {
      ExpectBlocks(layout, offsets, begin, bytes, most);
    }
    ExpectContiguousRange(layout, offsets, begin, bytes);
    const size_t column_bytes = static_cast<size_t>(layout.ld()) * layout.elem_bytes();
    ASSERT_EQ(layout.ColumnsOf(begin, bytes),
              bytes == 0
                  ? 0
                  : offsets[begin + bytes - 1] / column_bytes - offsets[begin] / column_bytes + 1);
  }
}

// Every range of every small shape.
TEST(StridedLayout, AgreesWithItsDefinitionOnEverySmallShape) {
  for (const Part part : {Part::kGeneral, Part::kUpper, Part::kLower}) {
    for (const Diagonal diagonal : {Diagonal::kIncluded, Diagonal::kLeftOut}) {
      for (int64_t rows = 0; rows <= 4; ++rows) {
        for (int64_t cols = 0; cols <= 4; ++cols) {
          for (int64_t gap = 0; gap <= 1; ++gap) {
            const LayoutShape shape{part, diagonal, rows, cols, rows + gap, 2};
            SCOPED_TRACE(testing::Message() << shape);
            const size_t packed_bytes = shape.MemoryOffsets().size();
            std::vector<std::pair<size_t, size_t>> ranges;
            for (size_t begin = 0; begin <= packed_bytes; ++begin) {
              for (size_t end = begin; end <= packed_bytes; ++end) {
                ranges.emplace_back(begin, end - begin);
              }
            }
            ExpectAgrees(shape, ranges);
            if (HasFatalFailure()) return;
          }
        }
      }
    }
  }
}

TEST(StridedLayout, AgreesWithItsDefinitionOnRandomShapes) {
  const unsigned seed = StressSeed();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  for (int i = 0; i < StressRounds(300, 30000); ++i) {
    const LayoutShape shape = RandomShape(&random, 24, 24);
    SCOPED_TRACE(testing::Message() << shape);
    const size_t packed_bytes = shape.MemoryOffsets().size();
    std::vector<std::pair<size_t, size_t>> ranges = {{0, packed_bytes}, {packed_bytes, 0}};
    for (int k = 0; k < 4; ++k) {
      const size_t begin = random() % (packed_bytes + 1);
      ranges.emplace_back(begin, random() % (packed_bytes - begin + 1));
    }
    ExpectAgrees(shape, ranges);
    if (HasFatalFailure()) return;
  }
}

TEST(StridedLayout, ContiguousIsOneRun) {
  const StridedLayout layout = StridedLayout::Contiguous(1000);
  EXPECT_TRUE(layout.contiguous());
  EXPECT_EQ(layout.bytes(), 1000u);
  EXPECT_EQ(StridedLayout::Cursor(layout, 10).Next().bytes, 990u);
  EXPECT_EQ(StridedLayout::Contiguous(0).bytes(), 0u);
  EXPECT_EQ(StridedLayout::Contiguous(size_t{5} << 31).bytes(), size_t{5} << 31);
}

TEST(StridedLayout, SizesBeyond32Bits) {
  constexpr int64_t kRows = 3'000'000'000;
  constexpr int64_t kCols = 70'000;
  constexpr int64_t kLd = 3'000'000'010;
  StridedLayout general;
  ASSERT_TRUE(StridedLayout::General(kRows, kCols, kLd, 16, &general).ok());
  EXPECT_EQ(general.bytes(), size_t{kRows} * kCols * 16);
  StridedLayout::Cursor last(general, general.bytes() - 1);
  EXPECT_EQ(last.Next().memory_offset, (size_t{kLd} * (kCols - 1) + kRows) * 16 - 1);
  EXPECT_EQ(last.Next().bytes, 1u);
  StridedLayout::Cursor start(general, 0);
  const StridedLayout::RunBlock block = start.TakeBlock(general.bytes());
  EXPECT_EQ(block.runs, size_t{kCols});
  EXPECT_EQ(block.stride_bytes, size_t{kLd} * 16);

  // A triangle of order n has n (n + 1) / 2 elements, and column j (0-based) of the lower one
  // starts after n + (n - 1) + ... = j n - j (j - 1) / 2 of them.
  constexpr int64_t kOrder = 200'000'000;
  StridedLayout lower;
  ASSERT_TRUE(
      StridedLayout::Trapezoid(Part::kLower, Diagonal::kIncluded, kOrder, kOrder, kOrder, 8, &lower)
          .ok());
  EXPECT_EQ(lower.bytes(), size_t{kOrder} * (kOrder + 1) / 2 * 8);
  constexpr size_t kColumn = 123'456'789;
  const size_t packed = (kColumn * kOrder - kColumn * (kColumn - 1) / 2) * 8;
  const StridedLayout::Run run = StridedLayout::Cursor(lower, packed + 24).Next();
  EXPECT_EQ(run.memory_offset, (kColumn * kOrder + kColumn + 3) * 8);
  EXPECT_EQ(run.bytes, (kOrder - kColumn - 3) * 8);

  // Empty, however large the other dimension.
  StridedLayout empty;
  ASSERT_TRUE(StridedLayout::General(0, INT64_MAX, INT64_MAX, 16, &empty).ok());
  EXPECT_EQ(empty.bytes(), 0u);
  ASSERT_TRUE(
      StridedLayout::Trapezoid(Part::kLower, Diagonal::kIncluded, 0, INT64_MAX - 1, 0, 16, &empty)
          .ok());
  EXPECT_EQ(empty.bytes(), 0u);
}

void ExpectRefused(int64_t rows, int64_t cols, int64_t ld, size_t elem_bytes, const char* text) {
  StridedLayout layout = StridedLayout::Contiguous(3);
  const Status status = StridedLayout::General(rows, cols, ld, elem_bytes, &layout);
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_NE(status.message().find(text), std::string::npos) << status.message();
  EXPECT_EQ(layout.bytes(), 3u);
}

TEST(StridedLayout, RefusesBadShapesByName) {
  ExpectRefused(-2, 3, 5, 8, "rows = -2");
  ExpectRefused(2, -3, 5, 8, "columns = -3");
  ExpectRefused(6, 3, 5, 8, "leading dimension = 5");
  ExpectRefused(2, 3, 5, 0, "element bytes = 0");
  ExpectRefused((int64_t{1} << 62) / 8 + 1, 1, INT64_MAX, 8, "2^62");
  ExpectRefused(1, 3, int64_t{1} << 60, 8, "2^62");
  StridedLayout largest;
  EXPECT_TRUE(StridedLayout::General((int64_t{1} << 62) / 8, 1, INT64_MAX, 8, &largest).ok());
  EXPECT_EQ(largest.bytes(), size_t{1} << 62);
}

}  // namespace
}  // namespace brigade
