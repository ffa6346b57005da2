// Random layouts, and what they mean byte by byte, for tests.

#ifndef BRIGADE_WINDOWS_LAYOUT_RANDOM_LAYOUT_H_
#define BRIGADE_WINDOWS_LAYOUT_RANDOM_LAYOUT_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "membuf/element.h"
#include "test/support/stress.h"
#include "windows/layout/typed_layout.h"

namespace brigade {

constexpr int64_t kRoom = 20000;  // offsets of random layouts are well within it, on either side

using Offsets = std::vector<int64_t>;

// A layout, and the offset of each of its bytes.
struct ListedLayout {
  TypedLayout layout;
  Offsets offsets;
};

inline Offsets Shifted(const Offsets& offsets, int64_t by) {
  Offsets shifted = offsets;
  for (int64_t& offset : shifted) offset += by;
  return shifted;
}

inline void Append(const Offsets& more, Offsets* offsets) {
  offsets->insert(offsets->end(), more.begin(), more.end());
}

class Random {
 public:
  explicit Random(uint64_t seed) : engine_(seed) {}
  int64_t AtMost(int64_t most) { return std::uniform_int_distribution<int64_t>(0, most)(engine_); }

  std::vector<std::byte> Bytes(int64_t bytes) {
    std::vector<std::byte> made(bytes);
    for (size_t i = 0; i < made.size(); i += sizeof(uint64_t)) {
      const uint64_t drawn = engine_();
      std::memcpy(&made[i], &drawn, std::min(sizeof(drawn), made.size() - i));
    }
    return made;
  }

  // Of this depth at most. A place may be listed more than once.
  ListedLayout Layout(int depth) {
    if (depth == 0 || AtMost(5) == 0) {
      const int64_t bytes = AtMost(9);
      ListedLayout both{TypedLayout::Run(Element::kByte, bytes), Offsets(bytes)};
      std::iota(both.offsets.begin(), both.offsets.end(), 0);
      return both;
    }
    ListedLayout both;
    if (AtMost(1) == 0) {
      const ListedLayout child = Layout(depth - 1);
      const int64_t count = AtMost(4);
      // Now and then without a gap, or backwards.
      const int64_t stride = AtMost(2) == 0 ? child.layout.extent() : AtMost(80) - 20;
      EXPECT_TRUE(TypedLayout::Repeat(count, stride, child.layout, &both.layout).ok());
      for (int64_t i = 0; i < count; ++i) Append(Shifted(child.offsets, i * stride), &both.offsets);
      return both;
    }
    std::vector<ListedLayout> children(AtMost(2) + 1);
    for (ListedLayout& child : children) child = Layout(depth - 1);
    std::vector<TypedLayout::Part> parts;
    int64_t offset = AtMost(30) - 10;
    for (int64_t i = AtMost(5); i > 0; --i) {
      const ListedLayout& child = children[AtMost(static_cast<int64_t>(children.size()) - 1)];
      parts.push_back({offset, &child.layout});
      Append(Shifted(child.offsets, offset), &both.offsets);
      offset += AtMost(2) == 0 ? child.layout.extent() : AtMost(60) - 10;
    }
    EXPECT_TRUE(TypedLayout::List(parts, &both.layout).ok());
    return both;
  }

  // Short and long pieces one behind the other, so many at most. No place is listed twice.
  ListedLayout Pieces(int64_t most) {
    ListedLayout both;
    std::vector<TypedLayout> runs;
    for (const int64_t bytes : {1, 2, 3, 4, 8, 400}) {
      runs.push_back(TypedLayout::Run(Element::kByte, bytes));
    }
    std::vector<TypedLayout::Part> parts;
    int64_t at = 0;
    for (int64_t i = AtMost(most); i > 0; --i) {
      const TypedLayout& run = runs[AtMost(5)];
      at += AtMost(2);
      parts.push_back({at, &run});
      for (int64_t k = 0; k < run.size(); ++k) both.offsets.push_back(at++);
    }
    EXPECT_TRUE(TypedLayout::List(parts, &both.layout).ok());
    return both;
  }

 private:
  std::mt19937_64 engine_;
};

// Calls check(&random) again and again, until something is wrong.
template <typename Check>
void ForMany(const Check& check) {
  const int trials = StressRounds(400, 10000);
  const uint64_t seed = StressSeed();
  for (int i = 0; i < trials && !::testing::Test::HasFailure(); ++i) {
    SCOPED_TRACE("trial " + std::to_string(i) + ", seed " + std::to_string(seed));
    Random random(seed + static_cast<uint64_t>(i));
    check(&random);
  }
}

}  // namespace brigade

#endif  // BRIGADE_WINDOWS_LAYOUT_RANDOM_LAYOUT_H_
