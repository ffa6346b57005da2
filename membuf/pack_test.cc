#include "membuf/pack.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "membuf/naive_layout.h"
#include "membuf/rules.h"
#include "test/support/stress.h"

namespace brigade {
namespace {

std::vector<std::byte> RandomBytes(size_t bytes, std::mt19937* random) {
  std::vector<std::byte> data(bytes);
  for (std::byte& b : data) b = static_cast<std::byte>((*random)());
  return data;
}

// Any partition of the packed bytes into pieces, in any order, copies each byte to its place and
// touches no other.
void ExpectCopies(const LayoutShape& shape, std::mt19937* random) {
  SCOPED_TRACE(testing::Message() << shape);
  StridedLayout layout;
  ASSERT_TRUE(shape.Make(&layout).ok());
  const std::vector<size_t> offsets = shape.MemoryOffsets();
  const std::vector<std::byte> matrix = RandomBytes(shape.MemoryBytes(), random);

  std::vector<size_t> cuts = {0, offsets.size()};
  for (int i = 0; i < 5; ++i) cuts.push_back((*random)() % (offsets.size() + 1));
  std::sort(cuts.begin(), cuts.end());
  std::vector<size_t> order(cuts.size() - 1);
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::shuffle(order.begin(), order.end(), *random);

  const std::vector<std::byte> before = RandomBytes(shape.MemoryBytes(), random);
  std::vector<std::byte> scattered = before;
  for (const size_t piece : order) {
    const size_t begin = cuts[piece];
    const size_t bytes = cuts[piece + 1] - begin;
    std::vector<std::byte> chunk(bytes);  // exact, so that a sanitizer sees a byte too many
    CopyIn(chunk.data(), layout, matrix.data(), begin, bytes);
    for (size_t k = 0; k < bytes; ++k) ASSERT_EQ(chunk[k], matrix[offsets[begin + k]]);
    std::vector<std::byte> pushed(bytes);
    PushIn(pushed.data(), layout, matrix.data(), begin, bytes);
    ASSERT_EQ(pushed, chunk);
    CopyOut(layout, scattered.data(), begin, bytes, chunk.data());
  }
  std::vector<std::byte> expected = before;
  for (const size_t offset : offsets) expected[offset] = matrix[offset];
  ASSERT_EQ(scattered, expected);
}

TEST(Pack, CopiesAnyRangeOfRandomShapes) {
  const unsigned seed = StressSeed();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  for (int i = 0; i < StressRounds(200, 20000); ++i) {
    ExpectCopies(RandomShape(&random, 40, 12), &random);
    if (HasFatalFailure()) return;
  }
}

// Runs of every length that the copy table distinguishes.
TEST(Pack, CopiesRunsOfEveryLength) {
  std::mt19937 random(1);
  LayoutShape shape;
  shape.cols = 5;
  for (int64_t run = 1; run <= 1100; run = run < 140 ? run + 1 : run + 37) {
    shape.rows = run;
    shape.ld = run + 3;
    ExpectCopies(shape, &random);
    if (HasFatalFailure()) return;
  }
}

// Short runs are gathered into blocks first: several blocks and a rest.
TEST(Pack, CopiesShortRunsOfLongMatrices) {
  std::mt19937 random(1);
  LayoutShape shape;
  for (const int64_t run : {1, 24, 256, 4095, 4096}) {
    shape.rows = run;
    shape.cols = static_cast<int64_t>(5 * rules::kPushedBlockBytes / 2) / run;
    shape.ld = run + 5;
    ExpectCopies(shape, &random);
    if (HasFatalFailure()) return;
  }
}

// Any range of one matrix goes to its place in the other, and no other byte is touched.
void ExpectGoesAcross(const LayoutShape& from_shape, const LayoutShape& to_shape,
                      std::mt19937* random) {
  SCOPED_TRACE(testing::Message() << from_shape << " to " << to_shape);
  StridedLayout from_layout;
  StridedLayout to_layout;
  ASSERT_TRUE(from_shape.Make(&from_layout).ok() && to_shape.Make(&to_layout).ok());
  const std::vector<size_t> read = from_shape.MemoryOffsets();
  const std::vector<size_t> written = to_shape.MemoryOffsets();
  const std::vector<std::byte> from = RandomBytes(from_shape.MemoryBytes(), random);
  std::vector<std::byte> to = RandomBytes(to_shape.MemoryBytes(), random);
  const size_t all = std::min(read.size(), written.size());
  for (const bool is_all : {true, false}) {
    const size_t offset = is_all ? 0 : (*random)() % (all + 1);
    const size_t bytes = is_all ? all : (*random)() % (all - offset + 1);
    std::vector<std::byte> expected = to;
    for (size_t k = offset; k < offset + bytes; ++k) expected[written[k]] = from[read[k]];
    CopyAcross(from_layout, from.data(), to_layout, to.data(), offset, bytes);
    ASSERT_EQ(to, expected) << bytes << " bytes from " << offset;
  }
}

TEST(Pack, CopiesAnyRangeAcrossRandomShapes) {
  const unsigned seed = StressSeed();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  for (int i = 0; i < StressRounds(400, 40000); ++i) {
    LayoutShape from = RandomShape(&random, 40, 12);
    LayoutShape to = RandomShape(&random, 40, 12);
    if (i % 2 == 0) {
      to.rows = from.rows;
      to.elem_bytes = from.elem_bytes;
      to.ld = from.rows + static_cast<int64_t>(random() % 5);
    }
    ExpectGoesAcross(from, to, &random);
    if (HasFatalFailure()) return;
  }
}

// To short runs through several blocks, to long ones without, to both in one matrix, and to as long
// ones.
TEST(Pack, CopiesAcrossRunsOfEveryLength) {
  std::mt19937 random(1);
  LayoutShape from;
  LayoutShape to;
  for (const int64_t from_run : {1, 7, 255, 256, 1000}) {
    for (const int64_t to_run : {1, 7, 255, 256, 1000}) {
      for (const auto part : {StridedLayout::Part::kGeneral, StridedLayout::Part::kLower}) {
        from.rows = from_run;
        from.cols = 3 * static_cast<int64_t>(rules::kCombineBlockBytes) / from_run;
        from.ld = from_run + 3;
        to.part = part;
        to.rows = to_run;
        to.cols = 3 * static_cast<int64_t>(rules::kCombineBlockBytes) / to_run;
        to.ld = to_run + 9;
        ExpectGoesAcross(from, to, &random);
        if (HasFatalFailure()) return;
      }
    }
  }
}

// Reserved address space: only touched pages exist.
TEST(Pack, CopiesBeyondFourGiB) {
  constexpr size_t kRows = 300'000'000;  // 2.4 GB per column
  constexpr size_t kLd = 310'000'000;
  LayoutShape shape;
  shape.rows = kRows;
  shape.cols = 3;
  shape.ld = kLd;
  shape.elem_bytes = 8;
  void* const mapped = mmap(nullptr, shape.MemoryBytes(), PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ASSERT_NE(mapped, MAP_FAILED);
  auto* const matrix = static_cast<std::byte*>(mapped);
  StridedLayout layout;
  ASSERT_TRUE(shape.Make(&layout).ok());

  // The last five bytes of the second column and the first seven of the third.
  constexpr size_t kOffset = 2 * kRows * 8 - 5;
  std::mt19937 random(1);
  const std::vector<std::byte> sent = RandomBytes(12, &random);
  CopyOut(layout, matrix, kOffset, 12, sent.data());
  EXPECT_TRUE(std::equal(sent.begin(), sent.begin() + 5, matrix + (kLd + kRows) * 8 - 5));
  EXPECT_TRUE(std::equal(sent.begin() + 5, sent.end(), matrix + 2 * kLd * 8));
  std::vector<std::byte> received(12);
  CopyIn(received.data(), layout, matrix, kOffset, 12);
  EXPECT_EQ(received, sent);
  munmap(mapped, shape.MemoryBytes());
}

}  // namespace
}  // namespace brigade
