// Typed layouts, walks along them, and what is done to their bytes, against lists of offsets.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "windows/layout/layout_copy.h"
#include "windows/layout/layout_cursor.h"
#include "windows/layout/random_layout.h"
#include "windows/layout/typed_layout.h"

namespace brigade {
namespace {

ConstByteSpan SpanOf(const std::string& text) {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}

Offsets Walk(LayoutCursor* cursor, Random* random) {
  Offsets offsets;
  while (cursor->position() < cursor->size()) {
    const Runs runs = cursor->Next();
    EXPECT_GT(runs.bytes, 0);
    EXPECT_GT(runs.count, 0);
    int64_t bytes = runs.bytes * runs.count;
    if (random->AtMost(1) == 0) bytes = 1 + random->AtMost(bytes - 1);
    for (int64_t i = 0; i < bytes; ++i) {
      offsets.push_back(runs.offset + i / runs.bytes * runs.stride + i % runs.bytes);
    }
    cursor->Skip(bytes);
  }
  return offsets;
}

TEST(LayoutTest, WalksMeetEveryByteInOrder) {
  ForMany([](Random* random) {
    const ListedLayout both = random->Layout(4);
    EXPECT_EQ(both.layout.size(), static_cast<int64_t>(both.offsets.size()));
    const int64_t count = random->AtMost(3);
    const TypedLayout layout = both.layout.Resized(random->AtMost(200) - 50);
    Offsets all;
    for (int64_t i = 0; i < count; ++i) Append(Shifted(both.offsets, i * layout.extent()), &all);
    LayoutCursor cursor(&layout, count);
    ASSERT_EQ(cursor.size(), static_cast<int64_t>(all.size()));
    EXPECT_EQ(Walk(&cursor, random), all);
    const int64_t from = random->AtMost(cursor.size());
    cursor.Seek(from);
    EXPECT_EQ(Walk(&cursor, random), Offsets(all.begin() + from, all.end()));
  });
}

TEST(LayoutTest, BoundsIncludeEveryByte) {
  ForMany([](Random* random) {
    const ListedLayout both = random->Layout(4);
    if (both.offsets.empty()) return;
    EXPECT_EQ(both.layout.low(), *std::min_element(both.offsets.begin(), both.offsets.end()));
    EXPECT_EQ(both.layout.high(), *std::max_element(both.offsets.begin(), both.offsets.end()) + 1);
  });
}

TEST(LayoutTest, BoundsOfManyValues) {
  TypedLayout layout;
  const TypedLayout run = TypedLayout::Run(Element::kByte, 4);
  ASSERT_TRUE(TypedLayout::List({{-8, &run}, {16, &run}}, &layout).ok());
  const auto bounds = [&](int64_t extent, int64_t count) {
    int64_t low = 0;
    int64_t high = 0;
    int64_t bytes = 0;
    if (!layout.Resized(extent).Bounds(count, &low, &high, &bytes)) return Offsets();
    return Offsets{low, high, bytes};
  };
  EXPECT_EQ(bounds(100, 1), (Offsets{-8, 20, 8}));
  EXPECT_EQ(bounds(100, 3), (Offsets{-8, 220, 24}));
  EXPECT_EQ(bounds(-100, 3), (Offsets{-208, 20, 24}));
  EXPECT_EQ(bounds(100, 0), (Offsets{0, 0, 0}));
  EXPECT_EQ(bounds(int64_t{1} << 50, 1 << 20), Offsets());
  EXPECT_EQ(bounds(1, int64_t{1} << 60), Offsets());
}

TEST(LayoutTest, OneElementIsTheSameHoweverItIsMade) {
  EXPECT_TRUE(TypedLayout::Run(Element::kDouble, 1).IsSameAs(TypedLayout::One(Element::kDouble)));
  EXPECT_FALSE(TypedLayout::Run(Element::kDouble, 2).IsSameAs(TypedLayout::One(Element::kDouble)));
}

TEST(LayoutTest, SerialFormIsTheSameLayout) {
  ForMany([](Random* random) {
    const TypedLayout layout =
        random->Layout(5).layout.Resized(random->AtMost(1000) - 500).WithElement(Element::kDouble);
    const std::string bytes = layout.ToBytes();
    TypedLayout again;
    ASSERT_TRUE(TypedLayout::Parse(SpanOf(bytes), &again).ok());
    EXPECT_EQ(again.ToBytes(), bytes);
    EXPECT_EQ(again.extent(), layout.extent());
    EXPECT_EQ(again.element(), Element::kDouble);
    LayoutCursor one(&layout, 2);
    LayoutCursor other(&again, 2);
    Random steps(1);
    Random same_steps(1);
    EXPECT_EQ(Walk(&one, &steps), Walk(&other, &same_steps));
  });
}

// Bytes of a broken peer are refused, or give a layout that can be walked.
TEST(LayoutTest, BrokenSerialFormsAreRefused) {
  ForMany([](Random* random) {
    std::string bytes = random->Layout(4).layout.ToBytes();
    for (int64_t i = random->AtMost(3); i >= 0; --i) {
      bytes[random->AtMost(static_cast<int64_t>(bytes.size()) - 1)] ^= 1 << random->AtMost(7);
    }
    if (random->AtMost(3) == 0) bytes.resize(random->AtMost(static_cast<int64_t>(bytes.size())));
    TypedLayout layout;
    const Status status = TypedLayout::Parse(SpanOf(bytes), &layout);
    if (!status.ok()) {
      EXPECT_EQ(status.code(), StatusCode::kMismatch);
      return;
    }
    LayoutCursor cursor(&layout, 1);
    for (int i = 0; i < 100 && cursor.position() < cursor.size(); ++i) {
      const Runs runs = cursor.Next();
      EXPECT_GE(runs.offset, layout.low());
      cursor.Skip(std::min<int64_t>(runs.bytes * runs.count, 1 + random->AtMost(1000)));
    }
  });
}

TEST(LayoutTest, GatherAndScatter) {
  ForMany([](Random* random) {
    const ListedLayout both = random->Layout(4);
    const int64_t size = both.layout.size();
    const std::vector<std::byte> memory = random->Bytes(2 * kRoom);
    LayoutCursor cursor(&both.layout, 1);
    const int64_t first = random->AtMost(size);
    std::vector<std::byte> packed(size);
    Gather(&cursor, memory.data() + kRoom, first, packed.data());
    Gather(&cursor, memory.data() + kRoom, size - first, packed.data() + first);
    for (int64_t i = 0; i < size; ++i) EXPECT_EQ(packed[i], memory[kRoom + both.offsets[i]]);

    // Where bytes are listed twice the later one wins.
    std::vector<std::byte> expected = random->Bytes(2 * kRoom);
    std::vector<std::byte> actual = expected;
    for (int64_t i = 0; i < size; ++i) expected[kRoom + both.offsets[i]] = packed[i];
    cursor.Seek(0);
    Scatter(packed.data(), first, &cursor, actual.data() + kRoom);
    Scatter(packed.data() + first, size - first, &cursor, actual.data() + kRoom);
    EXPECT_EQ(actual, expected);
  });
}

// Short runs of one length have loops of their own, wherever a walk along them begins and ends.
TEST(LayoutTest, EqualRuns) {
  ForMany([](Random* random) {
    const int64_t lengths[] = {1, 4, 8, 12, 16, 24, 32, 40};
    const int64_t length = lengths[random->AtMost(7)];
    const TypedLayout run = TypedLayout::Run(Element::kByte, length);
    std::vector<TypedLayout::Part> parts;
    Offsets of_one;
    int64_t at = 0;
    for (int64_t i = random->AtMost(9); i >= 0; --i) {
      parts.push_back({at, &run});
      for (int64_t k = 0; k < length; ++k) of_one.push_back(at + k);
      at += length + 1 + random->AtMost(2);
    }
    // In rows of rows, whose gaps differ.
    TypedLayout layout;
    ASSERT_TRUE(TypedLayout::List(parts, &layout).ok());
    const int64_t stride = at + random->AtMost(3);
    ASSERT_TRUE(TypedLayout::Repeat(3, stride, layout, &layout).ok());
    const int64_t extent = 3 * stride + random->AtMost(3);
    layout = layout.Resized(extent);
    Offsets offsets;
    for (int64_t i = 0; i < 12; ++i) {
      Append(Shifted(of_one, i / 3 * extent + i % 3 * stride), &offsets);
    }
    const auto size = static_cast<int64_t>(offsets.size());
    const int64_t first = random->AtMost(size);
    const int64_t second = random->AtMost(size - first);
    const std::vector<std::byte> memory = random->Bytes(kRoom);
    std::vector<std::byte> packed(size);
    LayoutCursor from(&layout, 4);
    Gather(&from, memory.data(), first, packed.data());
    Gather(&from, memory.data(), second, packed.data() + first);
    Gather(&from, memory.data(), size - first - second, packed.data() + first + second);
    EXPECT_EQ(from.position(), size);
    for (int64_t i = 0; i < size; ++i) EXPECT_EQ(packed[i], memory[offsets[i]]);
    std::vector<std::byte> expected(kRoom);
    std::vector<std::byte> actual(kRoom);
    for (int64_t i = 0; i < size; ++i) expected[offsets[i]] = packed[i];
    LayoutCursor to(&layout, 4);
    Scatter(packed.data(), first, &to, actual.data());
    Scatter(packed.data() + first, second, &to, actual.data());
    Scatter(packed.data() + first + second, size - first - second, &to, actual.data());
    EXPECT_EQ(to.position(), size);
    EXPECT_EQ(actual, expected);
  });
}

TEST(LayoutTest, CopiesBetweenLayouts) {
  ForMany([](Random* random) {
    const ListedLayout from = random->Layout(4);
    const ListedLayout to = random->Layout(4);
    const int64_t bytes = std::min(from.layout.size(), to.layout.size());
    const std::vector<std::byte> memory = random->Bytes(2 * kRoom);
    std::vector<std::byte> actual(2 * kRoom);
    std::vector<std::byte> expected(2 * kRoom);
    for (int64_t i = 0; i < bytes; ++i) {
      expected[kRoom + to.offsets[i]] = memory[kRoom + from.offsets[i]];
    }
    LayoutCursor source(&from.layout, 1);
    LayoutCursor target(&to.layout, 1);
    const int64_t first = random->AtMost(bytes);
    CopyLayout(&source, memory.data() + kRoom, first, &target, actual.data() + kRoom);
    CopyLayout(&source, memory.data() + kRoom, bytes - first, &target, actual.data() + kRoom);
    EXPECT_EQ(actual, expected);
  });
}

TEST(LayoutTest, AccumulatesIntoLayouts) {
  ForMany([](Random* random) {
    // Elements of four bytes, of which a part may lie elsewhere, in bytes that differ.
    const ListedLayout both = random->Pieces(40);
    const int64_t elements = both.layout.size() / 4;
    std::vector<std::byte> memory = random->Bytes(kRoom);
    const std::vector<std::byte> operand = random->Bytes(elements * 4);
    std::vector<std::byte> expected = memory;
    for (int64_t i = 0; i < elements; ++i) {
      uint32_t sum = 0;
      std::memcpy(&sum, operand.data() + 4 * i, 4);
      std::byte value[4];
      for (int k = 0; k < 4; ++k) value[k] = memory[both.offsets[4 * i + k]];
      uint32_t before = 0;
      std::memcpy(&before, value, 4);
      sum += before;
      std::memcpy(value, &sum, 4);
      for (int k = 0; k < 4; ++k) expected[both.offsets[4 * i + k]] = value[k];
    }
    LayoutCursor cursor(&both.layout, 1);
    AccumulateInto(CombineOp::kSum, Element::kUint32, operand.data(), elements * 4, &cursor,
                   memory.data());
    EXPECT_EQ(memory, expected);
    EXPECT_EQ(cursor.position(), elements * 4);
  });
}

TEST(LayoutTest, StridedElementsAreAccumulated) {
  TypedLayout layout;
  ASSERT_TRUE(TypedLayout::Repeat(1000, 24, TypedLayout::Run(Element::kDouble, 1), &layout).ok());
  std::vector<double> memory(3000, 1.0);
  std::vector<double> operand(1000);
  std::iota(operand.begin(), operand.end(), 0.0);
  LayoutCursor cursor(&layout, 1);
  AccumulateInto(CombineOp::kSum, Element::kDouble,
                 reinterpret_cast<const std::byte*>(operand.data()), 8000, &cursor,
                 reinterpret_cast<std::byte*>(memory.data()));
  for (int i = 0; i < 3000; ++i) EXPECT_EQ(memory[i], i % 3 == 0 ? operand[i / 3] + 1.0 : 1.0);
}

// As MPI_SHORT_INT has them: a gap within each.
TEST(LayoutTest, ElementsWithGapsAreAccumulated) {
  const TypedLayout value = TypedLayout::Run(Element::kInt16, 1);
  const TypedLayout location = TypedLayout::Run(Element::kInt32, 1);
  TypedLayout pair;
  ASSERT_TRUE(TypedLayout::List({{0, &value}, {4, &location}}, &pair).ok());
  pair = pair.WithElement(Element::kShortAndInt);
  struct Pair {
    int16_t value;
    int32_t location;
  } target[3] = {{1, 1}, {9, 2}, {3, 3}};
  const Pair operand[3] = {{5, 7}, {4, 8}, {6, 9}};
  LayoutCursor from(&pair, 3);
  std::byte packed[18];
  Gather(&from, reinterpret_cast<const std::byte*>(operand), sizeof(packed), packed);
  LayoutCursor to(&pair, 3);
  AccumulateInto(CombineOp::kMaxLocation, Element::kShortAndInt, packed, sizeof(packed), &to,
                 reinterpret_cast<std::byte*>(target));
  const Pair expected[3] = {{5, 7}, {9, 2}, {6, 9}};
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(target[i].value, expected[i].value);
    EXPECT_EQ(target[i].location, expected[i].location);
  }
}

TEST(LayoutTest, CopiesOfAWalkGoTheSameWay) {
  const TypedLayout run = TypedLayout::Run(Element::kByte, 1);
  TypedLayout uneven;
  ASSERT_TRUE(TypedLayout::List({{0, &run}, {2, &run}, {5, &run}}, &uneven).ok());
  auto first = std::make_unique<LayoutCursor>(&uneven, 3);
  first->Skip(1);
  LayoutCursor copy = *first;
  first.reset();
  for (const int64_t offset : {2, 5, 6, 8, 11, 12, 14, 17}) {
    EXPECT_EQ(copy.Next().offset, offset);
    copy.Skip(1);
  }
}

TEST(LayoutTest, LargeDatatypesAreSmall) {
  const TypedLayout two = TypedLayout::Run(Element::kInt32, 2);
  TypedLayout vector;
  ASSERT_TRUE(TypedLayout::Repeat(1000000, 16, two, &vector).ok());
  EXPECT_LE(vector.ToBytes().size(), 20U);
  // The same as a list of blocks.
  std::vector<TypedLayout::Part> parts;
  for (int i = 0; i < 1000000; ++i) parts.push_back({16 * i, &two});
  TypedLayout list;
  ASSERT_TRUE(TypedLayout::List(parts, &list).ok());
  EXPECT_EQ(list.ToBytes(), vector.Resized(list.extent()).ToBytes());
  // Without gaps it is one run.
  TypedLayout run;
  ASSERT_TRUE(TypedLayout::Repeat(1000, 8, two, &run).ok());
  EXPECT_TRUE(run.is_contiguous());
  EXPECT_EQ(run.ToBytes(), TypedLayout::Run(Element::kInt32, 2000).ToBytes());
  // A matrix of columns, each of them a run of blocks without a gap.
  TypedLayout column;
  ASSERT_TRUE(TypedLayout::Repeat(10, 8, two, &column).ok());
  TypedLayout matrix;
  ASSERT_TRUE(TypedLayout::Repeat(10, 100, column, &matrix).ok());
  TypedLayout straight;
  ASSERT_TRUE(TypedLayout::Repeat(10, 100, TypedLayout::Run(Element::kInt32, 20), &straight).ok());
  EXPECT_EQ(matrix.ToBytes(), straight.ToBytes());
}

TEST(LayoutTest, KindsOfElementsAreKept) {
  const TypedLayout ints = TypedLayout::Run(Element::kInt32, 2);
  const TypedLayout doubles = TypedLayout::Run(Element::kDouble, 1);
  TypedLayout same;
  ASSERT_TRUE(TypedLayout::List({{0, &ints}, {100, &ints}}, &same).ok());
  EXPECT_EQ(same.element(), Element::kInt32);
  TypedLayout mixed;
  ASSERT_TRUE(TypedLayout::List({{0, &ints}, {8, &doubles}}, &mixed).ok());
  EXPECT_EQ(mixed.element(), Element::kMixed);
  EXPECT_TRUE(mixed.is_contiguous());
}

TEST(LayoutTest, TooLargeLayoutsAreRefused) {
  const TypedLayout byte = TypedLayout::Run(Element::kByte, 1);
  TypedLayout layout;
  EXPECT_EQ(TypedLayout::Repeat(-1, 8, byte, &layout).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(TypedLayout::Repeat(int64_t{1} << 62, 1, byte, &layout).code(),
            StatusCode::kInvalidArgument);
  EXPECT_EQ(TypedLayout::Repeat(1 << 20, int64_t{1} << 50, byte, &layout).code(),
            StatusCode::kInvalidArgument);
  constexpr int64_t kMost = TypedLayout::kMostBytes - 1;
  const TypedLayout longest = TypedLayout::Run(Element::kByte, kMost);
  for (const int64_t second : {int64_t{0}, kMost, TypedLayout::kMostBytes}) {
    EXPECT_EQ(TypedLayout::List({{0, &longest}, {second, &longest}}, &layout).code(),
              StatusCode::kInvalidArgument);
  }
  EXPECT_EQ(TypedLayout::List({{-TypedLayout::kMostBytes, &byte}}, &layout).code(),
            StatusCode::kInvalidArgument);
  TypedLayout deep = byte;
  Status status;
  for (int i = 0; i < TypedLayout::kMostDepth && status.ok(); ++i) {
    status = TypedLayout::Repeat(2, i % 2 == 0 ? 3 : 1000 + i, deep, &deep);
  }
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace brigade
